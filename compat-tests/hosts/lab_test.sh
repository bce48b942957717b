#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The lab itself: its hosts reach each other until they are cut, lost, frozen; nothing is left when it ends, however.
# shellcheck disable=SC2154 # what is not assigned here is by: uses lab
. "$(dirname "$0")/../lib/test.sh"
uses lab

# ---- outside ----

mark=1000.$$
ours() { pgrep -c -f "^sleep ${mark/./\\.}"; }

have_come() { [ "$(ours)" = "$1" ]; }
soon() { until_true 120 "$@"; }

# What a lab makes, as far as it is to be seen here. (Other tests that run at the same time mount things, too.)
seen_here() {
    ip -o link | cut -d: -f2
    ip netns list
    awk '$2 ~ "^/(run|run/lab.*|etc/hosts|etc/ssh|tmp|dev/shm|proc)$"' /proc/mounts
}

# Two labs at a time, with the same names and addresses. One is killed, one told to end: no process stays, and nothing was ever to be seen here.
die_labs() {
    local before after first second
    before=$(seen_here)
    set -- sh -c 'for h in h1 h2; do "$0" in $h sleep "$1" & done; wait' "$lab_file" "$mark"
    "$lab_file" 2 "$@" &
    first=$!
    "$lab_file" 2 "$@" &
    second=$!
    soon have_come 4 || fail "two labs: $(ours) processes of 4"
    after=$(seen_here)
    [ "$before" = "$after" ] || fail "labs can be seen from outside: $after"
    kill -KILL $first
    soon have_come 2 || fail "a killed lab leaves $(ours) - 2 processes"
    kill -TERM $second
    soon have_come 0 || fail "a lab that got SIGTERM leaves $(ours) processes"
    wait
}

if [ -z "${LAB-}" ]; then
    lab_needs
    die_labs 2>/dev/null
    [ $failed = 0 ] || exit 1
    "$lab_file" 1 sh -c 'exit 7'
    [ $? = 7 ] || fail "the code of a lab's command: $?"
fi

# ---- inside ----

lab_enter "$0" "$@"

lab boot h1 h2 h3
# Echoes lines; h2's end of all that follows.
lab in h2 python3 -c '
import socketserver
class Echo(socketserver.StreamRequestHandler):
    def handle(self):
        for line in self.rfile: self.wfile.write(line)
class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
Server(("10.77.0.2", 7000), Echo).serve_forever()' 2>/dev/null &

connects() { lab in "$1" timeout "${2:-5}" bash -c ': 2>/dev/null <>/dev/tcp/h2/7000' 2>/dev/null; }
soon connects h1 || fail "h1 does not reach h2"
soon connects h3 || fail "h3 does not reach h2"

# A connection of h1, one line there and back for each line that it is given.
client() {
    coproc CLIENT { lab in h1 bash -c 'exec 9<>/dev/tcp/h2/7000; while read -r l; do echo "$l" >&9; if read -r a <&9; then echo "$a"; else echo over; fi; done' 2>/dev/null; }
}
ask() {
    echo "$1" >&"${CLIENT[1]}"
    answer=silence
    read -r -t "${2:-5}" answer <&"${CLIENT[0]}" || answer=silence
}
ask_for() {
    ask "$1" 120 # five losses in a row take TCP more than five seconds
    [ "$answer" = "$1" ] || fail "$2: $1 is answered with '$answer'"
}

client
ask_for one "an undisturbed connection"
for verb in cut mute deaf unplug; do
    lab $verb h1
    ask "$verb" 0.4
    [ "$answer" = silence ] || fail "$verb: there is an answer: $answer"
    [ $verb = unplug ] && lab plug h1
    lab heal h1
    # What was on its way comes late, and in order.
    read -r -t 10 answer <&"${CLIENT[0]}"
    [ "$answer" = $verb ] || fail "healed after $verb: '$answer'"
done
connects h3 || fail "cutting h1 broke h3"
lab lossy h1 30
for i in $(seq 8); do ask_for "lossy $i" "a lossy cable"; done
nft list chain bridge lab lossy | grep -q 'numgen' || fail "no loss"
lab heal h1
! nft list chain bridge lab lossy | grep -q numgen || fail "loss stays after healing"
lab reset h1
ask reset
[ "$answer" = over ] || fail "reset: '$answer'"
kill "$CLIENT_PID" && wait "$CLIENT_PID" 2>/dev/null

client
ask_for two "a new connection"
lab freeze h2
ask three 0.4
[ "$answer" = silence ] || fail "a frozen host answers: $answer"
lab thaw h2
read -r -t 10 answer <&"${CLIENT[0]}"
[ "$answer" = three ] || fail "thawed: '$answer'"
[ -z "$(find /sys/fs/cgroup -maxdepth 2 -name "$(basename "$(lab_group_of h2)")")" ] || fail "thawing leaves a group"
lab freeze h3
lab kill h3
! lab_is_up h3 || fail "a frozen host cannot be killed"
lab thaw h3 2>/dev/null
rmdir "$(lab_group_of h3)" 2>/dev/null && fail "killing and thawing leaves a group"

# The desk's address is no cable's: it was the lowest of them, and when that host was killed the others sent to where nobody was for seconds (what
# ran there took ftrun at the desk for lost).
desk=$(ip -br link show switch | awk '{ print $3 }')
ip -br link show | grep '^vh' | grep -q "$desk" && fail "the desk has the address of a host's cable"

# Killed: who is connected learns it. Lost: nobody does.
lab in h2 touch /tmp/here
[ -e "$LAB/h2/tmp/here" ] || fail "a host's /tmp as seen from outside"
[ ! -e /tmp/here ] || fail "a host's own /tmp"
lab running h2 | grep -q python3 || fail "running: $(lab running h2)"
lab kill h2
ask four
[ "$answer" = over ] || fail "killed: '$answer'"
lab in h2 true 2>/dev/null && fail "a killed host runs commands"
lab boot h2
[ -z "$(lab running h2)" ] || fail "a host that was switched on runs: $(lab running h2)"
[ ! -e "$LAB/h2/tmp/here" ] || fail "/tmp outlives the host"
[ "$(lab in h2 hostname)" = h2 ] || fail "no name"
connects h3 2>/dev/null && fail "h3 is down"

# What ftrun starts commands with; a lost host is not told to it.
[ "$(echo in | "$here/../lib/launch.sh" h1 'cat; hostname; exit 3')" = "in
h1" ] || fail "launch.sh"
"$here/../lib/launch.sh" h1 'exit 3'
[ $? = 3 ] || fail "launch.sh: code"
"$here/../lib/launch.sh" h3 true 2>/dev/null
[ $? = 255 ] || fail "launch.sh to a host that is down"
"$here/../lib/launch.sh" h1 'exec sleep 100' &
launched=$!
soon eval 'lab running h1 | grep -q "sleep 100"' || fail "launch.sh does not start"
lab lose h1
sleep 0.3
kill -0 $launched 2>/dev/null || fail "launch.sh knows that a host was lost"
lab heal h1
lab boot h1
wait $launched 2>/dev/null
code=$?
[ $code = 137 ] || [ $code = 255 ] || fail "launch.sh after a host came back: $code"
finish
