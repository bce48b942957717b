#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A job that fits its memory without snapshots fits with them: they are made where there is room for a whole copy, and go before
# anything of the program is killed. Then the log gives way. Each is told once, and `ftrun status` says where the memory is.
. "$(dirname "$0")/../lib/test.sh"
uses memory
needs python3
own_jobs
hog=$built/hog
cd "$tmp" || exit 99
tell() { printf '%s\n' "$2" >"$1.new" && mv "$1.new" "$1"; } # FILE TEXT: readers see all of it
newest() { sed -n 's/^ *"last_snapshot_unit": \([0-9]*\).*/\1/p' report.json | sort -n | head -n 1; } # of the rank with the oldest one

# ---- limits that the kernel keeps ----

# 300 MiB and what belongs to that. Each of these but the last failed: a rank was killed three times, or gone back to.
rounds=30
bounded 120 "$ftrun" -q --snapshot off -n 2 "$hog" 150:$rounds >calm || fail "undisturbed: $?"
sort -o calm calm
# While a snapshot that the kernel has killed is still being taken apart, on a busy machine, it may take a rank: once, not each time.
in_group() { # MIB OPTION... PROGRAM
    what="in $*"
    limited job "$1M"
    shift
    for _ in 1 2 3; do
        # shellcheck disable=SC2154 # lib/memory.sh
        bounded 120 ./inside "$group" - "$ftrun" -n 2 --report report.json "$@" >out 2>err
        code=$?
        expect_code 0
        if ! grep -q 'was killed' err; then return; fi
    done
    fail "$what: a rank is killed"
}
# At 330 it is killed where 20 MiB are made ready for the log, and not 5, before the program takes its own.
for limit in 330 380 500 900; do
    in_group $limit --snapshot 0.1 "$hog" 150:$rounds
    sort out | cmp -s - calm || fail "$what: the output is not that of an undisturbed run"
    # It is no way to fit that there are none.
    [ $limit != 900 ] || [ "$(newest)" -gt 0 ] || fail "$what: a rank has no snapshot"
done
# It has some, of little, and then wants all that there is, at once: the kernel takes them.
in_group 390 --snapshot 0.1 "$hog" 40:30 150:10
[ "$(newest)" -gt 0 ] || fail "$what: there is no snapshot to give way"

# ---- the kernel's choice ----

# A snapshot goes first; the incarnation that comes from it is what its rank was.
score() { cat "/proc/$1/oom_score_adj"; }
status() { "$ftrun" status --json 2>/dev/null >status.json; }
snapshots() { status && [ "$(grep -c '"snapshot": {' status.json)" = "$1" ]; }
# Rank 0 has another process than $1, and that and its snapshot are scored as they should be. Snapshots come and go, not too often to
# be looked at.
are_scored() {
    status
    # shellcheck disable=SC2046
    set -- "$1" $(python3 -c 'import json; r = json.load(open("status.json"))["per_rank"][0]; print(r["pid"], r["snapshot"]["pid"])')
    [ "$1" != "$2" ] && [ "$(score "$2")" = 123 ] && [ "$(score "$3")" = 1000 ] && old=$2
}
cat >protected <<'END'
#!/bin/sh
echo 123 >/proc/self/oom_score_adj
exec "$@"
END
chmod +x protected
rm -f go
begin -q --snapshot 2 -n 1 ./protected "$hog" 8:go
wait_for are_scored 0
kill -9 "$old"
wait_for are_scored "$old"
: >go
ended
expect_code 0

# ---- version 2, its files made up: what is decided, step by step ----

mkdir cgroup
mib() { echo $(($1 << 20)); }
# used MIB [CACHE]: so much is used, and so much of it is clean pages of files. Never more in between: what is not cache any more goes first.
used() {
    [ -n "${2-}" ] || tell cgroup/memory.current "$(mib "$1")"
    tell cgroup/memory.stat "anon 1
inactive_file $(mib "${2:-0}")
active_file 0
file_dirty 0"
    tell cgroup/memory.current "$(mib "$1")"
}
tell cgroup/memory.max "$(mib 2048)"
rm -f go
cat >faked <<'END'
#!/bin/sh
# faked ARGUMENT...: ftrun where control groups are what the test says
mount --bind cgroup /sys/fs/cgroup || exit 77
exec "$@"
END
chmod +x faked
spaces="unshare -m"
[ "$(id -u)" = 0 ] || spaces="unshare -rm"
# Cache forbids nothing, nor does a limit that is far.
used 2000 1700
if $spaces ./faked true 2>err; then
    real=$ftrun
    cat >ftrun-faked <<END
