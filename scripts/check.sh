#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Everything that is checked, on a fresh Debian 12 with root or sudo: installs what is missing, builds in build/, runs
# the tests and says how long each part took. The last line counts the tests of all parts and the parts themselves.
# A test that skips because something is not installed is all right under `make check`, and a failure here.
# It is the quick tier: samples by fixed seeds, without tests_long. FT_TIER=normal or full: more of part `check`.
# Searches that have passed and whose inputs are unchanged are skipped (scripts/search.sh); those are counted as skipped.
# A test has ten minutes. After FT_MINUTES minutes (75) tests are ended, no part begins, and the run has failed.
#   check.sh [PART...]           only these parts
#   check.sh --without PART...   all but these
#   check.sh searches            the searches whose inputs have changed, in all builds that have them: commit scripts/searched then
set -u
cd "$(dirname "$0")/.." || exit 2
. scripts/packages.sh
. scripts/build.sh

export FT_TIER=${FT_TIER:-quick}
[ "$FT_TIER" = full ] || export FT_PATIENCE="${FT_PATIENCE:-600}"
limit=${FT_MINUTES:-75}
all_parts="packages build check tour distcheck sanitizers tsan clang scripts quickstart no-respawn"
without=
[ "${1-}" = --without ] && [ $# -gt 1 ] && without=1 && shift
parts=${*:-$all_parts}
logs=build/check
passed=0 failed=0 skipped=0 unchanged=0
summary=()

# Each part is a function; its output goes to a log, of which the tests' own lines are shown as they come.

part_packages() {
  # shellcheck disable=SC2154,SC2086
  need $packages_build $packages_train $packages_wheel $packages_check
}

part_build() { build_in build; }

# Twice as many as there are processors, because most tests sleep or wait most of the time. scripts/run-test.sh sees to those that want the machine to themselves.
jobs=$(($(nproc) * 2))

# flags NAME: as configure has chosen them.
flags() { sed -n "s/^$1 = //p" build/Makefile; }

# tests_in DIRECTORY [MAKE-ARGUMENT...]: these are for what is built.
tests_in() {
  local directory=$1
  shift
  make -C "$directory" -j$jobs check TESTS= "$@" || return 1
  # Its stamp is newer, so make runs a rule for it that does nothing, and what it was built into came last, after those that are alone.
  touch -r "$directory/config.h" "$directory/stamp-h1"
  timeout --kill-after=60 $((limit * 60 > SECONDS ? limit * 60 - SECONDS : 1)) make -C "$directory" -j$jobs -k check
}

# The programs of tests are compiled here, so here is where their warnings count.
part_check() { tests_in build FT_CFLAGS="$(flags FT_CFLAGS) -Werror" FT_CXXFLAGS="$(flags FT_CXXFLAGS) -Werror"; }

# What later parts want can be made meanwhile: trees, with the programs of their tests, and whole parts that only compute.
# Whoever comes first makes them: build_ahead or the part.
ahead=
made_ahead() {
  [ -z "$ahead" ] || echo 0 2>/dev/null >"/proc/$ahead/autogroup" # it is wanted now
  flock "$logs/$1.lock" scripts/check.sh --ahead "$1"
}
# -g1: lines for the stack's functions; the rest of what -g writes takes a quarter of the compiler's time.
build_sanitized() { build_in build/san --enable-sanitizers=address,undefined CFLAGS='-g1 -O1' CXXFLAGS='-g1 -O1'; }
make_ahead() {
  case $1 in
    sanitizers) build_sanitized && make -C build/san -j"$(nproc)" check TESTS= ;;
    # gcc's -Wtsan says that fences are not looked at.
    tsan) build_targets='threads libftmpi.la ftrun .libs/ftmpi/libmpi.so.40 compat-tests/chaos/threaded' build_in build/tsan --enable-sanitizers=thread CFLAGS='-g1 -O1 -Wno-tsan' CXXFLAGS='-g1 -O1' ;;
    clang | scripts)
      [ ! -e "$logs/$1.code" ] || return 0
      "${1}_says" >"$logs/$1.said" 2>&1
      echo $? >"$logs/$1.code"
      ;;
  esac
}
# said_ahead PART: what it says, and its code.
said_ahead() { made_ahead "$1" && cat "$logs/$1.said" && return "$(cat "$logs/$1.code")"; }

