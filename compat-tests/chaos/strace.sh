#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# DESIGN section 6: within the log's prepared memory a collective makes no system call but those that wait. Snapshots are off: under a
# trace on a busy machine the program takes more than the second after which the first one is due.
. "$(dirname "$0")/../lib/test.sh"
needs strace
strace -o /dev/null true 2>/dev/null || skip "strace may not trace here"
for bind in core none; do
    bounded 120 strace -f -o "$tmp/trace" "$ftrun" -n 2 --bind-to $bind --snapshot off --log-prepare 16M \
        "$built/strace_allreduce" >"$tmp/out" || { fail "exit code $?"; cat "$tmp/out"; finish; }
    [ "$(sort "$tmp/out" | tr '\n' ' ')" = "0 10001 1 10001 " ] || { fail "wrong results"; cat "$tmp/out"; finish; }
    # Lines are "PID call(...". A call that another process's output interrupts comes in two lines; the second has "<...".
    awk '
        $2 ~ /^getppid\(/ { marks[$1]++; if (marks[$1] == 1) ranks++; if (marks[$1] == 2) ended++; next }
        marks[$1] == 1 && $2 != "<..." {
            name = $2
            sub(/\(.*/, "", name)
            count[name]++
            if (name !~ /^(sched_yield|futex|membarrier|restart_syscall)$/) { bad = 1; print "not a waiting call:", $0 }
        }
        END {
            if (ranks != 2 || ended != 2) { print "the marks of two ranks are not in the trace"; exit 1 }
            for (name in count) printf "%d %s, ", count[name], name
            print "by 2 ranks in 10,000 allreduces each"
            exit bad
        }' "$tmp/trace" || fail "a call that should not be there (above), --bind-to $bind"
done

# With nothing prepared no rank maps what others have asked for, but what it is about to write, half an extent (2 MiB) at most: of 64 ranks each mapped
# 28 MiB in MPI_Init, half the time of an empty program.
bounded 120 strace -f -e trace=madvise -o "$tmp/trace" "$ftrun" -n 12 "$built/strace_allreduce" >"$tmp/out" ||
    { fail "12 ranks: exit code $?"; cat "$tmp/out"; finish; }
awk -F'[(,]' '
    /MADV_POPULATE_READ/ { maps++; if ($3 > 2097152) { bad++; if (bad == 1) print "maps too much:", $0 } }
    END {
        if (!maps) { print "nothing is mapped ahead"; exit 1 }
        printf "%d steps mapped ahead by 12 ranks, %d of them too large\n", maps, bad
        exit bad > 0
    }' "$tmp/trace" || fail "what is mapped ahead (above)"
finish
