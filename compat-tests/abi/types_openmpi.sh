#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Derived datatypes, by a program compiled with Open MPI's header: what it prints under ftrun it prints under Open MPI.
. "$(dirname "$0")/../lib/test.sh"
uses openmpi
theirs types random_types.c
theirs sent_types random_types.c
# of RANKS NAME ARGUMENT...
of() {
    ranks=$1 program=$2
    shift 2
    run -n "$ranks" "$tmp/$program" "$@"
    expect_code 0
    sorted
    bounded 100 mpirun.openmpi --allow-run-as-root --oversubscribe -n "$ranks" "$tmp/$program" "$@" | sort >"$tmp/theirs"
    diff "$tmp/theirs" "$tmp/out" || fail "$program $*: on $ranks ranks the output differs from Open MPI's (<)"
}
for seed in 1 2 3; do
    of 1 types -n 800 -s $seed
    [ "$(wc -l <"$tmp/theirs")" -gt 500 ] || fail "seed $seed: types.c prints too little"
    of 1 sent_types -n 800 -s $seed
done
of 3 sent_types -n 200 -s 4
grep -q ' types are sent' "$tmp/theirs" || fail "sent_types.c prints too little"
theirs bounds
of 3 bounds
grep -q 'three: 12 bytes' "$tmp/theirs" || fail "bounds.c prints too little"
finish
