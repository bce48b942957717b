# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=dash
# What every shell test sources, in dash or bash (compat-tests/README.md lists the words):
#     . "$(dirname "$0")/../lib/test.sh"
# $tmp is a directory of the test's own, $here where the test is, $built where its programs are.
# What ran last is $what. It left $code, $tmp/out and $tmp/err.
here=$(cd "$(dirname "$0")" && pwd)
top_srcdir=$(cd "${top_srcdir:-${here%/compat-tests/*}}" && pwd)
top_builddir=$(cd "${top_builddir:-.}" && pwd)
lib=$top_srcdir/compat-tests/lib
built=$top_builddir/compat-tests/${here##*/compat-tests/}
ftrun=$top_builddir/ftrun
[ -x "$ftrun" ] || { echo "no $ftrun"; exit 99; }
# In a lab of hosts: where all of them see it.
tmp=$(mktemp -d "${LAB:-${TMPDIR:-/tmp}}/ftmpi-test.XXXXXX") || exit 99
whole_tmp=$tmp
trap 'rm -rf "$whole_tmp"' EXIT
trap 'exit 99' INT TERM HUP
what=ftrun code=0 failed=0

# ---- the frame ----

# uses PART...: more words, from files beside this one.
uses() {
    local part
    for part in "$@"; do
        # shellcheck source=/dev/null
        . "$lib/$part.sh"
    done
}
# needs TOOL [PACKAGE]: or the test is skipped.
needs() { command -v "$1" >/dev/null || skip "$1 is missing: apt-get install ${2:-$1}"; }
skip() {
    echo "SKIP: $*"
    exit 77
}
# The test goes on after a failure.
fail() {
    echo "FAIL: $*"
    [ -s "$tmp/err" ] && sed 's/^/  stderr: /' "$tmp/err" | head -n 20
    failed=1
}
finish() { exit $failed; }

# ---- knobs ----

quick() { [ "${FT_TIER-}" = quick ]; }
full() { [ "${FT_TIER-}" = full ]; }
# seeded: sets $seed. It is FT_SEED or 1, so that a run shows what this tree does; in the full tier
# nobody knows it before.
seeded() {
    seed=${FT_SEED-}
    if [ -z "$seed" ] && full; then seed=$(($(od -An -N4 -tu4 /dev/urandom) % 1000000)); fi
    : "${seed:=1}"
    echo "FT_SEED=$seed"
}
# random N: sets $drawn, from 0 to N - 1; the same after the same seed.
random() {
    seed=$(((seed * 1103515245 + 12345) % 2147483648))
    drawn=$((seed / 65536 % $1))
}

# ---- what runs ----

# bounded SECONDS COMMAND...: a test never hangs.
bounded() { timeout -k 5 "$@"; }
# call COMMAND...: for two minutes at most.
call() {
    what="${1##*/} $(shift && echo "$*")"
    bounded "${at_most:-120}" "$@" >"$tmp/out" 2>"$tmp/err" </dev/null
    code=$?
}
# unbroken: nobody has ended itself. A rank that has comes back, and all else is as it should be.
unbroken() { ! grep -q 'broken invariant' "$tmp/err" || fail "$what: an invariant was broken"; }
# run ARGUMENT...: ftrun, to its end. In a lab its hosts are reached by $through.
run() {
    what="ftrun $*"
    bounded "${at_most:-120}" "$ftrun" ${through:+--launcher "$through"} "$@" \
        >"$tmp/out" 2>"$tmp/err" </dev/null
    code=$?
    unbroken
}
# begin ARGUMENT...: ftrun in the background. Its own process is $front; wait for $job.
begin() {
    what="ftrun $*"
    # Here, not by the job: who waits for a line must not find the last job's.
    rm -f "$tmp/front"
    : >"$tmp/out"
    : >"$tmp/err"
    timeout --foreground -k 5 "${at_most:-300}" \
        sh -c 'echo $$ >"$0.new" && mv "$0.new" "$0" && exec "$@"' "$tmp/front" \
        "$ftrun" ${through:+--launcher "$through"} "$@" >"$tmp/out" 2>"$tmp/err" </dev/null &
    job=$!
    wait_for test -e "$tmp/front" && front=$(cat "$tmp/front")
}
# ended [SECONDS]: what began has, within so long (120); sets $code.
ended() {
    until_true "${1:-120}" is_gone "$job" ||
        { fail "$what: still running after ${1:-120} s" && kill -KILL "$front" "$job"; }
    wait "$job"
    code=$?
    unbroken
}
# aside COMMAND...: beside what follows, for what waits most of the time. asides_end: what they have
# said, one after the other, when all have ended; the test fails if one did.
asides=0
aside() {
    asides=$((asides + 1))
    { "$@" && : >"$whole_tmp/aside.$asides.good"; } >"$whole_tmp/aside.$asides.said" 2>&1 &
}
asides_end() {
    local i
    wait
    for i in $(seq $asides); do
        cat "$whole_tmp/aside.$i.said"
        [ -e "$whole_tmp/aside.$i.good" ] || failed=1
    done
}
# aside apart COMMAND...: in a directory of its own.
apart() {
    tmp=$whole_tmp/apart.$asides
    mkdir "$tmp" && cd "$tmp" || exit 99
    [ -z "${FTMPI_RUN_DIR-}" ] || FTMPI_RUN_DIR=$tmp/run
    "$@"
    return $failed
}

# ---- its surroundings ----

# own_jobs: ftrun list, status and stop know this test's jobs only.
own_jobs() {
    FTMPI_RUN_DIR=$tmp/run
    export FTMPI_RUN_DIR
}
# sanitizers NAME=VALUE...: what they are told, if they are there.
sanitizers() {
    local option
    for option in "$@"; do ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}$option; done
    export ASAN_OPTIONS
}
# Ranks are recorded here, so they have snapshots: not in a build for these sanitizers
# (ft_library_records). Who waits for a snapshot there waits in vain.
records() { case ${sanitized-} in *address*|*thread*) return 1 ;; esac; }

