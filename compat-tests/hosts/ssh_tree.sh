#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# --launch-tree over ssh: real sshds, real hosts that are lost, and keys that are not everywhere. FT_TIER=full: more than 32 hosts, as nobody
# has to ask for.
. "$(dirname "$0")/../lib/test.sh"
uses lab
lab_enter "$0" "$@"
hosts=5 some=5
if full; then hosts=40 some=12; fi
lab boot $(seq -f 'h%g' $hosts)
lab ssh $(seq -f 'h%g' $hosts)
list() { seq -s, -f 'h%g' "$@"; }

# over OPTIONS...: a rank on each host of the list says its number, each once, and nothing is left.
over() {
    what="ftrun $*"
    bounded 200 "$ftrun" "$@" sh -c 'echo $FTMPI_RANK' >"$tmp/out" 2>"$tmp/err" </dev/null
    code=$?
}
ranks() {
    expect_code 0
    seq 0 $(($1 - 1)) | cmp -s - <(sort -n "$tmp/out") || fail "$what: not each of $1 ranks once"
}
all_left() {
    nothing_on $(seq -f 'h%g' $hosts)
}

over -v --host "$(list $some)" --launch-tree 2
ranks $some
expect_err '^ftrun: [25] nodes are started from h1$'
! grep -q 'cannot' "$tmp/err" || fail "$what: a host could not be started from another"
all_left

# Nobody asks for it.
if full; then
    over -v --host "$(list $hosts)"
    ranks $hosts
    expect_err '^ftrun: 1 node is started from h1$'
    all_left
fi

# No key on h1: what it is to start is started from here.
lab in h1 umount /etc/ssh
over -v --host "$(list $some)" --launch-tree 2
ranks $some
expect_err '^ftrun: node [1-5] on h[2-6] cannot be started from h1: .*; it is started from here$'
all_left
lab in h1 mount --bind "$LAB/ssh" /etc/ssh

# The host that starts others is dead: another one takes its place, and its share is started from here.
lab kill h1
over --host "$(list $some)" --spares 1 --launch-tree 2
ranks $((some - 1))
expect_err '^ftrun: cannot start on host h1 (rank 0): .*; tried 3 times, h[0-9]* takes its place$'
expect_err_lines 1
nothing_on $(seq -f 'h%g' 2 $some)
finish
