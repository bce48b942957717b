#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# 2^31-1 bytes in place on two ranks, every byte checked, at most 10 GiB at the peak.
. "$(dirname "$0")/../lib/test.sh"
available=$(awk '/^MemAvailable/ {print int($2 / 1048576)}' /proc/meminfo)
[ "$available" -ge 11 ] || skip "needs 11 GiB of memory, $available are available"
# A snapshot would keep what is overwritten. Room for one result; the default limit is a share of what is free now, and other tests may be running.
bounded 300 "$ftrun" -n 2 --snapshot off --log-limit 4G --report "$tmp/report.json" "$built/huge" >"$tmp/out" || fail "exit code $?"
cat "$tmp/out"
[ "$(grep -c ' ok: 2147483647 bytes$' "$tmp/out")" = 2 ] || fail "not both ranks are content"
peak=$(reported "$tmp/report.json" peak_memory_bytes)
echo "peak: $((peak / 1048576)) MiB"
[ "$peak" -gt 6000000000 ] || fail "the peak cannot be below two buffers and a result: $peak"
[ "$peak" -le $((10 << 30)) ] || fail "the peak is above 10 GiB"
finish
