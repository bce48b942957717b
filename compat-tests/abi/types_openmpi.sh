#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Derived datatypes, by a program compiled with Open MPI's header: what it prints under ftrun it prints under Open MPI.
. "$(dirname "$0")/../lib/test.sh"
uses openmpi
theirs types
for seed in 1 2 3; do
    run -n 1 "$tmp/types" -n 800 -s $seed
    expect_code 0
    bounded 100 mpirun.openmpi --allow-run-as-root --oversubscribe -n 1 "$tmp/types" -n 800 -s $seed >"$tmp/theirs" ||
        fail "Open MPI: exit code $?"
    diff "$tmp/theirs" "$tmp/out" || fail "seed $seed: the output differs from Open MPI's (<)"
    [ "$(wc -l <"$tmp/theirs")" -gt 500 ] || fail "seed $seed: types.c prints too little"
done
# of NAME ARGUMENT...: on three ranks.
of() {
    program=$1
    shift
    run -n 3 "$tmp/$program" "$@"
    expect_code 0
    sort -o "$tmp/out" "$tmp/out"
    bounded 100 mpirun.openmpi --allow-run-as-root --oversubscribe -n 3 "$tmp/$program" "$@" | sort >"$tmp/theirs"
    diff "$tmp/theirs" "$tmp/out" || fail "$program: of 3 ranks the output differs from Open MPI's (<)"
}
of types -n 200 -s 4
theirs bounds
of bounds
grep -q 'three: 12 bytes' "$tmp/theirs" || fail "bounds.c prints too little"
finish
