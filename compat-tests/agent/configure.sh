#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Settings: configuration file, then environment, then command line; a mistake in any of them is one line that says where.
. "$(dirname "$0")/../lib/test.sh"
XDG_CONFIG_HOME=$tmp/config
export XDG_CONFIG_HOME
conf=$XDG_CONFIG_HOME/ftmpi/ftmpi.conf
mkdir -p "$(dirname "$conf")"

# Who is killed is restarted, or not: that shows which value holds.
die='[ $FTMPI_INCARNATION = 1 ] || kill -9 $$; echo back'
came_back() { expect_code 0 && expect_out back; }
stayed_away() { expect_code 137 && expect_no_out; }

run -q -n 1 sh -c "$die"
came_back
printf '# nobody comes back\n\n  max-restarts   =  0   # so there\n' >"$conf"
run -q -n 1 sh -c "$die"
stayed_away
FTMPI_MAX_RESTARTS=1 run -q -n 1 sh -c "$die"
came_back
FTMPI_MAX_RESTARTS=1 run -q --max-restarts 0 -n 1 sh -c "$die"
stayed_away
run -q --max-restarts unlimited -n 1 sh -c "$die"
came_back
printf 'verbose = yes\nquiet = no\n' >"$conf"
run -n 1 true
expect_err 'done: 0 restarts'
run --verbose=no -n 1 true
expect_err_lines 0
FTMPI_VERBOSE=off run -n 1 true
expect_err_lines 0

# $HOME/.config without XDG_CONFIG_HOME.
mkdir -p "$tmp/home/.config/ftmpi" && echo 'max-restarts = 0' >"$tmp/home/.config/ftmpi/ftmpi.conf"
(unset XDG_CONFIG_HOME && HOME=$tmp/home timeout 120 "$ftrun" -n 1 sh -c "$die" >"$tmp/out" 2>"$tmp/err")
code=$? what="settings in ~/.config"
stayed_away

bad() { # pattern, arguments
    pattern=$1
    shift
    run "$@"
    expect_code 2
    expect_err "$pattern"
    expect_err_lines 1
    expect_no_out
}
printf 'max-restarts = 3\nlog-limt = 1G\n' >"$conf"
bad 'ftmpi.conf:2: there is no setting "log-limt"; did you mean log-limit?' -n 1 echo
printf 'log-limit = much\n' >"$conf"
bad 'ftmpi.conf:1: log-limit: "much" is not a valid value; wanted: SIZE' -n 1 echo
printf 'log-limit\n' >"$conf"
bad 'ftmpi.conf:1: "log-limit" is not a setting; wanted: name = value' -n 1 echo
printf 'n = 4\n' >"$conf"
bad 'there is no setting "n"' -n 1 echo
rm "$conf" && mkdir "$conf"
bad 'ftmpi.conf: Is a directory' -n 1 echo
run --help # in any case
expect_code 0
rmdir "$conf"
(FTMPI_GRACE=soon && export FTMPI_GRACE && bad 'FTMPI_GRACE: "soon" is not a valid value; wanted: SECONDS' -n 1 echo; exit $failed) || failed=1

# A misspelt variable is told; those that ftrun makes for ranks are not, and reach them.
FTMPI_LOG_LIMT=1G FTMPI_RANK=4 FTMPI_JOB=x FTMPI_FDS=100,101,102 run -n 1 echo runs
expect_code 0
expect_err 'FTMPI_LOG_LIMT is set, but there is no such setting; did you mean FTMPI_LOG_LIMIT?'
expect_err_lines 1
expect_out runs
FTMPI_GRACE='' run -n 1 echo runs
expect_err_lines 0
# A job within a job.
run -n 2 "$ftrun" -n 2 sh -c 'echo $FTMPI_RANK of $FTMPI_SIZE'
expect_code 0
expect_err_lines 0
sorted
expect_out '0 of 2' '0 of 2' '1 of 2' '1 of 2'
run -q -n 1 "$ftrun" -v -n 1 true
expect_err 'started by rank 0 of job [0-9a-z]*; this is a job of its own'

# MPIEXEC_TIMEOUT, which Open MPI and Hydra read, is weaker than ours.
(MPIEXEC_TIMEOUT=x && export MPIEXEC_TIMEOUT && bad 'MPIEXEC_TIMEOUT: "x" is not a valid value' -n 1 echo; exit $failed) || failed=1
finish
