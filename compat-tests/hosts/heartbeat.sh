#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Leases: no host is taken for lost while every processor has eight times what it can do, for 20 s (the full tier; else 4 s); a host that says nothing any
# more is replaced within 3 s and a little, as --lease's default has it; and what an idle job says on the wire.
# shellcheck source=compat-tests/hosts/lib.sh
. "$(dirname "$0")/lib.sh"
lab boot h1 h2 h3
busy=4
if full; then busy=20; fi

# The bytes that have gone over a host's cable, both ways.
traffic() { awk -v port="v$1:" '$1 == port { print $2 + $10 }' /proc/net/dev; }

begin -n 2 --host h1,h2,h3 --spares 1 "$programs/mixed" -v -n 1000000 -b 0 -m 100 -w 10000
until_true 20 grep -q '^1 op' "$scratch/out" || fail "no output"
loops=
for _ in $(seq $((8 * $(nproc)))); do
    sh -c 'while :; do :; done' &
    loops="$loops $!"
done
sleep $busy
# shellcheck disable=SC2086
kill $loops
[ ! -s "$scratch/err" ] || { fail "overloaded: something was said" && cat "$scratch/err"; }

lost=$(date +%s%N)
lab cut h2
until_true 10 grep -q 'h2.*start again on h3' "$scratch/err" || fail "a silent host is not replaced"
took=$((($(date +%s%N) - lost) / 1000000))
echo "a silent host was known to be lost after $took ms (--lease 3)"
[ $took -lt 4500 ] || fail "that is too late"
kill -TERM "$job"
ended 20
lab heal h2
nothing_on h1 h2 h3

begin -n 2 --host h1,h2 sleep 1000
until_true 20 eval 'lab running h2 | grep -q "sleep 1000"' || fail "no job"
sleep 1
before=$(traffic h2)
sleep 3
after=$(traffic h2)
echo "an idle job: $(((after - before) / 3)) bytes a second to and from a node"
[ $(((after - before) / 3)) -lt 4096 ] || fail "that is a lot"
kill -TERM "$job"
ended 20
nothing_on h1 h2
finish
