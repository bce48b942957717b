#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# scripts/search.sh skips a search only if nothing that it searches has changed, and remembers only what was searched whole.
# And scripts/searches leaves nothing out: whatever a search is made of or reads is among its inputs.
set -u
top=${top_srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
build=${top_builddir:-$(pwd)}
tmp=$(mktemp -d "${TMPDIR:-/tmp}/ftmpi-searches.XXXXXX") || exit 99
trap 'rm -rf "$tmp"' EXIT
trap 'exit 99' INT TERM HUP
bad=0
complain() { echo "FAIL: $*"; bad=1; }
unset FT_TIER FT_SEED FT_MUTANTS test_searches

# ---- a search of its own, in a tree of its own ----

mkdir -p "$tmp/src/code/deep" "$tmp/bin"
echo 'int a;' >"$tmp/src/code/a.c"
echo 'int b;' >"$tmp/src/code/deep/b.h"
mkdir "$tmp/src/elsewhere" && echo 'int main(void) { return 0; }' >"$tmp/src/elsewhere/main.c"
${CC:-cc} -g -o "$tmp/program" "$tmp/src/elsewhere/main.c" || exit 99
echo '# nothing yet' >"$tmp/src/searched"
printf 'set = code\nfake | cc flags | set\ncheat | %s | set\nlost | cc | set gone\n' "$tmp/program" >"$tmp/src/searches"
cat >"$tmp/fake" <<'END'
echo run >>"$ran"
eval "$meanwhile"
echo "$says"
exit $code
END
printf '#!/bin/sh\necho "$compiler (Its Maker) 1"\n' >"$tmp/bin/cc"
chmod +x "$tmp/bin/cc"

# fake NAME: goes through search.sh; its exit code in got, whether it ran in runs.
fake() {
  : >"$tmp/ran"
  ran=$tmp/ran top_srcdir=$tmp/src FT_SEARCHES=$tmp/src/searches FT_SEARCHED=$tmp/src/searched CC=$tmp/bin/cc FT_TIER=$tier FT_SEED=$seed \
    sh "$top/scripts/search.sh" run "$1" sh "$tmp/fake" >"$tmp/out" 2>&1
  got=$?
  runs=$(wc -l <"$tmp/ran")
  lines=$(grep -vc '^#' "$tmp/src/searched")
}
says="searched whole" code=0 meanwhile=: compiler=gcc search_flags=-O2 tier=normal seed=''
export says code meanwhile compiler search_flags
# expect WHAT RUNS CODE LINES
expect() { [ "$runs $got $lines" = "$2 $3 $4" ] || complain "$1: ran $runs times with code $got, $lines lines; not $2, $3, $4: $(cat "$tmp/out")"; }

code=1; fake fake; expect "a search that fails is not remembered" 1 1 0
code=0 says="looked around"; fake fake; expect "one that leaves something out is not remembered" 1 0 0
says="searched whole, nearly"; fake fake; expect "one that says something like it is not remembered" 1 0 0
says="searched whole" meanwhile='echo "int c;" >"$top_srcdir/code/a.c"'; fake fake; expect "what changes meanwhile is not remembered" 1 0 0
meanwhile=: tier=full; fake fake; expect "the full tier is not remembered" 1 0 0
tier=normal seed=3; fake fake; expect "a seed of somebody's is not remembered" 1 0 0
seed='' code=77 says="no compiler"; fake fake; expect "one that cannot run is not remembered" 1 77 0
code=0 says="searched whole"; fake fake; expect "what was searched whole is remembered" 1 0 1
fake fake; expect "what is unchanged is skipped" 0 77 1
tier=quick; fake fake; expect "... in the quick tier, too" 0 77 1
tier=full; fake fake; expect "the full tier skips nothing" 1 0 1
tier=normal seed=3; fake fake; expect "a seed skips nothing" 1 0 1
seed=''
cp "$tmp/src/searched" "$tmp/before"
printf 'int b:' >"$tmp/src/code/deep/b.h"; code=1; fake fake; expect "a changed byte is searched" 1 1 1
cmp -s "$tmp/before" "$tmp/src/searched" || complain "a search that failed has changed what is remembered"
echo 'int b;' >"$tmp/src/code/deep/b.h"; fake fake; expect "what is as it was is skipped" 0 77 1
echo 'int t;' >"$tmp/src/code/d_test.c"; fake fake; expect "a unit test does not count" 0 77 1
echo 'int d;' >"$tmp/src/code/d.c"; code=0; fake fake; expect "a new file is searched, and the line replaced" 1 0 1
mv "$tmp/src/code/d.c" "$tmp/src/code/e.c"; fake fake; expect "a new name is searched" 1 0 1
echo object >"$tmp/src/code/e.o"; fake fake; expect "what is no source does not count" 0 77 1
search_flags=-O3; fake fake; expect "other flags are searched, and have a line of their own" 1 0 2
compiler=clang; fake fake; expect "another compiler is searched" 1 0 3
search_flags=-O2 compiler=gcc; fake fake; expect "what was searched with these is not forgotten" 0 77 3
compiler=cc; fake fake; expect "cc is gcc" 0 77 3
echo 'int f;' >"$tmp/src/code/e.c"; fake fake & fake fake; wait; fake fake; expect "two at a time" 0 77 3
echo "gone 1 tools" >>"$tmp/src/searched"; echo 'int g;' >"$tmp/src/code/e.c"; fake fake; expect "what is no search any more is forgotten" 1 0 3
[ "$(head -n 1 "$tmp/src/searched")" = '# nothing yet' ] || complain "the head of what is remembered is gone"
find "$tmp/src" -name 'searched.*' | grep . && complain "something is left lying about"
fake lost; expect "an input that is not there is an error" 0 99 3
fake cheat; expect "a program that is made of what is no input is an error" 0 99 3
grep -q ' elsewhere/main.c$' "$tmp/out" || complain "it does not say which: $(cat "$tmp/out")"

# ---- the searches there are ----

# among NAME FILE-WITH-PATHS: all of them are inputs.
among() {
  sh "$top/scripts/search.sh" inputs "$1" >"$tmp/inputs" || complain "$1: no inputs"
  sort -u "$2" | comm -23 - "$tmp/inputs" >"$tmp/missing"
  [ -s "$2" ] || complain "$1: nothing seen"
  [ ! -s "$tmp/missing" ] || complain "$1: not among its inputs: $(tr '\n' ' ' <"$tmp/missing")"
}

# headers PROGRAM: of its units, and theirs; but for config.h, which has nothing in it that the searched code asks for.
headers() {
  (cd "$build" && sh "$top/scripts/search.sh" units "$1") >"$tmp/units"
  # shellcheck disable=SC2046
  (cd "$top" && ${CC:-cc} -MM -D_GNU_SOURCE -DHAVE_CONFIG_H -DFT_REDUCE_TABLE=t -DFT_COPY_TABLE=t -I. -I"$build" $(cut -d ' ' -f 1 "$tmp/units" | sort -u | xargs ls -d 2>/dev/null)) >"$tmp/rules" ||
    complain "$1: what it includes cannot be found out"
  sed 's/^[^ ]*://; s/\\$//' "$tmp/rules" | tr -s ' ' '\n' | grep -v -e '^$' -e '/config\.h$' | sed 's|^\./||' >"$tmp/seen"
  among "$1" "$tmp/seen"
}

# A compiler that only reads. What it makes fails, as mutants do.
cat >"$tmp/bin/reader" <<'END'
#!/bin/sh
for word; do
  [ "$last" != -o ] || out=$word
  case $word in -I* | -D* | -std=* | *.c) words="$words $word" ;; esac
  last=$word
