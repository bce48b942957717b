#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A host is lost without a word, between two checkpoints: --survive host. Its ranks start again on another host with the models, their own ones too,
# that the next host has kept; no other rank starts again, and the output is that of an undisturbed run. With the next host lost as well,
# they begin at the start. On one host: compat-tests/checkpoint/survive_host.sh.
. "$(dirname "$0")/../lib/test.sh"
uses lab
lab_enter "$0" "$@"
lab boot h1 h2 h3 h4 h5
export VERSIONS_LOADS=$tmp/loads
# versions OPTION... -- ARGUMENT...: a rank that stands still in the middle of a round keeps all in that round.
versions() {
    local options=()
    while [ "$1" != -- ]; do options+=("$1") && shift; done
    shift
    rm -f "$VERSIONS_LOADS"
    begin --host h1:2,h2:2,h3:2,h4:2,h5:2 -n 6 --survive host -vv -x VERSIONS_LOADS "${options[@]}" "$top_builddir/compat-tests/checkpoint/versions" 6 "$@"
}
same() {
    ended 120
    expect_code 0
    sort "$tmp/out" | diff - "$tmp/wanted" >"$tmp/diff" || { fail "$what: the output is another one:" && head "$tmp/diff"; }
}
# loads LINE...: "RANK VERSION" of each load.
loads() {
    printf '%s\n' "$@" | sort | diff - <(sort "$VERSIONS_LOADS") >"$tmp/diff" || { fail "$what: what was loaded is something else:" && cat "$tmp/diff"; }
}
# kept NODE...: these have version 4 of the nodes before them.
kept() {
    local next
    for next in "$@"; do
        until_true 120 grep -q "node $next keeps checkpoint 4 of" "$tmp/err" || fail "$what: node $next does not keep version 4"
    done
}
first=("0 0" "1 0" "2 0" "3 0" "4 0" "5 0")

versions --
ended 120
expect_code 0
sort "$tmp/out" >"$tmp/wanted"
[ "$(grep -c 'has made 6 versions' "$tmp/wanted")" = 6 ] || fail "$what: not every rank has made its versions"
loads "${first[@]}"

# Node 1 keeps its models at node 2, on h3.
versions --spares 1 -- stop=3,4,2,0
kept 2
lab lose h2
same
expect_err 'host h2 .*start again on h4'
expect_err 'the ranks here go on from checkpoint 4, .* which node 2 has kept'
loads "${first[@]}" "2 4" "3 4"
nothing_on h1 h3 h4

# What node 1 had is lost with node 2, and node 2's is at node 0.
lab heal h2
lab boot h2
versions --spares 2 -- stop=3,4,2,0
kept 2 0
lab lose h2 h3
same
expect_err 'host h2 .*start again on'
expect_err 'host h3 .*start again on'
[ "$(grep -c 'the ranks here go on from checkpoint' "$tmp/err")" = 1 ] || fail "$what: not the ranks of one host go on from a version"
loads "${first[@]}" "2 0" "3 0" "4 4" "5 4"
nothing_on h1 h4 h5
finish
