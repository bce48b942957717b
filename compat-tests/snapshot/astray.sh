#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What goes on from a snapshot and does something else there than its predecessor ends itself, and another way back is tried. These are
# no deaths of the rank: one kill was told as four, and used up --max-restarts.
. "$(dirname "$0")/../lib/test.sh"
needs python3
own_jobs
cd "$tmp" || exit 99
# Its first incarnation opens a file where all others write.
cat >program <<'END'
if [ "$FTMPI_INCARNATION" = 0 ]; then
    echo x >first
    kill -9 $$
fi
until [ -e go ]; do sleep 0.05; done
echo done
END
begin --max-restarts 1 --report report.json -n 1 sh ./program
restarts() { "$ftrun" status --json 2>/dev/null | python3 -c 'import json, sys; print(json.load(sys.stdin)["per_rank"][0]["restarts"])'; }
wait_for told 'is restarted another way, from its beginning'
[ "$(restarts)" = 1 ] || fail "$what: ftrun status says $(restarts) restarts"
: >go
ended
expect_code 0
expect_out 'done'
expect_err 'rank 0 (pid [0-9]*, host [^)]*) was killed by signal 9 (SIGKILL); restarted, restart 1, 1 of 1 for the job$'
[ "$(grep -c 'a snapshot could not be followed: .*; it is tried again$' err)" = 2 ] || fail "$what: it is not tried three times"
expect_err 'a snapshot could not be followed: .*; it is given up$'
expect_err '1 death of a rank survived: 1 from the start; 3 tries of a snapshot in vain$'
expect_err_lines 6
python3 - <<'END' || fail "$what: the report"
import json
r = json.load(open('report.json'))
assert len(r['restarts']) == 1, r['restarts']
one = r['restarts'][0]
assert one['snapshots_not_followed'] == 3 and one['way_back'] == 'start' and one['signal'] == 9, one
assert r['per_rank'][0]['restarts'] == 1, r['per_rank']
END
finish
