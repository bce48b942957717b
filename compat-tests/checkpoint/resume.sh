#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Durable checkpoints: everything of a job is killed at once, at random moments, and `ftrun --resume` ends with the result of an undisturbed run. Damaged
# files, files of somebody else, a full disk.
# shellcheck disable=SC2154 # what is not assigned here is by: uses checkpoints
. "$(dirname "$0")/../lib/test.sh"
uses checkpoints
undisturbed() { # arguments of the job
    run -q -n 3 "$resumejob" "$@"
    expect_code 0
    wanted=$(final out)
    cp out calm
    [ -n "$wanted" ] || fail "$what: no result"
}
# Killed again and again, each time a little further, with models of all kinds.
again() { # kills, arguments of the job
    kills=$1
    shift
    rm -rf ckpt
    undisturbed "$@"
    resumed=0 printed=
    for i in $(seq "$kills"); do
        before=$(newest 2>/dev/null)
        begin --ckpt-dir ckpt -q -n 3 --resume=auto "$resumejob" "$@"
        random 3
        [ "$drawn" = 0 ] && [ "$i" -gt 1 ] || wait_for has_got_on $((${before:-0} + 1)) # the first gets somewhere, or nobody might
        random 300
        sleep "$(printf '0.%03d' "$drawn")"
        die
        printed="$printed $(sed -n 's/^begins with version \([0-9]*\)/\1/p' err)"
        ! grep -q '^begins with version [1-9]' err || resumed=$((resumed + 1))
        grep -av '^begins with' err | grep -a . && fail "$what: says something"
        [ "$(files)" -le 3 ] || fail "$what: $(files) files" # killed before the oldest was removed
        cat out >>rounds
    done
    begin --ckpt-dir ckpt -q -n 3 --resume=auto "$resumejob" "$@"
    expect_finished
    ! grep -q '^begins with version [1-9]' err || resumed=$((resumed + 1))
    echo "$*: began with versions$printed $(sed -n 's/^begins with version \([0-9]*\)/\1/p' err)"
    [ $resumed -gt 0 ] || fail "$what: never began with a version"
    [ "$(files)" = 2 ] || fail "$what: $(files) files are left"
    case $* in
        *lazy) has_version 2 ;; # the last one may not have been wanted
        *) has_version "$1" ;;
    esac || fail "$what: the last version on disk is $(newest)"
    # what was printed, whenever, is what an undisturbed run prints
    cat out >>rounds
    sort -u rounds | grep -v -x -F -f calm | grep '^round [0-9]*: [0-9a-f]\{16\}$' && fail "$what: other rounds than undisturbed"
    rm -f rounds
}
kills=4
if quick; then kills=2; fi
again $kills 60 8000 20 local
again 2 200 800 5 lazy

# A job that has ended: the last version is loaded, and that was it.
undisturbed 20 800 1 local
rm -rf ckpt
run --ckpt-dir ckpt -n 3 "$resumejob" 20 800 1 local
expect_code 0
has_version 20 || fail "$what: the last version on disk is $(newest)"
[ "$(stat -c %a ckpt) $(stat -c %a "$(file 20)")" = "700 600" ] || fail "$what: modes $(stat -c %a ckpt "$(file 20)")"
run --ckpt-dir ckpt --resume -n 3 "$resumejob" 20 800 1 local
expect_code 0
expect_out "$wanted"
expect_err 'begins with version 20'
expect_err 'ftrun: resumed from checkpoint 20 in ckpt, made 20'
run --ckpt-dir ckpt --resume -n 3 "$resumejob" 25 800 1 local # and more rounds
expect_code 0
expect_err 'begins with version 20'
has_version 25 || fail "$what: the last version on disk is $(newest)"
before=$(ls ckpt | head -n 1 | sed 's/[^0-9]*0*\([0-9]*\).*/\1/') # some may have been left out
[ "$before" -ge 20 ] && [ "$before" -lt 25 ] || fail "$what: version $before is the one before"
cp -r ckpt kept

