#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=dash disable=SC2154
# Finding: ftrun status, stop and wait knew the controller's process only, not the one that the user has started, which a shell's $! gives. Three
# hosts, all of which are this one; the third is a spare.
. "$(dirname "$0")/../lib/test.sh"
uses rdzv
needs python3
own_jobs
url="rdzv://127.0.0.1:$(free_ports 1)/pids?lease=2&last_call_timeout=0&timeout=30"
begin_host() {
    SLURMD_NODENAME=$1 timeout --foreground -k 5 60 sh -c 'echo $$ >"$0" && exec "$@"' "$tmp/$1.pid" "$ftrun" -v --rdzv "$url" --nodes 2 -n 2 \
        --lease 2 sh -c 'echo begun; exec sleep 100' >"$tmp/$1.out" 2>"$tmp/$1.err" </dev/null &
    wait_for test -s "$tmp/$1.pid"
    cat "$tmp/$1.pid" >>"$pids"
}
pid_of() { cat "$tmp/$1.pid"; }
both_begun() { [ "$(cat "$tmp/a.out" "$tmp/b.out" | grep -c begun)" = 2 ]; }
begin_host a
before=$!
begin_host b
wait_for both_begun
begin_host c
until_true 20 grep -q 'this one is a spare' "$tmp/c.err" || fail "c is no spare: $(cat "$tmp/c.err")"
for host in a b; do
    call "$ftrun" status "$(pid_of "$host")"
    what="status of $host"
    expect_code 0
    [ "$(grep -c 'sleep 100' "$tmp/out")" -ge 1 ] || fail "$what: $(cat "$tmp/out")"
done
call "$ftrun" status "$(pid_of c)"
expect_code 3
expect_err "is an ftrun of the job at $url, of which nothing runs here: it is a spare"
call "$ftrun" status $$
expect_code 3
expect_err "no job $$ of this user"
call "$ftrun" status 1
expect_code 3

"$ftrun" wait "$(pid_of b)" >/dev/null 2>&1 &
waiting=$!
attached() { find "/proc/$waiting/fd" -lname "socket:*" | grep -q .; }
wait_for attached
call "$ftrun" stop "$(pid_of b)"
expect_code 0
wait $waiting
code=$?
what="wait"
expect_code 143
wait $before
code=$?
what="ftrun"
expect_code 143
finish
