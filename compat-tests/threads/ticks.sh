#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A signal that is handled at a reading of a clock, between locks, is given there in a replay (ticks.c). Replays passed such readings by, and took locks in
# another order: "came to a lock where there was a call", "made call write where there was a lock", or all threads waited for each other.
. "$(dirname "$0")/../lib/test.sh"
uses plain
plain "$built/ticks" 60
killed 1000 10 30
killed 0.2 30 50
finish