# ---- what is expected ----

expect_code() { [ "$code" = "$1" ] || fail "$what: exit code $code, not $1"; }
expect_out() {
    printf '%s\n' "$@" | cmp -s - "$tmp/out" ||
        { fail "$what: output differs:"; head -n 20 "$tmp/out"; }
}
expect_no_out() { [ ! -s "$tmp/out" ] || fail "$what: prints something"; }
expect_err() { told "$1" || fail "$what: stderr does not say \"$1\""; }
# But for what is told of a replay if it takes long, or the job goes on for a while after it.
expect_err_lines() {
    [ "$(grep -vc '^ftrun: rank [0-9]* \(replays: unit\|is back where it was\)' "$tmp/err")" = "$1" ] ||
        fail "$what: not $1 line(s) on stderr"
}
# For wait_for: it is said by now.
told() { grep -q -e "$1" "$tmp/err"; }
# What was printed is put in order: all lines, or the lines of FILE (or stdin) by the rank that they
# begin with.
sorted() { sort -o "$tmp/out" "$tmp/out"; }
by_rank() { sort -s -n -k1,1 "$@"; }
# reported FILE NAME: a number out of ftrun's report.
reported() { sed -n 's/^ *"'"$2"'": \([0-9.]*\),*$/\1/p' "$1" | head -n 1; }

# ---- waiting ----

# until_true SECONDS COMMAND...: polls until the command succeeds. It fails after as long, or
# longer: a busy machine is slow.
until_true() {
    local attempts=$(($1 * 20)) # not the callers'
    shift
    until "$@"; do
        [ $attempts -gt 0 ] || return 1
        attempts=$((attempts - 1))
        sleep 0.05
    done
}
# wait_for COMMAND...: or the test fails, after two minutes or more.
wait_for() {
    until_true 120 "$@" 2>/dev/null || { fail "$what: waited in vain for: $*" && return 1; }
}
# shellcheck disable=SC2002
has_lines() { [ "$(cat "$2" 2>/dev/null | wc -l)" -ge "$1" ]; }

# ---- processes ----

# No such process, or a zombie that somebody will collect.
is_gone() {
    process_state=$(sed 's/.*) \(.\).*/\1/' "/proc/$1/stat" 2>/dev/null) || return 0
    [ -z "$process_state" ] || [ "$process_state" = Z ] || [ "$process_state" = X ]
}
is_stopped() { [ "$(sed 's/.*) \(.\).*/\1/' "/proc/$1/stat")" = T ]; }
# The process that is rank 0 now, of the one job that runs.
pid_of_first() { "$ftrun" status --json 2>/dev/null | tr -d '\n ' | sed 's/.*"rank":0,"host":"[^"]*","pid":\([0-9]*\).*/\1/'; }
# Every pid in the files named is gone.
all_gone() {
    for process in $(cat "$@"); do
        is_gone "$process" || return 1
    done
}
# The second process of ftrun $1, which is not the one that the shell started.
other_process() {
    for process in $(cat "/proc/$1/task/$1/children"); do
        if [ "$(readlink "/proc/$process/exe")" = "$(readlink "/proc/$1/exe")" ]; then echo "$process"; fi
    done
}
# kill_both PID: both processes of an ftrun, neither of which can go on for the other one.
kill_both() {
    kill -STOP "$1"
    # shellcheck disable=SC2046
    kill -KILL "$1" $(other_process "$1")
}
# ftrun with pid $1 has started all its ranks, and its second process knows them: a rank that it
# does not know it would start again.
answers() { "$ftrun" status "$1" >/dev/null 2>&1; }
