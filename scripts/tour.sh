#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A tour as a new user takes it: typical commands, then typical mistakes. What is printed is compared to the letter, with
# process ids, the host's name and the temporary directory replaced; so is the exit code.
#   tour.sh [DIRECTORY]   where ftrun, ftmpicc and ftmpi_info are: a build directory (default: build), or bin of an installation
#   tour.sh --show [DIRECTORY]   prints the tour as it is, in the form in which it is written down below
# shellcheck disable=SC2016 # the commands expand it
set -u
cd "$(dirname "$0")/.." || exit 2
show=
[ "${1-}" = --show ] && show=1 && shift
bin=$(cd "${1-build}" && pwd) || exit 2
for program in ftrun ftmpicc ftmpi_info; do
  [ -x "$bin/$program" ] || { echo "$0: no $program in $bin" >&2 && exit 2; }
done
place=$(mktemp -d) || exit 2
trap 'rm -rf "$place"' EXIT
cd "$place" || exit 2
export PATH=$bin:$PATH XDG_CONFIG_HOME=$place/config LC_ALL=C HWLOC_SYNTHETIC='package:1 core:4 pu:1'
unset TMPDIR MPIEXEC_TIMEOUT
for variable in ${!FTMPI_*}; do unset "$variable"; done
export FTMPI_RUN_DIR=$place/run

cat >total.c <<'END'
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

