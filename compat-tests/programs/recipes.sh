#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# docs/recipes.md: each recipe, word for word, shows what it says it shows.
set -u
. "$(dirname "$0")/../lib/test.sh"
for tool in gdb valgrind strace python3; do
    command -v $tool >/dev/null || skip "$tool is missing: apt-get install $tool"
done
unset LD_PRELOAD PROBLEM MAKEFLAGS
recipes=$(cd "$top_srcdir" && pwd)/docs/recipes.md
PATH=$(cd "$top_builddir" && pwd):$PATH
FTMPI_RUN_DIR=$tmp/run # this test's jobs only
FTMPI_SNAPSHOT=off # the program goes by FTMPI_INCARNATION as it was at its start
export PATH FTMPI_RUN_DIR FTMPI_SNAPSHOT
mkdir -m 700 "$tmp/run" && cp "$here/recipes.c" "$tmp/program.c" && cd "$tmp" || exit 99
ftmpicc -g program.c -o program || exit 99

# recipe HEADING [N]: its Nth block, which is taken off the list
grep '^## ' "$recipes" >headings
recipe() {
    what="recipe \"$1\""
    sed -i "/^## $1\$/d" headings
    awk -v heading="## $1" -v n="${2-1}" '/^## / {on = $0 == heading} on && /^    / {if (!in_block) i++; in_block = 1; if (i == n) print substr($0, 5)} /^[^ ]/ {in_block = 0}' "$recipes" >block
    [ -s block ] || fail "$what: is not there"
}
# follow [NAME=VALUE...]: runs it; leaves code, out, err
follow() {
    timeout -k 5 120 env "$@" sh block >out 2>err </dev/null
    code=$?
}
shows() { grep -qe "$2" "$1" || { fail "$what: $1 does not show $2" && head -30 "$1"; }; }
undisturbed() { expect_code 0 && shows out '^76$'; }

# A hang, looked at from outside.
PROBLEM=hang ftrun -q -n 4 ./program >job.out 2>&1 &
job=$!
recipe 'Who waits for whom'
waits() { follow && grep -q '^0-1,3 .*in MPI.* 2$' out; }
wait_for waits
expect_code 0
shows out '^2 .*pid [0-9]'
recipe 'gdb on a rank that runs'
follow
expect_code 0
shows out '^#.* lost ()'
shows out '^#.* main (.*program.c'
kill -0 $job || fail "$what: the job does not go on"
ftrun stop >out 2>err || fail "ftrun stop"
wait $job

recipe 'gdb on one rank from its start'
follow PROBLEM=crash
[ "$code" != 0 ] || fail "$what: a crash is no error"
shows out 'SIGSEGV'
shows out '^#.* culprit (p=0x0)'
grep -q restarted err && fail "$what: was restarted"
follow
undisturbed

recipe 'gdb on the successor of a rank that died'
follow PROBLEM=crash-once
undisturbed
shows err 'rank 1 .*restarted, restart 1$'
shows out 'exited normally'
follow
undisturbed
grep -q 'exited normally' out && fail "$what: gdb without a death"

recipe 'Core dumps'
follow PROBLEM=crash
expect_code 139
recipe 'Core dumps' 2
pattern=$(cat /proc/sys/kernel/core_pattern)
case $pattern in
*[\|/]*) echo "core dumps go elsewhere here ($pattern): not looked at" ;;
*)
    core=$(find . -maxdepth 1 -type f -name "$(echo "$pattern" | sed 's/%./*/g')*" | grep -v program | head -1)
    [ -n "$core" ] || fail "$what: no dump"
    [ "$core" = ./core ] || mv "$core" core
    [ "$(stat -c %s core)" -lt 100000000 ] || fail "$what: $(stat -c %s core) bytes"
    follow
    expect_code 0
    shows out '^#0 .* culprit (p=0x0)'
    shows out '^#2 .* main (.*program.c' # of the stack; gdb shows #0 by itself
    ;;
esac

recipe 'valgrind on all ranks'
follow PROBLEM=overrun
expect_code 9
shows valgrind.1 'Invalid read'
shows valgrind.1 ': overrun (program.c'
for rank in 0 1 2 3; do [ -e valgrind.$rank ] || fail "$what: no file for rank $rank"; done
follow
undisturbed
[ -s valgrind.0 ] || [ -s valgrind.1 ] && fail "$what: finds errors in the library" && cat valgrind.[01]

recipe 'AddressSanitizer'
cp program plain
follow PROBLEM=overrun
expect_code 1
cat asan.* >reports
shows reports 'heap-buffer-overflow'
shows reports ' in overrun '
rm -f asan.*
follow
undisturbed
ls asan.* >/dev/null 2>&1 && fail "$what: finds errors in the library" && cat asan.*
mv plain program

recipe 'strace of one rank'
follow PROBLEM=crash-once
undisturbed
shows strace.1.0 'SIGSEGV'
shows strace.1.1 '^[0-9]* *+++ exited with 0 +++'
[ ! -e strace.0.0 ] || fail "$what: of more than one"

[ ! -s headings ] || fail "recipes that nobody tries: $(cat headings)"
finish
