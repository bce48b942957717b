#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Checkpoints: a program that makes one in each round prints the same, each line once, whoever is killed where: before, while and after
# it is made, in the first operation of a version, before, in and after a load, twice in one version, all ranks at once. Each way
# back is taken, and the log behind checkpoints is released.
# shellcheck disable=SC2154 # checkpoints.sh sets wanted
. "$(dirname "$0")/../lib/test.sh"
uses checkpoints
program=$built/versions

for n in 1 2 4; do
    run -n $n "$program" 7
    expect_code 0
    [ "$(grep -c 'has made 7 versions' "$tmp/out")" = $n ] || fail "$what: not all ranks have made all versions"
done
"$program" 3 >"$tmp/out" || fail "without ftrun"

places='-1,1 0,0 0,3 1,0 2,2'
quick || places="$places -1,0 -1,2 0,1 0,2 1,1 1,2 1,3 2,0 2,1 2,3 3,0 3,1 3,2 3,3 4,0 4,1 4,2 4,3 5,0 5,1"
for at in $places; do
    same 3 '--snapshot off' 5 "1,$at,0"
    case $at in -*|0,*) way start ;; 1,0|1,1) ;; *) way checkpoint ;; esac
done
same 3 '--snapshot off' 5 0,2,3,0 # the rank that keeps the global model
same 3 '--snapshot off' 5 0,2,1,0 1,2,1,0 2,2,1,0
same 3 '--snapshot off' 5 0,2,1,0 1,2,2,0 2,3,0,0
same 4 '--snapshot off' 5 0,2,1,0 0,2,0,1 0,2,3,2 1,3,0,0 1,3,0,1
same 2 '--snapshot off' 5 0,3,3,0 1,3,3,0 0,-1,1,1 0,-1,2,2 1,-1,2,1 # on the way back
same 1 '--snapshot off' 5 0,3,0,0 0,4,1,1
same 3 '--snapshot off' '5 late' 1,-1,2,0 0,4,2,0 1,2,3,1
same 3 '--snapshot off' '9 mixed' 1,3,0,0 0,4,3,0
if ! quick; then
    same 3 '--snapshot off' '42 lazy' 1,30,0,0 0,41,1,0 # after one second, and after two
    way checkpoint
fi
same 3 '--snapshot off' '5 big=5000000' 1,3,1,0 0,4,0,0
same 3 '--snapshot 0.002' 5 0,2,1,0 1,3,3,0
same 3 '--snapshot auto' '9 snapshot' 0,5,3,0 1,6,3,0 0,7,3,1 # with models mapped, which snapshots do not have
grep -q 'gets no .*snapshot' "$tmp/err" && fail "$what: $(grep 'gets no' "$tmp/err")"
if records; then way snapshot; else way checkpoint; fi

# Nobody holds the log behind a checkpoint; and memory for it that is full.
same 3 '--snapshot off' 160 1,60,2,0 0,85,1,0
released 1
same 3 '--snapshot off --log-full forget --log-limit 16M' 60 1,30,2,0 0,55,0,0
way checkpoint

# If nobody has the log since the last checkpoint, all ranks begin with that.
VERSIONS_LOADS=$tmp/loads
export VERSIONS_LOADS
# again RESTARTS KILL...: those before the first one are all ranks'
again() {
    want=$1
    shift
    wants 3 '5 flood=3'
    rm -f "$tmp/loads"
    run --stdin none -n 3 --snapshot off --log-full forget --log-limit 16M --report "$tmp/report" "$program" 5 flood=3 $(printf 'kill=%s ' "$@")
    expect_code 0
    sort "$tmp/out" | cmp -s "$wanted" - || { fail "$what: output differs"; sort "$tmp/out" | diff "$wanted" - | head; }
    expect_err 'all ranks start again from checkpoint 3'
    way all
    [ "$(grep -c way_back "$tmp/report")" = "$want" ] || fail "$what: $(grep -c way_back "$tmp/report") restarts, not $want"
    for rank in 0 1 2; do
        grep -q "^$rank 3$" "$tmp/loads" || fail "$what: rank $rank has not loaded version 3"
    done
}
again 3 1,3,2,0
again 6 1,3,2,0 0,3,1,1 2,4,3,1 # the second is of the same log
again 5 1,3,2,0 1,-1,1,1 2,5,0,1
unset VERSIONS_LOADS

# What goes wrong is said, and is nobody's hang or wrong number.
same 3 '--snapshot off' '5 poor' 1,2,3,0 1,2,0,1
run -n 3 "$program" 5 poor
expect_code 0
[ "$(grep -c 'makes, but for version 3 there is no memory' "$tmp/out")" = 3 ] || fail "$what: not every rank is told"
run -n 3 "$program" 3 errors
expect_code 0
refused() { # WORD ARGS..., and what is said
    said=$1
    shift
    run -n 3 --snapshot off "$program" "$@"
    [ "$code" != 0 ] && [ "$code" -lt 124 ] || fail "$what: exit code $code"
    expect_err "$said"
}
refused 'mismatched collectives.*MPIX_Checkpoint(.* x byte)' 5 differ
refused 'rank 1 was restarted and calls MPI_Barrier at .* before its checkpoint is loaded' 5 strange kill=1,2,2,0
quick || refused 'cannot serialise its model' 40 lazy speechless
finish
