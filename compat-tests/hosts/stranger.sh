#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Strangers at every port of a job, while it runs and its connections are broken: they get in nowhere, cost a few log lines and nothing else.
# What listens does so on the job's interface only. (What a stranger may do within the handshake: launcher/net/strangers.)
. "$(dirname "$0")/../lib/test.sh"
uses lab
lab_enter "$0" "$@"
seeded
lab boot h1 h2
mixed="$top_builddir/compat-tests/chaos/mixed -n 1000 -m 20000 -b 0 -w 4000 -s 7"

run -n 2 --host h1,h2 $mixed
expect_code 0
sort "$tmp/out" >"$tmp/wanted"

# Addresses that anything of ours listens at, as seen on HOST ("desk": beside the hosts).
listening() {
    if [ "$1" = desk ]; then ss -Hltn; else lab in "$1" ss -Hltn; fi | awk '{print $4}'
}
have_ports() { [ -n "$(listening desk)" ] && [ -n "$(listening h1)" ] && [ -n "$(listening h2)" ]; }

begin -n 2 --host h1,h2 --iface 10.77.0.0/24 $mixed
until_true 120 have_ports || fail "nobody listens: $(listening desk), $(listening h1), $(listening h2)"
targets=$(listening desk && listening h1 && listening h2)
for address in $targets; do
    case $address in 10.77.0.*) ;; *) fail "listens at $address" ;; esac
done
began=$SECONDS
python3 "$here/stranger.py" 2 "$seed" $targets >"$tmp/strange" &
stranger=$!
for i in 1 2 3; do
    sleep 0.4
    lab reset "h$((i % 2 + 1))" '( sport != :22 )'
done
wait $stranger || fail "$(cat "$tmp/strange")"
grep -q '^[1-9][0-9]* connections' "$tmp/strange" || fail "the stranger: $(cat "$tmp/strange")"
ended 120
expect_code 0
sort "$tmp/out" | cmp -s - "$tmp/wanted" || fail "the output is another one"
# Three processes, one a second each.
[ "$(wc -l <"$tmp/err")" -le $((12 + 3 * (SECONDS - began))) ] || fail "$(wc -l <"$tmp/err") lines about strangers in $((SECONDS - began)) seconds"
nothing_on h1 h2
finish
