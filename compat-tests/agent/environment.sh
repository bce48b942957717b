#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What ranks find in their environment, and what they must not find.
. "$(dirname "$0")/../lib/test.sh"
uses hosts

run -n 3 sh -c 'echo $FTMPI_RANK $FTMPI_SIZE $FTMPI_INCARNATION $OMPI_COMM_WORLD_RANK $OMPI_COMM_WORLD_SIZE $OMPI_COMM_WORLD_LOCAL_RANK $OMPI_COMM_WORLD_LOCAL_SIZE $OMPI_COMM_WORLD_NODE_RANK $PMI_RANK $PMI_SIZE'
sorted
expect_out '0 3 0 0 3 0 3 0 0 3' '1 3 0 1 3 1 3 1 1 3' '2 3 0 2 3 2 3 2 2 3'
run -n 2 sh -c 'echo $OMPI_UNIVERSE_SIZE $MPI_LOCALRANKID $MPI_LOCALNRANKS'
sorted
expect_out '2 0 2' '2 1 2'
# What programs look for that bring a network of their own; where they meet is the user's, if that is set.
run -n 2 sh -c 'echo $RANK $WORLD_SIZE $LOCAL_RANK $LOCAL_WORLD_SIZE $GROUP_RANK $DMLC_TASK_ID $DMLC_NUM_WORKER $MASTER_ADDR'
sorted
expect_out '0 2 0 2 0 0 2 127.0.0.1' '1 2 1 2 0 1 2 127.0.0.1'
run -n 2 sh -c 'echo $GROUP_WORLD_SIZE $ROLE_RANK $ROLE_WORLD_SIZE $ROLE_NAME $TORCHELASTIC_RESTART_COUNT $TORCHELASTIC_MAX_RESTARTS $TORCHELASTIC_USE_AGENT_STORE; [ $TORCHELASTIC_RUN_ID = $FTMPI_JOB ]'
expect_code 0
sorted
expect_out '1 0 2 default 0 0 False' '1 1 2 default 0 0 False'
run -n 3 sh -c 'echo $MASTER_PORT'
[ "$(sort -u "$tmp/out" | grep -c '^2[0-9]\{4\}$')" = 1 ] || fail "MASTER_PORT: $(cat "$tmp/out")"
MASTER_ADDR=there run -x MASTER_PORT=9091 -n 1 sh -c 'echo $MASTER_ADDR $MASTER_PORT'
expect_out 'there 9091'
hosts a:1,b:2 sh -c 'echo $MASTER_PORT $TORCHELASTIC_RUN_ID'
[ "$(sort -u "$tmp/out" | wc -l)" = 1 ] || fail "ranks of several hosts meet at several ports: $(cat "$tmp/out")"
hosts a:1,b:2 sh -c 'echo $RANK $LOCAL_RANK $LOCAL_WORLD_SIZE $GROUP_RANK $GROUP_WORLD_SIZE $MASTER_ADDR'
sorted
expect_out '0 0 1 0 2 a' '1 0 2 1 2 a' '2 1 2 1 2 a'
# The job's id: the same for all ranks and incarnations, another one for each job.
run -q -n 2 sh -c 'echo $FTMPI_JOB; [ $FTMPI_INCARNATION = 1 ] || kill -9 $$; echo $FTMPI_JOB'
expect_code 0
id=$(sort -u "$tmp/out")
echo "$id" | grep -qx '[0-9a-z]\{8\}' || fail "FTMPI_JOB: $id"
run -n 1 sh -c 'echo $FTMPI_JOB'
[ "$(cat "$tmp/out")" != "$id" ] || fail "two jobs are called $id"
FROM_OUTSIDE=1 run -x GIVEN=x=y -x FROM_OUTSIDE -x FROM_OUTSIDE=2 -n 1 sh -c 'echo $GIVEN $FROM_OUTSIDE'
expect_out 'x=y 2'
run -x NOT_SET_ANYWHERE -n 1 true
expect_code 0
expect_err 'NOT_SET_ANYWHERE'
FTMPI_RANK=7 PMI_SIZE=9 run -n 1 sh -c 'env | grep -E "^(FTMPI_RANK|PMI_SIZE)="'
sorted
expect_out FTMPI_RANK=0 PMI_SIZE=1

