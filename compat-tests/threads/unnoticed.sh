#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A rank with threads does not notice that snapshots are made of it every few milliseconds: no wait ends too early or much too late, no call is short or
# interrupted, each signal comes once (unnoticed.h).
# FT_SECONDS: how long each of three runs takes.
. "$(dirname "$0")/../lib/test.sh"
seconds=${FT_SECONDS:-3}
least=5
if full; then seconds=60; fi
# unnoticed KINDS OPTION...: so many cuts, and all is well.
unnoticed() {
    kinds=$1
    shift
    # shellcheck disable=SC2086
    run --timeout $((seconds + 60)) --snapshot 0.005 --report "$tmp/report" "$@" -n 1 "$built/unnoticed" "$seconds" $kinds
    expect_code 0
    grep -qx end "$tmp/out" || fail "$what: $(grep wrong "$tmp/out")"
    taken=$(sed -n 's/^ *"taken": \([0-9]*\),*$/\1/p' "$tmp/report" | tail -n 1)
    echo "ftrun $*: $kinds: $taken snapshots in $seconds s"
    case $kinds in *signals*) return ;; esac # who is sent signals gets few
    [ "${taken:-0}" -ge $((least * seconds)) ] || fail "$what: $taken snapshots only"
}
unnoticed "times streams signals children numbers"
unnoticed "times streams" --replay-time off
unnoticed "times signals" --sockets=off
finish
