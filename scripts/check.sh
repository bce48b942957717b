#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Everything that is checked, on a fresh Debian 12 with root or sudo: installs what is missing, builds in build/, runs
# the tests and says how long each part took. The last line counts the tests of all parts and the parts themselves.
# A test that skips because something is not installed is all right under `make check`, and a failure here. (The parts
# that run the quick tier leave some tests out; those are not counted as skipped: part `check` has them all.)
#   check.sh [PART...]   only these parts
set -u
cd "$(dirname "$0")/.." || exit 2
. scripts/packages.sh
. scripts/build.sh

all_parts="packages build check distcheck sanitizers clang scripts quickstart no-respawn"
parts=${*:-$all_parts}
logs=build/check
passed=0 failed=0 skipped=0
summary=()

# Each part is a function; its output goes to a log, of which the tests' own lines are shown as they come.

part_packages() {
  # shellcheck disable=SC2154,SC2086
  need $packages_build $packages_train $packages_check
}

part_build() { build_in build; }

# tests_in DIRECTORY [MAKE-ARGUMENT...]: test programs are compiled on all cores, tests run one at a time, because
# some of them want the machine to themselves.
tests_in() {
  local directory=$1
  shift
  make -C "$directory" -j"$(nproc)" check TESTS= "$@" && make -C "$directory" -k check "$@"
}

part_check() { tests_in build; }

# The parts below compile everything with their own settings, so that is where warnings count.
part_distcheck() { FT_TIER=quick make -C build -j"$(nproc)" distcheck DISTCHECK_CONFIGURE_FLAGS=--enable-werror; }

part_sanitizers() {
  build_in build/san --enable-sanitizers=address,undefined CFLAGS='-g -O1' CXXFLAGS='-g -O1' && FT_TIER=quick tests_in build/san
}

part_clang() {
  build_in build/clang --enable-werror CC=clang CXX=clang++ && make -C build/clang -j"$(nproc)" check TESTS=
}

part_scripts() { shellcheck scripts/*.sh .ci/run compat-tests/xgboost/*.sh && PYTHONPYCACHEPREFIX=$logs/pycache python3 -m py_compile compat-tests/xgboost/*.py; }

part_quickstart() { scripts/quickstart.sh; }

part_no_respawn() {
  local output
  output=$(scripts/quickstart.sh --no-respawn 2>&1)
  local code=$?
  echo "$output"
  # for the right reason: the undisturbed run was fine, the other one ended
  [ $code = 1 ] && grep -q '^FAILED: 4 kills: ftrun ended with code' <<<"$output" && ! grep -q '^FAILED: undisturbed' <<<"$output"
}

# count WORD LOG: the number that automake's summaries in LOG give for WORD, added up.
count() { awk -v word="# $1:" '$1 " " $2 == word { sum += $3 } END { print sum + 0 }' "$2"; }

run_part() {
  local part=$1 log=$logs/$1.log start=$SECONDS code=0 p f s left_out=0
  echo "== $part"
  "part_${part//-/_}" 2>&1 </dev/null | tee "$log" | grep --line-buffered -E '^(PASS|FAIL|SKIP|XFAIL|XPASS|ERROR|FAILED): |^installing|SIGKILL|warning:|error:'
  code=${PIPESTATUS[0]}
  p=$(($(count PASS "$log") + $(count XFAIL "$log")))
  f=$(($(count FAIL "$log") + $(count XPASS "$log") + $(count ERROR "$log")))
  s=$(count SKIP "$log")
  if [ "$part" != check ]; then
    left_out=$s s=0
  elif [ "$s" -gt 0 ]; then
    echo "$part: $s skipped, which is a failure here"
    code=1
  fi
  passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
  if [ "$code" = 0 ]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    [ "$f" -gt 0 ] || tail -n 15 "$log"
    echo "$part FAILED, all of it is in $log"
  fi
  summary+=("$(printf '%-12s %5d s  %s%s' "$part" $((SECONDS - start)) "$([ "$code" = 0 ] && echo ok || echo FAILED)" \
    "$([ $((p + f + s)) -gt 0 ] && echo ", tests: $p passed, $f failed, $s skipped, $left_out left out")")")
}

mkdir -p $logs
for part in $parts; do
  case " $all_parts " in *" $part "*) run_part "$part" ;; *) echo "$0: no part $part; there are: $all_parts" >&2 && exit 2 ;; esac
done
echo
printf '%s\n' "${summary[@]}"
printf '%-12s %5d s\n' "all" "$SECONDS"
echo "$passed passed, $failed failed$([ "$skipped" = 0 ] || echo ", $skipped skipped")"
[ "$failed" = 0 ] && [ "$skipped" = 0 ]
