#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# An XGBoostJob of training-operator v1, a master and two workers, each a pod with an address and a pid namespace of its own, where the command of
# examples/kubernetes/xgboostjob-v1.yaml runs in the environment that the operator gives. A worker's pod is killed in mid-training, and comes back
# under its name with another address: the model is byte for byte that of an undisturbed training.
. "$(dirname "$0")/../lib/test.sh"
uses lab
lab_enter "$0" "$@"
python=/usr/bin/python3
$python -c 'import sys, xgboost; sys.exit(not xgboost.__version__.startswith("1.7."))' 2>/dev/null || skip "XGBoost 1.7 is missing (package python3-xgboost)"
manifest=$top_srcdir/examples/kubernetes/xgboostjob-v1.yaml
grep -q 'command: \[ftrun, --survive, host, --rabit, python3, /opt/train/train.py\]' "$manifest" || fail "the manifest has another command"
train=$here/train.py
through=''
openssl rand -hex 32 >"$tmp/secret"

# resolves NAME HOST: from now on.
resolves() {
    sed "/ $1\$/d" "$LAB/hosts" >"$tmp/hosts" && cat "$tmp/hosts" >"$LAB/hosts"
    echo "10.77.0.${2#h} $1" >>"$LAB/hosts"
}
# pod HOST NAME RANK: begins; it prints to $tmp/NAME, and its ftrun's number as the lab sees it is in $tmp/NAME.pid.
pod() {
    local host=$1 name=$2 rank=$3
    lab boot "$host"
    lab in "$host" hostname "$name"
    resolves "$name" "$host"
    lab in "$host" env KUBERNETES_SERVICE_HOST=10.96.0.1 MASTER_ADDR=trees-master-0 MASTER_PORT=9991 WORLD_SIZE=3 RANK="$rank" PYTHONUNBUFFERED=1 \
        WORKER_PORT=9991 WORKER_ADDRS=trees-worker-0,trees-worker-1 FTMPI_SECRET_FILE="$tmp/secret" \
        timeout -k 5 120 "$ftrun" -v --survive host --rabit $python "$train" "$tmp/job" >"$tmp/$name" 2>"$tmp/$name.err" </dev/null &
    echo $! >"$tmp/$name.pid"
}
# left NAME CODE: its ftrun ends with that code.
left() {
    wait "$(cat "$tmp/$1.pid")"
    code=$?
    what="ftrun in $1"
    cp "$tmp/$1.err" "$tmp/err"
    expect_code "$2"
}

mkdir "$tmp/job"
: >"$tmp/job/victim.2"
# The workers come first, and their master has no name yet.
pod h2 trees-worker-0 1
pod h3 trees-worker-1 2
sleep 1
pod h1 trees-master-0 0
until_true 60 test -s "$tmp/job/stopped" || fail "rank 2 does not get to its third round: $(tail -n 3 "$tmp"/trees-*.err)"
lab kill h3
: >"$tmp/job/go"
pod h4 trees-worker-1 2
# Meanwhile, which is while the lease of the pod that was lost runs on:
run -n 3 --rabit $python "$train" "$tmp"
expect_code 0
sort "$tmp/out" >"$tmp/wanted"
[ "$(sed 's/.*model \([0-9a-f]\{64\}\) .*/\1/' "$tmp/wanted" | sort -u | wc -l)" = 1 ] && has_lines 3 "$tmp/wanted" || fail "undisturbed: $(cat "$tmp/wanted")"

left trees-master-0 0
expect_err '3 pods find each other at trees-master-0, port 29400, with 1 rank each (MASTER_ADDR, WORLD_SIZE, RANK)'
left trees-worker-0 0
left trees-worker-1 0
sort "$tmp/trees-master-0" | diff - "$tmp/wanted" >"$tmp/diff" || { fail "the output is another one:" && head "$tmp/diff"; }
nothing_on h1 h2 h4
finish
