#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# ftrun's own standard descriptors: closed, of every kind, slow.
. "$(dirname "$0")/../lib/test.sh"
what="ftrun and its descriptors"
many='i=0; while [ $i -lt 5000 ]; do i=$((i + 1)); echo "line $i of rank $FTMPI_RANK, long enough to fill a pipe before long"; done'

# Standard input goes to rank 0, from a file, a pipe and nowhere.
echo from a file >"$tmp/in"
[ "$(timeout 120 "$ftrun" -n 3 cat <"$tmp/in")" = 'from a file' ] || fail "stdin from a file"
[ "$(echo from a pipe | timeout 120 "$ftrun" -n 3 cat)" = 'from a pipe' ] || fail "stdin from a pipe"
[ "$(timeout 120 "$ftrun" -n 3 cat <&-)" = '' ] || fail "stdin closed"
[ "$(timeout 120 "$ftrun" -n 3 sh -c 'readlink /proc/$$/fd/0' <"$tmp/in" | sort | uniq -c | sort -n | sed 's/\[.*//' | tr -s ' ')" = " 1 pipe:
 2 /dev/null" ] || fail "ranks 1 and 2 do not have /dev/null"

# The ranks are not harmed by a reader that is not there, or leaves. That their output went nowhere is told, and a failure.
timeout 120 "$ftrun" -n 2 sh -c "$many; echo there >$tmp/there.\$FTMPI_RANK" >&- 2>"$tmp/err"
code=$?
expect_code 1
expect_err 'cannot write to stdout: Bad file descriptor'
[ -s "$tmp/there.0" ] && [ -s "$tmp/there.1" ] || fail "a stdout that is closed ends ranks"
timeout 120 "$ftrun" -n 2 sh -c "$many" >&- 2>&-
code=$?
expect_code 1
{ timeout 120 "$ftrun" -n 2 sh -c "$many"; echo $? >"$tmp/code"; } | head -1 >/dev/null
[ "$(cat "$tmp/code")" = 0 ] || fail "a reader that left ends the job: $(cat "$tmp/code")"

# A slow reader gets everything, and ftrun does not keep it all in memory.
timeout 120 "$ftrun" -n 2 sh -c "$many" | { sleep 0.3; cat; } | sort >"$tmp/slow"
for r in 0 1; do seq -f "line %.0f of rank $r, long enough to fill a pipe before long" 5000; done | sort | cmp -s - "$tmp/slow" ||
    fail "a slow reader does not get everything"

# A full disk is told and is a failure.
if [ -w /dev/full ]; then
    timeout 120 "$ftrun" -n 1 echo hello >/dev/full 2>"$tmp/err"
    code=$?
    expect_code 1
    expect_err 'cannot write to stdout'
fi

# stdout and stderr to one place: lines stay whole.
timeout 120 "$ftrun" -n 2 sh -c 'i=0; while [ $i -lt 300 ]; do i=$((i + 1)); printf "%09000d\n" 1; printf "%09000d\n" 2 >&2; done' 2>&1 |
    { sleep 0.1; cat; } >"$tmp/both"
[ "$(sort -u "$tmp/both" | wc -l)" = 2 ] && [ "$(wc -l <"$tmp/both")" = 1200 ] || fail "lines of stdout and stderr mix"

# The caller's descriptors are left as they were (a non-blocking stdout would upset the next program).
(timeout 120 "$ftrun" -n 1 true; cat /proc/self/fdinfo/1 >&2) 2>"$tmp/err" | cat
flags=$(sed -n 's/^flags:[^0-9]*//p' "$tmp/err")
[ $((0$flags & 04000)) = 0 ] || fail "stdout was made non-blocking"
finish
