#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What a call receives and only writes is not copied for a snapshot, also if there is a barrier in front of the call. (Snapshots were made at the barrier, where
# nothing can be left out; 16 ranks that gathered 256 MiB each so took three times as long.)
. "$(dirname "$0")/../lib/test.sh"
pages=4096
run --snapshot 0.2 --report "$tmp/report.json" -n 2 "$built/copied" $((pages * $(getconf PAGESIZE))) 3
[ "$code" != 77 ] || skip "no /proc/self/pagemap here"
expect_code 0
shared=$(cat "$tmp/out")
taken=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["per_rank"][1]["snapshots"]["taken"])' "$tmp/report.json")
echo "$taken snapshots, $shared pages to copy"
[ "$taken" -ge 3 ] || fail "not three snapshots"
[ "$shared" -lt "$pages" ] || fail "$taken snapshots have $shared pages that the next call writes"
finish
