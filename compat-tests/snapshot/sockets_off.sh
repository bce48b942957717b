#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# --sockets: off closes the ways back of a rank that opens one, and a killed rank says what it had; auto and on keep them; on refuses what cannot be.
. "$(dirname "$0")/../lib/test.sh"
records || skip "nothing is recorded in this build"
python=/usr/bin/python3
export tmp

# killed OPTION...: a job whose rank is killed after it has had a connection.
killed() {
    rm -f "$tmp/opened" "$tmp/go"
    begin -n 1 -vv "$@" $python "$here/sockets_off.py"
    wait_for [ -e "$tmp/opened" ]
    kill -KILL "$(cat "$tmp/opened")"
    wait_for told 'was killed by signal 9'
    : >"$tmp/go"
    ended
}
killed --sockets=off
expect_code 1
expect_err 'rank 0 cannot go on from a snapshot of before now: it has opened a socket (--sockets=off)'
expect_err 'rank 0 .*has no snapshot, and from the start it would do other things than before, for it has been connected with 127.0.0.1'
for option in --sockets=auto --sockets --sockets=on; do
    killed $option
    expect_code 0
    expect_out 'hello own'
    expect_err 'restarted, restart 1'
    ! told 'its program is started' || fail "$what: it began anew"
done

# on: refused at the start, with one line.
refused() {
    run -n 1 --sockets "$@"
    [ "$code" != 0 ] || fail "$what: not refused"
    expect_no_out
    expect_err_lines 1
    expect_err '--sockets: sockets of ranks cannot be kept on .*: '"$why"
}
why='with --snapshot off nothing is recorded' && refused --snapshot off echo here
why='with --max-restarts 0 nothing is recorded' && refused --max-restarts 0 echo here
run -n 1 --snapshot off --sockets=auto echo here
expect_code 0
run -n 1 --sockets=maybe echo here
expect_code 2
expect_err '"maybe" is not a valid value; wanted: auto, on or off'
finish