# build_ahead WHAT...: makes this meanwhile, while tests wait, out of the time that nobody else wants: priorities count within a
# session, so it has one of its own, and that has the lowest (sched(7), autogroups).
build_ahead() {
  # shellcheck disable=SC2016 # the other shell expands it
  setsid sh -c 'echo 19 2>/dev/null >/proc/self/autogroup; for what; do nice -n 19 flock "$0/$what.lock" scripts/check.sh --ahead "$what"; done' \
    $logs "$@" >$logs/ahead.log 2>&1 </dev/null &
  ahead=$!
  trap '[ -z "$ahead" ] || kill -- "-$ahead" 2>/dev/null' EXIT
  trap 'exit 1' INT TERM HUP
}

# quick COMMAND...: with what makes tests keep to the quick tier. The parts that are not `check` show what tests find otherwise than there.
quick() { FT_TIER=quick "$@"; }

# The parts below compile with their own settings, so that is where warnings of what is installed count.
# Every file of the repository is in the tarball; the tarball builds and installs out of a tree that cannot be written, and its tests find what they
# need there. That they pass otherwise, too, is what part check shows: of its tests, and their programs, only those that look at what was unpacked.
part_distcheck() {
  FT_TESTS=dist quick make -C build -j$jobs distcheck DISTCHECK_CONFIGURE_FLAGS='--enable-werror CFLAGS=-O2 CXXFLAGS=-O2' \
    TESTS="$(made build tests_dist)" check_PROGRAMS="$(made build check_PROGRAMS | tr ' ' '\n' | grep -e '^compat-tests/chaos/' -e '/cxxbinding$' | tr '\n' ' ')" &&
    tarball_is_whole
}

# made DIRECTORY VARIABLE: what the makefile there has for it.
# shellcheck disable=SC2016
made() { make -s -C "$1" --no-print-directory --eval="print-it:; @echo \$($2)" print-it; }

tarball_is_whole() {
  local missing
  [ -d .git ] || [ -f .git ] || return 0
  missing=$(comm -23 <(git ls-files | grep -v '^\.gitignore$' | sort) <(tar tzf build/ftmpi-*.tar.gz | sed 's|^[^/]*/||' | sort))
  [ -z "$missing" ] || { echo "not in the tarball:" && echo "$missing" && return 1; }
}

# The searches alone, and no more of the builds than they want.
part_searches() {
  local searches
  searches=$(scripts/search.sh names | tr '\n' ' ') || return 1
  build_targets="libft.la $(scripts/search.sh programs | tr '\n' ' ')" build_in build && searches_in build "$searches" &&
    build_targets=sim build_sanitized && searches_in build/san sim
}
searches_in() { make -C "$1" -j$jobs -k check-TESTS TESTS="$2" check_PROGRAMS='' check_LTLIBRARIES=''; }

part_sanitizers() { made_ahead sanitizers && FT_TESTS=sanitized quick tests_in build/san; }

# Races can only be seen between threads: one program, with threads as ranks; and one whose ranks have threads that call MPI. It ends with a code of its own when the
# sanitizer reports anything. Addresses at random beyond what gcc 12's run-time library expects would end it at the start.
part_tsan() {
  local fixed first=1 seed passed=0 failed=0
  fixed=$(setarch -R true 2>/dev/null && echo "setarch -R")
  made_ahead tsan || return 1
  [ "${FT_TIER-}" != full ] || first=$((RANDOM * 32768 + RANDOM))
  for seed in $(seq "${FT_SEED:-$first}" 1 $((${FT_SEED:-$first} + 7))); do # not by make check, which would build all other tests for it
    if $fixed build/tsan/threads "$seed"; then passed=$((passed + 1)); else failed=1 && echo "FAIL: threads $seed"; fi
    if $fixed build/tsan/ftrun -n 2 build/tsan/compat-tests/chaos/threaded -t 3 -n 20 -s "$seed" >/dev/null; then passed=$((passed + 1)); else failed=1 && echo "FAIL: threaded $seed"; fi
  done
  echo "# PASS: $passed"
  return $failed
}

