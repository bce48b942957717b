#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2154,SC2046
# Where ftrun --rdzv leads a job there are three processes of it: the one that the user has started, and two of the controller. Each is killed, and the
# output is the same. Signals reach the job when the controller's first process is gone; when both are, that is said. A job over etcds of its own.
. "$(dirname "$0")/../lib/test.sh"
uses lab
lab_enter "$0" "$@"
uses join
lab boot h1 h2 h3
job=("$top_builddir/compat-tests/chaos/mixed" -n 200 -m 2000 -b 0 -e -w 10000)
"$ftrun" -n 6 "${job[@]}" 2>/dev/null | sort >"$tmp/wanted"
same() { sort "$tmp/$leader.out" | cmp - "$tmp/wanted" || fail "$what: the output is another one"; }
child_of() { lab in "$leader" pgrep -o -P "$1"; }
# begins NAME COMMAND...: until it prints.
begins() {
    of_job "$1"
    shift
    fresh
    for host in h1 h2 h3; do on "$host" --nodes 3 -n 6 --lease 2 --survive host "$@"; done
    led
    front=$(front_of "$leader")
    first=$(child_of "$front") second=$(child_of "$first")
}
kill_in_leader() { lab in "$leader" kill "$@"; }
has_other() { other=$(lab in "$leader" pgrep -P "$front" | grep -vx "$first") && [ -n "$(child_of "$other")" ]; }

begins one "${job[@]}"
prints 'op 20'
kill_in_leader -KILL "$first" # which stands by; the other one makes a third
wait_for has_other
[ "$other" = "$second" ] || fail "$what: $other is there, not $second"
prints 'op 40'
kill_in_leader -KILL "$second" # and runs the job
leaves 0 h1 h2 h3
same
nothing_on h1 h2 h3

begins told sh -c 'echo begun; exec sleep 1000'
prints begun
kill_in_leader -KILL "$first"
wait_for has_other
kill_in_leader -TERM "$front"
leaves 143 h1 h2 h3
nothing_on h1 h2 h3

begins both "${job[@]}"
prints 'op 20'
kill_in_leader -STOP "$first"
kill_in_leader -KILL "$second" "$first"
says "$leader" '^ftrun: both processes of ftrun that ran the job are gone; the job is over$'
leaves 1 h1 h2 h3
nothing_on h1 h2 h3

# The store goes with it; nobody can join any more.
begins front "${job[@]}"
prints 'op 20'
kill_in_leader -KILL "$front"
leaves 137 "$leader"
leaves 0 $(others h1 h2 h3)
same
nothing_on h1 h2 h3

command -v etcd >/dev/null || skip "etcd is missing: apt-get install etcd-server"
# That of each host, and the same is started again, as a supervisor would: the controller lives, and is not replaced. (The job ran twice.)
store=etcd://h1:2479
lab in h1 sh -c 'echo $$ >"$0" && exec "$@"' "$tmp/etcd.pid" etcd --data-dir "$tmp/etcd" --listen-client-urls http://0.0.0.0:2479 --advertise-client-urls http://h1:2479 --listen-peer-urls http://127.0.0.1:2480 >"$tmp/etcd.log" 2>&1 &
until_true 20 lab in h1 sh -c 'curl -s -m 1 http://127.0.0.1:2479/health | grep -q true' || fail "etcd does not start: $(tail -n 3 "$tmp/etcd.log")"
begins fronts "${job[@]}"
prints 'op 20'
for host in h1 h2 h3; do lab in "$host" kill -KILL "$(front_of "$host")"; done
leaves 137 h1 h2 h3
mv "$tmp/$leader.out" "$tmp/kept"
for host in h1 h2 h3; do rm -f "$tmp/$host.code" && on "$host" --nodes 3 -n 6 --lease 2 --survive host "${job[@]}"; done
leaves 0 h1 h2 h3
sort "$tmp/kept" | cmp - "$tmp/wanted" || fail "$what: the output is another one"
[ ! -s "$tmp/$leader.out" ] || fail "$what: it runs twice"
lab in h1 kill "$(cat "$tmp/etcd.pid")"

store="etcd-embedded://h1,h2,h3"
begins own "${job[@]}"
prints 'op 20'
victim=$(others h1 h2 h3 | head -n 1)
lab boot h4
on h4 --nodes 3 -n 6 --lease 2 --survive host "${job[@]}"
lab lose "$victim"
leaves 0 $(printf '%s\n' h1 h2 h3 h4 | grep -vx "$victim")
same
! grep 'tends etcd has ended' "$tmp"/h*.err || fail "$what: etcd was ended too early"
nothing_on $(printf '%s\n' h1 h2 h3 h4 | grep -vx "$victim")
finish