/* Sums 1..N over the ranks, in rounds; "total R K" kills rank R once, in round K. */
int main(int argc, char **argv)
{
    int rank, size, sum = 0;
    const char *again = getenv("FTMPI_INCARNATION");

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int round = 1; round <= 3; round++) {
        int mine = (rank + 1) * round;

        if (argc > 2 && rank == atoi(argv[1]) && round == atoi(argv[2]) && again && *again == '0')
            raise(SIGKILL);
        MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        if (rank == 0)
            printf("round %d: %d ranks, sum %d\n", round, size, sum);
    }
    MPI_Finalize();
    return 0;
}
END
cat >mismatch.c <<'END'
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, data[4] = {0}, sum[4];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Allreduce(data, sum, rank ? 4 : 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
END
cat >leaves.c <<'END'
#include <mpi.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 1) {
        sleep(1); /* rank 0 waits by then */
        return 0;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
END
printf 'hello\n' >notes.txt
printf 'log-limt = 2G\n' >wrong.conf

stops=0 wrong=0

# The last replacement: whichever of two ranks finds out names itself first.
normal() {
  sed -E -e "s#$place#PLACE#g" -e "s#\b$(uname -n)\b#HOST#g" -e 's/\(pid [0-9]+/(pid PID/g' -e 's/^(ftrun: job )[0-9a-z]{8} /\1JOB /' \
    -e '/^! ftrun: rank [0-9]+ is back where it was/d' -e 's/; [0-9]+ units? replayed, [0-9.]+ s until/; N units replayed, T s until/' \
    -e 's/[0-9]+ (replays|records)\b/N \1/g' -e 's/[1-9][0-9]* from the start\)/N from the start)/' -e 's/0x[0-9a-f]+/ADDRESS/g' \
    -e 's/, [0-9]+ processors$/, P processors/' -e 's/(rank 1 calls .*), (rank 0 calls .*)$/\2, \1/'
}

# One stop of the tour: the command is the argument; stdin says what it prints, stdout first, "! " before lines of stderr, and the
# exit code if it is not 0.
stop() {
  local command=$1 code
  stops=$((stops + 1))
  timeout -k 5 120 bash -c "$command" >"$place.out" 2>"$place.err" </dev/null
  code=$?
  {
    normal <"$place.out"
    normal <"$place.err" | sed 's/^/! /'
    [ $code = 0 ] || echo "exit code $code"
  } >"$place.is"
  if [ -n "$show" ]; then
    printf "\nstop '%s' <<'END'\n" "$command"
    cat "$place.is"
    echo END
  elif ! diff -u --label "expected of: $command" --label printed <(cat) "$place.is"; then
    wrong=$((wrong + 1))
  fi
  rm -f "$place.out" "$place.err" "$place.is"
}

# ---- Ten commands and some more

stop 'ftrun --version' <<'END'
ftrun (ftmpi) 0.1.0
END

stop 'ftmpicc -O2 total.c -o total && ftrun -n 4 ./total' <<'END'
round 1: 4 ranks, sum 10
round 2: 4 ranks, sum 20
round 3: 4 ranks, sum 30
END

stop 'ftrun -n 4 ./total 2 3' <<'END'
round 1: 4 ranks, sum 10
round 2: 4 ranks, sum 20
round 3: 4 ranks, sum 30
! ftrun: rank 2 (pid PID, host HOST) was killed by signal 9 (SIGKILL); restarted, restart 1
! ftrun: 1 death of a rank survived: 1 from the start; N units replayed, T s until they were back
END

stop 'ftrun -q -n 4 ./total 0 2' <<'END'
round 1: 4 ranks, sum 10
round 2: 4 ranks, sum 20
round 3: 4 ranks, sum 30
END

stop 'mkdir work && ftrun -n 1 --wdir work pwd' <<'END'
PLACE/work
END

stop 'ftrun -n 1 -x COLOUR=blue sh -c "echo \$COLOUR \$FTMPI_RANK of \$FTMPI_SIZE"' <<'END'
blue 0 of 1
END

stop 'ftrun -n 1 echo first : -n 2 sleep 0' <<'END'
first
END

stop 'ftrun -n 3 cat <notes.txt' <<'END'
hello
END

stop 'ftrun --stdin 1 -n 2 sh -c "sed s/^/\$FTMPI_RANK:/" <notes.txt' <<'END'
1:hello
END

stop 'ftrun -q -n 1 sh -c "read line; [ \$FTMPI_INCARNATION = 1 ] || kill -9 \$\$; echo read \$line" <notes.txt' <<'END'
read hello
END

stop 'ftrun -np 2 --oversubscribe --allow-run-as-root -mca btl self ./total' <<'END'
round 1: 2 ranks, sum 3
round 2: 2 ranks, sum 6
round 3: 2 ranks, sum 9
! ftrun: -mca btl is ignored: ftmpi has no such parameters
END

stop 'ftrun --display-map --bind-to core --report-bindings -n 2 sleep 0' <<'END'
! ftrun: job JOB on HOST: 2 ranks, P processors
! ftrun:   ranks 0-1: sleep 0
! ftrun: rank 0: bound to core 0, processors 0
! ftrun: rank 1: bound to core 1, processors 1
END

stop 'ftrun -H localhost:3 ./total' <<'END'
round 1: 3 ranks, sum 6
round 2: 3 ranks, sum 12
round 3: 3 ranks, sum 18
END

stop 'ftrun -q -n 2 --report report.json ./total 1 2 && grep -o "\"signal\": *[0-9][0-9]*" report.json' <<'END'
round 1: 2 ranks, sum 3
round 2: 2 ranks, sum 6
round 3: 2 ranks, sum 9
"signal": 9
END

stop 'FTMPI_MAX_RESTARTS=0 ftrun -n 2 ./total 1 2 >/dev/null' <<'END'
! ftrun: rank 1 (pid PID, host HOST) was killed by signal 9 (SIGKILL); not restarted (--max-restarts 0), the job is ended
exit code 137
END

stop 'ftrun --tag-output -n 2 cat notes.txt | sort' <<'END'
[1,0]<stdout>:hello
[1,1]<stdout>:hello
END

stop 'ftrun --output-filename logs -n 2 -q sh -c "echo from \$FTMPI_RANK; echo also >&2" >terminal 2>&1 && grep -r "" logs | sort' <<'END'
logs/rank.0/stderr:also
logs/rank.0/stdout:from 0
logs/rank.1/stderr:also
logs/rank.1/stdout:from 1
END

stop 'FTMPI_GRACE=5 ftmpi_info grace' <<'END'
grace = 5 (FTMPI_GRACE)
    seconds; default 2; FTMPI_GRACE
    between SIGTERM and SIGKILL to ranks (default 2)
END

stop 'ftrun --check-replay -n 3 ./total 1 2' <<'END'
round 1: 3 ranks, sum 6
round 2: 3 ranks, sum 12
round 3: 3 ranks, sum 18
! ftrun: rank 1 (pid PID, host HOST) was killed by signal 9 (SIGKILL); restarted, restart 1
! ftrun: --check-replay: N replays of 3 ranks (0 from a snapshot, N from the start), N records: all exact
! ftrun: 1 death of a rank survived: 1 from the start; N units replayed, T s until they were back
END

stop 'ftrun -n 2 sleep 60 & until ftrun status >/dev/null 2>&1; do sleep 0.1; done; ftrun list | awk "NR > 1 {print \$3, \$6, \$7}"; ftrun stop; wait $!' <<'END'
2 sleep 60
! ftrun: told to stop by signal 15 (SIGTERM); the job is ended, within 4 s (--grace) or by a second signal at once
exit code 143
END

# ---- Ten mistakes and some more

stop 'ftrun' <<'END'
! ftrun: no program given (ftrun -n N PROGRAM [ARGUMENT]...; ftrun --help)
exit code 2
END

stop 'ftrun -n 0 ./total' <<'END'
! ftrun: -n 0: a job has at least one rank
exit code 2
END

stop 'ftrun -n four ./total' <<'END'
! ftrun: -n: "four" is not a valid value; wanted: N, a number
exit code 2
END

stop 'ftrun -n 2 total' <<'END'
! ftrun: total: command not found; did you mean ./total?
exit code 127
END

stop 'ftrun -n 2 ./totla' <<'END'
! ftrun: ./totla: no such file
exit code 127
END

stop 'ftrun -n 2 ./notes.txt' <<'END'
! ftrun: ./notes.txt: not executable: permission denied
exit code 126
END

stop 'ftrun -n 2 ./work' <<'END'
! ftrun: ./work: is a directory, not a program
exit code 126
END

stop 'ftrun --max-restart 3 -n 2 ./total' <<'END'
! ftrun: unknown option --max-restart; did you mean --max-restarts? (ftrun --help lists all)
exit code 2
END

stop 'ftrun -n 2 --log-limit much ./total' <<'END'
! ftrun: --log-limit: "much" is not a valid value; wanted: SIZE, like 512M or 2G
exit code 2
END

stop 'FTMPI_LOGLIMIT=1G ftrun -n 2 ./total' <<'END'
round 1: 2 ranks, sum 3
round 2: 2 ranks, sum 6
round 3: 2 ranks, sum 9
! ftrun: FTMPI_LOGLIMIT is set, but there is no such setting; did you mean FTMPI_LOG_LIMIT?
END

stop 'mkdir -p config/ftmpi && cp wrong.conf config/ftmpi/ftmpi.conf && ftrun -n 2 ./total; code=$?; rm -r config; exit $code' <<'END'
! ftrun: PLACE/config/ftmpi/ftmpi.conf:1: there is no setting "log-limt"; did you mean log-limit?
exit code 2
END

stop 'ftrun -H node1 --launcher exec:false ./total' <<'END'
! ftrun: cannot start on host node1 (rank 0): exit code 1; the job is ended
exit code 1
END

stop 'ftrun -n 2 sh -c "[ \$FTMPI_RANK = 0 ] || exit 3"' <<'END'
! ftrun: rank 1 (pid PID, host HOST) exited with code 3; the job is ended
exit code 3
END

stop 'ftmpicc leaves.c -o leaves && ftrun -n 2 ./leaves' <<'END'
! ftrun: rank 1 (pid PID, host HOST) exited with code 0 without calling MPI_Finalize, and rank 0 waits for it (MPI_Barrier at leaves+ADDRESS); the job is ended
exit code 1
END

stop 'ftmpicc mismatch.c -o mismatch && ftrun -n 2 ./mismatch' <<'END'
! ftrun: mismatched collectives on MPI_COMM_WORLD at unit 0: rank 0 calls MPI_Allreduce(sum, 2 x int32) at mismatch+ADDRESS, rank 1 calls MPI_Allreduce(sum, 4 x int32) at mismatch+ADDRESS
exit code 16
END

stop 'ftrun -n 1 sh -c "kill -SEGV \$\$"' <<'END'
! ftrun: rank 0 (pid PID, host HOST) was killed by signal 11 (SIGSEGV); restarted, restart 1
! ftrun: rank 0 (pid PID, host HOST) was killed by signal 11 (SIGSEGV); restarted, restart 2
! ftrun: rank 0 (pid PID, host HOST) was killed by signal 11 (SIGSEGV), 3 times in a row at unit 0; given up, the job is ended
exit code 139
END

stop 'ftrun --output-filename notes.txt -n 2 ./total' <<'END'
! ftrun: --output-filename: cannot make notes.txt/rank.0: Not a directory
exit code 2
END

stop 'ftrun -n 2 ./total >/dev/full' <<'END'
! ftrun: output was lost: cannot write to stdout: No space left on device
exit code 1
END

stop 'ftrun --timeout 0.5 -n 2 sleep 60' <<'END'
! ftrun: the time is up (--timeout 0.5); the job is ended
exit code 110
END

stop 'ftmpi_info grase' <<'END'
! ftmpi_info: there is no grase; did you mean grace? (without a name, ftmpi_info lists all)
exit code 2
END

stop 'ftrun status' <<'END'
! ftrun: no job of this user is running on this host
exit code 3
END

stop 'ftrun stop nosuchjob' <<'END'
! ftrun: no job nosuchjob of this user is running on this host
exit code 3
END

[ -z "$show" ] || exit 0
echo "$stops stops, $wrong not as expected"
[ $wrong = 0 ]