# What clang warns of it finds before it makes any code; what gcc warns of depends on the optimisation (distcheck). FT_TIER=full: all is built with clang.
part_clang() { said_ahead clang; }
clang_says() {
  if [ "${FT_TIER-}" = full ]; then
    build_in build/clang --enable-werror CC=clang CXX=clang++ CFLAGS=-O0 CXXFLAGS=-O0 && make -C build/clang -j"$(nproc)" check TESTS=
    return
  fi
  # What local.mk's define for one file or the other.
  local flags=(-Werror -DHAVE_CONFIG_H -Ibuild -I. -Impi_shim -DFT_REDUCE_TABLE=table -DFT_COPY_TABLE=table -DLIBDIR='""' -DBINDIR='""' -DSYSCONFDIR='""')
  # shellcheck disable=SC2207
  flags+=($(pkg-config --cflags hwloc libevent_core jansson libxxhash criterion)) || return 1
  # shellcheck disable=SC2046
  {
    find . -path ./build -prune -o -name '*.c' -print0 |
      xargs -0 -P "$(nproc)" -n 16 clang -fsyntax-only "${flags[@]}" -D_GNU_SOURCE= $(flags FT_CFLAGS) &&
      find . -path ./build -prune -o -path ./compat-tests/abi/wrappers -prune -o -name '*.cc' -print0 | # that one is Open MPI's C++
      xargs -0 clang++ -fsyntax-only "${flags[@]}" $(flags FT_CXXFLAGS)
  }
}

part_scripts() { said_ahead scripts; }
scripts_says() {
  shellcheck scripts/*.sh scripts/test/*.sh .ci/run benchmarks/*.sh compat-tests/*/*.sh compat-tests/programs/*/*.sh build/ftmpicc &&
    PYTHONPYCACHEPREFIX=$logs/pycache python3 -m py_compile compat-tests/*/*.py compat-tests/programs/*/*.py benchmarks/ftbench/*.py benchmarks/{compare,faults,figures,hosts,xgboost,xgboost3}
}

# What a new user sees, to the letter.
part_tour() { scripts/tour.sh build; }

part_quickstart() { scripts/quickstart.sh; }

part_no_respawn() {
  local output
  output=$(scripts/quickstart.sh --no-respawn 2>&1)
  local code=$?
  echo "$output"
  # for the right reason: the undisturbed run was fine, the other one ended
  [ $code = 1 ] && grep -q '^FAILED: 4 kills: ftrun ended with code' <<<"$output" && ! grep -q '^FAILED: undisturbed' <<<"$output"
}

# processor: seconds of processor time of everything this script has waited for.
processor() { awk -v ticks="$(getconf CLK_TCK)" '{ printf "%.0f", ($16 + $17) / ticks }' /proc/$$/stat; }

# count WORD LOG: the number that automake's summaries in LOG give for WORD, added up.
count() { awk -v word="# $1:" '$1 " " $2 == word { sum += $3 } END { print sum + 0 }' "$2"; }

# told_by_failed PART LOG: the ends of what the failed tests of this part printed, and in short what they say of it.
told_by_failed() {
  local name log
  sed -n 's/^FAIL: \([^ ]*\)$/\1/p' "$2" | sort -u | while read -r name; do
    echo "-- $1: $name" | tee -a $logs/short.log
    find build -path "*/$name.log" -newer "$2.begun" | while read -r log; do
      tail -n 40 "$log"
      grep -A 4 ^FAIL "$log" | head -n 12 | cut -c 1-160 >>$logs/short.log
    done
  done
}

# with_time: a line every five minutes, which says where in its time a run was that somebody ended.
with_time() {
  local line told=$((SECONDS / 300))
  while IFS= read -r line; do
    [ $((SECONDS / 300)) = $told ] || echo "-- after $((SECONDS / 60)) min"
    told=$((SECONDS / 300))
    echo "$line"
  done
}

