#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Leases: no host is taken for lost while every processor has eight times what it can do, for 20 s (the full tier; else 4 s), also when ftrun may not go
# before others and each of those is in a session of its own (Linux schedules each as a group); a host that says nothing any more is replaced within
# 3 s and a little, as --lease's default has it; and what an idle job says on the wire.
. "$(dirname "$0")/../lib/test.sh"
uses lab
lab_enter "$0" "$@"
lab boot h1 h2 h3
busy=4
if full; then busy=20; fi

# The bytes that have gone over a host's cable, both ways.
traffic() { awk -v port="v$1:" '$1 == port { print $2 + $10 }' /proc/net/dev; }

# overload SECONDS COMMAND...: eight busy processes for each processor, each started by COMMAND.
overload() {
    local seconds=$1 loops=
    shift
    for _ in $(seq $((8 * $(nproc)))); do
        "$@" sh -c 'while :; do :; done' &
        loops="$loops $!"
    done
    sleep "$seconds"
    kill $loops
    [ ! -s "$tmp/err" ] || { fail "overloaded ($*): something was said" && cat "$tmp/err"; }
}
# job_of FTRUN: over h1 and h2, with h3 to spare.
job_of() {
    ftrun=$1 begin -n 2 --host h1,h2,h3 --spares 1 "$top_builddir/compat-tests/chaos/mixed" -v -n 1000000 -b 0 -m 100 -w 10000
    until_true 120 grep -q '^1 op' "$tmp/out" || fail "no output"
}

# As an ordinary user's, who may not make anything go before others.
printf '#!/bin/sh\nexec setpriv --bounding-set -sys_nice --inh-caps -sys_nice "%s" "$@"\n' "$ftrun" >"$tmp/plain"
chmod 755 "$tmp/plain"
if full; then
    job_of "$tmp/plain"
    overload $busy setsid
    kill -TERM "$front"
    ended 120
    nothing_on h1 h2
fi
job_of "$ftrun"
overload $busy env

lost=$(date +%s%N)
lab cut h2
until_true 120 grep -q 'h2.*start again on h3' "$tmp/err" || fail "a silent host is not replaced"
took=$((($(date +%s%N) - lost) / 1000000))
echo "a silent host was known to be lost after $took ms (--lease 3)"
[ $took -lt 30000 ] || fail "that is too late"
kill -TERM "$front"
ended 120
lab heal h2
nothing_on h1 h2 h3

begin -n 2 --host h1,h2 sleep 1000
until_true 120 eval 'lab running h2 | grep -q "sleep 1000"' || fail "no job"
sleep 1
begin=$(date +%s%N)
before=$(traffic h2)
sleep 3
after=$(traffic h2)
rate=$(((after - before) * 1000 / (($(date +%s%N) - begin) / 1000000)))
echo "an idle job: $rate bytes a second to and from a node"
[ $rate -lt 4096 ] || fail "that is a lot"
kill -TERM "$front"
ended 120
nothing_on h1 h2
finish
