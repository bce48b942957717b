#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A disk that stalls ftrun's output is nobody's death: nodes are answered all the while, ranks wait
# once enough of what they print is on its way, and when the disk goes on all is there, once. (The
# loop that answers nodes wrote files itself: all nodes ended their ranks after two thirds of --lease.)
# shellcheck disable=SC2154 # what is not assigned here is by: uses hosts
. "$(dirname "$0")/../lib/test.sh"
uses hosts
STALL_UNTIL=$tmp/good
export STALL_UNTIL
MOST=$((64 << 10)) # KiB that ftrun may have; what the ranks print is more

# job ARGUMENT...: on two hosts, until $tmp/end. Each rank prints more than may be on its way.
job() {
    rm -f "$tmp/starts" "$tmp/end" "$STALL_UNTIL" "$STALL_UNTIL.waits" "$tmp"/printed.*
    LD_PRELOAD=$built/.libs/stall.so
    export LD_PRELOAD
    begin --launcher "exec:$go" -H a,b --lease 3 "$@" sh -c 'echo $FTMPI_RANK >>'"$tmp/starts"'
        seq -f "$FTMPI_RANK %032.0f" 400000
        : >'"$tmp"'/printed.$FTMPI_RANK
        while [ ! -e '"$tmp/end"' ]; do sleep 0.05; done'
    unset LD_PRELOAD
    wait_for test -e "$STALL_UNTIL.waits"
}
something_happens() {
    [ -s "$tmp/err" ] || [ "$(wc -l <"$tmp/starts")" -gt 2 ] || [ -e "$tmp/printed.0" ] || [ -e "$tmp/printed.1" ]
}
# Two leases long.
nothing_happens() {
    until_true 6 something_happens && fail "$what: somebody does not wait for the disk"
    [ "$(awk '/VmRSS/ { print $2 }' "/proc/$(other_process "$front")/status")" -lt $MOST ] || fail "$what: too much is kept in memory"
}
# all_of FILE...: what both ranks print, each line once.
all_of() {
    for rank in 0 1; do
        seq -f "$rank %032.0f" 400000 >"$tmp/want"
        grep -h "^$rank " "$@" | cmp -s - "$tmp/want" || fail "$what: what rank $rank printed is not there, once"
    done
}
goes_on() {
    : >"$STALL_UNTIL"
    : >"$tmp/end"
    ended
    expect_code 0
    expect_err_lines 0
    [ "$(sort "$tmp/starts" | tr '\n' ' ')" = '0 1 ' ] || fail "$what: ranks were started again"
}

STALL=$tmp/out
export STALL
job
nothing_happens
goes_on
all_of "$tmp/out"

STALL=$tmp/files
job --output-filename "$tmp/files:nocopy"
nothing_happens
goes_on
expect_no_out
all_of "$tmp/files/rank.0/stdout" "$tmp/files/rank.1/stdout"

# What is read.
STALL=$tmp/input
seq 100000 >"$tmp/input"
rm -f "$STALL_UNTIL" "$STALL_UNTIL.waits" "$tmp/starts" "$tmp"/printed.*
printf '#!/bin/sh\nexec "%s" "$@" <"%s"\n' "$ftrun" "$tmp/input" >"$tmp/reads"
chmod +x "$tmp/reads"
was=$ftrun ftrun=$tmp/reads
LD_PRELOAD=$built/.libs/stall.so
export LD_PRELOAD
begin --launcher "exec:$go" -H a,b --lease 2 sh -c 'echo $FTMPI_RANK >>'"$tmp/starts"'; cat'
unset LD_PRELOAD
ftrun=$was
wait_for test -e "$STALL_UNTIL.waits"
wait_for has_lines 2 "$tmp/starts"
nothing_happens
goes_on
cmp -s "$tmp/out" "$tmp/input" || fail "$what: other input than there is"

# Who does not want to wait for it does not have to.
STALL=$tmp/files
job --output-filename "$tmp/files:nocopy"
kill -TERM "$front"
wait_for told 'told to stop'
until_true 60 sh -c 'kill -TERM "$1" 2>/dev/null; sleep 0.2; ! kill -0 "$1" 2>/dev/null' - "$front" || fail "$what: does not end"
ended
expect_code 143
finish