#!/bin/sh
exec $spaces $tmp/faked $real "\$@"
END
    chmod +x ftrun-faked
    ftrun=$tmp/ftrun-faked
    begin --snapshot 0.1 --log-spill "$tmp" --report report.json -n 2 "$hog" 32:go
    ftrun=$real
    wait_for snapshots 2
    "$ftrun" status >out
    n='[0-9]*'
    grep -q "^memory: 300 of 2048 MiB used in the control group (programs $n, snapshots $n, log $n, slots $n, ftrun $n); $n promised" out ||
        { fail "$what: no line of the memory"; cat out; }
    [ ! -s err ] || fail "$what: says something"
    # The cache has become something else. Where the kernel kills all of a group at once, as in a container, ftrun does not leave the
    # choice to it.
    tell cgroup/memory.oom.group 1
    used 1880
    wait_for told 'is short of memory, 1880 of 2048 MiB are used in the job.s control group: snapshots go first, and none is made until there is more'
    wait_for snapshots 0
    told 'there is little memory left' && fail "$what: the log gives way with the snapshots"
    used 2045
    wait_for told "there is little memory left: the log's oldest part goes to a file in $tmp from now on"
    # There is more again, and less.
    used 300
    wait_for snapshots 2
    used 1880
    wait_for snapshots 0
    used 300
    wait_for snapshots 2
    : >go
    ended
    expect_code 0
    expect_err_lines 2
    [ "$(reported report.json spilled_bytes)" -gt 0 ] || fail "$what: nothing was spilled"

    # There the reserve is larger, too: a quarter, not a sixteenth.
    rm -f go
    used 1700
    ftrun=$tmp/ftrun-faked
    for all in 0 1; do
        tell cgroup/memory.oom.group $all
        rm -f go
        begin --snapshot 0.1 -n 1 "$hog" 8:go
        if [ $all = 0 ]; then
            wait_for snapshots 1
        else
            wait_for told 'rank 0 gets no snapshot: there may not be enough memory for a snapshot of it'
            snapshots 0 || fail "$what: it has one"
            # (It referred to itself.)
            "$real" status >status.out && grep -q 'there may not be enough memory for a snapshot of it' status.out && ! grep -q 'ftrun status' status.out ||
                fail "ftrun status: $(cat status.out)"
        fi
        : >go
        ended
        expect_code 0
    done

    # So little that there is no first one: that is told at once, also of ranks that never come to MPI_Init. (It never was.)
    tell cgroup/memory.oom.group 0
    used 2030
    begin -n 3 sleep 100
    wait_for told 'rank 0 (and 2 other ranks) gets no snapshot: there may not be enough memory for a snapshot of it'
    kill -INT "$front"
    ended
    expect_code 130
    expect_err_lines 2

    # So little that the log is in its file from the beginning: ranks that are killed go through that.
    used 2047
    mixed="-n 3 $top_builddir/compat-tests/chaos/mixed -n 1000 -b 40 -s 7"
    bounded 120 "$real" -q --snapshot off $mixed >calm || fail "mixed: $?"
    run -q --snapshot off --log-spill "$tmp" --report report.json $mixed -k 1:990,0:995
    expect_code 0
    by_rank out >wild.sorted
    by_rank calm | cmp - wild.sorted || fail "$what: the output differs"
    [ $(($(reported report.json spilled_bytes) + (12 << 20))) -gt "$(reported report.json log_bytes)" ] ||
        fail "$what: $(reported report.json spilled_bytes) of $(reported report.json log_bytes) bytes are spilled"
    ftrun=$real
else
    echo "no mount namespace here, version 2 is not tried: $(cat err)"
fi

# ---- memory that the system does not give ----

# A rank that stores into such memory dies of SIGBUS; the log goes to its file instead.
export NOSPACE=$((16 << 20)) LD_PRELOAD="$built/.libs/nospace.so"
run --snapshot off --log-spill "$tmp" --report report.json -n 2 "$hog" 1:400
unset LD_PRELOAD
expect_code 0
expect_err "there is little memory left: the log's oldest part goes to a file"
expect_err_lines 1
[ "$(reported report.json spilled_bytes)" -gt $((16 << 20)) ] || fail "$what: $(reported report.json spilled_bytes) bytes are spilled"

# ---- ftrun itself ----

# Its memory does not grow with what is printed: 4 bytes a line, for ever, it was.
rm -f go gone
begin -q --snapshot off -n 1 "$hog" p300000 1:go p900000 1:gone
wait_for has_lines 300000 out
agent=$(other_process "$front")
has_now() { # KiB, of both of its processes
    awk '/^Rss(Anon|Shmem):/ { sum += $2 } END { print sum }' "/proc/$front/status" "/proc/$agent/status"
}
before=$(has_now)
: >go
wait_for has_lines 1200000 out
after=$(has_now)
: >gone
ended
expect_code 0
echo "ftrun has $before KiB, and $after after 900,000 lines more"
[ $((after - before)) -lt 1500 ] || fail "$what: ftrun has $before KiB, and $after after 900,000 lines more"
finish
