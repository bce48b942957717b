#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A rank talks to a peer outside of the job by TCP and by streams of this host, and is killed at system calls and at any time, and put back
# from copies (test/talk.c). The peer checks every byte: what it got, and what the rank prints, are those of the undisturbed run.
# Then once more where the network loses packets, if this may be set up here.
# FT_SEEDS=N: N seeds instead of 2 (quick tier: 1). FT_SEED=N: the first one. FT_LOSS=N: of 100 packets so many are lost, in a network of its own.
set -u
build=${top_builddir:-.}
agent=$build/outcome_agent talk=$build/outcome_talk
library=$build/.libs/liboutcome_test.so
[ -e "$library" ] || exit 77
export FT_TEST_PRELOAD="$library"
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT && trap 'exit 1' INT TERM
[ -z "${FT_LOSS-}" ] || {
    ip link set lo up && nft add table ip loss && nft add chain ip loss in '{ type filter hook input priority 0; }' &&
        nft add rule ip loss in ip protocol tcp numgen random mod 100 '<' "$FT_LOSS" counter drop || exit 99
}
runs=0 bad=0 kills=0 named=0 zero=0

word() { sed -n "\$s/.*\\<$1 \\([0-9]*\\).*/\\1/p" "$work/err" | grep . || echo 0; }

# The rank's output in $work/out, the peer's in $work/peer. Without options: undisturbed.
run() {
    rm -rf "$work/d" && mkdir "$work/d"
    timeout 60 "$talk" peer "$work/d" "$seed" >"$work/peer" &
    peer=$!
    while [ ! -e "$work/d/port" ]; do sleep 0.01; done
    if [ $# = 0 ]; then
        timeout 60 "$talk" rank "$work/d" "$seed" >"$work/out" 2>"$work/err" </dev/null
    else
        timeout 60 "$agent" -s "$seed" "$@" "$talk" rank "$work/d" "$seed" >"$work/out" 2>"$work/err" </dev/null
    fi
    code=$?
    wait $peer || code="$code, the peer's $?"
}

seeds=${FT_SEEDS:-$([ "${FT_TIER-}" = quick ] && echo 1 || echo 2)}
for seed in $(seq "${FT_SEED:-1}" $((${FT_SEED:-1} + seeds - 1))); do
    run
    [ "$code" = 0 ] || { echo "FAIL: seed $seed, undisturbed: code $code" && cat "$work/out" "$work/err" && exit 1; }
    mv "$work/out" "$work/expected.out" && mv "$work/peer" "$work/expected.peer"
    for way in "-k 0" "-k 6 -p 60 -c 0" "-k 6 -p 60 -c 12000" "-k 6 -p 15 -c 3000" "-k 5 -t 6000 -c 2000" "-k 5 -t 15000 -c 0"; do
        # shellcheck disable=SC2086
        run $way
        runs=$((runs + 1)) kills=$((kills + $(word kills))) named=$((named + $(word named))) zero=$((zero + $(word zero)))
        if [ "$code" != 0 ] || ! tail -n 1 "$work/err" | grep -q '^code 0 .* lost 0' || ! cmp "$work/out" "$work/expected.out" ||
            ! cmp "$work/peer" "$work/expected.peer"; then
            bad=$((bad + 1))
            echo "FAIL: seed $seed: outcome_agent -s $seed $way outcome_talk rank DIRECTORY $seed: code $code"
            diff "$work/expected.out" "$work/out"
            diff "$work/expected.peer" "$work/peer"
            tail -n 2 "$work/err"
            [ "$bad" -lt 5 ] || exit 1
        fi
    done
done
echo "$runs runs, $kills kills: put back from a newer copy $named times, from snapshot zero $zero times; $bad wrong"
if [ "$bad" != 0 ] || [ "$zero" = 0 ]; then exit 1; fi
[ "$named" != 0 ] || [ -n "${FT_LOSS-}" ] || exit 1 # of one seed none may be killed after a newer copy
[ -z "${FT_LOSS-}" ] || { nft list ruleset | grep -q 'counter packets [1-9]' || { echo "no packet was lost" && exit 1; }; }
if [ -z "${FT_LOSS-}" ] && command -v nft >/dev/null && unshare -n true 2>/dev/null; then
    FT_LOSS=4 FT_SEEDS=1 unshare -n sh "$0"
fi
