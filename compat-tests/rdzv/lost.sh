#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2154,SC2046
# A host of three is lost, and a fourth takes its place; one is told to stop, and leaves its place; one whose ftrun is killed is
# replaced. Ranks do not change, nor does the output. The leader's host is lost: all end, soon and with a line.
. "$(dirname "$0")/../lib/test.sh"
uses lab
lab_enter "$0" "$@"
uses join
seeded
lab boot h1 h2 h3 h4
openssl rand -hex 32 >"$tmp/secret"
job=("$top_builddir/compat-tests/chaos/mixed" -n 200 -m 2000 -b 0 -e -w 10000)
"$ftrun" -n 6 "${job[@]}" 2>/dev/null | sort >"$tmp/wanted"
options=(--nodes 3 -n 6 --lease 2 --survive host --rdzv-secret-file "$tmp/secret")
# begins NAME: three hosts, and a spare.
begins() {
    of_job "$1"
    fresh
    for host in h1 h2 h3; do on "$host" "${options[@]}" "${job[@]}"; done
    led
    on h4 "${options[@]}" "${job[@]}"
    prints 'op 40'
    # One of the two that do not lead, nor have the store.
    random 2
    # shellcheck disable=SC2086
    victim=$(others h2 h3 | sed -n "$((1 + drawn % $(others h2 h3 | wc -l)))p")
}
same() { sort "$tmp/$leader.out" | cmp - "$tmp/wanted" || fail "$what: the output is another one"; }

begins lost
lab lose "$victim"
leaves 0 $(printf '%s\n' h1 h2 h3 h4 | grep -vx "$victim")
same
says "$leader" "host $victim (ranks .*) has not been heard from for 2 s; its ranks start again on h4"
nothing_on $(printf '%s\n' h1 h2 h3 h4 | grep -vx "$victim")
lab heal "$victim"
lab boot "$victim"

begins told
lab in "$victim" kill -TERM "$(front_of "$victim")"
leaves 143 "$victim"
leaves 0 $(printf '%s\n' h1 h2 h3 h4 | grep -vx "$victim")
same
says "$victim" 'told to stop by signal 15 (SIGTERM); this host leaves job told'
says "$leader" "host $victim .* its ranks start again on h4"
nothing_on h1 h2 h3 h4

begins front
lab in "$victim" kill -KILL "$(front_of "$victim")"
leaves 0 $(printf '%s\n' h1 h2 h3 h4 | grep -vx "$victim")
same
nothing_on h1 h2 h3 h4

begins leader
lab lose "$leader"
since=$SECONDS
leaves 1 $(others h1 h2 h3 h4)
[ $((SECONDS - since)) -le 8 ] || fail "$what: it takes $((SECONDS - since)) s until all have ended"
for host in $(others h1 h2 h3 h4); do says "$host" "the ftrun on $leader, which runs job leader, cannot be reached any more"; done
nothing_on $(others h1 h2 h3 h4)
finish
