#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Checkpoints with messages under way: each round's are received two rounds later. Whoever is killed where, with and without snapshots, alone or all of
# them, in memory and out of files, each message is received once, and what is printed is what it is without kills. What a checkpoint has no
# place for is refused on all ranks, and they go on.
# shellcheck disable=SC2154 # checkpoints.sh sets wanted
. "$(dirname "$0")/../lib/test.sh"
uses checkpoints
program=$built/underway

for n in 1 2 3 4; do
    for args in 5 '5 comm' '5 lazy'; do
        run -n $n "$program" $args
        expect_code 0
    done
done

places='-1,0 0,0 0,2 2,3 3,6 3,7 4,1'
quick || places="$places 0,1 0,4 0,5 1,0 1,3 1,4 1,5 2,0 2,1 2,2 2,4 2,5 2,6 2,7 3,0 3,1 3,2 3,3 3,4 3,5 4,0 4,2 4,3 4,4 4,5 4,6 4,7"
for at in $places; do
    same 3 '--snapshot off' 6 "1,$at,0"
    case $at in -*|0,?) way start ;; *) way checkpoint ;; esac
done
same 2 '--snapshot off' 6 0,3,1,0 0,3,4,1 1,3,3,0 1,4,6,1
same 4 '--snapshot off' 6 0,3,7,0 1,3,7,0 2,3,7,0 3,3,7,0
same 1 '--snapshot off' 6 0,3,4,0 0,4,4,1
same 3 '--snapshot off' '6 comm' 1,3,3,0 2,4,6,0 # what a rank makes before it loads is in the log only
way start
if records; then
    same 3 '--snapshot 0.002' '40 slow' 1,20,4,0 0,30,2,0
    way snapshot
    same 3 '--snapshot 0.002' '40 slow comm' 1,20,4,0 0,30,2,0
    way snapshot
fi

# The log of channels is released behind checkpoints, too.
same 3 '--snapshot off --log-limit 16M' 150 1,140,4,0
way checkpoint
released 16000000
# ... but not what is still to be received (was a broken invariant).
same 3 '--snapshot off --log-limit 16M' '60 lag=50' 1,58,4,0

# All begin again from a checkpoint in memory.
others=may
same 3 '--snapshot off --log-full forget --log-limit 16M --start-over always' '130 comm' 1,110,4,0 0,120,2,1
way all
expect_err 'all ranks start again from checkpoint 110'

# ... and out of a file; again; and out of one whose ranks had other streams for their communicators.
for args in '' ' comm'; do
    rm -rf ckpt
    wants 3 "9$args"
    run --stdin none -n 3 --ckpt-dir ckpt "$program" 3$args
    expect_code 0
    grep -v ' ends with ' "$tmp/out" >all
    run --stdin none -n 3 --ckpt-dir ckpt --resume "$program" 6$args
    expect_code 0
    grep -v ' ends with ' "$tmp/out" >>all
    run --stdin none -n 3 --ckpt-dir ckpt --resume --start-over always "$program" 9$args kill=1,6,3,0 kill=0,8,0,0
    expect_code 0
    cat "$tmp/out" >>all
    sort all | cmp -s "$wanted" - || { fail "$what: output differs"; sort all | diff "$wanted" - | head; }
done

# Refused, on all ranks alike, with the program's handler; when all is received it is made.
# refused ERRORS LINE WHAT...
refused() {
    errors=$1 line=$2
    shift 2
    run --stdin none -n 3 "$program" 0 "$@" returns
    expect_code 0
    [ "$(grep -c 'an error, class 1' "$tmp/out")" = "$errors" ] || { fail "$what: not $errors errors"; cat "$tmp/out"; }
    run --stdin none -n 3 "$program" 0 "$@"
    [ "$code" != 0 ] || fail "$what: the job does not end"
    expect_err "$line"
}
refused 3 'MPIX_Checkpoint_load, and not all messages that were sent before are received' wrong=early
refused 6 'MPIX_Checkpoint has no place for what rank 1 has (receives under way: 1)' wrong=receive
refused 6 'MPIX_Checkpoint has no place for what rank 1 has (sends under way: 2)' wrong=send
refused 6 'MPIX_Checkpoint has no place for what rank 2 has (messages taken by MPI_Mprobe: 1)' wrong=probe
refused 6 'MPIX_Checkpoint has no place for what rank 2 has (communicators made after MPIX_Checkpoint_load: 1)' wrong=made
refused 9 'MPIX_Checkpoint has no place for what rank 2 has (communicators made before MPIX_Checkpoint_load and freed: 1)' wrong=freed comm
finish
