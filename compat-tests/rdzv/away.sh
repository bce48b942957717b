#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=dash disable=SC2154
# etcd is away for ten seconds, five leases: the hosts say so, keep what they have, and go on; who comes
# meanwhile waits.
. "$(dirname "$0")/../lib/test.sh"
uses rdzv
needs etcd etcd-server
needs curl
needs python3
etcds 1
store=etcd://127.0.0.1:$etcd_ports
of_job away
host a 2
host b 2
awaits a '^joined 0 of 2'
awaits b '^joined 1 of 2'
etcd_kill 1
host c 2
sleep 10
etcd_start 1
until_true 20 grep -q 'the store answers again' "$tmp/a.err" || fail "a does not hear of it: $(cat "$tmp/a.err")"
grep -q '^ftrun: --rdzv: the store does not answer, and is asked again until it does: 127.0.0.1:' "$tmp/a.err" || fail "a does not say so: $(cat "$tmp/a.err")"
awaits c '^joined -1 of 2, round 1, .* a b$'
! grep -q '^void\|^failed' "$tmp/a" "$tmp/b" || fail "they have lost their round: $(cat "$tmp/a" "$tmp/b")"
kill_host b
awaits c '^changed 1 of 2, round 1, spares 0: a c$'

# Nothing is there at all.
url="etcd://127.0.0.1:$(free_ports 1)/nowhere?timeout=2&lease=2"
host d 1
awaits d '^failed --rdzv: the store at etcd://.* has not answered within 2 s (127.0.0.1:'
finish
