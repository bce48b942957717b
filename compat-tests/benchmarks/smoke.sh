#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Every benchmark runs and every byte of every iteration is right, also after a rank was killed; what -c finds and what it
# prints; OSU's options and columns.
. "$(dirname "$0")/../lib/test.sh"
export FTMPI_START_OVER=always # the ranks tell each other in a file how far their cores are
benchmarks=$top_builddir/benchmarks

# bench RANKS PROGRAM OPTION...: its output in $tmp/out, its exit code in $code
bench() {
    ranks=$1 program=$2
    shift 2
    bounded 120 "$ftrun" -n "$ranks" --quiet --report "$tmp/report" "$benchmarks/$program" "$@" >"$tmp/out" 2>&1
    code=$?
}
wrong() {
    fail "$1, exit code $code"
    cat "$tmp/out"
}
line() { grep -q "$1" "$tmp/out" || wrong "$program: no line $1"; }

unsized() { case $1 in barrier | dup | split) echo "$1" ;; esac }
after_a_kill() {
    sizes="-m 8,1000,70000,1500000"
    [ -n "$(unsized "$2")" ] && sizes=
    bench "$1" "$2" $sizes -i 6 -x 2 --kill 1 $3
    [ $code = 0 ] && grep -q 'verification: Pass' "$tmp/out" && ! grep -q Fail "$tmp/out" &&
        grep -q '"recover_seconds": [0-9]' "$tmp/report" && return
    wrong "$2 $3, $1 ranks"
}

collectives="allreduce bcast reduce allgather allgatherv barrier dup split"
messages="latency bandwidth bibandwidth anysource"
for name in $collectives $messages; do
    after_a_kill 2 "$name" -c
    quick && continue
    after_a_kill 2 "$name" "-f -T mpi_int"
    case $messages in *$name*) after_a_kill 4 "$name" "-c -T all" ;; *) after_a_kill 3 "$name" "-c -T all" ;; esac
done

# A library that works wrongly is found, also if only the last of the calls was wrong: two to warm up, three timed.
preload=$(cd "$benchmarks/.libs" && pwd)/libwrong.so
preload="$(ldd "$preload" | awk '/lib[at]san/ { print $3 }') $preload" # sanitizers insist on being first
for name in $collectives $messages; do
    call=5 ranks=3
    [ -n "$(unsized "$name")" ] && call=0
    case $messages in *$name*) ranks=2 ;; esac
    bounded 120 "$ftrun" -n $ranks --quiet -x FTBENCH_WRONG=$call -x LD_PRELOAD="$preload" "$benchmarks/$name" \
        -m 1000:1000 -i 3 -x 2 -c >"$tmp/out" 2>&1
    code=$?
    [ $code = 1 ] || wrong "$name -c with a library that computes wrongly"
    program=$name
    line " Fail\$"
done

# What scripts read OSU's output by.
bench 2 bandwidth -m 4:16 -i 5
line '^# Size       Avg Latency(us)   Bandwidth(MB/s)        Messages/s$'
[ "$(grep -Ec '^(4|8|16) +[0-9]+\.[0-9]{2} +[0-9]+\.[0-9]{2} +[0-9]+$' "$tmp/out")" = 3 ] || wrong "bandwidth's rows"
bench 3 latency
[ $code = 2 ] || wrong "latency on 3 ranks"
bench 2 allreduce -m 4:16 -f -c -i 5
line '^# ftmpi MPI Allreduce Latency Test$'
line '^# Datatype: MPI_FLOAT\.$'
line '^# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations        Validation$'
[ "$(grep -Ec '^(4|8|16) +[0-9]+\.[0-9]{2} +[0-9]+\.[0-9]{2} +[0-9]+\.[0-9]{2} +5 +Pass$' "$tmp/out")" = 3 ] || wrong "allreduce's rows"
bench 2 bcast --message-size 1:2 --iterations 5 --warmup 1 -T mpi_char,mpi_double -m 8: -M 64 --root-rank fixed:1
[ "$(awk '/^[0-9]+ +[0-9.]+$/ { printf "%s ", $1 }' "$tmp/out")" = "8 16 32 64 8 16 32 64 " ] || wrong "bcast's sizes"
line '^14 sizes are left out'
bench 2 barrier -i 5
[ "$(grep -Ec '^ +[0-9]+\.[0-9]{2}$' "$tmp/out")" = 1 ] || wrong "barrier's row"
# A list of iterations; a rank that dies comes back through calls whose number was a matter of time.
bench 2 allreduce -m 8,1k,2k -f -i 3,5 -x 1 --start 20 --settle 1 --kill 1
[ "$(awk '/^[0-9]/ { printf "%s %s ", $1, $5 }' "$tmp/out")" = "8 3 1024 5 2048 5 " ] || wrong "-i 3,5"
line 'verification: Pass'
# --touch changes nothing that is sent or received.
for each in "2 allreduce" "3 bcast" "3 reduce" "2 allgather" "2 allgatherv"; do
    bench $each -m 8,70000 -i 5 -x 2 -c --touch --kill 1
    [ "$code:$(grep -c Pass "$tmp/out")" = 0:3 ] || wrong "$each --touch"
