#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2154,SC2016
# One step with a task on each node, each an ftrun: they find each other, and are one job. A node that is lost is replaced. What srun
# starts otherwise is refused with a line.
. "$(dirname "$0")/../lib/test.sh"
# The names of nodes are this machine's, for this test.
if ! grep -qs n1.of.a.test /etc/hosts; then
    [ "$(id -u)" = 0 ] || skip "names of nodes can be told to this machine by root only"
    printf '%s\n' '127.0.0.1 localhost' "127.0.0.1 $(hostname) n1 n2 n3 n4 n1.of.a.test" >"$tmp/hosts"
    unshare -m sh -c 'mount --bind "$1" /etc/hosts && shift && exec "$@"' - "$tmp/hosts" sh "$0"
    exit
fi
uses slurm
slurm_boot 4

call srun -N3 --ntasks-per-node=1 "$ftrun" --rdzv slurm -n 6 sh -c 'echo $FTMPI_RANK $FTMPI_HOST'
expect_code 0
by_rank "$tmp/out" >"$tmp/sorted"
[ "$(tr '\n' , <"$tmp/sorted")" = '0 n1,1 n1,2 n2,3 n2,4 n3,5 n3,' ] || fail "$what: $(cat "$tmp/sorted")"

call srun -N2 --ntasks-per-node=2 "$ftrun" --rdzv slurm -n 4 true
[ "$code" = 2 ] || fail "$what: exit code $code"
expect_err 'srun has started 4 tasks on 2 nodes; one on each is wanted'
call "$ftrun" --rdzv slurm true
expect_code 2
expect_err 'this is no step of Slurm'

# A node is lost. The fourth is a spare.
mixed="$top_builddir/compat-tests/chaos/mixed -n 400 -m 2000 -b 0 -e -w 10000"
# shellcheck disable=SC2086
"$ftrun" -n 6 $mixed 2>/dev/null | sort >"$tmp/wanted"
what="srun, a node is lost"
: >"$tmp/err"
# shellcheck disable=SC2086
timeout -k 5 60 srun -N4 --no-kill -K0 -W0 --ntasks-per-node=1 "$ftrun" -v --rdzv slurm --nodes 3 -n 6 --lease 2 --survive host $mixed \
    >"$tmp/out" 2>"$tmp/err" </dev/null &
job=$!
wait_for grep -q 'op 20' "$tmp/out"
wait_for told 'host n[1-4] is there'
spare=$(sed -n 's/.*this one is a spare.*/&/p' "$tmp/err" | head -n 1)
[ -n "$spare" ] || fail "$what: there is no spare"
# Neither the leader nor the store.
victim=$(sed -n 's/.*node [0-2] on \(n[2-4]\) is there.*/\1/p' "$tmp/err" | while read -r node; do
    told "host $node is there" && echo "$node"; done | head -n 1)
lose_node "$victim"
# srun waits for that node until Slurm knows.
scontrol update nodename="$victim" state=down reason=lost
wait_for told 'done: 3 nodes, 1 of them replaced'
ended 60
sort "$tmp/out" | cmp - "$tmp/wanted" || fail "$what: the output is another one"
expect_err "host $victim .*\\(its ranks start again on\\|takes its place\\)"
finish
