#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=dash disable=SC2154
# Three etcds: their leader is killed, and one of the job's hosts with it; the job goes on by the other
# two. URLs name them in any order.
. "$(dirname "$0")/../lib/test.sh"
uses rdzv
needs etcd etcd-server
needs curl
needs python3
etcds 3
list=$(for port in $etcd_ports; do printf '127.0.0.1:%s,' "$port"; done)
store=etcd://${list%,}
of_job three
host a 3
host b 3
host c 3
for name in a b c; do awaits $name '^joined'; done
host d 3
awaits d '^joined -1'
leads() {
    curl -s -m 2 "http://127.0.0.1:$(cat "$tmp/etcd$1.port")/v3/maintenance/status" -d '{}' |
        python3 -c 'import json, sys; s = json.load(sys.stdin); sys.exit(s["leader"] != s["header"]["member_id"])'
}
for i in 1 2 3; do
    if leads $i; then first=$i; fi
done
kill -KILL "$(cat "$tmp/etcd$first.pid")"
kill_host b
awaits d '^changed 1 of 3, round 1, spares 0: a d c$'
awaits a '^changed 0 of 3, round 1, spares 0: a d c$'
host b 3
awaits b '^joined -1 of 3'
! grep -q '^void\|^failed' "$tmp/a" "$tmp/c" "$tmp/d" || fail "$(cat "$tmp/a" "$tmp/c" "$tmp/d")"
finish
