#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Derived datatypes, by a program compiled with Open MPI's header: what it prints under ftrun it prints under Open MPI.
. "$(dirname "$0")/../lib/test.sh"
needs mpicc.openmpi libopenmpi-dev
needs mpirun.openmpi openmpi-bin
mpicc.openmpi -O2 -w -D_GNU_SOURCE -I"$top_srcdir" -o "$tmp/types" "$here/types.c" || { fail "types.c does not compile with Open MPI"; finish; }
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
mpicc.openmpi -O2 -w -D_GNU_SOURCE -I"$top_srcdir" -o "$tmp/bounds" "$here/bounds.c" || fail "bounds.c does not compile with Open MPI"
of bounds
grep -q 'three: 12 bytes' "$tmp/theirs" || fail "bounds.c prints too little"
finish