# A rank without memory for what it loads loads again: it had called the unit of its first load by then, and waited in vain in a second one.
if [ -z "${sanitized-}" ]; then # they end a program that has no memory
    run --ckpt-dir poor -n 3 "$resumejob" 2 800000 1
    run --ckpt-dir poor --resume -n 3 "$resumejob" 4 800000 1 poor
    expect_code 0
    rm -rf poor
fi

# Refused: one line, nothing is started or changed.
refused() { # pattern, arguments
    pattern=$1
    shift
    run "$@"
    expect_code 2
    expect_err "$pattern"
    expect_err_lines 1
    expect_no_out
    diff -r ckpt kept >/dev/null || fail "$what: the directory is not what it was"
}
refused 'there are checkpoints of an earlier job, the newest is checkpoint 25' --ckpt-dir ckpt -n 3 "$resumejob" 30 800 1 local
refused 'it is of the program "resumejob", this is "true"' --ckpt-dir ckpt --resume -n 3 true
refused 'it is of 3 ranks, this job has 4' --ckpt-dir ckpt --resume=auto -n 4 "$resumejob" 30 800 1 local
printf 'x' | dd of="$(file "$before")" bs=1 seek=100 conv=notrunc 2>/dev/null
printf 'x' | dd of="$(file 25)" bs=1 seek=100 conv=notrunc 2>/dev/null
run --ckpt-dir ckpt --resume=auto -n 3 "$resumejob" 30 800 1 local
expect_code 2
expect_err 'there is no good checkpoint in it'
expect_err "checkpoint-00000000$before.ftmpi cannot be used: its header is damaged (checksum)"

# Damaged: the version before is taken, and the line says why.
damaged() { # pattern
    run --ckpt-dir ckpt --resume -n 3 "$resumejob" 30 800 1 local
    expect_code 0
    expect_err "ftrun: --resume: checkpoint-0000000025.ftmpi cannot be used: $1"
    expect_err "begins with version $before"
    has_version 30 || fail "$what: the last version on disk is $(newest)"
    [ "$(files)" = 2 ] || fail "$what: $(files) files are left"
    rm -rf ckpt
    cp -r kept ckpt
}
rm -rf ckpt && cp -r kept ckpt
size=$(stat -c %s "$(file 25)")
truncate -s $((size / 2)) "$(file 25)"
damaged "it has $((size / 2)) bytes and should have $size"
truncate -s 0 "$(file 25)"
damaged 'it has 0 bytes: no checkpoint is that short'
head -c $((size - 1)) "$(file 25)" >part && printf '\377' >>part && cp part "$(file 25)"
damaged 'the model of rank 2 in it is damaged (checksum)'
cp "$(file "$before")" "$(file 25)"
damaged 'it holds checkpoint 2[0-4], which its name does not say'
rm "$(file 25)" && mkfifo "$(file 25)"
damaged 'it is not a regular file'

# Resumed, and the program does not care: what it makes is not what its version number says.
run --ckpt-dir ckpt --resume -n 3 "$resumejob" 30 800 1 local anew
expect_code 0
expect_err 'makes checkpoints, but has not loaded checkpoint 25, which it was resumed from; nothing is written to ckpt'
expect_err_lines 3
diff -r ckpt kept || fail "$what: the directory is not what it was"
run --ckpt-dir empty -n 2 true
expect_code 0
expect_err 'ckpt-dir empty: the program has made no checkpoint'

# Directories.
rm -rf ckpt && mkdir ckpt && echo "something" >ckpt/checkpoint.tmp # a writer was killed before its first file had a name
run --ckpt-dir ckpt --resume -n 3 "$resumejob" 5 800 1
expect_code 2
expect_err 'there is no checkpoint in ckpt'
run --ckpt-dir ckpt --resume=auto -n 3 "$resumejob" 5 800 1
expect_code 0
[ ! -e ckpt/checkpoint.tmp ] || fail "$what: checkpoint.tmp is still there"
chmod 0 ckpt
if [ "$(id -u)" != 0 ]; then
    run --ckpt-dir ckpt --resume -n 3 "$resumejob" 5 800 1
    expect_code 2
    expect_err 'cannot use the directory ckpt: Permission denied'
