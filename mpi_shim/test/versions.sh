#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Checkpoints: a program that makes one in each round prints the same, each line once, whoever is killed where: before, while and after
# it is made, in the first operation of a version, before, in and after a load, twice in one version, all ranks at once. Each way
# back is taken, and the log behind checkpoints is released.
# shellcheck disable=SC2154 # make check sets top_srcdir, top_builddir
. "$top_srcdir/launcher/test/lib.sh"
program=$top_builddir/mpi_shim/test/versions
case $program in /*) ;; *) program=$(pwd)/$program ;; esac
full=$([ -n "${FTMPI_TEST_QUICK-}" ] || echo yes)

# same OPTIONS ARGS KILL...: as without kills; every one of them has happened. OPTIONS and ARGS are one word each.
same() {
    options=$1 args=$2
    shift 2
    # shellcheck disable=SC2086
    timeout 60 "$ftrun" $options $program $args 2>/dev/null | sort >"$tmp/want"
    [ -s "$tmp/want" ] || fail "$options $program $args prints nothing"
    # shellcheck disable=SC2086
    run $options --report "$tmp/report" "$program" $args $(printf 'kill=%s ' "$@")
    expect_code 0
    sort "$tmp/out" | cmp -s "$tmp/want" - || { fail "$what: output differs"; sort "$tmp/out" | diff "$tmp/want" - | head; }
    grep -q 'not what it was before' "$tmp/err" && fail "$what: a line was printed differently"
    [ "$(grep -c way_back "$tmp/report")" = $# ] || fail "$what: $(grep -c way_back "$tmp/report") restarts, not $#"
}
way() { grep -q "\"way_back\": \"$1\"" "$tmp/report" || fail "$what: no way back is \"$1\""; }

for n in 1 2 4; do
    run -n $n "$program" 7
    expect_code 0
    [ "$(grep -c 'has made 7 versions' "$tmp/out")" = $n ] || fail "$what: not all ranks have made all versions"
done
"$program" 3 >"$tmp/out" || fail "without ftrun"

places='-1,0 -1,1 -1,2 0,0 0,2 0,3 1,0 1,1 1,3 2,2'
[ -z "$full" ] || places="$places 0,1 1,2 2,0 2,1 2,3 3,0 3,1 3,2 3,3 4,0 4,1 4,2 4,3 5,0 5,1"
for at in $places; do
    same '-n 3 --snapshot off' 5 "1,$at,0"
    case $at in -*|0,*) way start ;; 1,0|1,1) ;; *) way checkpoint ;; esac
done
same '-n 3 --snapshot off' 5 0,2,3,0 # the rank that keeps the global model
same '-n 3 --snapshot off' 5 0,2,1,0 1,2,1,0 2,2,1,0
same '-n 3 --snapshot off' 5 0,2,1,0 1,2,2,0 2,3,0,0
same '-n 4 --snapshot off' 5 0,2,1,0 0,2,0,1 0,2,3,2 1,3,0,0 1,3,0,1
same '-n 2 --snapshot off' 5 0,3,3,0 1,3,3,0 0,-1,1,1 0,-1,2,2 1,-1,2,1 # on the way back
same '-n 1 --snapshot off' 5 0,3,0,0 0,4,1,1
same '-n 3 --snapshot off' '5 late' 1,-1,2,0 0,4,2,0 1,2,3,1
same '-n 3 --snapshot off' '9 lazy' 1,3,0,0 0,4,3,0
same '-n 3 --snapshot off' '5 big=5000000' 1,3,1,0 0,4,0,0
same '-n 3 --snapshot 0.002' 5 0,2,1,0 1,3,3,0
same '-n 3 --snapshot auto' '5 snapshot' 0,2,3,0 1,3,3,0
way snapshot

# Nobody holds the log behind a checkpoint; and memory for it that is full.
same '-n 3 --snapshot off' 90 1,60,2,0 0,85,1,0
released=$(sed -n 's/.*"released_bytes": \([0-9]*\).*/\1/p' "$tmp/report")
[ "$released" -gt 0 ] || fail "$what: nothing of the log is released"
same '-n 3 --snapshot off --log-full forget --log-limit 16M' 60 1,30,2,0 0,55,0,0
way checkpoint
finish
