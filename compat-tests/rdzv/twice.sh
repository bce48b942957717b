#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=dash disable=SC2154
# Finding: etcd is started again without its data, and two hosts begin the job before the first two look there: it ran twice, to the end.
# The second one is ended when the first ones have looked, and its hosts are told where the job is. The four hosts are all this one.
. "$(dirname "$0")/../lib/test.sh"
uses rdzv
needs etcd etcd-server
needs curl
needs python3
etcds 1
url="etcd://127.0.0.1:$etcd_ports/twice?lease=8&last_call_timeout=0&timeout=30"
begin_host() {
    SLURMD_NODENAME=$1 timeout --foreground -k 5 60 sh -c 'echo $$ >"$0" && exec "$@"' "$tmp/$1.pid" "$ftrun" -v --rdzv "$url" --nodes 2 -n 2 \
        --lease 8 sh -c 'echo "rank $FTMPI_RANK begins"; while [ ! -e "$0" ]; do sleep 0.1; done; echo "rank $FTMPI_RANK ends"' "$tmp/end" \
        >"$tmp/$1.out" 2>"$tmp/$1.err" </dev/null &
    eval "before_$1=\$!"
    wait_for test -s "$tmp/$1.pid"
    cat "$tmp/$1.pid" >>"$pids"
}
signal_both() { kill "$1" "$(cat "$tmp/a.pid")" "$(cat "$tmp/b.pid")"; }
have_begun() { [ "$(cat "$tmp/$1.out" "$tmp/$2.out" | grep -c begins)" = 2 ]; }
begin_host a
begin_host b
wait_for have_begun a b
signal_both -STOP
etcd_kill 1
rm -rf "$tmp/etcd1"
etcd_start 1
wait_for etcd_answers "$etcd_ports"
begin_host d
begin_host e
wait_for have_begun d e
signal_both -CONT
ends() { grep -q 'this job has been running on other hosts; what runs here is ended' "$tmp/d.err" "$tmp/e.err"; }
until_true 20 ends || fail "the second job goes on: $(cat "$tmp/d.err" "$tmp/e.err")"
if grep -q 'what runs here is ended' "$tmp/d.err"; then second='d e'; else second='e d'; fi
until_true 20 grep -q 'this one is a spare' "$tmp/${second#* }.err" ||
    fail "${second#* } is no spare: $(cat "$tmp/${second#* }.err")"
: >"$tmp/end"
for host in a b $second; do
    eval "wait \$before_$host"
    code=$?
    what="host $host"
    if [ "$host" = "${second% *}" ]; then expect_code 1; else expect_code 0; fi
done
[ "$(cat "$tmp/a.out" "$tmp/b.out" | grep -c ends)" = 2 ] || fail "the job has not ended"
[ "$(cat "$tmp/d.out" "$tmp/e.out" | grep -c ends)" = 0 ] || fail "the job has ended twice"
finish
