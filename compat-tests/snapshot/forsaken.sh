#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A rank that dies of its own, twice at one place or by its own hand, goes on from snapshot zero, if it still has that: the newest one may
# have led to its death. (A shell's `[ $FTMPI_INCARNATION = 0 ] && kill -9 $$` did so again from the newest, three times, and was given up.)
# What only copies of a rank die of ends no job: the program is started by exec. (Three deaths of its own were the end, whatever was left.)
# shellcheck disable=SC2016
. "$(dirname "$0")/../lib/test.sh"
own_jobs
sanitizers handle_segv=0

# go COMMAND...: two ranks, until rank 1 has a snapshot that is newer than zero; then they may go on. $tmp/said: what is told of it.
has_newer() { "$ftrun" status --json 2>/dev/null | tr -d '\n ' | grep -q '"rank":1,.*"snapshot":{"pid"'; }
go() {
    rm -f "$tmp/go"
    begin --snapshot 0.05 --report "$tmp/report" -n 2 "$@"
    wait_for has_newer
    : >"$tmp/go"
    ended
    sed -e 's/^ftrun: //; s/ (pid [^)]*)//; s/at unit [0-9]*/at unit N/' -e '/replays: unit\|is back where it was\|of a* *ranks* survived\|gets no snapshot: what went on from its earlier snapshots has died where it is now/d' "$tmp/err" >"$tmp/said"
}
# said LINE...: no other line was told.
said() { printf 'rank 1 %s\n' "$@" | cmp -s - "$tmp/said" || { fail "$what: another way:" && printf 'rank 1 %s\n' "$@" | diff - "$tmp/said"; }; }
ways() { [ "$(sed -n 's/.*"way_back": "\(.*\)",/\1/p' "$tmp/report" | paste -sd' ')" = "$1" ] || fail "$what: other ways back: $(grep way_back "$tmp/report")"; }
both_done() {
    expect_code 0
    sorted
    expect_out 'rank 0: done' 'rank 1: done'
}
segv='was killed by signal 11 (SIGSEGV)' kill='was killed by signal 9 (SIGKILL)' abrt='was killed by signal 6 (SIGABRT)'
newest=', of its own, at unit N; it does not go on from its newest snapshot again'
none=', of its own, at unit N; it does not go on from a snapshot again'

go "$built/forsaken" "$tmp/go" copies
both_done
said "$kill; restarted from its snapshot, restart 1" "$segv; restarted from its snapshot, restart 2" "$segv$newest" "$segv; restarted, restart 3" \
    "$segv$none" "$segv; restarted, restart 4"
go "$built/forsaken" "$tmp/go" always
expect_code 139
expect_err "rank 1 (pid [0-9]*, host [^)]*) was killed by signal 11 (SIGSEGV), 4 times in a row at unit [1-9][0-9]*; given up, the job is ended"

for how in hand helper; do
    go "$built/forsaken" "$tmp/go" $how
    both_done
    said "$kill$newest" "$kill; restarted, restart 1"
    ways start
done
go "$built/forsaken" "$tmp/go" fault
both_done
said "$abrt; restarted from its snapshot, restart 1" "$abrt$newest" "$abrt; restarted, restart 2"
ways 'snapshot start'
# The only way back is not thrown away.
go "$built/forsaken" "$tmp/go" closed "$tmp/mapped"
both_done
said "$kill; restarted from its snapshot, restart 1"
ways snapshot

# Without MPI.
go sh -c 'while [ ! -e "$1/go" ]; do echo >/dev/null; done
    [ $FTMPI_RANK.$FTMPI_INCARNATION = 1.0 ] && kill -9 $$
    echo "rank $FTMPI_RANK: done"' _ "$tmp"
both_done
said "$kill$newest" "$kill; restarted, restart 1"
ways start
finish
