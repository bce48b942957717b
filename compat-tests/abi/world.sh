#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The MPI library with more than one rank: everything comes out right on 1 to 4 ranks, and ranks that disagree are
# told so in one line that names both and both calls, with a non-zero exit and no hang. The quick tier
# leaves out large counts, which are tried on 2 and 4 ranks.
. "$(dirname "$0")/../lib/test.sh"
few=
if quick; then few=quick; fi
# A mismatch case may hang if the engine is wrong; everything else may be slow if the machine is busy.

for n in 1 2 3 4; do
  for program in reductions moves userops; do
    case $n in 1 | 3) counts=quick ;; *) counts=$few ;; esac
    out=$(bounded 240 "$ftrun" -n $n "$built/$program" $counts 2>&1)
    code=$?
    if [ $code -ne 0 ] || [ "$out" != "$program ok on $n ranks" ]; then
      fail "$program on $n ranks, exit $code: $out"
    fi
  done
done

# CASE FIRST SECOND [messages]: what the two calls are, as the message should name them
check() {
  for n in 2 4; do
    out=$(bounded 120 "$ftrun" -n $n "$built/mismatch" "$1" ${4+"$4"} 2>&1)
    code=$?
    lines=$(printf '%s\n' "$out" | wc -l)
    if [ $code -eq 0 ] || [ $code -ge 124 ]; then fail "$1 on $n ranks: exit $code: $out"; continue; fi
    [ "$lines" -eq 1 ] || fail "$1 on $n ranks: $lines lines: $out"
    for word in "$2" "$3"; do
      case $out in *"$word"*) ;; *) fail "$1 on $n ranks does not name '$word': $out" ;; esac
    done
    ranks=$(printf '%s\n' "$out" | grep -oE 'rank [0-9]+' | sort -u | wc -l)
    [ "$ranks" -eq 2 ] || fail "$1 on $n ranks names $ranks ranks: $out"
  done
}

check call 'MPI_Barrier' 'MPI_Allreduce(sum, 10 x double)'
check count 'sum, 11 x double' 'sum, 10 x double'
check large_count 'sum, 200000 x double' 'sum, 199999 x double'
check small_and_large 'sum, 200000 x double' 'sum, 1 x double'
check zero_and_some 'MPI_Bcast(0 x double' 'MPI_Bcast(1 x double'
check type '10 x int64' '10 x double'
check reduction 'MPI_Allreduce(max, 10 x double)' 'MPI_Allreduce(sum, 10 x double)'
check user_reduction 'MPI_Allreduce(user function, 10 x double)' 'MPI_Allreduce(sum, 10 x double)'
check bcast_root 'root 1' 'root 0'
check large_bcast_root 'root 1' 'root 0'
check reduce_root 'root 1' 'root 0'
check large_reduce_root 'root 1' 'root 0'
check large_rooted_reduction 'MPI_Reduce(max, 200000 x double' 'MPI_Reduce(sum, 200000 x double'
check no_reduce_root 'root 0' 'root 1'
check allgather_count 'MPI_Allgather(2 x double' 'MPI_Allgather(1 x double'
check allgatherv_counts 'MPI_Allgatherv(' 'MPI_Allgatherv('
check finalize 'MPI_Finalize' 'MPI_Allreduce(sum, 10 x double)'

# The same where the calls are messages. What two roots send comes to nobody who could tell: ranks wait, and are named as that.
check call 'MPI_Barrier' 'MPI_Allreduce(sum, 10 x double)' messages
check count 'sum, 11 x double' 'sum, 10 x double' messages
check large_count 'sum, 200000 x double' 'sum, 199999 x double' messages
check small_and_large 'sum, 200000 x double' 'sum, 1 x double' messages
check zero_and_some 'MPI_Bcast(0 x double' 'MPI_Bcast(1 x double' messages
check type '10 x int64' '10 x double' messages
check reduction 'MPI_Allreduce(max, 10 x double)' 'MPI_Allreduce(sum, 10 x double)' messages
check user_reduction 'MPI_Allreduce(user function, 10 x double)' 'MPI_Allreduce(sum, 10 x double)' messages
check large_rooted_reduction 'MPI_Reduce(max, 200000 x double' 'MPI_Reduce(sum, 200000 x double' messages
check allgather_count 'MPI_Allgather(2 x double' 'MPI_Allgather(1 x double' messages
check allgatherv_counts 'MPI_Allgatherv(' 'MPI_Allgatherv(' messages

finish
