# SPDX-License-Identifier: BSD-3-Clause
# Sourced by the shell tests: bounded runs, and checks that go on after a failure. What is run is in $tmp.
. "${top_srcdir:-$(dirname "$0")/../..}/compat-tests/lib/base.sh"
tmp=$scratch
ftrun=${top_builddir:-.}/ftrun
case $ftrun in /*) ;; *) ftrun=$(pwd)/$ftrun ;; esac
[ -x "$ftrun" ] || { echo "no $ftrun"; exit 99; }
code=0

fail() {
    echo "FAIL: $*"
    [ -s "$tmp/err" ] && sed 's/^/  stderr: /' "$tmp/err" | head -20
    failed=1
}

# Runs ftrun with at most two minutes; leaves code, $tmp/out and $tmp/err.
run() {
    what="ftrun $*"
    timeout -k 5 120 "$ftrun" "$@" >"$tmp/out" 2>"$tmp/err" </dev/null
    code=$?
}

expect_code() { [ "$code" = "$1" ] || fail "$what: exit code $code, not $1"; }
expect_out() { printf '%s\n' "$@" | cmp -s - "$tmp/out" || { fail "$what: output differs:"; head -20 "$tmp/out"; }; }
expect_no_out() { [ ! -s "$tmp/out" ] || fail "$what: prints something"; }
expect_err() { grep -q -e "$1" "$tmp/err" || fail "$what: stderr does not say \"$1\""; }
# But for how far a replay is, which is told if it takes long.
expect_err_lines() { [ "$(grep -vc '^ftrun: rank [0-9]* replays: unit ' "$tmp/err")" = "$1" ] || fail "$what: not $1 line(s) on stderr"; }

# Fails the test after two minutes or more.
wait_for() { until_true 120 "$@" 2>/dev/null || { fail "$what: waited in vain for: $*" && return 1; }; }

# No such process, or a zombie that somebody will collect.
is_gone() {
    process_state=$(sed 's/.*) \(.\).*/\1/' "/proc/$1/stat" 2>/dev/null) || return 0
    [ -z "$process_state" ] || [ "$process_state" = Z ] || [ "$process_state" = X ]
}

# Every pid in the files named is gone.
all_gone() {
    for process in $(cat "$@"); do
        is_gone "$process" || return 1
    done
}

# The second process of ftrun $1, which is not the one that the shell started.
other_process() {
    for process in $(cat "/proc/$1/task/$1/children"); do
        [ "$(readlink "/proc/$process/exe")" = "$(readlink "/proc/$1/exe")" ] && echo "$process"
    done
}

# ftrun with pid $1 has started all its ranks, and its second process knows them: a rank that it does not know it would start again.
answers() { "$ftrun" status "$1" >/dev/null 2>&1; }

has_lines() { [ "$(cat "$2" 2>/dev/null | wc -l)" -ge "$1" ]; }

# aside apart COMMAND...: in a directory of its own.
apart() {
    tmp=$scratch/apart.$asides
    mkdir "$tmp" && cd "$tmp" || exit 99
    [ -z "${FTMPI_RUN_DIR-}" ] || FTMPI_RUN_DIR=$tmp/run
    "$@"
    return $failed
}
