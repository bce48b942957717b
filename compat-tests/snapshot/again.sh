#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A rank that has lost its snapshots is started from its beginning, unless it has changed files so that it would do other things then: the job
# ends instead, with one line. Each row of ft/outcome/once.h.
. "$(dirname "$0")/../lib/test.sh"
cd "$tmp" || exit 2

again() { # what, F afterwards, what it has seen
    printf first >F
    run -n 1 "$built/again" "$1"
    expect_code 0
    expect_err 'killed by signal 9 (SIGKILL); restarted, restart 1'
    expect_out "seen: $3"
    [ "$(cat F)" = "$2" ] || fail "$1: F is \"$(cat F)\", not \"$2\""
}
never() { # what, the words for it
    printf first >F
    run -n 1 "$built/again" "$1"
    expect_code 1
    expect_err "rank 0 (host [^ ]*) has no snapshot, and from the start it would do other things than before, for it has $2 .*F; --start-over always allows that"
}
again own 'OWN and more' 'own and more'
again emptied 'new text' new
again over FIRST ''
again replaced new new
again removed made ''
again only_read first first
again null_name first first
again nameless first one
again process first first
if records; then
    never append 'appended to'
    never by_stream 'appended to'
    never turned 'appended to'
    never at_end 'read, and then written to,'
    never update 'read, and then written to,'
    never beside 'read, and then written to,'
    never rewrite 'read, and then replaced or removed,'
    never rename_over 'read, and then replaced or removed,'
    never consume 'read, and then replaced or removed,'
    never move renamed
    never cut 'read, and then replaced or removed,'
    never doubled 'read, and then written to,'
    never longer 'read, and then written to,'
    never look_by_append 'read, and then replaced or removed,'
    never keep_and_replace 'read, and then replaced or removed,'
    never map 'read, and then written to,'
    for when in connected connected_late; do
        run -n 1 "$built/again" $when
        expect_code 1
        expect_err "from the start it would do other things than before, for it has been connected with 127.0.0.1:[0-9]*; --start-over"
    done
fi

# Whoever does not mind says so.
printf first >F
run --start-over always -n 1 "$built/again" append
expect_code 0
[ "$(cat F)" = 'first more more' ] || fail "--start-over always: $(cat F)"
run --start-over perhaps -n 1 true
expect_code 2
finish
