#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Pods of Trainer's runtime for PyTorch, which know each other by names with a domain only: rank 0's is MASTER_ADDR. One that is evicted (SIGTERM)
# leaves, and the job goes on when it is back. If the pod that runs the job is killed or evicted, the others end with an exit code for which
# Kubernetes tries again. Without a secret a line names what to mount.
. "$(dirname "$0")/../lib/test.sh"
uses lab
lab_enter "$0" "$@"
domain=net.default.svc.cluster.local
# resolves NAME HOST: from now on.
resolves() {
    sed "/ $1\$/d" "$LAB/hosts" >"$tmp/hosts" && cat "$tmp/hosts" >"$LAB/hosts"
    echo "10.77.0.${2#h} $1.$domain $1.net $1" >>"$LAB/hosts"
}
# pod HOST INDEX PROGRAM...: begins; what it prints, and its ftrun's number there, are in $tmp/INDEX.*.
pod() {
    local host=$1 index=$2
    shift 2
    lab boot "$host"
    lab in "$host" hostname "net-node-0-$index"
    resolves "net-node-0-$index" "$host"
    rm -f "$tmp/$index.front"
    # shellcheck disable=SC2016
    lab in "$host" env KUBERNETES_SERVICE_HOST=10.96.0.1 JOB_COMPLETION_INDEX="$index" PET_NNODES=2 PET_NPROC_PER_NODE=1 PET_NODE_RANK="$index" \
        PET_MASTER_ADDR=net-node-0-0.net PET_MASTER_PORT=29500 PET_RDZV_CONF=lease=2 ${secret+FTMPI_SECRET_FILE="$secret"} \
        timeout --foreground -k 5 60 sh -c 'echo $$ >"$0.new" && mv "$0.new" "$0" && exec "$@"' "$tmp/$index.front" \
        "$ftrun" -v --survive host "$@" >"$tmp/$index.out" 2>"$tmp/$index.err" </dev/null &
    echo $! >"$tmp/$index.job"
}
# left INDEX CODE: its ftrun ends with that code.
left() {
    what="ftrun in pod $1"
    until_true 40 is_gone "$(cat "$tmp/$1.job")" || fail "$what: still there"
    wait "$(cat "$tmp/$1.job")"
    code=$?
    cp "$tmp/$1.err" "$tmp/err"
    expect_code "$2"
}

# shellcheck disable=SC2016
pod h1 0 sh -c 'echo $RANK $WORLD_SIZE $MASTER_ADDR'
# shellcheck disable=SC2016
pod h2 1 sh -c 'echo $RANK $WORLD_SIZE $MASTER_ADDR'
left 0 0
expect_err '2 to 2 hosts find each other at net-node-0-0.net, port 29500 (PET_NNODES and others'
expect_err 'without a secret file whoever reaches the port can join .*FTMPI_SECRET_FILE.*mounts a Secret'
cp "$tmp/0.out" "$tmp/out"
sorted && expect_out "0 2 net-node-0-0.$domain" "1 2 net-node-0-0.$domain"
left 1 0
lab kill h1 h2

openssl rand -hex 32 >"$tmp/secret"
secret=$tmp/secret
waits="$top_builddir/compat-tests/control/waits"
pod h1 0 "$waits" file 0 "$tmp/end" 20
pod h2 1 "$waits" file 0 "$tmp/end" 20
wait_for grep -q '20 allreduces' "$tmp/0.out"
lab in h2 kill -TERM "$(cat "$tmp/1.front")"
left 1 143
expect_err 'this host leaves job'
lab kill h2
pod h3 1 "$waits" file 0 "$tmp/end" 20
back() { [ "$(grep -c 'node 1 on net-node-0-1.* is there' "$tmp/0.err")" = 2 ]; }
wait_for back
! grep -q 'without a secret' "$tmp/0.err" || fail "there is a secret"
: >"$tmp/end"
left 0 0
left 1 0
nothing_on h1 h3

# The pod that runs the job is killed: both are made again, and go on from the last checkpoint.
job=(--ckpt-dir "$tmp/ckpt" --resume=auto "$top_builddir/compat-tests/checkpoint/resumejob" 60 4000)
"$ftrun" -q -n 2 "${job[@]:3}" 0 2>/dev/null | tail -n 1 >"$tmp/wanted"
lab kill h1 h3
pod h1 0 "${job[@]}" 50
pod h2 1 "${job[@]}" 50
wait_for grep -q 'round 20:' "$tmp/0.out"
lab kill h1
left 1 255
expect_err 'job .*cannot be reached any more'
nothing_on h2
lab kill h2
pod h3 0 "${job[@]}" 10
pod h4 1 "${job[@]}" 10
left 0 0
expect_err 'resumed from checkpoint'
tail -n 1 "$tmp/0.out" | cmp -s - "$tmp/wanted" || fail "$what: $(tail -n 1 "$tmp/0.out"), and not $(cat "$tmp/wanted")"
left 1 0

# It is evicted: the job ends everywhere, as if told so.
lab kill h3 h4
pod h1 0 sh -c 'echo begun; exec sleep 1000'
pod h2 1 sh -c 'exec sleep 1000'
wait_for grep -q begun "$tmp/0.out"
lab in h1 kill -TERM "$(cat "$tmp/0.front")"
left 0 143
left 1 143
nothing_on h1 h2
finish
