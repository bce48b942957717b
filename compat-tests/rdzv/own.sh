#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2154
# etcd-embedded://: the hosts of a job start its etcds themselves. One is killed, or its data damaged; a host is lost with its disk and comes back, and its
# etcd joins the others anew; two are lost at once: the job goes on in its places, and changes wait. What is left when all have gone.
. "$(dirname "$0")/../lib/test.sh"
uses lab
lab_enter "$0" "$@"
uses rdzv
needs etcd etcd-server
needs curl
needs python3
port=2379

# host_on HOST MIN:MAX: a member there, of the host's name.
host_on() {
    [ -p "$tmp/$1.in" ] || mkfifo "$tmp/$1.in"
    lab in "$1" "$member" "$url" "$1" "$2" <>"$tmp/$1.in" >"$tmp/$1" 2>"$tmp/$1.err" &
    echo $! >>"$pids"
}
hears() { until_true 20 grep -q -s -e "$2" "$tmp/$1.err" || fail "$1 does not tell \"$2\": $(cat "$tmp/$1" "$tmp/$1.err")"; }
healthy() { curl -s -m 2 "http://$1:$port/health" | grep -q '"true"'; }
etcd_of() { lab running "$1" | awk '/etcd --name/ { print $1 }'; }
leads() {
    curl -s -m 2 "http://$1:$port/v3/maintenance/status" -d '{}' |
        python3 -c 'import json, sys; s = json.load(sys.stdin); sys.exit(s["leader"] != s["header"]["member_id"])'
}
running() {
    curl -s -m 2 "http://$1:$port/v3/cluster/member/list" -d '{}' |
        python3 -c 'import json, sys; print(len([m for m in json.load(sys.stdin)["members"] if m.get("clientURLs")]))'
}
three_run() { [ "$(running "$1")" = 3 ]; }

scene_three() {
    local name first
    url='etcd-embedded://h1,h2,h3/own?lease=2&last_call_timeout=1&timeout=20'
    for name in h1 h2 h3; do host_on $name 3; done
    for name in h1 h2 h3; do awaits $name '^joined [0-2] of 3, .* h1 h2 h3$'; done
    host_on h4 3
    awaits h4 '^joined -1 of 3'
    for name in h1 h2 h3; do healthy $name || fail "no etcd on $name"; done
    [ -z "$(etcd_of h4)" ] || fail "an etcd on h4, too"

    # The leader of the etcds.
    for name in h1 h2 h3; do
        if leads $name; then first=$name; fi
    done
    lab in "$first" sh -c 'kill -KILL "$(pgrep -x etcd)"'
    hears "$first" 'etcd was killed by signal 9 (SIGKILL); it is started again'
    wait_for healthy "$first"

    # The process that tends it.
    lab in h1 sh -c 'kill -KILL "$(awk "/^PPid/ { print \$2 }" "/proc/$(pgrep -x etcd)/status")"'
    hears h1 'the process of ftrun that tends etcd has ended; another one is started'
    wait_for healthy h1

    # What one has on disk is damaged.
    lab in h3 sh -c 'for file in /tmp/ftmpi-etcd-*/*/data/member/wal/*.wal; do
        yes damaged | head -c 2048 | dd of="$file" bs=64 seek=2 conv=notrunc status=none; done; kill -KILL "$(pgrep -x etcd)"'
    hears h3 'etcd cannot go on with what it had on disk; it joins the others anew'
    hears h3 'etcd takes the place of one that is lost'
    wait_for three_run h1
    wait_for healthy h3

    # A host, with its disk; its place is taken, and it is back with an empty one.
    lab kill h2
    awaits h1 '^changed 0 of 3, round 1, spares 0: h1 h4 h3$'
    lab boot h2
    host_on h2 3
    hears h2 'etcd takes the place of one that is lost'
    awaits h2 '^joined -1 of 3, .* h1 h4 h3$'
    wait_for healthy h2
    wait_for three_run h1

    # Two at once: no majority. Those that live go on in their places; who comes back cannot join.
    lab kill h2 h3
    hears h1 'the store does not answer, and is asked again until it does'
    lab boot h3
    host_on h3 3
    hears h3 'etcd cannot join the others: .*it is tried again until they have a majority'
    for name in h1 h4; do
        ! grep -q '^void\|^failed\|^closed' "$tmp/$name" || fail "$name: $(cat "$tmp/$name")"
    done
    [ "$(grep -c '^changed\|^joined' "$tmp/h4")" -ge 1 ] || fail "h4: $(cat "$tmp/h4")"
}
# One host names the others' only etcd. It leaves last, though it is told first, and nothing is left.
scene_one() {
    local name
    url='etcd-embedded://h5/one?lease=3&last_call_timeout=1&timeout=20'
    for name in h5 h6; do host_on $name 2; done
    for name in h5 h6; do awaits $name '^joined'; done
    say h5 leave
    awaits h6 '^changed .* h5! h6$'
    say h6 leave
    for name in h6 h5; do awaits $name '^left$'; done
    wait_for nothing_runs h5
    [ -z "$(find "$LAB/h5/tmp" -path '*ftmpi-etcd*' -type f)" ] || fail "left: $(find "$LAB/h5/tmp" -type f)"
    return 0
}

lab boot h1 h2 h3 h4 h5 h6
(scene_one && exit "$failed") >"$tmp/one.said" 2>&1 & # not by asides_end, which would wait for the hosts
one=$!
scene_three
wait "$one" || failed=1
cat "$tmp/one.said"
mkdir "$tmp/nothing"
lab in h5 env PATH="$tmp/nothing" "$member" etcd-embedded://h5/none h5 2 >"$tmp/out" && fail "without etcd it begins"
grep -q 'needs etcd on h5, which is not installed: apt-get install etcd-server' "$tmp/out" || fail "without etcd: $(cat "$tmp/out")"
finish
