#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# benchmarks/hosts measures over a lab's hosts, with tiny settings: bare TCP and ftmpi, in the full tier every MPI that is here.
. "$(dirname "$0")/../lib/test.sh"
uses lab
if [ -z "${LAB-}" ]; then
    # By itself it makes a lab of its own. A build tree in /tmp, of which each host has another one, was not there in it: no MPI had a figure.
    lab_needs
    elsewhere=$(mktemp -d /tmp/ftmpi-test.XXXXXX) || exit 99
    trap 'rm -rf "$elsewhere" "$whole_tmp"' EXIT
    mkdir "$elsewhere/benchmarks"
    for part in "$top_builddir"/* "$top_builddir/.libs"; do
        [ "${part##*/}" = benchmarks ] || ln -s "$part" "$elsewhere/${part##*/}"
    done
    (cd "$top_builddir" && timeout 100 "$top_srcdir/benchmarks/hosts" --build "$elsewhere" --only ftmpi,tcp --mode within -m 8 -r 1 --retries 0 --seconds 0.02) >"$elsewhere/out" 2>&1
    code=$?
    if [ $code != 0 ]; then
        echo "FAIL: a build tree in /tmp: code $code" && cat "$elsewhere/out"
        exit 1
    fi
fi
FT_PIN=1 lab_enter "$0" "$@"
lab boot h1 h2 h3
only=ftmpi,tcp,tcp+log
! full || only=openmpi,mpich,$only
bounded 120 "$top_srcdir/benchmarks/hosts" --build "$top_builddir" --only $only -m 8,64k -r 2 --retries 0 --seconds 0.02 --settled 1 --csv "$tmp/runs.csv" >"$tmp/out" 2>&1 ||
    { fail "code $?" && cat "$tmp/out"; }
for size in 8 65536; do
    [ "$(grep -c "^allreduce,2,$size,TCP+log,,pieces of [0-9]* KiB,[12],[1-9][0-9]*,[0-9.]*," "$tmp/runs.csv")" -ge 2 ] || fail "not two runs of TCP+log, $size bytes"
    for who in TCP,,default 'ftmpi,within,' 'ftmpi,settled,'; do
        [ "$(grep -c "^allreduce,2,$size,$who,[12],[1-9][0-9]*,[0-9.]*," "$tmp/runs.csv")" = 2 ] || fail "not two runs of $who, $size bytes"
    done
done
grep -q '^one TCP connection, one way, 1 MiB at a time: [0-9.]* GB/s$' "$tmp/out" || fail "no stream"
# Two nodes of one host.
bounded 120 "$top_srcdir/benchmarks/hosts" --build "$top_builddir" --loopback --only ftmpi,tcp --mode within -m 64k -r 1 --retries 0 --seconds 0.02 --csv "$tmp/loopback.csv" >"$tmp/out" 2>&1 ||
    { fail "--loopback: code $?" && cat "$tmp/out"; }
[ "$(grep -c '^allreduce,2,65536,' "$tmp/loopback.csv")" = 2 ] || fail "--loopback: not a run of each"
bounded 120 "$top_srcdir/benchmarks/hosts" --build "$top_builddir" --loopback -n 4 >"$tmp/out" 2>&1 && fail "--loopback with four ranks was accepted"
if full; then
    bounded 120 "$top_srcdir/benchmarks/hosts" --build "$top_builddir" --lost 1 >"$tmp/lost" 2>&1 || { fail "--lost: code $?" && cat "$tmp/lost"; }
    [ "$(grep -c 'next committed unit after that: [0-9]' "$tmp/lost")" = 2 ] || { fail "--lost: not two lines" && cat "$tmp/lost"; }
fi
finish
