#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A model of more than 4 GiB, everybody's or one rank's own: it is made, its rank dies and loads it, it is written to --ckpt-dir behind which
# other models lie in the file, and a job goes on from there. That is FT_TIER=full: 17 GiB of memory, 14 of disk, some minutes; else 16 MiB, which
# shows that the test works. FT_BYTES: another size.
. "$(dirname "$0")/../lib/test.sh"
job=$built/largejob
bytes=$((16 * 1024 * 1024 + 13))
if full; then bytes=$((4 * 1024 * 1024 * 1024 + 1048576 + 13)); fi
bytes=${FT_BYTES:-$bytes}
cd "$tmp" || exit 99
memory=$(($(awk '/^MemAvailable/ { print $2 }' /proc/meminfo) / 1024))
disk=$(df -Pm . | awk 'NR == 2 { print $4 }')
# shellcheck disable=SC2017
[ "$memory" -ge $((bytes / 1048576 * 17 / 4)) ] && [ "$disk" -ge $((bytes / 1048576 * 14 / 4)) ] ||
    skip "large: needs more than $memory MiB of memory and $disk MiB of disk"

# large ARGS...: as run(), but it may take long
large() {
    what="ftrun $*"
    timeout -k 5 500 "$ftrun" -q --snapshot off --ckpt-dir ckpt -n "$n" "$@" >"$tmp/out" 2>"$tmp/err" </dev/null
    code=$?
    expect_code 0
}
for which in global local; do
    n=3
    [ $which = local ] || n=2 # each rank loads it
    run -q -n $n "$job" 4 8192 $which # what is computed does not depend on the size
    expect_code 0
    cp out calm
    rm -rf ckpt
    large --report report "$job" 3 "$bytes" $which 2
    [ "$(grep '^round' out)" = "$(head -n 3 calm)" ] || fail "$what: other rounds than a small one"
    grep -q '"way_back": "checkpoint"' report || fail "$what: the rank that died has not loaded its checkpoint"
    newest=$(find ckpt -name 'checkpoint-*3.ftmpi')
    [ -n "$newest" ] && [ "$(stat -c %s "$newest")" -gt "$bytes" ] || fail "$what: version 3 is not on disk"
    large --resume "$job" 4 "$bytes" $which
    expect_err 'begins with version 3'
    tail -n 2 calm | cmp -s - out || fail "$what: $(cat out), not what a small one computes"
done
rm -rf ckpt
finish
