#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A stock wheel of XGBoost 3 over four hosts (full: over two, too; quick: with the tracker of ftrun only): workers are killed on any of them, rank 0 with the tracker too, and the model is that of
# a run without ftrun. FT_RUNS: so many trainings of each; FT_SEED.
. "$(dirname "$0")/../lib/test.sh"
uses lab
python=/usr/bin/python3
$python -c 'import numpy, scipy' 2>/dev/null || skip "numpy or scipy is missing: apt-get install python3-scipy"
wheel=$(bounded 600 $python "$here/../lib/wheel.py" "$top_builddir/compat-tests/wheels" xgboost==3.2.0)
case $? in
0) ;;
77) skip "PyPI cannot be reached" ;;
*) fail "no wheel of XGBoost 3.2.0" && finish ;;
esac
lab_enter "$0" "$@" # not before: from there nothing can be fetched
seeded
runs=${FT_RUNS:-1} rounds=40 of_hosts=h1:2,h2,h3,h4
! full || of_hosts="h1,h2 $of_hosts"
lab boot h1 h2 h3 h4
train=(env "PYTHONPATH=$wheel" PYTHONDONTWRITEBYTECODE=1 OMP_WAIT_POLICY=passive "X3_DIR=$tmp" "$python" "$here/../xgboost3/train.py" hist 3000 "$rounds" 2)

# What the ranks print, but for what XGBoost says with the time of day.
outcome() { grep -v '>:\[[0-9:]*\] ' "$1" | sort -s -t ']' -k 1,1; }
# plain N: without ftrun, on this host.
plain() {
    local r workers=() port
    random 20000
    port=$((10000 + drawn))
    for r in $(seq 0 $(($1 - 1))); do
        bounded 120 env RANK="$r" WORLD_SIZE="$1" MASTER_ADDR=127.0.0.1 MASTER_PORT="$port" "${train[@]}" </dev/null | sed -u "s/^/[1,$r]<stdout>:/" &
        workers+=($!)
    done
    wait "${workers[@]}" # not for hosts
}
# hosts_of HOSTS: the host of each rank, in their order.
hosts_of() { tr , '\n' <<<"$1" | awk -F: '{ for (n = $2 ? $2 : 1; n; n--) print $1 }'; }
is_in_round() { grep -q "round $1 " "$tmp/out"; }

is_killed_or_over() { is_gone "$front" || is_killed "$@" 2>/dev/null; }

# trained HOSTS OPTION...: killed three times, at any moment, on any host.
trained() {
    local hosts=$1 on round newer died
    shift
    mapfile -t on < <(hosts_of "$hosts")
    begin --host "$hosts" -n ${#on[@]} -l --snapshot 0.1 --report "$tmp/report" "$@" "${train[@]}"
    for round in 1 $((rounds / 3)) $((2 * rounds / 3)); do
        until_true 120 is_in_round $round || fail "$what: not in round $round"
        random ${#on[@]}
        until_true 60 is_killed_or_over "$drawn" "${on[drawn]}"
    done
    ended 120
    expect_code 0
    outcome "$tmp/out" | diff - "$tmp/wanted" >"$tmp/diff" || { fail "$what: the output is another one:" && head "$tmp/diff" && tail -n 12 "$tmp/err"; }
    newer=$(grep -c '"way_back": "snapshot"' "$tmp/report") died=$(grep -c '"way_back"' "$tmp/report")
    [ "$died" -ge 2 ] && [ $((died - newer)) -le 1 ] || fail "$what: of $died that died only $newer came back from a newer snapshot"
    back=$((${back:-0} + newer)) kills=$((${kills:-0} + died))
}

for hosts in $of_hosts; do
    mapfile -t on < <(hosts_of $hosts)
    plain ${#on[@]} >"$tmp/out"
    outcome "$tmp/out" >"$tmp/wanted"
    [ "$(grep -c '>:model ' "$tmp/wanted")" = ${#on[@]} ] || { fail "$what: not a model of every rank" && head "$tmp/wanted"; }
    for _ in $(seq "$runs"); do
        quick || trained $hosts
        trained $hosts --xgboost-tracker
    done
done
echo "$kills kills, $back back from a newer snapshot"
finish
