#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# ftrun in an allocation of Slurm's: its nodes are the hosts, its tasks the slots; a job runs there as on hosts that are named, also where
# variables are set that steer srun. What is wrong is one line. (compat-tests/slurm/lost.sh: nodes that are lost.)
. "$(dirname "$0")/../lib/test.sh"
uses slurm
slurm_boot 4
mixed=$top_builddir/compat-tests/chaos/mixed
where='echo $FTMPI_RANK $SLURMD_NODENAME'

# (The nodes are always named: of those that are free Slurm takes any, and one is free a moment after its last job.)

# ---- hosts, slots, ranks ----
allocated -w n[1-3] -n5 -- sh -c "$where"
expect_code 0
sorted && expect_out '0 n1' '1 n1' '2 n1' '3 n2' '4 n3'
allocated -w n[1-3] --ntasks-per-node=2 -- --map-by node -n 4 sh -c "$where"
sorted && expect_out '0 n1' '1 n2' '2 n3' '3 n1'
allocated -w n[1-4] -c2 -- sh -c "$where"
sorted && expect_out '0 n1' '1 n2' '2 n3' '3 n4'
allocated -w n[1-4] --ntasks-per-node=2 -- --spares 2 sh -c "$where"
sorted && expect_out '0 n1' '1 n1' '2 n2' '3 n2'
expect_err_lines 0
allocated -w n1 -n3 -- sh -c "$where"
sorted && expect_out '0 n1' '1 n1' '2 n1'
# Two levels of ftrun that start others by srun.
allocated -w n[1-4] -- --launch-tree 2 -v sh -c "$where"
sorted && expect_out '0 n1' '1 n2' '2 n3' '3 n4'
expect_err 'node is started from n'
# Lists as Slurm writes and reads them. -w takes them in any order.
for list in 'n[1-3]' 'n[1,3-4]' 'n4'; do
    allocated -w "$list" -- --map-by node sh -c 'echo $SLURMD_NODENAME'
    scontrol show hostnames "$list" >"$tmp/want"
    sort "$tmp/out" | cmp -s - "$tmp/want" || { fail "$what: other nodes"; cat "$tmp/out"; }
done
# On a node, ftrun's own is started directly. A rank that starts ftrun has a job on its own host.
cat >"$tmp/nested" <<END
#!/bin/sh
exec "$ftrun" -N 1 "$ftrun" -q -n 2 sh -c 'echo \$FTMPI_RANK \$SLURMD_NODENAME \$SLURM_STEP_ID'
END
submit "$tmp/nested" -w "n[1-2]"
job_ends COMPLETED 0:0
sorted && expect_out '0 n1' '0 n2 0' '1 n1' '1 n2 0'

# ---- who else may say where ----
call salloc -Q -w 'n[1-3]' --ntasks-per-node=2 sh -c "$ftrun -H n3:1,n2:1 sh -c '$where'; $ftrun -H localhost:2 sh -c 'echo here \$SLURMD_NODENAME'
    $ftrun --launcher srun -n 1 sh -c '$where'; $ftrun -n 1 --bootstrap slurm --rmk slurm sh -c '$where'"
expect_code 0
expect_err_lines 0
sorted && expect_out '0 n1' '0 n1' '0 n3' '1 n2' here here
printf '#!/bin/sh\necho "$1" >>%s/went\nshift\nexec "$@"\n' "$tmp" >"$tmp/go"
chmod +x "$tmp/go"
allocated -w n[1-2] -- --launcher "exec:$tmp/go" -q true
expect_code 0
[ "$(sort "$tmp/went" | tr '\n' ' ')" = 'n1 n2 ' ] || fail "$what: started $(cat "$tmp/went")"

# ---- the same output, with a rank that is killed, and whatever steers srun ----
allocated -w n[1-3] -n6 -- "$mixed" -n 200 -m 20000 -b 20
by_rank "$tmp/out" >"$tmp/want"
[ "$(grep -c ' done 200 ' "$tmp/want")" = 6 ] || fail "$what: $(cat "$tmp/want")"
steer='SLURM_EXACT=1 SRUN_CPUS_PER_TASK=1 SLURM_NTASKS_PER_NODE=3 SLURM_NTASKS_PER_GPU=1 SLURM_GPUS=9 SLURM_LABELIO=1 SLURM_STDINMODE=none
    SLURM_STDERRMODE=none SLURM_DEBUG=1 SLURM_IMMEDIATE=1 SLURM_EXPORT_ENV=NONE SLURM_CPU_BIND=mask_cpu:0x1 SLURM_MEM_PER_CPU=1 SLURM_NO_KILL=1'
