#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# ftrun --check-replay kills each rank itself, again and again, and once more when it has left: a program that can be replayed passes, and prints
# what it prints without; one that cannot is found, with a line that names the rank and what differed, and code 111. Such kills are no deaths in
# the report.
. "$(dirname "$0")/../lib/test.sh"
seeded

# expect CODE ARGUMENT...: of ftrun.
expect() {
    wanted=$1
    shift
    what="ftrun $*"
    bounded 60 "$ftrun" --report "$tmp/report" "$@" >"$tmp/out" 2>"$tmp/err"
    code=$?
    [ $code = "$wanted" ] || fail "$what: exit code $code, not $wanted"
    [ "$(sed -n 's/^  "exit_code": //p' "$tmp/report")" = "$wanted," ] || fail "$what: another code in the report"
}
# says PATTERN: in one line.
says() { grep -q "^ftrun: $1\$" "$tmp/err" || fail "$what does not say: $1"; }
is_silent_of() { ! grep -q "$1" "$tmp/err" || fail "$what says: $1"; }
has_no_restarts() { grep -q '^  "restarts": \[\],' "$tmp/report" || fail "$what: its kills are in the report as deaths"; }
# whole N: of each of N ranks, 100 lines of ticks.
whole() {
    for rank in $(seq 0 $(($1 - 1))); do
        grep "^$rank line" "$tmp/out" | cut -d: -f1 >"$tmp/lines"
        for i in $(seq 0 99); do echo "$rank line $i"; done | cmp -s - "$tmp/lines" || fail "$what: not each line of rank $rank once"
    done
}

# MPI: killed in its operations, and when MPI_Finalize is over (its snapshots could not join the job again once: descriptors that they share were closed).
bounded 60 "$ftrun" -n 3 --quiet "$built/mixed" -n 300 -s 5 | sort >"$tmp/calm"
for s in $seed $((seed + 1)); do
    expect 0 -n 3 --check-replay="$s" "$built/mixed" -n 300 -s 5
    sort "$tmp/out" | cmp - "$tmp/calm" || fail "$what: the output differs"
    says '--check-replay: [0-9]* replays of 3 ranks (0 from a snapshot, [0-9]* from the start), [0-9]* records: all exact'
    has_no_restarts
done
expect 0 -n 2 --check-replay="$seed" --snapshot 0.05 "$built/mixed" -n 2000 -s 5
says '--check-replay: .* replays of 2 ranks ([1-9][0-9]* from a snapshot, .*: all exact'

# What comes again does not come before the predecessor had it: it was in a posted buffer before the rank had sent out of that, as BLACS does.
for options in "-n 2" "-n 4" "-n 4 --snapshot 0.02"; do
    # shellcheck disable=SC2086
    expect 0 $options --check-replay="$seed" "$built/early"
    says '--check-replay: .*: all exact'
    ! grep -v ': 1000 rounds$' "$tmp/out" || fail "$what: a message came too early (above)"
done

# No MPI: time, chance and numbers of processes are no difference.
expect 0 -n 3 --check-replay="$seed" "$built/ticks" same
says '--check-replay: [0-9]* replays of 3 ranks (0 from a snapshot, [0-9]* from the start), [0-9]* records: all exact'
whole 3
has_no_restarts
[ "$(grep -c '"differed": 0' "$tmp/report")" = 3 ] || fail "$what: the report tells of differences"
[ "$(grep -c '"to_the_end": true' "$tmp/report")" = 3 ] || fail "$what: not to the end"

# A job that failed is not called exact: a replay may have ended it, which is counted nowhere.
expect 3 -n 2 --check-replay="$seed" "$built/ticks" fails
says '--check-replay: .* records: none of these differed\(, but not of the whole run\)\?'

# What nobody records.
expect 111 -n 3 --check-replay="$seed" "$built/ticks" other
says 'rank 1: what it writes again to descriptor 1 differs from before, and is dropped'
says '--check-replay: .* records: these differed: [0-9]* of rank 1'
is_silent_of 'rank [02]:'
whole 3
has_no_restarts

# Threads that race.
expect 111 -n 2 --check-replay="$seed" "$built/ticks" race
says 'rank 1: \(what it writes again to descriptor 1 differs from before, and is dropped\|a snapshot could not be followed: .*\)'
says '--check-replay: .* records: these differed: [0-9]* of rank 1'
is_silent_of 'rank 0:'
whole 2
[ "$(grep -c '^1 draw' "$tmp/out")" = 400 ] || fail "$what: not each number once"
has_no_restarts

# It cannot be followed, nor begin anew. (The code was 1, as if it had failed.)
echo here >"$tmp/appended"
TICKS_FILE=$tmp/appended expect 111 -n 2 --check-replay="$seed" "$built/ticks" lost
says 'rank 1: a snapshot could not be followed: .*; it is given up'
says 'rank 1 (host .*) has no snapshot, and from the start it would do other things than before, for .*'
says '--check-replay: .* records: these differed: [0-9]* of rank 1'

# What cannot be put back is told, too.
expect 111 -n 2 --check-replay="$seed" "$built/ticks" shared
says '--check-replay: rank 1 was checked up to record 0 of [0-9]* only: .*memory.*'
says '--check-replay: .* records: none of these differed, but not of the whole run'
is_silent_of 'rank 0'
whole 2

# Nobody is killed.
expect 0 -n 2 --check-replay=compare "$built/ticks" other
[ ! -s "$tmp/err" ] || fail "$what says something"
expect 0 -n 2 --check-replay --snapshot off "$built/ticks" other
says '--check-replay: rank 1 was not checked: what it does is not recorded'
bounded 20 "$ftrun" -n 2 --check-replay=often "$built/ticks" same >"$tmp/out" 2>"$tmp/err"
[ $? = 2 ] || fail "--check-replay=often is no usage error"
finish
