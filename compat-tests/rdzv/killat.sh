#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2154
# Four hosts, all of which are this one, look for each other by etcd; three have places. One of them is killed before and after each of its system
# calls: while it looks, joins, leads, has a node, or leaves. The job is done by the others, or goes on where its controller is: every line once.
# FT_EVERY=1 tries every stop; FT_SEED: the first.
. "$(dirname "$0")/../lib/test.sh"
uses rdzv
needs python3
needs etcd etcd-server
needs curl
sanitizers detect_leaks=0
killat=$top_builddir/compat-tests/agent/killat
every=5
if quick; then every=17; fi
every=${FT_EVERY:-$every}
seeded
for rank in 0 1 2 3 4 5; do
    for i in 1 2 3; do echo "rank $rank line $i"; done
done >"$tmp/wanted"
# host NAME COMMAND...: its ftrun; $tmp/NAME.code when it has ended.
host() {
    local name=$1
    shift
    SLURMD_NODENAME=$name timeout -k 5 100 "$@" "$ftrun" --rdzv "$url" --nodes 3 -N 2 --lease 2 --survive host \
        sh -c 'for i in 1 2 3; do echo "rank $FTMPI_RANK line $i"; sleep 0.2; done' >"$name.out" 2>"$name.err" 9>"$name.stops" </dev/null
    echo $? >"$name.code"
}
# killed N: the front process of host b, at its stop N (0: not), with hosts that come as $order says.
killed() {
    local name pids='' at="${order// /}.$1"
    mkdir "$at" && cd "$at" || exit 99
    url="etcd://127.0.0.1:$etcd_ports/$at?lease=2&last_call_timeout=0&timeout=30"
    for name in $order; do
        [ $name != "${order:2:1}" ] || sleep 0.7 # who is first leads; traced it is slow
        if [ $name = b ]; then host b "$killat" "front:$1" self & else host $name & fi
        pids="$pids $!"
    done
    # shellcheck disable=SC2086
    wait $pids
    if [ ! -s "$(cat ./*.out >all; echo all)" ] && [ "$(cat a.code c.code d.code | tr '\n' ' ')" = '1 1 1 ' ] && grep -q 'cannot be reached any more' a.err c.err d.err; then
        echo 1 >"$tmp/told.$at" # nothing has run, and all say why (docs/rendezvous.md)
        cd ..
        return
    fi
    cat ./*.out | sort | cmp -s - "$tmp/wanted" || fail "$order, killed at stop $1: printed is: $(cat ./*.out | sort | uniq -c | diff - "$tmp/wanted" | head -n 5) $(cat ./*.err)"
    for name in a c d; do
        [ "$(cat $name.code)" = 0 ] || fail "$order, killed at stop $1: $name ends with $(cat $name.code): $(cat $name.err)"
    done
    { ! grep -q '^killed' b.stops || grep -c 'loss of this host' b.err; } >>"$tmp/led.$at"
    cd ..
}
killed_apart() { (killed "$1"; exit $failed); }
cd "$tmp" || exit 99
etcds 1
runs=0
for order in "b a c d" "a c b d"; do
    killed 0
    stops=$(sed -n 's/^front //p' "${order// /}.0/b.stops")
    [ "${stops:-0}" -gt 500 ] || fail "there are $stops stops"
    n=$((stops * 9 / 10 + seed % every)) # not while its libraries are loaded
    while [ $n -le "$stops" ]; do
        aside killed_apart $n
        runs=$((runs + 1))
        [ $((runs % 4)) != 0 ] || wait
        n=$((n + every))
    done
done
asides_end
told=$(find . -name 'told.*' | wc -l)
[ "$told" -le $((1 + runs / 50)) ] || fail "$told of $runs jobs did not begin"
led=$(cat led.* | grep -c 1) others=$(cat led.* | grep -c 0)
echo "$runs runs of $stops stops: killed when it led $led times, else $others times; $told did not begin, and said so"
[ "$led" -gt 0 ] && [ "$others" -gt 0 ] || fail "it was not killed in both places"
finish
