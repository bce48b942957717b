#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=dash disable=SC2154
# Many hosts at once over a real etcd, and over the store in one of them: all join, and the place of one that is lost is taken within two leases.
# FT_RUNS: so many hosts (40; the full tier: 1,000).
. "$(dirname "$0")/../lib/test.sh"
uses rdzv
needs etcd etcd-server
needs curl
needs python3
hosts=40
! full || hosts=1000
hosts=${FT_RUNS:-$hosts}
crowd() {
    what="$hosts hosts, $1"
    bounded $((60 + hosts)) "$built/crowd" "$url" "$hosts" "$tmp/secret" >"$tmp/out" 2>"$tmp/err" || fail "$what: code $?: $(cat "$tmp/out")"
    echo "$what: $(tr '\n' ' ' <"$tmp/out")"
    awk '/^joined/ { joined = 1 } /is taken/ { taken = $(NF - 1) < 20000 + '"$hosts"' * 20 } END { exit !(joined && taken) }' "$tmp/out" || fail "$what: $(cat "$tmp/out")"
}
echo 0123456789abcdef0123456789abcdef >"$tmp/secret"
chmod 600 "$tmp/secret"
etcds 1
url=etcd://127.0.0.1:$etcd_ports/crowd
crowd etcd
url=rdzv://127.0.0.1:$(free_ports 1)/crowd
crowd "the store in one of them"
finish
