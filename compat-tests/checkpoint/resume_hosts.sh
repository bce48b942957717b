#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Durable checkpoints of a job on several hosts, all of which are this one: everything of it is killed at once, at random moments, and `ftrun --resume`, on other
# hosts or on one, ends with the result of an undisturbed run; and what has been printed, whenever, is what that prints, without a line that is lacking. Hosts are lost
# while a checkpoint is made, and then everything. Damaged files, a full disk.
# shellcheck disable=SC2154 # what is not assigned here is by: uses hosts checkpoints
. "$(dirname "$0")/../lib/test.sh"
uses hosts checkpoints
# Five ranks each.
place() { # sets placement
    case $1 in
    0) placement="-H a:2,b,c:2" ;;
    1) placement="-H a,b:4" ;;
    2) placement="-H c:3,a:2 --map-by node" ;;
    3) placement="-H a,b,c,d,e" ;;
    4) placement="-n 5" ;; # one host
    esac
}
hosts_job() { # placement, arguments: runs to its end
    place "$1"
    shift
    run --launcher "exec:$go" $placement --ckpt-dir ckpt "$@"
}
begin_on() { # placement, arguments
    place "$1"
    shift
    begin --ckpt-dir ckpt --launcher "exec:$go" $placement "$@"
}
rounds_of() { grep -a -x 'round [0-9]*: [0-9a-f]\{16\}' "$@" | sort -u; }
undisturbed() { # arguments of the job
    run -q -n 5 "$resumejob" "$@"
    expect_code 0
    wanted=$(final out)
    rounds_of out >calm
    [ -n "$wanted" ] || fail "$what: no result"
}
resumed() { sed -n 's/^begins with version \([0-9]*\)/\1/p' err | tail -n 1; }
# One host, as if it had been switched off: what is left of a node would go on for the other half of it. "first": that of rank 0.
lose_one() {
    which=$1
    set -- $(cat "/proc/$(other_process "$front")/task/"*/children)
    [ $# -gt 0 ] || return 0
    random $#
    [ -n "$which" ] || shift "$drawn"
    agent=$(other_process "$1")
    kill -STOP "$1" $agent && kill -KILL "$1" $agent
}
# Killed again and again, each time a little further, on other hosts each time.
again() { # kills, milliseconds a life has at most, options, arguments of the job
    seed=$((seed + asides)) # other moments than beside it
    lives=$1 most=$2 options=$3
    shift 3
    undisturbed "$@"
    began=
    for i in $(seq "$lives"); do
        before=$(newest 2>/dev/null)
        random 5
        [ "$i" -gt 1 ] || [ "$drawn" -lt 4 ] || drawn=0
        begin_on "$drawn" -q $options --resume=auto "$resumejob" "$@"
        random 3
        [ "$drawn" = 0 ] && [ "$i" -gt 1 ] || wait_for has_got_on $((${before:-0} + 1)) # the first gets somewhere, or nobody might
        random "$most"
        sleep "$(printf '%d.%03d' $((drawn / 1000)) $((drawn % 1000)))"
        if [ -n "$options" ]; then # a host, and then everything
            lose_one 2>/dev/null
            random "$most"
            sleep "$(printf '%d.%03d' $((drawn / 1000)) $((drawn % 1000)))"
        fi
        die
        began="$began $(resumed)"
        ! grep -e 'cannot be used' -e 'not what' err || fail "$what: says what it should not"
        [ "$(files)" -le 3 ] || fail "$what: $(files) files" # killed before the oldest was removed
        cat out >>printed
    done
    random 5
    begin_on "$drawn" -q $options --resume=auto "$resumejob" "$@"
    expect_finished
    began="$began $(resumed)"
    echo "$options $*: began with versions$began"
    case $began in *[1-9]*) ;; *) fail "$what: never began with a version" ;; esac
    [ "$(files)" = 2 ] || fail "$what: $(files) files are left"
    case $* in
    *lazy) has_version 2 ;; # the last one may not have been wanted
    *) has_version "$1" ;;
    esac || fail "$what: the last version on disk is $(newest)"
    cat out >>printed
    rounds_of printed | cmp -s - calm || { fail "$what: other rounds than undisturbed"; rounds_of printed | diff - calm | head; }
}
kills=4
if quick; then kills=2; fi
aside apart again $kills 300 '' 60 8000 20 local
aside apart again 2 200 '' 200 800 5 lazy
aside apart again $kills 5000 '--survive rank' 150 4000000 60 local
aside apart again $kills 5000 '--survive host' 150 40000 60 local