call salloc -Q -w 'n[1-3]' -n6 --gpus-per-node=2 env $steer "$ftrun" "$mixed" -n 200 -m 20000 -b 20 -k 5:100
expect_code 0
by_rank "$tmp/out" | cmp -s - "$tmp/want" || fail "$what: another output"
expect_err 'rank 5 .*restarted'
call salloc -Q -w 'n[1-2]' --exclusive --gpus-per-node=2 env $steer COLOUR=blue "$ftrun" -N 1 sh -c 'echo $FTMPI_RANK $COLOUR $SLURM_CPUS_ON_NODE $SLURM_GPUS_ON_NODE'
sorted && expect_out '0 blue 4 2' '1 blue 4 2'
# Another step has all of a node; and two jobs are in one allocation.
cd "$tmp" || exit 99
cat >busy <<END
srun -N1 -n1 -w n2 sh -c ': >is_busy; exec sleep 60' &
until [ -e is_busy ]; do sleep 0.1; done
"$ftrun" --start-timeout 20 -N 1 sh -c '$where' &
"$ftrun" --start-timeout 20 -N 1 sh -c '$where'
code=\$?
wait \$!
kill %1
exit \$code
END
call timeout 40 salloc -Q -w 'n[1-2]' bash -m busy
expect_code 0
sorted && expect_out '0 n1' '0 n1' '1 n2' '1 n2'
allocated -w n[1-2] --gpus=4 -- -q --launch-arg --gres=gpu:2 sh -c 'echo $FTMPI_RANK $SLURM_GPUS_ON_NODE'
sorted && expect_out '0 2' '1 2'
# The secret, 64 hexadecimal digits, is on no command line.
cat >"$tmp/lines" <<'END'
#!/bin/sh
[ "$FTMPI_RANK" = 0 ] || exec sleep 1
cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\0' ' '
END
chmod +x "$tmp/lines"
allocated -w n[1-2] -- "$tmp/lines"
grep -aq 'srun .*--nodelist n2 .*ftrun --node' "$tmp/out" || fail "$what: no srun is seen"
grep -aqE '[0-9a-f]{64}' "$tmp/out" && fail "$what: a secret is seen"

# ---- what comes back, and what is wrong, in a line ----
allocated -w n[1-2] -- sh -c 'exit $((FTMPI_RANK * 7))'
expect_code 7
allocated -w n[1-2] -- no-such-program
expect_code 127
expect_err_lines 1
expect_err 'no-such-program: command not found'
allocated -w n[1-2] -- --prefix /nowhere true
[ "$code" != 0 ] || fail "$what: code 0"
expect_err 'cannot start on host n[12] .*/nowhere/bin/ftrun.* No such file'
wrong() { # PART, what comes after salloc -w n[1-3]
    part=$1
    shift
    call salloc -Q -w 'n[1-3]' "$@"
    expect_code 2
    expect_err_lines 1
    expect_err "$part"
    expect_no_out
}
wrong 'SLURM_JOB_NODELIST is "n\[1-", which is not a list of nodes' env SLURM_JOB_NODELIST='n[1-' "$ftrun" true
wrong 'SLURM_TASKS_PER_NODE is "2", for 1 node, and SLURM_JOB_NODELIST has 3' env SLURM_TASKS_PER_NODE=2 "$ftrun" true
wrong 'SLURM_TASKS_PER_NODE is "many"' env SLURM_TASKS_PER_NODE=many "$ftrun" true
wrong 'SLURM_JOB_NODELIST is not' env -u SLURM_JOB_NODELIST "$ftrun" true
wrong 'heterogeneous' env SLURM_HET_SIZE=2 "$ftrun" true
wrong 'unknown option --spare; did you mean --spares' "$ftrun" --spare 1 true
wrong '2 ranks more than\|need .* hosts' "$ftrun" -N 1 -n 5 true
call env SLURM_JOB_ID= "$ftrun" --launcher srun -H n1,n2 true
expect_code 2
expect_err 'there is no allocation of Slurm'
# A node that is none of the allocation's, and an allocation that is over: srun's own words.
call salloc -Q -w 'n[1-2]' "$ftrun" --launcher srun -H n1,n4 true
[ "$code" != 0 ] || fail "$what: code 0"
expect_err 'cannot start on host n4 .*srun: error: .*tried 3 times'
call env SLURM_JOB_ID=999999 SLURM_JOB_NODELIST='n[1-2]' SLURM_TASKS_PER_NODE='1(x2)' "$ftrun" true
[ "$code" != 0 ] || fail "$what: code 0"
expect_err 'cannot start on host n[12] .*srun: error: .*nvalid job id'

# ---- srun, and programs or ftrun as its tasks ----
call salloc -Q -w 'n[1-2]' -n2 srun "$mixed" -n 2
[ "$code" != 0 ] || fail "$what: code 0"
[ "$(grep -c '^ftmpi: MPI_Init: srun has started this as process [01] of 2 (SLURM_STEP_NUM_TASKS), and ftrun has not' "$tmp/err")" = 2 ] || fail "$what: says something else"
expect_no_out
call salloc -Q -w 'n[1-2]' -n2 srun "$ftrun" true
[ "$(grep -c '^ftrun: srun has started this ftrun as task [01] of 2' "$tmp/err")" = 2 ] || fail "$what: says something else"
call salloc -Q -w 'n[1-2]' -n2 srun "$ftrun" -H localhost:2 sh -c 'echo $FTMPI_RANK'
expect_code 0
sorted && expect_out 0 0 1 1
call salloc -Q -w 'n[1-3]' -n3 srun -N1 -n1 -w n2 "$ftrun" -n 2 sh -c "$where"
sorted && expect_out '0 n2' '1 n2'
expect_err 'ftrun without srun uses all 3 nodes'
call salloc -Q -w 'n[1-3]' -n3 srun -E -N1 -n1 -w n2 "$ftrun" sh -c "$where"
sorted && expect_out '0 n1' '1 n2' '2 n3'
nothing_left
finish
