# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=dash disable=SC2154 # test.sh sets tmp and others
# uses plain: a program of one rank prints under ftrun what it prints without, undisturbed and killed.
own_jobs

# plain COMMAND...: without ftrun. What it prints is in $tmp/plain; the words below run it again.
plain() {
    command=$*
    call "$@"
    expect_code 0
    cp "$tmp/out" "$tmp/plain"
}
is_plain() { cmp "$tmp/out" "$tmp/plain" || { fail "$what, $1:" && diff "$tmp/out" "$tmp/plain" | head; }; }
# undisturbed SECONDS: with a snapshot that often.
undisturbed() {
    run --timeout 60 --snapshot "$1" -n 1 $command
    expect_code 0
    is_plain undisturbed
}
# killed SECONDS LINE...: so long is a snapshot good; it is killed when it has printed so many lines.
killed() {
    local line
    begin --timeout 60 --snapshot "$1" -n 1 $command
    shift
    for line; do
        wait_for has_lines "$line" "$tmp/out"
        kill -KILL "$(pid_of_first)"
    done
    ended
    expect_code 0
    is_plain killed
    ! grep 'could not be followed\|prints something else\|signal 11' "$tmp/err" || fail "$what: a replay is another one"
}
# From a snapshot newer than its start.
back_from_snapshots() { [ "$(grep -c 'restarted from its snapshot' "$tmp/err")" -ge "$1" ] || fail "$what: it has not come back from $1 snapshots"; }
