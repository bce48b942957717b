#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A log larger than its memory whose oldest part is forgotten (--log-full forget), or that nobody will read (--max-restarts 0): no
# disk, the memory is used again, results are the same, and what it means is told in one line. Ranks that die then:
# compat-tests/agent/restart_all.sh. And which ways back there are, as `ftrun status` has them.
. "$(dirname "$0")/../lib/test.sh"
mkdir "$tmp/spill"
operations=2000

# mixed NAME OPTION...: output by rank in NAME
mixed() {
    name=$1
    shift
    bounded 300 "$ftrun" -n 3 --snapshot off "$@" --report "$tmp/report.json" "$built/mixed" -n $operations -b 40 -s 7 \
        >"$tmp/out" 2>"$tmp/err" || fail "$name: exit code $?"
    by_rank "$tmp/out" >"$tmp/$name"
    cmp "$tmp/calm" "$tmp/$name" || fail "$name: the output differs"
}
# bounded_log MIB: what was logged is several times that, and nothing spilled
bounded_log() {
    logged=$(reported "$tmp/report.json" log_bytes) peak=$(reported "$tmp/report.json" peak_log_bytes)
    echo "$name: at most $((peak >> 20)) MiB of a log of $((logged >> 20)) MiB"
    [ "$logged" -gt $(($1 << 21)) ] || fail "$name: too little is logged: $logged"
    [ "$peak" -le $(($1 << 20)) ] || fail "$name: $peak bytes of log are held"
    [ "$(reported "$tmp/report.json" spilled_bytes)" = 0 ] || fail "$name: the log is spilled"
}
bounded 300 "$ftrun" -n 3 --snapshot off --quiet "$built/mixed" -n $operations -b 40 -s 7 >"$tmp/out" || fail "undisturbed: exit code $?"
by_rank "$tmp/out" >"$tmp/calm"

mixed forget --log-full forget --log-limit 16M
bounded_log 16
[ "$(wc -l <"$tmp/err")" = 1 ] && grep -q 'limit of 16 MiB: its oldest part is forgotten' "$tmp/err" || fail "forget: says $(cat "$tmp/err")"

mixed unread --max-restarts 0
bounded_log 16
[ ! -s "$tmp/err" ] || fail "unread: says $(cat "$tmp/err")"

mixed spilling --log-limit 16M --log-spill "$tmp/spill"
[ "$(wc -l <"$tmp/err")" = 1 ] && grep -q "limit of 16 MiB: its oldest part goes to a file in $tmp/spill" "$tmp/err" ||
    fail "spill: says $(cat "$tmp/err")"

# Between hosts, too: it was spilled there, though nobody would read it, and everything took as long as the disk.
printf '#!/bin/sh\nshift\nexec "$@"\n' >"$tmp/go"
chmod +x "$tmp/go"
hosts="--launcher exec:$tmp/go --host a:2,b:1"
bounded 300 "$ftrun" -n 3 --snapshot off --quiet $hosts "$built/mixed" -n $operations -b 40 -s 7 >"$tmp/out" || fail "undisturbed, two hosts: exit code $?"
by_rank "$tmp/out" >"$tmp/calm"
mixed 'unread, two hosts' --max-restarts 0 --log-limit 64M --log-spill "$tmp/spill" $hosts
bounded_log 64
[ ! -s "$tmp/err" ] || fail "unread, two hosts: says $(cat "$tmp/err")"

# One operation larger than the memory for the log.
bounded 300 "$ftrun" -n 2 --quiet --log-full forget --log-limit 16M "$built/huge" 100000000 >"$tmp/out" || fail "one large operation: exit code $?"
[ "$(grep -c ' ok: ' "$tmp/out")" = 2 ] || fail "one large operation: wrong result"

bounded 120 "$ftrun" --log-full drop true 2>"$tmp/err"
[ $? = 2 ] && grep -q 'wanted: spill|forget' "$tmp/err" || fail "--log-full drop: $(cat "$tmp/err")"
in_status() { "$ftrun" status "ways-$$" 2>/dev/null | grep -q "^0-1  *$ways\( \|\$\)"; }
# The way that `ftrun status` names first is the one that is gone when a rank dies then.
# way WAYS TOLD OPTION...
way() {
    ways=$1 told=$2 name="way back $1"
    shift 2
    timeout -k 5 300 "$ftrun" -n 2 --job-name "ways-$$" "$@" "$built/mixed" -n 10000000 -m 60000 -b 0 -w 200 >"$tmp/out" 2>"$tmp/err" </dev/null &
    job=$!
    until_true 120 in_status || { fail "$name: not in the status:"; "$ftrun" status "ways-$$"; }
    kill -KILL "$("$ftrun" status --json "ways-$$" | python3 -c 'import json, sys; print(json.load(sys.stdin)["per_rank"][1]["pid"])')"
    until_true 120 grep -q "rank 1 .*$told" "$tmp/err" || { fail "$name: something else was done:"; cat "$tmp/err"; }
    kill -TERM $job
    wait $job
}
way 'start, all' 'restarted, restart 1' --snapshot off
if records; then way 'snapshot, all' 'restarted from its snapshot' --snapshot 0.3; fi
way 'all' 'all ranks start again$' --snapshot off --log-full forget --log-limit 16M
finish
