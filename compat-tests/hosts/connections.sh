#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Ranks with TCP connections of their own between hosts, without MPI. A rank that is killed, on any of two and of four hosts, goes on exactly: its host alone
# looks after it, and nobody at the other ends notices. A host that is lost takes connections with it: the job ends with a line that says which host, and
# that; or all ranks begin again where that was chosen.
. "$(dirname "$0")/../lib/test.sh"
uses lab
lab_enter "$0" "$@"
lab boot h1 h2 h3 h4
talks=("/usr/bin/python3" "$top_srcdir/compat-tests/hosts/talks.py")
seeded

# talking HOSTS N ROUNDS OPTION...
talking() {
    local hosts=$1 n=$2 rounds=$3
    shift 3
    begin --host "$hosts" -n "$n" --report "$tmp/report" "$@" "${talks[@]}" "$rounds"
}
in_round() { until_true 120 grep -qx "round $1" "$tmp/out" || fail "$what: not in round $1"; }
same() {
    ended 120
    expect_code 0
    grep -v ^round "$tmp/out" | sort | diff - "$tmp/wanted" >"$tmp/diff" || { fail "$what: the output is another one:" && cat "$tmp/diff"; }
}

# ---- ranks are killed ----
for hosts in h1,h2 h1:2,h2,h3,h4; do
    n=2
    [ $hosts = h1,h2 ] || n=5
    talking $hosts $n 300
    ended 120
    expect_code 0
    grep -v ^round "$tmp/out" | sort >"$tmp/wanted"
    [ "$(wc -l <"$tmp/wanted")" = $n ] || fail "$what: $(cat "$tmp/out")"
    talking $hosts $n 300
    in_round 20
    killed 0 h1
    in_round 60
    killed $((n - 1)) "${hosts##*,}"
    in_round 100
    random $n
    case $n$drawn in 20 | 50 | 51) on=h1 ;; 21 | 52) on=h2 ;; 53) on=h3 ;; 54) on=h4 ;; esac
    killed "$drawn" $on
    same
    [ "$(grep -cE '"way_back": "(start|snapshot)"' "$tmp/report")" = 3 ] || fail "$what: not three ranks that came back"
    [ "$(grep -c '"snapshots_not_followed": 0' "$tmp/report")" = 3 ] || fail "$what: tries in vain"
done

# ---- a host is lost, without a word and with one: as soon as there is a connection, it is known ----
talking h1,h2 2 100000 --lease 4
in_round 1
lab lose h2
ended 120
expect_code 1
expect_err 'host h2 (rank 1) has not been heard from for 4 s; its ranks had connections of their own, which are lost with it, so the job is ended'
[ "$(grep -c '"host_lost": true\|"all_ranks": false' "$tmp/report")" -ge 1 ] || fail "$what: the report does not tell of the host"
nothing_on h1
lab heal h2
lab boot h2

# The other end learns it from the kernel, and ends the job with an error of its own before ftrun knows.
talking h1,h2 2 100000 --lease 4
in_round 1
lab kill h2
ended 120
[ "$code" -ne 0 ] || fail "$what: exit code 0"
expect_err 'host h2 (rank 1) is lost, too, and its ranks had connections of their own with others\|host h2 (rank 1) .*its ranks had connections of their own'
nothing_on h1
lab boot h2

# It was chosen that all begin again, on another host.
talking h1,h2,h3 2 60 --spares 1 --lease 4 --start-over always
in_round 20
lab lose h2
ended 120
expect_code 0
expect_err 'host h2 (rank 1) is lost, and its ranks had connections of their own, which are lost with it: all ranks start again (--start-over always)'
grep -q '^1 [0-9]' "$tmp/out" || fail "$what: $(cat "$tmp/out")"
nothing_on h1 h3
finish
