#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Threads that call MPI at the same time (threaded.c). The output depends on seed, ranks and threads only: it is the same each time, and
# Open MPI's. With ranks killed, put back from before main and from newer snapshots, it is that of an undisturbed run, and
# nobody is told of another order of what MPI leaves open than before. A rank that cannot be followed ends the job, with a line; so does one
# that makes checkpoints, too.
# FT_SECONDS: for longer hunts, seconds for each number of ranks.
. "$(dirname "$0")/../lib/test.sh"
seconds=8 worlds="2 3 4" steps=200
if quick; then seconds=4 worlds="3" steps=60; fi
seconds=${FT_SECONDS:-$seconds}
seeded

theirs=
if command -v mpicc.openmpi >/dev/null && command -v mpirun.openmpi >/dev/null; then
    theirs=$tmp/threaded
    mpicc.openmpi -O2 -w -D_GNU_SOURCE -I"$top_srcdir" -o "$theirs" "$here/threaded.c" "$here/progress.c" -lpthread ||
        { fail "threaded.c does not compile with Open MPI"; finish; }
fi
# One file a rank: mpirun tears lines of different ranks apart.
cat >"$tmp/to-file" <<END
exec "\$@" >"$tmp/theirs.\$OMPI_COMM_WORLD_RANK"
END

# same RANKS THREADS
same() {
    for orders in '' -o; do
        # shellcheck disable=SC2086
        run -n "$1" "$built/threaded" -t "$2" -n $steps -s "$seed" $orders
        expect_code 0
        sort "$tmp/out" >"$tmp/ours$orders"
        [ "$(wc -l <"$tmp/ours$orders")" = $(($1 * $2)) ] || fail "$1 ranks, $2 threads: threaded.c prints too little"
    done
    diff "$tmp/ours" "$tmp/ours-o" || fail "$1 ranks, $2 threads: the output differs from the first time (<)"
    [ -n "$theirs" ] || return 0
    rm -f "$tmp"/theirs.*
    bounded 300 mpirun.openmpi --allow-run-as-root --oversubscribe --mca mpi_yield_when_idle 1 -n "$1" \
        sh "$tmp/to-file" "$theirs" -t "$2" -n $steps -s "$seed" || fail "Open MPI: exit code $?"
    cat "$tmp"/theirs.* | sort | diff - "$tmp/ours" || fail "$1 ranks, $2 threads: the output differs from Open MPI's (<)"
}
if records; then same 1 3; fi # one rank has no channel to write the order into
for w in $worlds; do
    same "$w" 2
    same "$w" 4
done

# What a rank was told of messages and threads, it is told again only with what else it did.
if records; then
    for w in $worlds; do
        for snapshot in 0.05 1000; do
            python3 "$here/chaos.py" --ftrun "$ftrun" --ftrun-args "--snapshot $snapshot" --ranks "$w" --seeds 100000 --kills 4 --least 4 \
                --seconds "$seconds" --timeout 120 -- "$built/threaded" -o -t 3 -n 150 -s '{seed}' -p '{dir}' || failed=1
        done
    done
fi

# Without records nobody knows threads again.
run -n 2 --snapshot off "$built/threaded" -t 3 -n 60 -s "$seed" -d
expect_err 'and from the start it would do other things than before, for several of its threads call MPI'

# Two ranks wait for each other. One that has another thread may be helped by that; without, the deadlock is named.
cat >"$tmp/waits.c" <<'END'
#include <mpi.h>
#include <pthread.h>
#include <unistd.h>
static void *help(void *unused)
{
    int x = 0;
    sleep(3);
    MPI_Send(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    return unused;
}
int main(int argc, char **argv)
{
    int me, x, level;
    pthread_t helper;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    if (argc > 1 && me == 0)
        pthread_create(&helper, NULL, help, NULL);
    MPI_Recv(&x, 1, MPI_INT, !me, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(&x, 1, MPI_INT, !me, 0, MPI_COMM_WORLD);
    if (argc > 1 && me == 0)
        pthread_join(helper, NULL);
    return MPI_Finalize();
}
END
"${CC:-cc}" -w "$tmp/waits.c" -I"$top_srcdir/mpi_shim" -o "$tmp/waits" -L"$top_builddir/.libs" -lftmpi -lpthread \
    -Wl,-rpath,"$top_builddir/.libs" || fail "waits.c"
# A checkpoint before another thread calls, or after it.
cat >"$tmp/both.c" <<'END'
#include <ftmpi.h>
#include <pthread.h>
static int x;
static void *call(void *unused) { MPI_Send(&x, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD); return unused; }
int main(int argc, char **argv)
{
    int level;
    pthread_t other;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    for (int i = 0; i < 2; i++)
        if (i == (argc > 1)) {
            MPIX_Checkpoint(&x, sizeof x, NULL, 0);
        } else {
            pthread_create(&other, NULL, call, NULL);
            pthread_join(other, NULL);
        }
    MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Finalize();
}
END
"${CC:-cc}" -w -std=gnu17 "$tmp/both.c" -I"$top_srcdir/mpi_shim" -o "$tmp/both" -L"$top_builddir/.libs" -lftmpi -lpthread \
    -Wl,-rpath,"$top_builddir/.libs" || fail "both.c"
if [ -z "${sanitized-}" ]; then
    for order in '' thread; do
        run -n 2 "$tmp/both" $order
        expect_code 1
        expect_err 'rank [01] makes or loads checkpoints, and several of its threads call MPI: one that is restarted could not follow them'
        expect_err_lines 1
    done
    run -n 2 "$tmp/waits" helped
    expect_code 0
    run -n 2 "$tmp/waits"
    expect_err 'deadlock: rank 0'
fi
finish
