#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Conditions, inheriting and robust mutexes in a rank are what the standard says they are: the same lines as with the C library's.
# FT_SEEDS=N: so many runs of each row that is killed.
set -u
build=$(cd "${top_builddir:-.}" && pwd)
agent=$build/outcome_agent program=$build/outcome_conditions locks=$build/outcome_locks
library=$build/.libs/liboutcome_test.so
[ -e "$library" ] || exit 77
export FT_TEST_PRELOAD="$library"
work=$(mktemp -d "${TMPDIR:-/tmp}/ftmpi-conditions.XXXXXX") && trap 'rm -rf "$work"' EXIT && trap 'exit 1' INT TERM HUP
cd "$work" || exit 99
bad=0 limit=${FT_LIMIT:-100}

# is_whole FILE: nothing is otherwise, and it came to its end.
is_whole() {
    grep ': NO$' "$1" && return 1
    [ "$(tail -n 1 "$1")" = "end: yes" ]
}

timeout "$limit" "$program" >theirs || { echo "FAIL: with the C library's: $?" && bad=1; }
is_whole theirs || { echo "FAIL: with the C library's" && cat theirs && bad=1; }
LD_PRELOAD="$library" timeout "$limit" "$program" >preloaded || { echo "FAIL: in a process that is no rank: $?" && bad=1; }
cmp theirs preloaded || { echo "FAIL: in a process that is no rank" && bad=1; }
timeout "$limit" "$agent" -k 0 "$program" -ours >ours 2>err </dev/null || { echo "FAIL: in a rank: $?" && cat err && bad=1; }
is_whole ours || { echo "FAIL: in a rank" && cat ours err && bad=1; }
[ "$(grep -c 'put back' ours)" = 3 ] || { echo "FAIL: in a rank robust mutexes were not looked at" && bad=1; }
grep -v 'put back\|^closed' ours | cmp theirs - || { echo "FAIL: in a rank there are other lines" && bad=1; }
# A thread that is cancelled in a wait is in the program again: copies are made while its cleanup handler runs.
timeout "$limit" "$agent" -k 0 -c 20000 "$program" -cleaned >cleaned 2>err </dev/null || { echo "FAIL: cancelled, in a rank: $?" && bad=1; }
cuts=$(sed -n 's/.* cuts \([0-9]*\) .*/\1/p' err)
[ "${cuts:-0}" -ge 5 ] || { echo "FAIL: copies are not made while a cancelled thread cleans up: $cuts" && cat err && bad=1; }

# Threads that wait, or end with robust mutexes, are killed and put back from copies that were made meanwhile.
named=0 kills=0
word() { sed -n "\$s/.*\\<$1 \\([0-9]*\\).*/\\1/p" err | grep . || echo 0; }
for row in robust queue c11; do
    for seed in $(seq 1 "${FT_SEEDS:-3}"); do
        timeout "$limit" "$agent" -s "$seed" -k 3 -t 40000 -c 5000 "$locks" "$row" >out 2>err </dev/null
        code=$?
        "$locks" -check out >checked || code="$code, $(cat checked)"
        named=$((named + $(word named))) kills=$((kills + $(word kills)))
        [ "$code" = 0 ] && continue
        bad=1
        echo "FAIL: $row: outcome_agent -s $seed -k 3 -t 40000 -c 5000 outcome_locks $row: code $code" && tail -n 2 err
    done
done
echo "$kills kills, put back from a newer copy $named times"
[ "$named" != 0 ] || { echo "FAIL: nothing was put back from a newer copy" && bad=1; }
exit $bad
