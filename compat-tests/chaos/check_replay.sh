#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# ftrun --check-replay: a restarted rank that contributes other data than before is named in one line (rank, host, unit, call,
# count, call site) and the job ends; without the option it runs, and a program that is deterministic sees no difference
# (DESIGN, invariant 6).
. "$(dirname "$0")/../lib/test.sh"
FTMPI_SNAPSHOT=off # the program goes by FTMPI_INCARNATION as it was at its start
export FTMPI_SNAPSHOT
host=$(hostname)

# WHAT CALL [OPTION...]: what the message must name
differs() {
    what=$1 call=$2
    for ranks in 2 3; do
        bounded 120 "$ftrun" -n $ranks --quiet --check-replay "$built/stamp" "$what" >"$tmp/out" 2>"$tmp/err"
        code=$?
        [ $code -ne 0 ] && [ $code -ne 124 ] && [ $code -ne 137 ] || fail "$what, $ranks ranks: exit code $code"
        [ "$(wc -l <"$tmp/err")" = 1 ] || { fail "$what, $ranks ranks: not one line:"; cat "$tmp/err"; }
        line=$(cat "$tmp/err")
        case $line in
        *"rank 1 (host $host) was restarted and, at unit "[0-9]*" in $call"*" at stamp+0x"*"contributed other data than before its restart"*) ;;
        *"rank 1 (host $host) was restarted and, in message "[0-9]*" to rank 0, $call with tag 7 at stamp+0x"*" (before: at stamp+0x"*"), sends other data than before its restart"*) ;;
        *) fail "$what, $ranks ranks: the line does not say it all: $line" ;;
        esac
        [ ! -s "$tmp/out" ] || fail "$what, $ranks ranks: the program went on"
    done
    echo "$line"
    bounded 120 "$ftrun" -n 2 --quiet "$built/stamp" "$what" >"$tmp/out" 2>"$tmp/err" || fail "$what, not checked: exit code $?"
    [ "$(cat "$tmp/out")" = finished ] || fail "$what, not checked: $(cat "$tmp/out")"
    [ ! -s "$tmp/err" ] || fail "$what, not checked: $(cat "$tmp/err")"
}

differs bcast "MPI_Bcast(4 x int32, root 1)"
differs allreduce "MPI_Allreduce(sum, 4 x int32)"
differs in_place "MPI_Allreduce(sum, 4 x int32)"
differs reduce "MPI_Reduce(sum, 4 x int32, root 0)"
differs allgather "MPI_Allgather(4 x int32)"
differs allgatherv "MPI_Allgatherv("
differs large "MPI_Allreduce(sum, 200000 x int32)"
differs contiguous "MPI_Allgather(4 x int32)"
differs user "MPI_Allreduce(user function, 2 x 8-byte type)"
differs send "16 bytes"
differs send_large "800000 bytes"
differs send_apart "32 bytes"

for what in none padding send_padding; do
    for ranks in 2 3; do
        bounded 120 "$ftrun" -n $ranks --quiet --check-replay "$built/stamp" $what >"$tmp/out" 2>"$tmp/err" ||
            fail "$what, $ranks ranks: exit code $?"
        [ "$(cat "$tmp/out")" = finished ] || fail "$what, $ranks ranks: $(cat "$tmp/out")"
        [ ! -s "$tmp/err" ] || fail "$what, $ranks ranks: $(cat "$tmp/err")"
    done
done

# Every function, type and size, three ranks killed: nothing is called different that is not.
bounded 120 "$ftrun" -n 3 --quiet "$built/mixed" -n 600 -s 5 >"$tmp/calm" || fail "mixed: exit code $?"
bounded 120 "$ftrun" -n 3 --quiet --check-replay "$built/mixed" -n 600 -s 5 -k 1:580,0:300,2:450 >"$tmp/wild" 2>"$tmp/err" ||
    fail "mixed, checked: exit code $?: $(cat "$tmp/err")"
by_rank "$tmp/calm" >"$tmp/calm.sorted"
by_rank "$tmp/wild" | cmp - "$tmp/calm.sorted" || fail "mixed, checked: the output differs"
[ ! -s "$tmp/err" ] || fail "mixed, checked: $(cat "$tmp/err")"
finish
