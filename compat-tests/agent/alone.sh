#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A program of ours that srun, mpirun, mpiexec or torchrun has started was as many silent worlds of one. It ends, with one
# line that says how to start it; and nobody is told whom nobody has started as one of several.
. "$(dirname "$0")/../lib/test.sh"
for name in $(env | sed -n 's/^\(\(SLURM\|PMIX\?\|OMPI\|FTMPI\|TORCHELASTIC\)_[A-Za-z0-9_]*\)=.*/\1/p') RANK LOCAL_RANK WORLD_SIZE; do
    [ "$name" = FTMPI_RUN_DIR ] || unset "$name"
done
cat >"$tmp/hello.c" <<'EOF2'
#include <mpi.h>
#include <stdio.h>
int main(void) {
    int rank, size;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    printf("%d of %d\n", rank, size);
    return MPI_Finalize();
}
EOF2
cd "$tmp" || exit 99
"$top_builddir/ftmpicc" hello.c -o hello || exit 99

is_told() { # who, which of how many, environment
    who=$1 which=$2
    shift 2
    call env "$@" ./hello
    [ $code != 0 ] || fail "$what: ends with 0"
    expect_err "^ftmpi: MPI_Init: $who has started this as process $which ([A-Z_]*), and ftrun has not: .* FTMPI_ALONE=1"
    expect_err_lines 1
    expect_no_out
}
is_told srun '1 of 4' SLURM_JOB_ID=7 SLURM_STEP_ID=0 SLURM_PROCID=1 SLURM_NTASKS=4
is_told srun '1 of 4' SLURM_JOB_ID=7 SLURM_STEP_ID=0 SLURM_PROCID=1 SLURM_NTASKS=8 SLURM_STEP_NUM_TASKS=4
is_told srun '1 of 4' SLURM_JOB_ID=7 SLURM_STEP_ID=0 SLURM_PROCID=1 SLURM_STEP_NUM_TASKS=4 PMI_RANK=1 PMI_SIZE=4 PMI_FD=9
is_told mpiexec '3 of 6' SLURM_JOB_ID=7 SLURM_STEP_ID=0 SLURM_PROCID=1 SLURM_STEP_NUM_TASKS=2 PMI_RANK=3 PMI_SIZE=6 PMI_FD=9
is_told mpiexec '0 of 2' PMI_RANK=0 PMI_SIZE=2 PMI_FD=9
is_told mpirun '0 of 2' OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=2 PMIX_RANK=0
is_told 'a launcher with PMIx' '3 of several' PMIX_RANK=3 PMIX_NAMESPACE=x
is_told torchrun '1 of 2' RANK=1 LOCAL_RANK=1 WORLD_SIZE=2 TORCHELASTIC_RUN_ID=none
is_told torchrun '1 of 2' RANK=1 LOCAL_RANK=1 WORLD_SIZE=2 FTMPI_ALONE=0

is_quiet() { # output, environment and command
    lines=$1
    shift
    call env "$@"
    expect_code 0
    expect_err_lines 0
    sort -o out out
    [ "$(tr '\n' ';' <out)" = "$lines" ] || { fail "$what: prints"; cat out; }
}
is_quiet '0 of 1;' ./hello
# The shell of salloc, without and with a step of its own, and a batch script.
is_quiet '0 of 1;' SLURM_JOB_ID=7 SLURM_NTASKS=4 SLURM_NPROCS=4 ./hello
is_quiet '0 of 1;' SLURM_JOB_ID=7 SLURM_NTASKS=4 SLURM_PROCID=0 SLURM_STEP_ID=4294967290 ./hello
is_quiet '0 of 1;' SLURM_JOB_ID=7 SLURM_NTASKS=4 SLURM_PROCID=0 SLURM_STEP_ID=1 SLURM_STEP_NUM_TASKS=1 ./hello
is_quiet '0 of 1;' SLURM_JOB_ID=7 SLURM_NTASKS=4 SLURM_PROCID=0 ./hello
is_quiet '0 of 1;' SLURM_JOB_ID=7 SLURM_NTASKS=4 SLURM_PROCID=0 SLURM_STEP_ID=4294967291 ./hello
# One process is one.
is_quiet '0 of 1;' PMI_RANK=0 PMI_SIZE=1 OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=1 PMIX_RANK=0 ./hello
# A notebook.
is_quiet '0 of 1;' WORLD_SIZE=4 ./hello
is_quiet '0 of 1;' WORLD_SIZE=4 RANK=0 ./hello
is_quiet '0 of 1;' WORLD_SIZE=four RANK=0 LOCAL_RANK=0 ./hello
# It may be wanted.
is_quiet '0 of 1;' SLURM_STEP_ID=0 SLURM_PROCID=1 SLURM_NTASKS=4 FTMPI_ALONE=1 ./hello
# ftrun, started by all of them, and a tool of a rank's that is told not to be one.
is_quiet '0 of 2;1 of 2;' SLURM_STEP_ID=0 SLURM_PROCID=1 SLURM_NTASKS=4 OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=3 \
    RANK=0 LOCAL_RANK=0 WORLD_SIZE=3 PMIX_RANK=1 "$ftrun" -n 2 ./hello
is_quiet '0 of 1;0 of 1;' "$ftrun" -n 2 sh -c 'env -u FTMPI_FDS ./hello'
is_quiet '0 of 2;1 of 2;' FTMPI_ALONE=1 "$ftrun" -n 2 ./hello # it is known, and of no matter

# A rank whose environment has been taken away (sudo): each was a world of one, and nothing was said.
run -n 2 env -i "$PWD/hello"
[ $code != 0 ] || fail "$what: ends with 0"
expect_err 'ftrun has started this as a rank, but its environment has been taken away'
expect_no_out
is_quiet '0 of 1;0 of 1;' "$ftrun" -n 2 env -i FTMPI_ALONE=1 ./hello

# The launchers themselves, as far as they are here.
if command -v mpiexec.mpich >/dev/null; then
    # (What a process says as it fails mpiexec may lose on a busy machine.)
    call mpiexec.mpich -n 3 sh -c './hello 2>>said'
    [ $code != 0 ] || fail "$what: ends with 0"
    grep -q 'mpiexec has started this as process [012] of 3 (PMI_SIZE)' said || fail "$what: says $(cat said)"
    expect_no_out
    is_quiet '0 of 2;1 of 2;' mpiexec.mpich -n 1 "$ftrun" -n 2 ./hello
fi
finish
