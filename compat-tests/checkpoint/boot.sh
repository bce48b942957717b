#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The bootstrap cache: what a program does once is answered to a rank that comes back by a checkpoint, in any order, with and
# without keys, and the output is that of a run in which nobody dies; what cannot be answered is one line, never a wrong result.
. "$(dirname "$0")/../lib/test.sh"
boot=$built/boot
misuse=$built/misuse

# same NAME ARGUMENTS...: of ftrun; the output is the reference's, and somebody died unless NAME is none
same() {
    name=$1
    shift
    bounded 120 "$ftrun" "$@" >"$tmp/out" 2>"$tmp/err" || fail "$*: exit code $?: $(tail -n 2 "$tmp/err")"
    sort "$tmp/out" | cmp -s - "$tmp/reference.$ranks" || fail "$*: other output: $(tail -n 3 "$tmp/err")"
    case $name in killed) grep -q 'killed by signal' "$tmp/err" || fail "$*: nobody was killed" ;; esac
    grep -q 'from checkpoint' "$tmp/err" && loads=$((loads + 1))
    :
}
loads=0
for ranks in 1 2 3; do
    bounded 120 "$ftrun" -n $ranks "$boot" keys 5 none | sort >"$tmp/reference.$ranks"
    [ "$(wc -l <"$tmp/reference.$ranks")" = $((5 + ranks)) ] || fail "$ranks ranks: the reference is not complete"
    same none -n $ranks --bootstrap-cache "$boot" plain 5 none
    same none -n $ranks "$boot" places 5 none
done

# The situation this was made for: a rank dies after version 2 and comes back to its first part; twice; rank 0; several; all at
# once (all in doubt); in the first part itself; in the first operation of a version.
off="--snapshot off"
set -- '1,2,3,0' '0,2,1,0;0,2,2,1' '0,2,0,0;1,2,0,0;2,2,0,0'
quick || set -- "$@" '0,2,3,0;1,2,3,0;2,2,3,0' '1,2,6,0' '0,3,0,0' '1,1,2,0' '1,0,3,0;2,2,3,0' '1,2,1,0;1,2,3,1;0,2,3,0'
ranks=3
for deaths in "$@"; do
    {
        same killed -n 3 $off "$boot" keys 5 "$deaths" shuffle
        same killed -n 3 $off "$boot" places 5 "$deaths"
        same killed -n 3 $off --bootstrap-cache "$boot" plain 5 "$deaths"
        same killed -n 3 $off --bootstrap-cache "$boot" plain 5 "$deaths" skip
        same killed -n 3 $off "$boot" keys 5 "$deaths" early
    }
done
{
    same killed -n 3 $off --bootstrap-cache "$boot" plain 5 '1,2,3,0' early
    same killed -n 3 $off --bootstrap-cache "$boot" plain 5 '1,2,3,0' helper # one place for first part and rounds, other data
    same killed -n 3 $off "$boot" keys 5 '0,0,6,0;1,0,7,0' early shuffle   # another order by position: what is ahead is settled
    same killed -n 3 "$boot" keys 5 '1,2,3,0' shuffle
    same killed -n 3 $off "$boot" keys 5 '1,2,3,0' gaps
    same killed -n 3 $off --bootstrap-cache "$boot" plain 5 '0,2,3,0;1,2,5,0' gaps
    ranks=1
    same killed -n 1 $off "$boot" keys 5 '0,2,3,0' shuffle
    ranks=2
    same killed -n 2 $off --bootstrap-cache "$boot" plain 5 '0,2,3,0;1,2,5,0'
    bounded 120 "$ftrun" -n 2 $off "$boot" keys 5 '1,2,3,0' random >"$tmp/out" 2>"$tmp/err" || fail "a random seed: $(cat "$tmp/err")"
    bounded 120 "$ftrun" -n 2 $off --bootstrap-cache "$boot" plain 5 '0,2,3,0' random >"$tmp/out" 2>"$tmp/err" ||
        fail "a random seed: $(cat "$tmp/err")"
}
# On several hosts the first rank of each node keeps the results for its own; with one rank or two.
printf '#!/bin/sh\nshift\nexec "$@"\n' >"$tmp/go"
chmod +x "$tmp/go"
ranks=3
for hosts in a:2,b a,b,c; do
    same killed --launcher "exec:$tmp/go" -H $hosts $off "$boot" keys 5 '0,2,0,0;1,2,0,0;2,2,0,0'
    same killed --launcher "exec:$tmp/go" -H $hosts $off "$boot" places 5 '1,2,3,0'
done
last=2
quick || last=8
for seed in $(seq $last); do
    {
        same seed -n 3 $off "$boot" keys 5 "seed:$seed:12" shuffle
        same seed -n 3 $off --bootstrap-cache "$boot" plain 5 "seed:$seed:12" skip
        same seed -n 3 $off "$boot" keys 5 "timer:$seed:15000" shuffle
        same seed -n 3 $off --bootstrap-cache "$boot" plain 5 "timer:$seed:15000"
    }
done
[ $loads -gt 10 ] || fail "only $loads jobs in which a rank came back by a checkpoint"

# Rank 0 killed at each write of an entry: it is torn.
if command -v strace >/dev/null && strace -o /dev/null true 2>/dev/null; then
    at='[ "$FTMPI_RANK$FTMPI_INCARNATION" = 00 ] || exec "$@"; exec strace -qq -o /dev/null -e trace=pwrite64 -e inject=pwrite64:signal=KILL:when=$K "$@"'
    set -- 2 9
    quick || set -- 1 2 3 4 5 6 8 11 14 17
    for K in "$@"; do
        export K
        {
            same killed -n 3 $off sh -c "$at" sh "$boot" keys 5 '1,2,3,0'
            same killed -n 3 $off --bootstrap-cache sh -c "$at" sh "$boot" plain 5 '1,2,3,0'
        }
    done
