#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A rank whose second thread waits in one call for as long as it runs, and that is told eight times what its log of outcomes can hold: the log
# is used again around that call's record, and each copy finds it. (The log would have had to keep all since that call began: then recording
# ends, and the rank has no way back.)
. "$(dirname "$0")/../lib/test.sh"
own_jobs
cat >"$tmp/told.py" <<'END'
import hashlib, os, select, sys, threading
lines, go = sys.argv[1:]
ends, seen, told = os.pipe(), [], []
def wait():
    poll = select.poll()
    poll.register(ends[0], select.POLLIN)
    seen.append(len(poll.poll()))
    seen.append(os.read(ends[0], 10))
waits = threading.Thread(target=wait)
waits.start()
with open(lines, "w") as f:
    while len(told) < 128 or not os.path.exists(go):
        told.append(hashlib.sha256(os.urandom(1 << 20)).hexdigest())
        print(told[-1], file=f, flush=True)
os.write(ends[1], b"over")
waits.join()
print("the same" if open(lines).read().split() == told and seen == [1, b"over"] else "others", len(told))
END
status() { "$ftrun" status --json 2>/dev/null | tr -d '\n '; }
pid_of() { status | sed 's/.*"rank":0,"host":"[^"]*","pid":\([0-9]*\).*/\1/'; }
killed() {
    kill -KILL "$(pid_of)"
    wait_for told "restarted from its snapshot, restart $1"
}
begin --log-limit 16M --report "$tmp/report" -n 1 /usr/bin/python3 "$tmp/told.py" "$tmp/lines" "$tmp/go"
wait_for has_lines 40 "$tmp/lines"
killed 1
wait_for has_lines 80 "$tmp/lines"
killed 2
wait_for has_lines 128 "$tmp/lines"
killed 3
"$ftrun" status >"$tmp/status"
grep -q '^0 *snapshot of 2 threads' "$tmp/status" || { fail "ftrun status does not say how many threads the snapshot has" && cat "$tmp/status"; }
: >"$tmp/go"
ended
expect_code 0
grep -q '^the same' "$tmp/out" || fail "$what: $(cat "$tmp/out")"
! told 'no way back\|gets no' || fail "$what: not all the time it had a way back"
grep -q '"threads": 2' "$tmp/report" || fail "$what: no snapshot had its second thread"
finish