# The module for XGBoost is found, a PYTHONPATH of the user's is kept; without --rabit nothing is touched.
PYTHONPATH=/a:/b run -n 1 sh -c 'echo $PYTHONPATH'
expect_out /a:/b
# (A sanitizer's run-time library would rather be first.)
PYTHONPATH=/a:/b ASAN_OPTIONS=${ASAN_OPTIONS-}:verify_asan_link_order=0 run --rabit -n 1 sh -c 'case $PYTHONPATH in *:/a:/b) [ -r "${PYTHONPATH%%:*}/ftmpi_xgboost.py" ] && echo found ;; esac'
expect_out found

# The descriptors in FTMPI_FDS are open, and of ftrun's own only what ties the rank's life to it.
cat >"$tmp/fds" <<'EOF'
#!/bin/sh
IFS=,
for fd in $FTMPI_FDS; do
    [ -e /proc/$$/fd/$fd ] || echo "$fd is not open"
    [ $fd -ge 100 ] || echo "$fd is in the way"
done
ls /proc/$$/fd | awk '$1 >= 100 && $1 < 1000 {n++} END {print n}'
EOF
chmod +x "$tmp/fds"
run -n 2 "$tmp/fds"
n=$((6 + $(ls /proc/$$/fd | awk '$1 >= 100 {n++} END {print n + 0}')))
expect_out $n $n

# After MPI_Init what a rank starts inherits none of them, but that tie, the fifth: a daemon would keep the log's file on disk, and a socket to other nodes,
# as long as it lives.
# shellcheck disable=SC2016
strays='IFS=,; set -- $FTMPI_FDS; [ -e /proc/self/fd/$5 ] || echo the tie is gone; for fd; do [ $fd = $5 ] || readlink /proc/self/fd/$fd || :; done'
run -n 2 "$built/runs" "$strays"
expect_code 0
expect_no_out
run --snapshot off -n 2 "$built/runs" "$strays"
expect_code 0
expect_no_out
hosts a:1,b:1 "$built/runs" "$strays"
expect_code 0
expect_no_out

# MPI programs that are no ranks, and why. (They were told of "descriptor 100, which should be the job's shared memory".)
what='an MPI program that a rank starts'
run -n 2 "$built/runs" "$built/ends || true"
expect_code 0
expect_err '^ftmpi: MPI_Init: rank [01] is process [0-9]*, which has called MPI_Init; what that starts afterwards is no rank'
expect_err_lines 2
run -n 2 "$built/runs" "env -u FTMPI_FDS '$built/ends'"
expect_code 0
expect_err_lines 0
run -n 1 /usr/bin/python3 -c "import subprocess, sys; sys.exit(subprocess.run(['$built/ends'], stderr=subprocess.PIPE, text=True).stderr)"
expect_err 'MPI_Init: rank 0: the job.s shared memory, which ftrun has given it as descriptor 1[0-9]*, is not open here: something between'

# Limits, signals: as if ftrun were not there.
(ulimit -S -n 300 && timeout 120 "$ftrun" -n 200 sh -c 'ulimit -S -n' | sort -u >"$tmp/out")
what='ulimit -n'
expect_out 300
what='signal masks'
# All others as in the foreground; 32 and 33 are the C library's own: who started us may ignore them, nobody can undo that.
signals() { awk '/^Sig(Blk|Ign|Cgt)/ {print $1, $2}' | while read -r name mask; do printf '%s %x\n' "$name" $((0x$mask & ~0x180000000)); done; }
for pipe in default ignore; do
    env --default-signal --$pipe-signal=PIPE cat /proc/self/status | signals >"$tmp/outside"
    env --default-signal --$pipe-signal=PIPE timeout 120 "$ftrun" -n 1 cat /proc/self/status | signals >"$tmp/inside"
    [ "$(wc -l <"$tmp/outside")" = 3 ] || fail "no signal masks in /proc/self/status"
    cmp -s "$tmp/outside" "$tmp/inside" || { fail "differ (SIGPIPE $pipe):"; cat "$tmp/outside" "$tmp/inside"; }
done

run --bind-to core -n 1 sh -c 'grep Cpus_allowed_list /proc/self/status'
expect_code 0
expect_err_lines 0
run --bind-to core -n 300 true
expect_code 0
expect_err 'not bound'
finish
