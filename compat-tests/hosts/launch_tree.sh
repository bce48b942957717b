#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# --launch-tree: hosts that are started from other hosts; all of them are this machine. What a host that starts others may do wrong must not
# be seen but for -v, and what is wrong with any host is told as if it had been started from here.
. "$(dirname "$0")/../lib/test.sh"
uses hosts
# A launcher: lame-NAME cannot be a starter, mute-NAME does not answer as one, and shy-NAME lets only ftrun itself in, as without keys elsewhere.
# late-NAME waits for $tmp/late if a starter starts it.
cat >"$tmp/go" <<'END'
#!/bin/sh
host=$1
shift
by=here
if tr '\0' ' ' <"/proc/$PPID/cmdline" | grep -q ' --starter'; then by=$PPID; fi
echo "$host $by $$ $*" >>"$tmp/started"
case "$host $2 $by" in
down-*) echo "connect to host $host: No route to host" >&2; exit 255 ;;
lame-*\ --starter\ *) echo "starters are not for $host" >&2; exit 255 ;;
mute-*\ --starter\ *) exec sleep 50 ;;
shy-*\ here) ;;
shy-*) echo "$host: Permission denied" >&2; exit 255 ;;
late-*\ here) ;;
late-*) until [ -e "$tmp/late" ] || ! kill -0 "$PPID"; do sleep 0.05; done ;;
esac
exec "$@"
END
# Ranks say their number, all of them once; nothing is left of what was started.
launch() { # hosts, arguments
    rm -f "$tmp/started" "$tmp/late"
    hosts "$@" sh -c 'echo $FTMPI_RANK'
}
expect_ranks() { # how many
    expect_code 0
    seq 0 $(($1 - 1)) | sort >"$tmp/want"
    sorted
    cmp -s "$tmp/want" "$tmp/out" || { fail "$what: output differs:"; diff "$tmp/want" "$tmp/out" | head; }
    nothing_left
}
pids() { cut -d' ' -f3 "$tmp/started" >"$tmp/pids"; }
nothing_left() { pids && wait_for all_gone "$tmp/pids"; }
starts() { grep -c -e "$1" "$tmp/started"; }
expect_starts() { [ "$(starts "$1")" = "$2" ] || { fail "$what: not $2 lines \"$1\":"; cat "$tmp/started"; }; }

# Each host is started once, two by ftrun itself and two at a time by each that starts others; a rank on each. Nothing secret is in arguments.
launch a,b,c,d,e,f,g,h,i,j --launch-tree 2
expect_ranks 10
expect_starts ' ' 10
expect_starts ' here ' 2
expect_starts ' --starter$' 6
expect_starts 'ftrun --[a-z]*$' 10
[ "$(cut -d' ' -f2 "$tmp/started" | sort | uniq -c | awk '$1 > 3' | wc -l)" = 0 ] || fail "$what: somebody has started more than his share"
expect_err_lines 0
# Without it, or with no more hosts than that, all are ftrun's own.
for tree in 0 3 auto; do
    launch a,b,c --launch-tree $tree
    expect_ranks 3
    expect_starts ' here .* --node$' 3
done

# Who cannot be started from another host is started from here, with a line for who wants to know.
launch a,shy-b,c,shy-d,e,f --launch-tree 2 -v
expect_ranks 6
expect_starts '^shy-b here .* --node$' 1
expect_err '^ftrun: node 1 on shy-b cannot be started from a: shy-b: Permission denied (exit code 255); it is started from here$'

# What is wrong with a host, whoever finds out: it is named, with why and how often.
for list in a,b,down-c,d,e down-c,a,b,d,e; do
    launch $list --launch-tree 2
    expect_code 1
    expect_err '^ftrun: cannot start on host down-c (rank [02]): connect to host down-c: No route to host (exit code 255); tried 3 times, the job is ended$'
    expect_err_lines 1
    expect_starts '^down-c ' 3
    nothing_left
done
launch a,b,down-c,d,e,f --launch-tree 2 --spares 1
expect_ranks 5
expect_err '^ftrun: cannot start on host down-c .* tried 3 times, f takes its place$'

# Who cannot start others, or does not answer: his share is started from here, and then he himself.
launch lame-a,b,c,d,e,f --launch-tree 2 -v
expect_ranks 6
expect_starts '^[bc] here .* --node$' 2
expect_err '^ftrun: 2 nodes are started from here, and not from lame-a$'
launch mute-a,b,c,d,e,f --launch-tree 2 --start-timeout 10
expect_ranks 6
expect_starts '^[bc] here .* --node$' 2
expect_starts '^mute-a here .* --node$' 1
expect_err_lines 0

# In the midst of it: the host that starts others is lost, the job is told to end, the controller is killed.
begin_late() {
    rm -f "$tmp/started" "$tmp/late"
    what="ftrun -H $1 --launch-tree 2"
    timeout -k 5 120 "$ftrun" --lease 5 --launcher "exec:$tmp/go" -H "$1" --launch-tree 2 sh -c 'echo $FTMPI_RANK' >"$tmp/out" 2>"$tmp/err" &
    pid=$!
    controller() { cat "/proc/$pid/task/$pid/children"; }
    both_late() { [ "$(starts '^late-[bc] [0-9]')" = 2 ]; }
    wait_for both_late
    starter=$(awk '/^late-b/ { print $2 }' "$tmp/started")
}
begin_late a,late-b,late-c,d,e,f
kill -KILL "$starter"
wait $pid
code=$?
expect_ranks 6
expect_starts '^late-[bc] here .* --node$' 2
expect_err_lines 0
begin_late a,late-b,late-c,d,e,f
kill -TERM "$(controller)"
wait $pid
code=$?
expect_code 143
expect_err 'told to stop by signal 15'
nothing_left
begin_late a,late-b,late-c,d,e,f
kill -KILL "$(other_process "$(controller)")"
wait $pid
code=$?
expect_ranks 6
nothing_left
begin_late a,late-b,late-c,d,e,f
kill_both "$(controller)"
wait $pid
: >"$tmp/late" # those that come up now find nobody
nothing_left

# What is not for people.
echo garbage | timeout 120 "$ftrun" --starter >"$tmp/out" 2>"$tmp/err"
code=$? what="ftrun --starter"
expect_code 2
expect_err_lines 1
expect_no_out
finish
