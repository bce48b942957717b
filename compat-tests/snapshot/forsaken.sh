#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A copy of a rank that dies where the program would not is not the last way back: after two such deaths at one place the snapshot
# before it is woken, then snapshot zero, then the program is started by exec. A rank is given up when that dies there, too. (Three
# deaths of its own were the end, whatever was left.)
. "$(dirname "$0")/../lib/test.sh"
own_jobs
sanitizers handle_segv=0

# go [ARGUMENT]: once rank 1 has a snapshot that is newer than zero.
has_newer() { "$ftrun" status --json 2>/dev/null | tr -d '\n ' | grep -q '"rank":1,.*"snapshot":{[^}]*"unit":[1-9]'; }
go() {
    rm -f "$tmp/go"
    begin --snapshot 0.05 -n 2 "$built/forsaken" "$tmp/go" "$@"
    wait_for has_newer
    : >"$tmp/go"
    ended
}
how='rank 1 (pid [0-9]*, host [^)]*) was killed by signal'

go
expect_code 0
sorted
expect_out 'rank 0: done' 'rank 1: done'
sed -e 's/ (pid [^)]*)//; s/at unit [0-9]* //' -e '/replays: unit\|is back where it was\|of ranks survived/d' "$tmp/err" >"$tmp/said"
cat >"$tmp/want" <<'END'
ftrun: rank 1 was killed by signal 9 (SIGKILL); restarted from its snapshot, restart 1
ftrun: rank 1 was killed by signal 11 (SIGSEGV); restarted from its snapshot, restart 2
ftrun: rank 1 was killed by signal 11 (SIGSEGV), 2 times since it went on from its snapshot; the next way back is taken
ftrun: rank 1 was killed by signal 11 (SIGSEGV); restarted, restart 3
ftrun: rank 1 was killed by signal 11 (SIGSEGV); restarted, restart 4
ftrun: rank 1 was killed by signal 11 (SIGSEGV), 2 times since it went on from its snapshot; the next way back is taken
ftrun: rank 1 was killed by signal 11 (SIGSEGV); restarted, restart 5
END
cmp -s "$tmp/said" "$tmp/want" || { fail "$what: another way:" && diff "$tmp/want" "$tmp/said"; }

go always
expect_code 139
expect_err "$how 11 (SIGSEGV), 5 times in a row at unit [1-9][0-9]*; given up, the job is ended"
[ "$(grep -c 'the next way back is taken' "$tmp/err")" = 2 ] || fail "$what: not all ways back were taken"
finish
