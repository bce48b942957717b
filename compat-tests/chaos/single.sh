#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Two ranks that read in each other's memory (--single-copy) print what they print without: undisturbed, when ranks are killed, and when they cannot read
# there, as where each has a process namespace of its own, in which the other one's number is another process's or nobody's. So do two that each make all of an allreduce
# (--allreduce doubled).
. "$(dirname "$0")/../lib/test.sh"
operations=400
if quick; then operations=100; fi

# mixed NAME OPTION...: its output in $tmp/NAME
mixed() {
    name=$1
    shift
    bounded 120 "$ftrun" -n 2 --quiet "$@" "$built/mixed" -m 300000 -n $operations -s 5 $kills >"$tmp/$name" 2>"$tmp/$name.err" ||
        fail "$name: exit code $?: $(head -n 3 "$tmp/$name.err")"
    by_rank "$tmp/$name" | cmp -s - "$tmp/want" || [ "$name" = off ] || fail "$name: prints something else than without it"
}

kills=
mixed off --single-copy off --allreduce halved
by_rank "$tmp/off" >"$tmp/want"
[ -s "$tmp/want" ] || fail "nothing is printed"
mixed on --single-copy on
mixed doubled --single-copy off --allreduce doubled
kills="-k 0:$((operations / 4)),1:$((operations / 2)),0:$((operations * 3 / 4))"
mixed killed --single-copy on
FTMPI_CORES=far mixed killed_far --single-copy on  # lent, and taken out of the log
mixed killed_doubled --single-copy off --allreduce doubled
FTMPI_SNAPSHOT=0.05 mixed snapshots --single-copy on --allreduce doubled
kills=

bounded 60 "$ftrun" -n 2 -vv --single-copy on "$built/mixed" -n 5 2>&1 >/dev/null | grep -q "single copy: each rank reads" || fail "-vv does not tell of single copy"
bounded 60 "$ftrun" -n 2 -vv --single-copy off "$built/mixed" -n 5 2>&1 >/dev/null | grep -q "single copy" && fail "--single-copy off has single copy"
bounded 60 "$ftrun" -n 3 -vv --single-copy on "$built/mixed" -n 5 2>&1 >/dev/null | grep -q "single copy" && fail "three ranks have single copy"
for way in doubled halved; do
    told=$(bounded 60 "$ftrun" -n 2 -vv --allreduce $way "$built/mixed" -n 5 2>&1 >/dev/null | grep -c "allreduce: each rank makes all of it")
    [ $way:$told = doubled:1 ] || [ $way:$told = halved:0 ] || fail "-vv --allreduce $way tells of it $told times"
done
# Of what the machine is asked at the start: that it did not answer is told, or nobody knows why the next job has other ways.
for n in 2 3; do
    bounded 60 taskset -c "$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')" "$ftrun" -n $n -vv "$built/mixed" -n 5 2>&1 >/dev/null |
        grep -q 'could not be tried' || fail "-n $n on one processor: -vv does not tell that nothing was tried"
    bounded 60 taskset -c "$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')" "$ftrun" -n $n -vv --single-copy off --allreduce halved "$built/mixed" -n 5 2>&1 >/dev/null |
        grep -q 'could not be tried' && [ $n = 2 ] && fail "-vv tells of a trial that nobody wanted"
done
bounded 60 "$ftrun" --single-copy perhaps true 2>"$tmp/err"
[ $? = 2 ] && grep -q 'wanted: auto|on|off' "$tmp/err" || fail "--single-copy perhaps: $(cat "$tmp/err")"

for begins in "" other; do
    bounded 60 "$ftrun" -n 2 --quiet --single-copy on "$built/threads" $begins >"$tmp/out" 2>&1 || fail "threads $begins: exit code $?: $(head -n 3 "$tmp/out")"
    [ "$(grep -c '^done$' "$tmp/out")" = 2 ] || fail "threads $begins: $(head -n 3 "$tmp/out")"
done

# That ranks read there, and that they do not find it where there is none: counted by the system calls.
if command -v strace >/dev/null && unshare -f -p true 2>/dev/null; then
    # Traced they take so long that the cores would be far from each other.
    calls() { grep -h process_vm_readv "$tmp"/trace.* | grep -c "= [0-9]"; }
    FTMPI_CORES=near bounded 120 "$ftrun" -n 2 --quiet --single-copy on strace -f -o "$tmp/trace" -ff -e trace=process_vm_readv "$built/mixed" -m 300000 -n 200 -s 5 >/dev/null 2>&1
    [ "$(calls)" -gt 2 ] || fail "nobody reads in another rank's memory"
    tokens=$(grep -h process_vm_readv "$tmp"/trace.* | grep -c ", 2, 0) *=")
    [ "$tokens" = 2 ] || fail "$tokens reads of the other one's token by two ranks, undisturbed; one each is enough"
    mixed apart --single-copy on unshare -f -p --kill-child
else
    echo "(no strace, or no process namespaces: ranks that cannot read are not tried)"
fi
finish
