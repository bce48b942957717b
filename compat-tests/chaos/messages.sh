#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Messages between two ranks, in patterns that a seed chooses (patterns.c). The output depends on nothing else: it is the same each
# time, and Open MPI's. With ranks killed, with snapshots and without, it is that of an undisturbed run, byte for byte, and nobody is
# told of another order of what MPI leaves open than before. FT_SECONDS: for longer hunts, seconds for each number of ranks.
. "$(dirname "$0")/../lib/test.sh"
seconds=8 worlds="2 3 4" steps=200 least=10
if quick; then seconds=2 worlds="4" steps=60 least=5; fi
seconds=${FT_SECONDS:-$seconds}
snapshots="0.05 off"
records || snapshots=off # there are none
seeded

theirs=
if command -v mpicc.openmpi >/dev/null && command -v mpirun.openmpi >/dev/null; then
    theirs=$tmp/patterns
    mpicc.openmpi -O2 -w -D_GNU_SOURCE -I"$top_srcdir" -o "$theirs" "$here"/patterns*.c "$here/progress.c" ||
        { fail "patterns.c does not compile with Open MPI"; finish; }
fi
# One file a rank: mpirun tears lines of different ranks apart.
cat >"$tmp/to-file" <<END
exec "\$@" >"$tmp/theirs.\$OMPI_COMM_WORLD_RANK"
END

# same RANKS STEPS [OPTION...]: three times, once with open orders in what is sent, which the output does not show.
same() {
    n=$1 many=$2
    shift 2
    run -n "$n" "$built/patterns" -n "$many" -s "$seed" "$@"
    expect_code 0
    by_rank "$tmp/out" >"$tmp/ours"
    [ "$(grep -c ' step ' "$tmp/ours")" -ge $((n * (many < 20 ? many : 20))) ] || fail "$n ranks: patterns.c prints too little"
    for orders in '' -o; do
        # shellcheck disable=SC2086
        run -n "$n" "$built/patterns" -n "$many" -s "$seed" $orders "$@"
        expect_code 0
        by_rank "$tmp/out" | diff "$tmp/ours" - || fail "$n ranks: the output differs from the first time (<)"
    done
    [ -n "$theirs" ] || return 0
    rm -f "$tmp"/theirs.*
    bounded 300 mpirun.openmpi --allow-run-as-root --oversubscribe --mca mpi_yield_when_idle 1 -n "$n" \
        sh "$tmp/to-file" "$theirs" -n "$many" -s "$seed" "$@" || fail "Open MPI: exit code $?"
    cat "$tmp"/theirs.* | by_rank | diff - "$tmp/ours" || fail "$n ranks: the output differs from Open MPI's (<)"
}
for w in 1 $worlds 7; do
    same "$w" $steps
done
for w in 12 16; do
    quick || same "$w" 40
done
# Without kills: more than is kept for a receiver that is late.
quick || same 2 6 -k flood

for w in $worlds; do
    for snapshot in $snapshots; do
        python3 "$here/chaos.py" --ftrun "$ftrun" --ftrun-args "--snapshot $snapshot" --ranks "$w" --seeds 100000 --kills 5 --least $least \
            --seconds "$seconds" --timeout 120 -- "$built/patterns" -o -n 400 -s '{seed}' -p '{dir}' || failed=1
    done
done
if records; then
    run -n 3 --check-replay "$built/patterns" -o -n 80 -s "$seed"
    expect_code 0
    expect_err 'records: all exact'
fi
finish
