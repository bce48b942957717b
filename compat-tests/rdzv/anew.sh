#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=dash disable=SC2154
# Finding: an etcd started again without its data and with the same options counted as the old one, for its cluster's number is the same:
# the hosts took what it said for old news, and hosts that came began the job a second time. In the second scene its revision is beyond the
# old one's before any host looks.
. "$(dirname "$0")/../lib/test.sh"
uses rdzv
needs etcd etcd-server
needs curl
needs python3
etcds 1
store=etcd://127.0.0.1:$etcd_ports
puts() { for i in $(seq "$1"); do etcd_put "/others/$i" x; done; }
without_data() {
    etcd_kill 1
    rm -rf "$tmp/etcd1"
    etcd_start 1
    wait_for etcd_answers "$etcd_ports"
}
says_anew() {
    until_true 20 grep -q 'the store has lost its memory' "$tmp/$1.err" ||
        fail "$what: $1 does not hear of it: $(cat "$tmp/$1.err")"
}
# scene NAME: hosts a and b are of the job, and c is a spare; then $forget.
scene() {
    what=$1
    of_job "$1"
    rm -f "$tmp"/[a-e] "$tmp"/[a-e].err
    for host in a b; do host $host 2; done
    awaits a '^joined 0 of 2, .* a b$'
    awaits b '^joined 1 of 2'
    host c 2
    awaits c '^joined -1 of 2'
    "$forget"
    for host in a b c; do says_anew $host; done
    for host in d e; do host $host 2; done
    for host in d e; do awaits $host '^joined -1 of 2, round 1, .* a b$'; done
    ! grep -h '^void\|^failed\|^joined.* round [2-9]' "$tmp"/[a-e] || fail "$what: the round is another one"
    kill_host a
    awaits c '^changed 0 of 2, round 1, .* c b$'
    for host in b c d e; do kill_host $host; done
}
forget_lower() { without_data; }
forget_higher() {
    for host in a b c; do kill -STOP "$(cat "$tmp/$host.pid")"; done
    without_data
    puts 60
    for host in a b c; do kill -CONT "$(cat "$tmp/$host.pid")"; done
}
puts 60
forget=forget_lower
scene lower
without_data
forget=forget_higher
scene higher
finish