fi

sanitizers detect_leaks=0 # it cannot look at a traced process
# No memory for an entry: the job goes on, says so once, and reports it; who needs that entry afterwards gets a clear end and no other result.
if command -v strace >/dev/null && strace -o /dev/null true 2>/dev/null; then
    at='[ "$FTMPI_RANK$FTMPI_INCARNATION" = 00 ] || exec "$@"; exec strace -qq -o /dev/null -e trace=pwrite64 -e inject=pwrite64:error=ENOSPC:when=$K "$@"'
    for how in 'keys 2' 'keys 3' 'plain 3'; do
        options=$off K=${how#* }
        export K
        [ "${how% *}" = keys ] || options="$off --bootstrap-cache"
        {
            same none -n 3 $options --report "$tmp/report" sh -c "$at" sh "$boot" "${how% *}" 5 none
            [ "$(grep -c 'the bootstrap cache is not complete: .*No space left' "$tmp/err")" = 1 ] || fail "$how: it is not said once: $(cat "$tmp/err")"
            grep -q '"complete": false' "$tmp/report" || fail "$how: the report does not say so"
            bounded 120 "$ftrun" --quiet -n 3 $options sh -c "$at" sh "$boot" "${how% *}" 5 '1,2,3,0' >"$tmp/out" 2>"$tmp/err"
        }
        code=$?
        [ $code = 16 ] && grep -q 'rank 1 was restarted and, .* but its log has' "$tmp/err" || fail "$how: exit code $code: $(cat "$tmp/err")"
    done
fi
same killed -n 3 --snapshot off --report "$tmp/report" "$boot" keys 5 '1,2,3,0'
grep -q '"answers": [1-9]' "$tmp/report" && grep -q '"complete": true' "$tmp/report" || fail "the report does not tell of the cache"

# wrong CODE PATTERN OPTIONS... WHAT: one line, that code, nothing after it
wrong() {
    code=$1 pattern=$2
    shift 2
    bounded 120 "$ftrun" --quiet --snapshot off "$@" >"$tmp/out" 2>"$tmp/err"
    got=$?
    [ $got = "$code" ] || fail "$*: exit code $got, not $code"
    grep -q -e "$pattern" "$tmp/err" || fail "$*: does not say \"$pattern\": $(cat "$tmp/err")"
    [ "$(wc -l <"$tmp/err")" = 1 ] || fail "$*: not one line: $(cat "$tmp/err")"
    ! grep -q end "$tmp/out" || fail "$*: the program came to its end"
}
wrong 13 'MPI_ERR_ARG: the key "a" (at misuse+0x[0-9a-f]*) was used before' -n 3 "$misuse" twice
wrong 16 'mismatched collectives.*key #[0-9a-f]*) at misuse.*key #[0-9a-f]*) at misuse' -n 3 "$misuse" others
wrong 13 'rank 1 .*MPI_ERR_ARG: MPIX_Allreduce_cached(sum, 2 x int32, key.*of MPIX_Allreduce_cached(sum, 1 x int32, key' -n 3 "$misuse" size
wrong 13 'rank 1 .*MPI_ERR_ARG: .*1 x float.*of MPIX_Allreduce_cached(sum, 1 x int32' -n 3 "$misuse" type
wrong 13 'rank 1 .*MPI_ERR_ARG: .*(max,.*of MPIX_Allreduce_cached(sum' -n 3 "$misuse" operation
wrong 13 'rank 1 .*MPI_ERR_ARG: MPIX_Bcast_cached.*of MPIX_Allreduce_cached' -n 3 "$misuse" kind
wrong 13 'MPI_ERR_ARG: a cached operation without a key (at misuse+0x[0-9a-f]*) is called again' -n 3 "$misuse" again
wrong 16 'rank 1 calls MPIX_Allreduce_cached(sum, 1 x int64, key\|rank 1 was restarted' -n 3 "$misuse" unknown
wrong 16 'rank 1 calls MPI_Allreduce(max, 1 x int64)\|rank 1 was restarted' -n 2 --bootstrap-cache "$misuse" unknown-place
wrong 16 'rank 1 came back by a checkpoint, and its MPI_Allreduce(sum, 1 x int64) at misuse' -n 2 --bootstrap-cache "$misuse" mixed
wrong 16 'rank 1 came back by a checkpoint, and its MPI_Allreduce(sum, 1 x int64) at misuse' -n 2 --bootstrap-cache "$misuse" many
wrong 16 'all ranks came back by a checkpoint' -n 2 --bootstrap-cache "$misuse" order

bounded 120 "$ftrun" -n 3 "$misuse" refused >"$tmp/out" || fail "refused: exit code $?"
[ "$(grep -c ': 1 1 1 1 1, sum 3' "$tmp/out")" = 3 ] || fail "refused: $(cat "$tmp/out")"
bounded 120 "$ftrun" -n 2 "$misuse" alone >"$tmp/out" || fail "alone: exit code $?"
[ "$(grep -c 'alone: 5 6' "$tmp/out")" = 2 ] || fail "alone: $(cat "$tmp/out")"
bounded 120 "$misuse" refused >"$tmp/out" || fail "without ftrun: exit code $?"
grep -q ': 1 1 1 1 1, sum 0' "$tmp/out" || fail "without ftrun: $(cat "$tmp/out")"
[ "$(bounded 120 "$ftrun" -n 1 --bootstrap-cache sh -c 'echo $FTMPI_BOOTSTRAP_CACHE')" = 1 ] || fail "FTMPI_BOOTSTRAP_CACHE is not 1"
finish
