#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A signal that comes shortly before the program sleeps does not leave it asleep: its handler waits for the next call (wrap_signal.c). Before, it ran
# when that began, and the program, which had just looked whether it had run, slept for ever. And it runs on the stack that the program has for handlers.
. "$(dirname "$0")/../lib/test.sh"
"$built/sleeps" >"$tmp/plain" || fail "undisturbed: exit code $?"
for snapshot in off 1000 30; do
    run --snapshot $snapshot -n 1 "$built/sleeps"
    expect_code 0
    expect_err_lines 0
    cmp "$tmp/plain" "$tmp/out" || fail "$what: another output"
done
finish
