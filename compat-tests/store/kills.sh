#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The job's store: whichever ranks are killed, and whatever they go on from, each call is done once, and a replay is answered as its predecessor was:
# each number is given to one rank, the counters are what they should be, and no line is printed differently the second time.
. "$(dirname "$0")/../lib/test.sh"
program=$built/ticks
seeded

# exact RANKS ROUNDS KILLS: what was printed.
exact() {
    expect_code 0
    grep -q 'not what it was before' "$tmp/err" && fail "$what: a line was printed differently: $(grep -m1 'not what' "$tmp/err")"
    for word in ticket swap; do
        sed -n "s/.* $word //p" "$tmp/out" | sort -n | cmp -s - "$tmp/numbers" || fail "$what: \"$word\" is not each number once"
    done
    grep -q "^rank 0: count $(($1 * $2))\$" "$tmp/out" && grep -q "^rank 0: swaps $(($1 * $2))\$" "$tmp/out" ||
        fail "$what: $(grep '^rank 0:' "$tmp/out" | tr '\n' ' ')"
    [ "$(grep -c 'never 0' "$tmp/out")" = "$(grep -c never "$tmp/out")" ] || fail "$what: what nobody sets was there"
    [ "$(grep -c '(SIGKILL)\(; restarted\| and needs\)' "$tmp/err")" = "$3" ] || fail "$what: not $3 deaths"
}
# ticks RANKS ROUNDS KILLS "OPTIONS" "ARGS": KILLS of them by chance, each in another life of its rank.
ticks() {
    kills=''
    lives=''
    for _ in $(seq "$3"); do
        random "$1" && rank=$drawn && random $(($2 - 1)) && round=$drawn && random 5
        # A rank dies the second time later than the first: else it would not come to it in that life.
        case " $lives " in *" $rank "*) continue ;; esac
        lives="$lives $rank"
        kills="$kills kill=$rank,$round,$drawn,0"
        random 2
        if [ "$drawn" = 1 ] && [ $round -lt $(($2 - 2)) ]; then kills="$kills kill=$rank,$((round + 1)),2,1"; fi
    done
    seq $(($1 * $2)) >"$tmp/numbers"
    # shellcheck disable=SC2086
    run -n "$1" $4 "$program" "$2" $5 $kills
    exact "$1" "$2" "$(echo "$kills" | wc -w)"
}

seq 36 >"$tmp/numbers"
run -n 3 "$program" 12
exact 3 12 0
"$program" 5 >"$tmp/out" || fail "without ftrun"
grep -q '^rank 0: count 5$' "$tmp/out" || fail "without ftrun: $(grep 'rank 0:' "$tmp/out")"

ticks 3 12 3 '--snapshot off' pause=1000
ticks 2 12 2 '--snapshot 0.005' pause=20000
ticks 4 20 4 '--snapshot auto' pause=30000
ticks 3 20 3 '--snapshot off' 'every=3'
ticks 3 20 3 '--snapshot 0.01' 'every=4 pause=5000'
# A program that is not the same each time.
run -n 2 --snapshot off "$program" 4 astray=1 kill=1,2,0,0
expect_code 16
expect_err 'rank 1 on .* gets "other" in the job.s store, as its call 1 since checkpoint 0, and in an earlier life that was another call'

# No way back for one alone: all ranks start again, and the store answers them as before.
ticks 2 24 1 '--snapshot off --log-full forget --log-limit 16M' fill=2000000
grep -q 'is gone: all ranks start again$' "$tmp/err" || fail "$what: not all ranks start again"
quick || ticks 8 20 6 '--snapshot 0.05' 'pause=10000'
finish
