#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A job that spills its log, and whose launcher processes are killed one after the other: the keeper of the log goes on in the
# next process, with the extents and the spill file as they are. A rank that then dies near the end replays all of it.
. "$(dirname "$0")/../lib/test.sh"
mkdir "$tmp/spill"
operations=16000 takeovers=4
if quick; then operations=5000 takeovers=2; fi

"$ftrun" -n 3 --quiet "$built/mixed" -n $operations -b 40 -s 7 >"$tmp/calm" || fail "undisturbed: exit code $?"
by_rank "$tmp/calm" >"$tmp/calm.sorted"

# The launcher processes of our job, the oldest first: nobody else spills into this directory.
launchers() {
    pgrep -f -- "--log-spill $tmp/spill" | while read -r p; do
        [ "$(sed 's/.*) \(.\).*/\1/' "/proc/$p/stat" 2>/dev/null)" = Z ] || echo "$(sed 's/.*) //' "/proc/$p/stat" | cut -d' ' -f20) $p"
    done 2>/dev/null | sort -n | cut -d' ' -f2
}
# are_running NUMBER [PID]: so many of them run, and PID, which was killed, does no more
are_running() {
    launchers >"$tmp/launchers"
    [ "$(wc -l <"$tmp/launchers")" = "$1" ] && ! grep -qx "${2-none}" "$tmp/launchers"
}
has_got_on() { [ "$(wc -l <"$tmp/wild")" -gt $((before + 2)) ]; }

setsid "$ftrun" -n 3 --quiet --snapshot off --log-limit 16M --log-spill "$tmp/spill" --report "$tmp/report.json" "$built/mixed" \
    -n $operations -b 40 -s 7 -k 1:$((operations - 10)) >"$tmp/wild" 2>"$tmp/err" &
until_true 300 are_running 2 || fail "there are not two launcher processes: $(cat "$tmp/launchers")"
# The agent is the younger one, and from then on the older one.
which="tail"
for i in $(seq $takeovers); do
    agent=$($which -n 1 "$tmp/launchers")
    before=$(wc -l <"$tmp/wild")
    until_true 60 has_got_on # it has something to do first
    [ "$(wc -l <"$tmp/wild")" -lt "$(wc -l <"$tmp/calm")" ] || fail "takeover $i: the job is too short for this test"
    kill -9 "$agent" || fail "takeover $i: there is no agent $agent"
    until_true 300 are_running 2 "$agent" || fail "takeover $i: the survivor has no twin: $(cat "$tmp/launchers")"
    which="head"
done
until_true 300 are_running 0 || fail "the job does not end"
by_rank "$tmp/wild" | cmp - "$tmp/calm.sorted" || { fail "the output differs"; cat "$tmp/err"; }
spilled=$(reported "$tmp/report.json" spilled_bytes)
log=$(reported "$tmp/report.json" log_bytes)
echo "$takeovers takeovers, spilled $((spilled >> 20)) MiB of a log of $((log >> 20)) MiB"
# All but what memory holds: nothing was spilled twice, nothing forgotten.
[ "$spilled" -le "$log" ] || fail "more was spilled than there is"
[ $((spilled + (32 << 20))) -ge "$log" ] || fail "less was spilled than had to be"
# The most of any: others may have been restarted because their agent died in the middle of a line of theirs.
replayed=$(sed -n 's/^ *"replayed_units": \([0-9]*\).*/\1/p' "$tmp/report.json" | sort -n | tail -n 1)
[ "${replayed:-0}" -ge $((operations - 600)) ] || fail "only ${replayed:-0} units replayed"
finish