done
for bad in "-k 0" "-i 0" "-i 3,x" "--settle x" "--start x" "-m 8,x" "-T mpi_long" "--kill 2" "--what" "-m" "8"; do
    bench 2 allreduce $bad
    [ $code = 2 ] || wrong "allreduce $bad"
done

bench 4 init
line '^nprocs: 4, min: [0-9.]* ms, max: [0-9.]* ms, avg: [0-9.]* ms$'
bench 2 rewrite -m 8 -i 100
line '^[0-9.]*$'
for snapshot in off 0.01; do
    rm -f "$tmp/killed"
    bounded 120 "$ftrun" -n 2 --quiet --snapshot $snapshot "$benchmarks/recovery" -t "$tmp/killed" -n 1000 -m 8 -w 0.2 >"$tmp/out" ||
        fail "recovery, --snapshot $snapshot: code $?"
    grep -q '^[0-9.]* [0-9.]* [1-9][0-9.]* [0-9.]* [1-9][0-9.]*$' "$tmp/out" || fail "recovery, --snapshot $snapshot"
done
# Between one size and the next the two measure how far they are from each other; a successor, which is alone with that, goes on.
bench 2 bcast -m 8,70000 -i 20 --line-file "$tmp/line" --kill 1
[ $code = 0 ] || wrong "bcast --line-file"
line '^# Line 8 [0-9.]* [0-9.]*$'
line '^# Line 70000 [0-9.]* [0-9.]*$'
line 'verification: Pass'
rm "$tmp/line"
bench 4 allreduce -m 8,70000 -i 20 -c --line-file "$tmp/line" --kill 1 # two measure, two sleep
[ $code = 0 ] || wrong "allreduce --line-file, 4 ranks"
line '^# Line 8 [0-9.]* [0-9.]*$'
line '^# Line 70000 [0-9.]* [0-9.]*$'
line 'verification: Pass'
bench 2 bcast -m 8,70000 --line-file "$tmp/nowhere/line"
[ $code = 2 ] || wrong "bcast --line-file, no directory"
line 'nowhere/line: No such file'

# No MPI: compares its results itself.
if [ "$(nproc)" -gt 1 ]; then
    bounded 120 "$benchmarks/bare" -m 8,200000 -r 1 -t 100 allreduce bcast reduce allgather >"$tmp/out" 2>&1
    code=$?
    [ $code = 0 ] || wrong "bare"
    [ "$(grep -Ec '^[a-z]+ +(8|200000) +-?[0-9.]+ +-?[0-9.]+   [a-z]' "$tmp/out")" = 8 ] || wrong "bare's rows"
fi
bounded 60 "$benchmarks/yields" -r 1 -t 1000 2 4 >"$tmp/out" 2>&1
code=$?
[ $code = 0 ] || wrong "yields"
[ "$(grep -Ec '^ +[24] +[0-9.]+ +[0-9.]+   \(' "$tmp/out")" = 2 ] || wrong "yields' rows"
bounded 20 "$benchmarks/bare" scatter >"$tmp/out" 2>&1
code=$? program=bare
[ $code = 2 ] || wrong "bare scatter"
line 'no operation scatter'
finish
