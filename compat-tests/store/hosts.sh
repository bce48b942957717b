#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The job's store over several hosts, all of which are this one: the controller answers. Ranks are killed, hosts are lost, and the processes of
# ftrun that answer are killed: each call is done once, and who comes back on another host is answered as before.
. "$(dirname "$0")/../lib/test.sh"
uses hosts
program=$built/ticks
: "${go:?}"

# exact RANKS ROUNDS
exact() {
    expect_code 0
    ! grep -q 'not what it was before' "$tmp/err" || fail "$what: a line was printed differently: $(grep -m1 'not what' "$tmp/err")"
    seq $(($1 * $2)) >"$tmp/numbers"
    for word in ticket swap; do
        sed -n "s/.* $word //p" "$tmp/out" | sort -n | cmp -s - "$tmp/numbers" || fail "$what: \"$word\" is not each number once"
    done
    grep -q "^rank 0: count $(($1 * $2))\$" "$tmp/out" && grep -q "^rank 0: swaps $(($1 * $2))\$" "$tmp/out" ||
        fail "$what: $(grep '^rank 0:' "$tmp/out" | tr '\n' ' ')"
}
lost='is gone for 2 s; its ranks start again there'

hosts a:2,b -n 3 "$program" 9
exact 3 9
hosts a:2,b -n 3 --snapshot off "$program" 9 kill=2,4,3,0 kill=0,6,1,0 kill=2,7,2,1
exact 3 9
[ "$(grep -c 'restarted, restart' "$tmp/err")" = 3 ] || fail "$what: not 3 restarts"
# Hosts: in the middle, where another rank waits for it; again in the replay.
hosts a,b:2,c -n 4 --survive host --lease 2 --snapshot off "$program" 9 lose=1,4,3,0 lose=3,6,2,0
exact 4 9
[ "$(grep -c "$lost" "$tmp/err")" = 2 ] || fail "$what: not two hosts were lost"
# All ranks start again after a host: the store, too.
hosts a,b,c -n 3 --lease 2 --snapshot off "$program" 9 every=3 lose=1,7,2,0
exact 3 9

# Whoever answers is killed in the middle, and whoever asks for the ranks of a host.
own_jobs
# of RANK: its process.
of() { "$ftrun" status --json | python3 -c "import json, sys; print(json.load(sys.stdin)['per_rank'][$1]['pid'])"; }
begin --launcher "exec:$go" -H a,b -n 2 "$program" 40 pause=50000
wait_for has_lines 12 "$tmp/out"
kill -KILL "$("$ftrun" status --json | python3 -c "import json, sys; print(json.load(sys.stdin)['agent_pid'])")"
wait_for has_lines 40 "$tmp/out"
kill -KILL "$(awk '/^PPid/ { print $2 }' "/proc/$(of 1)/status")"
ended
exact 2 40
expect_err 'the process of ftrun that ran the job was killed by signal 9 (SIGKILL); process .* goes on with it'
finish
