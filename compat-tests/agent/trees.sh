#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A rank is its whole process tree (RULE 15), and nothing is left running, however a job ends.
. "$(dirname "$0")/../lib/test.sh"
export FTMPI_START_OVER=always # ranks add the pids of their children to a file
cd "$tmp" || exit 99

# The leader dies and starts from its beginning: its children, in its session or in one of their own, are dead before that.
cat >tree <<'EOF'
#!/bin/sh
if [ $FTMPI_INCARNATION = 0 ]; then
    sleep 1001 & echo $! >>pids.$FTMPI_RANK
    setsid sh -c 'echo $$ >>pids.'$FTMPI_RANK'; sleep 1002 & echo $! >>pids.'$FTMPI_RANK'; wait' &
    (trap "" TERM; exec sleep 1003) & echo $! >>pids.$FTMPI_RANK
    while [ $(cat pids.$FTMPI_RANK | wc -l) -lt 4 ]; do :; done
    kill -9 $$
fi
for pid in $(cat pids.$FTMPI_RANK); do
    [ -e /proc/$pid ] && echo "$pid is still there" && exit 1
done
exit 0
EOF
chmod +x tree
run --snapshot off -n 2 ./tree
expect_code 0
expect_err_lines 3
all_gone pids.0 pids.1 || fail "processes of a killed rank are left"

# The same of a child that has left everything behind by which it could be told: its environment, and its session. A rank that is recorded has said that it
# made it. (A descriptor above 4096 closes the ways back that there are, so the rank starts from its beginning.)
cat >leaver <<'EOF'
#!/bin/bash
if [ $FTMPI_INCARNATION = 0 ]; then
    env -i setsid sleep 1009 &
    echo $! >left.$FTMPI_RANK
    until grep -qa 1009 /proc/$!/cmdline && [ "$(cut -d' ' -f6 /proc/$!/stat)" = $! ]; do :; done
    ulimit -n 5001 && exec 5000</dev/null
    kill -9 $$
fi
pid=$(cat left.$FTMPI_RANK)
[ ! "$LETS" ] && [ -e /proc/$pid ] && echo "$pid is still there" && exit 1
exit 0
EOF
chmod +x leaver
if records; then
    run -n 2 ./leaver
    expect_code 0
    expect_err_lines 3
    all_gone left.0 left.1 || fail "a child without environment and session outlived its rank"
fi
# If the rank is not recorded nobody can tell whose it is, beside other ranks. It does not outlive the job.
run --snapshot off --grace 0.2 -x LETS=1 -n 2 ./leaver
expect_code 0
expect_err 'left behind by a rank that is done'
all_gone left.0 left.1 || fail "a child without environment and session outlived the job"

# It goes on from a snapshot: its children do what they were made for, once, and it waits for them.
cat >parent <<'EOF'
#!/bin/sh
(sleep 0.3; echo "child of $FTMPI_RANK" >>ended; exit 7) &
child=$!
sh -c 'kill -9 $PPID; sleep 0.2; echo "other of $FTMPI_RANK" >>ended'
wait $child
echo "$FTMPI_RANK: $?"
EOF
chmod +x parent
if records; then
    run -n 2 ./parent
    expect_code 0
    [ "$(sort ended)" = "$(printf 'child of 0\nchild of 1\nother of 0\nother of 1')" ] || fail "children did not run once each"
    [ "$(sort "$tmp/out")" = "$(printf '0: 7\n1: 7')" ] || fail "a child's status is not what the shell waited for"
fi
rm -f ended

# A member of the tree is killed that is not the leader: the shell decides what that means.
run -n 2 sh -c 'sleep 1004 & kill -9 $!; wait $!; [ $FTMPI_INCARNATION = 0 ] && exit 137; exit 0'
expect_code 0
[ "$(grep -c 'exited with code 137; restarted' "$tmp/err")" = 2 ] || fail "not two restarts"

# A job that fails takes everything with it, TERM or not.
rm -f pids*
run --grace 0.2 -n 3 sh -c 'trap "" TERM; sleep 1005 & echo $! >>pids; echo $$ >>pids
    while [ $(cat pids | wc -l) -lt 6 ]; do :; done; [ $FTMPI_RANK = 2 ] && exit 5; wait; wait'
expect_code 5
all_gone pids || fail "processes are left after a failure"

# A job that succeeds, too.
rm -f pids*
run --grace 0.2 -n 2 sh -c '(trap "" TERM; exec setsid sleep 1006) & echo $! >>pids; exit 0'
expect_code 0
expect_err 'left behind by a rank that is done'
expect_err_lines 1
all_gone pids || fail "processes are left after a success"

# Both of ftrun's processes are killed: the ranks die at once, also one that is busy, and their children.
rm -f pids*
what="ftrun killed"
"$ftrun" -n 3 sh -c 'sleep 1007 & echo $! >>pids; echo $$ >>pids; while :; do :; done' &
launcher=$!
wait_for has_lines 6 pids
kill -9 $launcher $(other_process $launcher)
wait $launcher 2>/dev/null
wait_for all_gone pids || kill -9 $(cat pids)

# What has the recorder preloaded and is not recorded does as ever: mkdir and mkfifo died in children of ranks, and kill would
# have, for they asked a log that was not there. In a child by exec, by fork alone, and where nothing is recorded.
run -n 1 sh -c 'mkdir made && mkfifo made/fifo || exit 3; sleep 1008 & /bin/kill -9 $!; wait $! 2>/dev/null; echo $? $(ls made); rm -r made'
expect_code 0
expect_out '137 fifo'
for recorded in auto off; do
    run --snapshot $recorded -n 1 /usr/bin/python3 -c 'import os
if os.fork() == 0:
    os.mkdir("made")
    os.kill(os.getpid(), 9)
print(os.WTERMSIG(os.wait()[1]), os.path.isdir("made"))
os.rmdir("made")'
    expect_code 0
    expect_out '9 True'
done

# A stopped rank is not a dead one, and does not outlive the job.
rm -f pids*
run --grace 0.2 -n 2 sh -c 'echo $$ >>pids; [ $FTMPI_RANK = 0 ] && kill -STOP $$; while [ $(cat pids | wc -l) -lt 2 ]; do :; done; exit 6'
expect_code 6
all_gone pids || fail "a stopped rank is left"
finish