elif command -v setpriv >/dev/null; then
    chmod 711 "$tmp" && mkdir -m 777 run_of_nobody
    what="of another user"
    FTMPI_RUN_DIR=$tmp/run_of_nobody/run setpriv --reuid=65534 --regid=65534 --clear-groups \
        timeout 120 "$ftrun" --ckpt-dir ckpt --resume -n 3 "$resumejob" 5 800 1 >out 2>err
    code=$?
    grep -q 'Permission denied' err || echo "nobody cannot run it here: $(head -1 err)"
    [ $code != 0 ] || fail "$what: exit code 0"
fi
chmod 700 ckpt

# One job at a time.
rm -rf ckpt
begin --ckpt-dir ckpt -n 3 "$resumejob" 100000 800 5
wait_for has_version 2
expect_in_use -n 3

# --ckpt-every.
checks_ckpt_every run --ckpt-dir ckpt -n 3

# Faster than the disk, and ranks die: what is being written to the disk is not written over meanwhile.
if ! quick; then
    undisturbed 20 16000000 0 local
    rm -rf ckpt
    begin --ckpt-dir ckpt -n 3 "$resumejob" 20 16000000 0 local
    wait_for has_got_on 1
    for rank in $(cat "/proc/$(other_process "$front")/task/"*/children); do
        case $(readlink "/proc/$rank/exe") in */resumejob) kill -9 "$rank" ;; esac
    done
    wait "$job"
    code=$?
    expect_code 0
    ! grep -e 'not what the ranks' -e 'is not what it was before' err || fail "$what: says what it should not"
    cmp -s calm out || fail "$what: the output differs"
    has_version 20 || fail "$what: the last version on disk is $(newest)"
    run -q --ckpt-dir ckpt --resume -n 3 "$resumejob" 20 16000000 0 local # checks what it loads
    expect_code 0
    expect_out "$(final calm)"
fi

# The agent is killed: the successor goes on with writing.
rm -rf ckpt
begin --ckpt-dir ckpt -q -n 3 "$resumejob" 60 80000 10 local
for i in 1 2 3; do
    wait_for has_version $((i * 8))
    other=$(other_process "$front")
    [ -z "$other" ] || kill -9 "$other"
done
undisturbed_of=$(timeout 120 "$ftrun" -q -n 3 "$resumejob" 60 80000 0 local 2>/dev/null | grep '^final')
wanted=$undisturbed_of
expect_finished
has_version 60 || fail "$what: the last version on disk is $(newest)"

# The disk is full: told once, the last good version stays, the job ends well; when there is room it goes on.
rm -rf ckpt && mkdir ckpt
if mount -t tmpfs -o size=1m,mode=700 none "$tmp/ckpt" 2>/dev/null; then
    trap 'umount "$tmp/ckpt"; rm -rf "$tmp"' EXIT
    begin --ckpt-dir ckpt -n 3 "$resumejob" 40000 300000 5
    wait_for has_version 3
    fill_up() {
        cat /dev/zero >>ckpt/ballast # and what the writer makes room for, again
        grep -q 'No space left on device; the job goes on, and checkpoint [0-9]* is the last one there' err
    }
    wait_for fill_up
    stays=$(newest)
    grep -q "checkpoint $stays is the last one there" err || fail "$what: $stays is the newest file"
    sleep 1.5 # one more try
    rm ckpt/ballast
    wait_for grep -q 'checkpoints can be written again' err
    die
    [ "$(grep -c 'No space left' err)" = 1 ] || fail "$what: told $(grep -c 'No space left' err) times"
    begin --ckpt-dir ckpt -q -n 3 --resume "$resumejob" 100 300000 0
    wait_for grep -q 'begins with version [1-9]' err
    die
    umount "$tmp/ckpt"
    trap 'rm -rf "$tmp"' EXIT
else
    echo "no tmpfs can be mounted here: the full disk is left out"
fi
finish
