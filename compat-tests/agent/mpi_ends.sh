#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What the end of an MPI rank means for the job, and that a job with deaths prints what one without prints.
. "$(dirname "$0")/../lib/test.sh"
ends=$built/ends
FTMPI_SNAPSHOT=off # the program goes by FTMPI_INCARNATION as it was at its start
export FTMPI_SNAPSHOT
# A sanitizer would turn SIGSEGV into an exit code.
sanitizers handle_segv=0

run -n 3 "$ends"
expect_code 0
expect_err_lines 0
run -n 3 "$ends" work
expect_code 0
sort "$tmp/out" >"$tmp/want"
for how in '9 1' '9 5' '11 5' '15 2'; do
    run -n 3 --report "$tmp/report" "$ends" work $how
    expect_code 0
    expect_err_lines $((${how#* } + 1)) # and one that sums up what was survived
    sort "$tmp/out" | cmp -s - "$tmp/want" || fail "$what: prints something else than without deaths"
    grep -q '"recover_seconds": [0-9]' "$tmp/report" || fail "$what: no time of recovery in the report"
done
run -n 3 "$ends" die-after
expect_code 0
expect_err_lines 2

run -n 3 "$ends" abort
expect_code 7
expect_err_lines 1
run -n 3 "$ends" mismatch
[ $code != 0 ] || fail "$what: exit code 0"
expect_err 'MPI_Barrier.*MPI_Allreduce\|MPI_Allreduce.*MPI_Barrier'
expect_err_lines 1
run -n 3 "$ends" code
expect_code 5
expect_err 'rank 1 .*exited with code 5'
run -n 3 "$ends" no-finalize
expect_code 1
expect_err 'without calling MPI_Finalize'
expect_err_lines 1
# Who never calls MPI_Init is told, whoever comes first. (The others waited for ever.) Without anybody who does, all is well.
for first in '' 'sleep 0.5; '; do
    run -n 2 "$ends" : -n 1 sh -c "${first}exit 0"
    expect_code 1
    # ... and those do nothing but MPI_Init and MPI_Finalize: it is said where they wait. (They were told to wait "for ever", for what
    # a program that uses MPI_COMM_SELF alone does not.)
    expect_err '^ftrun: rank 2 (pid [0-9]*, host .*) exited with code 0 without calling MPI_Init, which other ranks have called: they wait for it, in MPI_Finalize if'
    expect_err_lines 1
    run -n 2 sh -c "$first"'exec "$0"' "$ends" : -n 1 true
    expect_code 1
    expect_err '^ftrun: rank 2 .*without calling MPI_Init'
    expect_err_lines 1
done
run -n 3 sh -c 'sleep 0.$FTMPI_RANK'
expect_code 0
expect_err_lines 0
# A process that a rank has left behind may be the rank yet.
run -n 1 "$ends" : -n 1 sh -c '(sleep 0.5; exec "$0") & exit 0' "$ends"
expect_code 0
expect_err_lines 0

run -n 3 "$ends" same-unit
expect_code 139
expect_err '3 times in a row at unit [1-9]'
expect_err_lines 3

# Through a shell, which stays or not.
run -n 3 sh -c '"$0" work 9 1; exit $?' "$ends"
expect_code 0
sort "$tmp/out" | cmp -s - "$tmp/want" || fail "$what: prints something else than without deaths"

# --rabit: somebody must use the engine it gives. Not with sanitizers: what is preloaded would come before theirs.
if [ -z "${sanitized-}" ]; then
    run -n 2 --rabit "$ends"
    expect_code 1
    expect_err 'each rank trained a model of its own.*xgboost\.collective\.CommunicatorContext'
fi
finish
