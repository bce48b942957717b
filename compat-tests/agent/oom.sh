#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The kernel kills ranks for want of memory, in control groups that have little: that of one rank, which enters it before its program begins, or that
# of the whole job. It is told, counted as the rank's own doing, and a death that is none of these is not taken for one.
. "$(dirname "$0")/../lib/test.sh"
again=$built/again
cd "$tmp" || exit 99
units=400
seq 7 3 100 >input
limit=192M # less than a rank takes (again.c), and enough for a job and its log

uses memory
limited all $limit
# shellcheck disable=SC2154 # lib/memory.sh
all=$group
limited one $limit
one=$group

# What the tests rest upon.
{ ./inside "$one" - "$again" 1 0.0:m0 >/dev/null; } 2>err
code=$?
[ $code != 3 ] || skip "the kernel does not keep to a limit of memory here"
[ $code = 137 ] || { echo "FAIL: a program that takes more memory than its group has ends with $code: $(cat err)"; exit 1; }

# What went before anything of the program, and was told: snapshots, and memory of the log (memory.sh).
gave_way='is short of memory\|there is little memory left\|gets no newer snapshot\|gets no snapshot'
# rank, how often: with that line. A snapshot is killed before its rank is, so that may be of no use any more.
died() {
    killed="^ftrun: rank $1 (pid [0-9]*, host .*) was killed by signal 9 (SIGKILL: out of memory)"
    [ "$(grep -c "$killed\(; restarted\| and needs a part of the log\)" err)" = "$2" ] ||
        fail "$what: it is not told $2 times that rank $1 was killed for want of memory: $(grep ^ftrun: err)"
}
check() { # exit code, lines of ftrun's
    [ "$code" = "$1" ] || fail "$what: exit code $code, not $1"
    [ "$(grep -v " replays: unit \| is back where it was\| survived: \|from its newest snapshot again$\|$gave_way" err | grep -c ^ftrun:)" = "$2" ] || fail "$what: ftrun says not $2 lines: $(grep ^ftrun: err)"
    [ "$1" != 0 ] || sort out | cmp -s - calm || fail "$what: the output is not that of an undisturbed run"
    all_gone pid.* || fail "$what: ranks are left"
}
# ranks, deaths: these ranks are in a group of their own
some_in() {
    what="$with, ranks $1 in a group of their own: $2"
    rm -f took.*
    timeout -k 5 120 "$ftrun" $with -n 3 ./inside "$one" "$1" "$again" $units $2 <input >out 2>err
    code=$?
}
all_in() { # deaths
    what="$with, all of the job in a group: $1"
    rm -f took.*
    timeout -k 5 120 ./inside "$all" - "$ftrun" $with -n 3 "$again" $units $1 <input >out 2>err
    code=$?
}

with='--snapshot off'
some_in - ''
sort out >calm
check 0 0
[ "$(wc -l <calm)" = $((3 * units / 100)) ] || fail "$what: $(wc -l <calm) lines"

for with in '--snapshot off' '--snapshot 0.02'; do
    some_in 1 '1.*:o250'
    check 0 1
    died 1 1
    all_in '1.*:o250'
    check 0 1
    died 1 1
    some_in 12 '1.*:o250 2.*:o250' # two at once
    check 0 2
    died 1 1
    died 2 1

    # Every time: the rank's own doing, so it is given up at the third.
    for where in 'some_in 1' all_in; do
        $where '1.*:m250'
        check 137 3
        died 1 2
        grep -q '^ftrun: rank 1 .* was killed by signal 9 (SIGKILL: out of memory), 3 times in a row at unit 250; given up, the job is ended$' err ||
            fail "$what: it is not told that it is given up"
    done
done

# A death of something else, right after that.
with='--snapshot off'
some_in 1 '1.0:m250 1.1:k300 2.0:k301'
check 0 3
died 1 1
[ "$(grep -c '^ftrun: rank [12] .* was killed by signal 9 (SIGKILL); restarted' err)" = 2 ] || fail "$what: deaths that were not for want of memory are told as such"

# What is killed elsewhere counts for nothing, whether the job's memory is limited or not: the rank waits until a stranger has been killed.
beside() { # command that runs the job
    rm -f pid.* go
    timeout -k 5 120 "$@" "$ftrun" --snapshot off -n 3 "$again" $units 1.0:w250 <input >out 2>err &
    wait_for test -e pid.1
    (cd stranger && exec ../inside "$one" - "$again" 1 0.0:m0) >stranger/out 2>&1
    [ $? = 137 ] || fail "$what: the stranger is not killed"
    : >go
    wait $!
    code=$?
    check 0 1
    grep -q '^ftrun: rank 1 .* was killed by signal 9 (SIGKILL); restarted' err || fail "$what: the rank's death is told as one for want of memory"
}
mkdir stranger
what="all of the job in a group, and a kill elsewhere"
beside ./inside "$all" -
what="a job without a limit, and a kill elsewhere"
beside env
finish