run_part() {
  local part=$1 log=$logs/$1.log start=$SECONDS processor_start code=0 p f s u left_out=0
  processor_start=$(processor)
  echo "== $part, after $((SECONDS / 60)) min"
  if [ $SECONDS -ge $((limit * 60)) ]; then
    failed=$((failed + 1))
    summary+=("$(printf '%-12s not begun: no time is left' "$part")")
    return
  fi
  export test_times=$PWD/$logs/$part.times # scripts/run-test.sh writes it
  export test_searches=$PWD/$logs/$part.searches # scripts/search.sh does
  export test_left_out=$PWD/$logs/$part.left_out
  rm -f "$test_times" "$test_searches"
  : >"$test_left_out"
  touch "$log.begun"
  "part_${part//-/_}" 2>&1 </dev/null | tee "$log" | grep --line-buffered -E '^(PASS|FAIL|SKIP|XFAIL|XPASS|ERROR|FAILED): |^installing|SIGKILL|warning:|error:' | with_time
  code=${PIPESTATUS[0]}
  p=$(($(count PASS "$log") + $(count XFAIL "$log")))
  f=$(($(count FAIL "$log") + $(count XPASS "$log") + $(count ERROR "$log")))
  u=$(grep -c ' unchanged$' "$test_searches" 2>/dev/null)
  left_out=$(wc -l <"$test_left_out")
  s=$(($(count SKIP "$log") - ${u:-0} - left_out))
  if [ "$part" != check ]; then
    left_out=$((left_out + s)) s=0
  elif [ "$s" -gt 0 ]; then
    echo "$part: $s skipped, which is a failure here"
    code=1
  fi
  passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s)) unchanged=$((unchanged + ${u:-0}))
  if [ "$code" = 0 ]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    if [ "$f" -gt 0 ]; then told_by_failed "$part" "$log" >>$logs/failed.log; else tail -n 15 "$log"; fi
    echo "$part FAILED, all of it is in $log"
  fi
  summary+=("$(printf '%-12s %5d s (%4d)  %s%s' "$part" $((SECONDS - start)) $(($(processor) - processor_start)) "$([ "$code" = 0 ] && echo ok || echo FAILED)" \
    "$([ $((p + f + s)) -gt 0 ] && echo ", tests: $p passed, $f failed, $s skipped, $left_out left out")")")
  [ ! -s "$test_searches" ] || summary+=("    searches: $(sort -k 2 "$test_searches" | awk '{ name = $1; sub(/^[^ ]* /, ""); if ($0 != how) { printf "%s%s:", how == "" ? "" : "; ", $0; how = $0 } printf " %s", name }')")
  [ "$part" != check ] || stale_searches
  [ ! -s "$test_times" ] || summary+=("    seconds (of processor time): $(sort -k 2rn "$test_times" | head -n 8 | awk '{ sub(".*/", "", $1); printf "%s%s %d (%d)", NR == 1 ? "" : ", ", $1, $2, $3 }')")
}

# What this tier does not tell: those searches that somebody has to run before the change is done.
stale_searches() {
  local stale
  stale=$(cd build && search_flags=$(made . search_flags) ../scripts/search.sh stale | tr '\n' ' ')
  [ -z "$stale" ] || summary+=("    not searched since something changed (scripts/check.sh searches): $stale")
}

[ "$parts" != "--ahead ${2-}" ] || { make_ahead "$2" && exit; exit 1; }
for part in $parts; do
  case " $all_parts searches " in *" $part "*) ;; *) echo "$0: no part $part; there are: $all_parts searches" >&2 && exit 2 ;; esac
done
if [ -n "$without" ]; then
  left=
  for part in $all_parts; do
    case " $parts " in *" $part "*) ;; *) left="$left $part" ;; esac
  done
  parts=$left
fi
mkdir -p $logs
: >$logs/failed.log
: >$logs/short.log
rm -f $logs/{clang,scripts}.code
later=
for part in $parts; do
  case $part in sanitizers | tsan | clang | scripts) later="$later $part" ;; esac
done
for part in $parts; do
  # shellcheck disable=SC2086
  [ "$part" != check ] || [ -z "$later" ] || build_ahead $later
  run_part "$part"
done
[ -z "$ahead" ] || { wait "$ahead"; ahead=; } # its processor time counts
cat $logs/failed.log # here, since CI's reader has no files
echo
printf '%s\n' "${summary[@]}"
printf '%-12s %5d s (%4d)\n' "all" "$SECONDS" "$(processor)"
cat $logs/short.log # again, since who reads the last lines only has no more than these
echo "$passed passed, $failed failed$([ $((skipped + unchanged)) = 0 ] || echo ", $((skipped + unchanged)) skipped")"
[ "$failed" = 0 ] && [ "$skipped" = 0 ]
