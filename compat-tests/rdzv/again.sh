#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2154,SC2046
# The host that leads is lost, and the job with it. The same command on each host again, while the store still has the old round: a new
# round, and the job goes on from its last checkpoint.
. "$(dirname "$0")/../lib/test.sh"
uses lab
lab_enter "$0" "$@"
uses join
needs etcd etcd-server
needs curl
lab boot h1 h2 h3
store=etcd://10.77.0.254:2379
etcd --data-dir "$tmp/etcd" --listen-client-urls http://10.77.0.254:2379 --advertise-client-urls http://10.77.0.254:2379 \
    --listen-peer-urls http://127.0.0.1:2380 >"$tmp/etcd.log" 2>&1 &
wait_for curl -s -m 2 -o /dev/null http://10.77.0.254:2379/health
begins() {
    fresh
    for host in h1 h2 h3; do
        on "$host" --nodes 3 -n 6 --lease 2 --ckpt-dir "$tmp/ckpt" --resume=auto "$top_builddir/compat-tests/checkpoint/versions" 40 slow
    done
    led
}
of_job again
begins
wait_for test -e "$tmp/ckpt/checkpoint-0000000005.ftmpi"
lost=$leader
lab lose "$lost"
leaves 1 $(others h1 h2 h3)
for host in $(others h1 h2 h3); do says "$host" "the ftrun on $lost, which runs job again, cannot be reached any more.*goes on from --ckpt-dir"; done
lab heal "$lost"
lab boot "$lost"
begins
says "$leader" 'resumed from checkpoint [0-9]* in'
leaves 0 h1 h2 h3
[ "$(grep -c 'has made 40 versions' "$tmp/$leader.out")" = 6 ] || fail "$what: not every rank has made its versions"
nothing_on h1 h2 h3
finish
