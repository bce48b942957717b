#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A program that leaves handlers of signals by siglongjmp is where it was without (jumps.c): a killed rank waited for ever, for its time limits were blocked
# for good, or died of a fault that it handles. Undisturbed with snapshots made all the time, and killed, with newer snapshots and without.
. "$(dirname "$0")/../lib/test.sh"
uses plain
plain "$built/jumps" 100
grep -qx 'round 14: limit 1, fault 1, own 1, other 1, without 1, goes on 1' "$tmp/plain" || fail "plain: $(head -n 15 "$tmp/plain")"
grep -qx 'bad 0' "$tmp/plain" || fail "plain: $(tail -n 1 "$tmp/plain")"
undisturbed 0.02
killed 0.02 12 23 34 55 76 87
back_from_snapshots 2 # also after a handler that was left in the middle of a call, or a computation
killed 1000 3
finish
