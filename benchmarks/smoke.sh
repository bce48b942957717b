#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Every benchmark runs and every byte of every iteration is right, also after a rank was killed.
: "${top_builddir:=$(pwd)}"
scratch=$(mktemp -d "${TMPDIR:-/tmp}/bench-smoke.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
failed=0
for ranks in 2 3; do
    for name in allreduce bcast reduce allgather allgatherv barrier; do
        sizes="-m 4,1000,70000,1500000"
        [ $name = barrier ] && sizes=
        for kind in -c "-f -T mpi_int"; do
            # shellcheck disable=SC2086
            timeout -k 5 120 "$top_builddir/ftrun" -n $ranks --quiet --report "$scratch/report" \
                "$top_builddir/benchmarks/$name" $sizes -i 6 -x 2 -k 1 $kind >"$scratch/out" 2>&1
            code=$?
            if [ $code -ne 0 ] || ! grep -q 'verification: Pass' "$scratch/out" || grep -q Fail "$scratch/out" ||
                ! grep -q '"recover_seconds": [0-9]' "$scratch/report"; then
                echo "FAILED: $name $kind, $ranks ranks, exit code $code"
                cat "$scratch/out"
                failed=1
            fi
        done
    done
done
timeout -k 5 60 "$top_builddir/ftrun" -n 4 "$top_builddir/benchmarks/init" || failed=1
timeout -k 5 60 "$top_builddir/ftrun" -n 2 "$top_builddir/benchmarks/rewrite" -m 8 -i 100 >"$scratch/out" && grep -q '^[0-9.]*$' "$scratch/out" || failed=1
for snapshot in off 0.01; do
    rm -f "$scratch/killed"
    timeout -k 5 60 "$top_builddir/ftrun" -n 2 --quiet --snapshot $snapshot "$top_builddir/benchmarks/recovery" -t "$scratch/killed" \
        -n 1000 -m 8 -w 0.2 >"$scratch/out" && grep -q '^[0-9.]* [0-9.]* [1-9][0-9.]*$' "$scratch/out" || failed=1
done
exit $failed