# A resumed job loses a host, twice: its ranks, or all, begin with what the job was resumed from, or with a later version that the next node has kept. (The node of
# rank 0 had replayed its load out of a log, and the program was taken for one that does not load: nothing was written any more.)
loses_two() { # rank or host
    undisturbed 60 40000 0 local
    hosts_job 0 "$resumejob" 20 40000 0 local
    expect_code 0
    begin_on 0 -q --survive "$1" --resume "$resumejob" 60 40000 30 local
    wait_for has_got_on 24
    lose_one first 2>/dev/null
    wait_for has_got_on 40
    lose_one 2>/dev/null
    expect_finished
    expect_err 'begins with version 20'
    grep -a '^round' out | sort >rounds
    grep -e '^round 2[1-9]:' -e '^round [3-6][0-9]:' calm | cmp -s - rounds || fail "$what: other rounds than 21 to 60 of an undisturbed run"
    has_version 60 || fail "$what: the last version on disk is $(newest)"
}
aside apart loses_two rank
aside apart loses_two host

# A job that has ended: the last version is there, and can be loaded on hosts and on one; what was made on one can on hosts.
undisturbed 25 800 1 local
rm -rf ckpt
hosts_job 0 "$resumejob" 20 800 1 local
expect_code 0
has_version 20 || fail "$what: the last version on disk is $(newest)"
[ "$(stat -c %a ckpt) $(stat -c %a "$(file 20)")" = "700 600" ] || fail "$what: modes $(stat -c %a ckpt "$(file 20)")"
hosts_job 4 --resume "$resumejob" 22 800 1 local
expect_code 0
expect_err 'begins with version 20'
hosts_job 1 --resume --report report "$resumejob" 25 800 1 local
expect_code 0
expect_err 'begins with version 22'
expect_err 'ftrun: resumed from checkpoint 22 in ckpt, made 20'
[ "$(final out)" = "$wanted" ] || fail "$what: $(final out), not $wanted"
has_version 25 || fail "$what: the last version on disk is $(newest)"
grep -q '"last_version": *25' report || fail "$what: the report does not say that version 25 is on disk"
before=$(ls ckpt | head -n 1 | sed 's/[^0-9]*0*\([0-9]*\).*/\1/') # some may have been left out
cp -r ckpt kept

# Refused with one line, as on one host: nothing is started or changed.
refused() { # pattern, placement, arguments
    pattern=$1
    shift
    rm -f started
    hosts_job "$@"
    expect_code 2
    expect_err "$pattern"
    expect_err_lines 1
    expect_no_out
    [ ! -e started ] || fail "$what: something was started"
    diff -r ckpt kept >/dev/null || fail "$what: the directory is not what it was"
}
refused 'there are checkpoints of an earlier job, the newest is checkpoint 25' 0 "$resumejob" 30 800 1 local
refused 'it is of the program "resumejob", this is "true"' 0 --resume true
refused 'it is of 5 ranks, this job has 6' 3 --resume=auto -n 6 --oversubscribe "$resumejob" 30 800 1 local
# Damaged: the version before is taken, and the line says why; without one it is refused.
size=$(stat -c %s "$(file 25)")
damaged() { # pattern
    hosts_job 0 --resume "$resumejob" 30 800 1 local
    expect_code 0
    expect_err "ftrun: --resume: checkpoint-0000000025.ftmpi cannot be used: $1"
    expect_err "begins with version $before"
    has_version 30 || fail "$what: the last version on disk is $(newest)"
    [ "$(files)" = 2 ] || fail "$what: $(files) files are left"
    rm -rf ckpt
    cp -r kept ckpt
}
truncate -s $((size / 2)) "$(file 25)"
damaged "it has $((size / 2)) bytes and should have $size"
head -c $((size - 1)) "$(file 25)" >part && printf '\377' >>part && cp part "$(file 25)"
damaged 'the model of rank 4 in it is damaged (checksum)'
for v in 25 "$before"; do printf 'x' | dd of="$(file "$v")" bs=1 seek=100 conv=notrunc 2>/dev/null; done
rm -f started
hosts_job 1 --resume "$resumejob" 30 800 1 local
expect_code 2
expect_err 'there is no good checkpoint in it'
[ ! -e started ] || fail "$what: something was started"
rm -rf ckpt && mkdir ckpt
hosts_job 0 --resume "$resumejob" 5 800 1
expect_code 2
expect_err 'there is no checkpoint in ckpt'

