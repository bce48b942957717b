#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=dash
# ftrun is the first process of a pod, with no init before it: whoever has lost its parent is its child and is waited for, and what Kubernetes sends
# it is passed on: SIGTERM, and SIGKILL after terminationGracePeriodSeconds. It needs no /dev/shm. (A pod is a pid namespace.)
. "$(dirname "$0")/../lib/test.sh"
sanitizers detect_leaks=0
unshare="unshare"
[ "$(id -u)" = 0 ] || unshare="unshare -r"
$unshare -p -f --mount-proc true 2>/dev/null || skip "no pid namespaces here, or not the right to make them"
# pod ARGUMENT...: ftrun, as the first process there.
pod() {
    what="ftrun $*"
    # shellcheck disable=SC2086
    timeout -k 5 60 $unshare -p -f --mount-proc --kill-child=KILL "$ftrun" "$@" >"$tmp/out" 2>"$tmp/err" </dev/null
    code=$?
}

# shellcheck disable=SC2016
pod -n 2 sh -c '
    [ "$(cat /proc/1/comm)" = ftrun ] || exit 9
    for i in 1 2 3 4 5; do (sh -c "sleep 0.1" &); done
    sleep 0.5
    for i in $(seq 100); do
        grep -l "^State:.*Z" /proc/[0-9]*/status 2>/dev/null || exit 0
        sleep 0.1
    done
    exit 8'
expect_code 0

# A container's /dev/shm has 64 MiB, and this one next to nothing: ftmpi keeps nothing there.
what="ftrun with a small /dev/shm"
# shellcheck disable=SC2016,SC2086
timeout -k 5 60 $unshare -m -p -f --mount-proc --kill-child=KILL sh -c 'mount -t tmpfs -o size=4k shm /dev/shm && exec "$@"' - \
    "$ftrun" -n 2 "$top_builddir/compat-tests/chaos/mixed" -n 50 -m 2000000 -b 0 >"$tmp/out" 2>"$tmp/err" </dev/null
code=$?
expect_code 0
[ "$(grep -c ' done 50 ' "$tmp/out")" = 2 ] || fail "$what: $(tail -n 3 "$tmp/out")"

# What Kubernetes sends the first process goes to ranks, which have time to write what they have.
what="ftrun --grace 20, first in its pod, and SIGTERM"
: >"$tmp/out"
# shellcheck disable=SC2086
timeout -k 5 60 $unshare -p -f --mount-proc --kill-child=KILL "$ftrun" --grace 20 sh -c \
    'trap "sleep 0.5; echo saved; exit 0" TERM; echo up; while :; do sleep 0.05; done' >"$tmp/out" 2>"$tmp/err" </dev/null &
job=$!
wait_for grep -q up "$tmp/out"
kill -TERM "$(pgrep -P "$(pgrep -P $job)")" # timeout, unshare, and the one that is first
wait $job
code=$?
expect_code 143
expect_out up saved
finish
