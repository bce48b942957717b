#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What a program asks of itself is the same under snapshots, in replays, and after them (asks.c): signals' masks in handlers, faults that a handler mends, a
# thread's name and stack, signals that wait, the user of each thread. Undisturbed with snapshots made all the time, and killed, with newer snapshots and without.
. "$(dirname "$0")/../lib/test.sh"
uses plain
plain "$built/asks" 40
grep -qx 'round 7: mask 1, faults 1, stack 1, waits 1, user 1' "$tmp/plain" || fail "plain: $(head -n 3 "$tmp/plain")"
undisturbed 0.02
killed 0.02 5 12 19 26
back_from_snapshots 1
killed 1000 5 19 # all is asked in replays, too
finish
