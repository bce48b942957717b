# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# For tests over the hosts of a lab: sourced, it starts the test once more in a lab (lab.sh), and there gives it what
# chaos_lib.sh gives, with a scratch directory that all hosts see.
# shellcheck source=compat-tests/lib/lab.sh
. "$(dirname "$0")/../lib/lab.sh"
lab_enter "$0" "$@"
TMPDIR=$LAB
# shellcheck source=compat-tests/lib/chaos_lib.sh
. "$(dirname "$0")/../lib/chaos_lib.sh"
chmod 755 "$scratch"
full() { [ "${FT_TIER:-}" = full ]; }

# job OPTIONS AND PROGRAM...: ftrun over the lab's hosts, bounded; leaves $code, $scratch/out, $scratch/err.
job() {
    what="ftrun $*"
    bounded "${seconds:-120}" "$ftrun" --launcher "exec:$here/../lib/launch.sh" "$@" >"$scratch/out" 2>"$scratch/err" </dev/null
    code=$?
}

# The same in the background; its process is $job.
begin() {
    what="ftrun $*"
    # Here, not by the job: who waits for a line must not find the last job's.
    : >"$scratch/out"
    : >"$scratch/err"
    # exec: the number is ftrun's.
    (exec "$ftrun" --launcher "exec:$here/../lib/launch.sh" "$@" >"$scratch/out" 2>"$scratch/err" </dev/null) &
    job=$!
}

# Its end, within $1 seconds; leaves $code.
ended() {
    # shellcheck disable=SC2034
    until_true "$1" job_is_over || { fail "$what: still running after $1 s"; sed 's/^/  stderr: /' "$scratch/err"; kill -KILL "$job"; }
    wait "$job"
    code=$?
}
# shellcheck disable=SC2317
job_is_over() { ! kill -0 "$job" 2>/dev/null; }

expect() {
    [ "$code" = "$1" ] || { fail "$what: code $code, not $1" && sed 's/^/  stderr: /' "$scratch/err" | head -n 20; }
}
says() { grep -q -e "$1" "$scratch/err" || { fail "$what: does not say \"$1\"" && sed 's/^/  stderr: /' "$scratch/err" | head -n 20; }; }
# So many lines on stderr.
lines() { [ "$(wc -l <"$scratch/err")" = "$1" ] || { fail "$what: not $1 line(s) on stderr" && sed 's/^/  stderr: /' "$scratch/err" | head -n 20; }; }

# Nothing of the job runs on any of these hosts. A node that never met its controller waits 10 s for it.
nothing_on() {
    local host
    for host in "$@"; do
        until_true 120 nothing_runs "$host" || fail "$what: left on $host: $(lab running "$host")"
    done
}
nothing_runs() { [ -z "$(lab running "$1")" ]; }