# Resumed, and the program does not care; and one that makes none.
rm -rf ckpt && cp -r kept ckpt
hosts_job 0 --resume "$resumejob" 30 800 1 local anew
expect_code 0
expect_err 'makes checkpoints, but has not loaded checkpoint 25, which it was resumed from; nothing is written to ckpt'
diff -r ckpt kept || fail "$what: the directory is not what it was"
rm -rf ckpt
hosts_job 1 true
expect_code 0
expect_err 'ckpt-dir ckpt: the program has made no checkpoint'

# --ckpt-every, and the last one in any case.
checks_ckpt_every hosts_job 0

# One job at a time. Told to end, it leaves its last version: rank 0 prints a round before it makes that version.
rm -rf ckpt
begin_on 0 "$resumejob" 100000 800 5
wait_for has_version 2
expect_in_use --launcher "exec:$go" -H x,y

# Agents and ranks are killed while checkpoints are made: the job is done as ever, and its last version is there.
undisturbed 60 4000000 0 local
rm -rf ckpt
begin_on 0 -q --ckpt-every 1 "$resumejob" 60 4000000 10 local
for i in 1 2 3 4; do
    wait_for has_got_on $((i * 8))
    for node in $(cat "/proc/$(other_process "$front")/task/"*/children 2>/dev/null); do
        agent=$(other_process "$node" 2>/dev/null)
        [ -z "$agent" ] || if [ $((i % 2)) = 0 ]; then kill -9 "$agent"; else
            for rank in $(cat "/proc/$agent/task/"*/children); do
                case $(readlink "/proc/$rank/exe") in */resumejob) kill -9 "$rank"; break ;; esac
            done
        fi
    done 2>/dev/null
done
expect_finished
rounds_of out | cmp -s - calm || fail "$what: other rounds than undisturbed"
has_version 60 || fail "$what: the last version on disk is $(newest)"

# The disk is full: told once, the last good version stays; when there is room it goes on.
rm -rf ckpt && mkdir ckpt
if mount -t tmpfs -o size=1m,mode=700 none "$tmp/ckpt" 2>/dev/null; then
    trap 'umount "$tmp/ckpt"; rm -rf "$tmp"' EXIT
    begin_on 0 "$resumejob" 40000 300000 5
    wait_for has_version 3
    fill_up() {
        cat /dev/zero >>ckpt/ballast # and what the writer makes room for, again
        grep -q 'No space left on device; the job goes on, and checkpoint [0-9]* is the last one there' err
    }
    wait_for fill_up
    stays=$(newest)
    grep -q "checkpoint $stays is the last one there" err || fail "$what: $stays is the newest file"
    rm ckpt/ballast
    wait_for grep -q 'checkpoints can be written again' err
    die
    [ "$(grep -c 'No space left' err)" = 1 ] || fail "$what: told $(grep -c 'No space left' err) times"
    begin_on 1 -q --resume "$resumejob" 100 300000 0
    wait_for grep -q 'begins with version [1-9]' err
    die
    umount "$tmp/ckpt"
    trap 'rm -rf "$tmp"' EXIT
else
    echo "no tmpfs can be mounted here: the full disk is left out"
fi
asides_end
finish
