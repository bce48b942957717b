#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# How much ftrun says: -q, nothing, -v, -vv, -vvv (ftrun.1). Each says all that the one before says.
. "$(dirname "$0")/../lib/test.sh"
uses hosts
ends=$built/ends
# dies OPTION...: rank 1 dies once.
dies() {
    run "$@" -n 2 "$ends" work 9 1
    expect_code 0
}
says() { grep -q "$1" "$tmp/err" || { fail "$what: does not say: $1"; cat "$tmp/err"; }; }
silent() { ! grep "$1" "$tmp/err" || fail "$what: says: $1"; }
back='^ftrun: rank 1 .* restart 1' detail='^ftrun: rank 1 (pid [0-9]*) was killed by .* at unit [0-9]*$' sums='^ftrun: done: 1 restart, [0-9]* snapshots* taken, '
debug='^ftrun: decided: restart, rank 1,'

dies -q
[ ! -s "$tmp/err" ] || fail "$what: says: $(cat "$tmp/err")"
dies
says "$back"
silent "$sums"
for v in -v --verbose --verbose=1 -verbose; do
    dies $v
    says "$back"
    says "$detail"
    says "$sums"
    silent "$debug"
    silent 'has a snapshot at'
done
if records; then
    for v in -vv '-v -v' --verbose=2; do
        rm -f "$tmp/end"
        # shellcheck disable=SC2086
        begin --snapshot 0.01 $v -n 2 "$top_builddir/compat-tests/control/waits" file 0 "$tmp/end" 5
        wait_for grep -q '^ftrun: rank 0 has a snapshot at unit' "$tmp/err"
        : >"$tmp/end"
        ended
        says '^ftrun: done: 0 restarts'
        silent '^ftrun: decided'
    done
fi
for v in -vvv '-v -vv' '-vv -vvv' --verbose=3; do
    # shellcheck disable=SC2086
    dies $v
    says "$back"
    says "$detail"
    says "$sums"
    says "$debug"
done
FTMPI_VERBOSE=3 dies
says "$debug"
FTMPI_VERBOSE=3 dies --verbose=no
silent "$sums"
FTMPI_VERBOSE=yes dies
says "$sums"
silent "$debug"
run --verbose=much -n 1 true
expect_code 2
expect_err '^ftrun: --verbose: "much" is not a valid value'

# The same on all hosts.
hosts a,b -v "$ends" work
says '^ftrun: node 1 on .* is there'
silent ' link '
hosts a,b -v -vv "$ends" work
says ' link [0-9]* with node'
says '^ftrun: node 1 on .* is there'
finish