done
$real -M $words >/dev/null && printf '#!/bin/sh\nexit 1\n' >"$out" && chmod +x "$out"
END
chmod +x "$tmp/bin/reader"
real=${CC:-cc}
export real

# reads NAME [ARGUMENT...]: in a short run of it. (Whole folders are copied there: unit tests and makefiles are nothing to it.)
reads() {
  name=$1 compiler=$tmp/bin/reader
  shift
  case $name in ft/model/*) compiler=$real ;; esac
  CC=$compiler strace -f --seccomp-bpf -qq -e trace=open,openat -e signal=none -o "$tmp/trace" sh "$top/$name" "$@" >"$tmp/out" 2>&1
  case $? in
    0) ;;
    77) cat "$tmp/out" && return ;;
    *) complain "$name $*: $(tail -n 3 "$tmp/out")" ;;
  esac
  grep -qx 'searched whole' "$tmp/out" && complain "$name $*: says that it has searched all"
  sed -n "/ENOENT/d; s|^[^\"]*\"$top/\\([^\"]*\\)\".*|\\1|p" "$tmp/trace" | while read -r file; do
    case $top/$file in "$build"/*.[oa] | "$build"/.libs/* | *_test.c | *.mk) ;; *) [ -d "$top/$file" ] || echo "$file" ;; esac
  done >"$tmp/seen"
  among "$name" "$tmp/seen"
}

if ! strace -f --seccomp-bpf -o "$tmp/trace" true 2>/dev/null; then
  echo "no strace: what scripts read cannot be seen"
  [ $bad = 0 ] || exit 1
  exit 77
fi
for name in $(sh "$top/scripts/search.sh" names); do
  case $name in
    ft/test/mutants.sh) FT_MUTANTS='^a barrier leaves no record' && export FT_MUTANTS && reads "$name" ;;
    ft/test/sim_mutants.sh) reads "$name" "a partial is begun" ;;
    ft/model/*.sh) reads "$name" "$(sed -n 's/^ *broken \([A-Z_]*\) .*/\1/p' "$top/$name" | head -n 1)" ;;
    *.sh) complain "$name: which short run of it shows what it reads?" ;;
    *) headers "$name" ;;
  esac
done
exit $bad
