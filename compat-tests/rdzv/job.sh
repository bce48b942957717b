#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2154,SC2046,SC2016
# The same ftrun --rdzv on each host, in any order, and no way to start anything elsewhere: one job, whose output is that of a
# job on one host and appears where the leader is; all end with its exit code.
. "$(dirname "$0")/../lib/test.sh"
uses lab
lab_enter "$0" "$@"
uses join
lab boot h1 h2 h3
openssl rand -hex 32 >"$tmp/secret"
job=("$top_builddir/compat-tests/chaos/mixed" -n 100 -m 2000 -b 0 -e)
"$ftrun" -n 6 "${job[@]}" 2>/dev/null | sort >"$tmp/wanted"

for order in "h1 h2 h3" "h3 h2 h1" "h2 h1 h3"; do
    of_job train
    fresh
    for host in $order; do on "$host" --nodes 3 -n 6 --rdzv-secret-file "$tmp/secret" "${job[@]}"; done
    led
    [ "$leader" = h1 ] || fail "$what: $leader leads, and not the host that has the store"
    leaves 0 h1 h2 h3
    sort "$tmp/$leader.out" | cmp - "$tmp/wanted" || fail "$what: the output is another one"
    for host in $(others h1 h2 h3); do [ ! -s "$tmp/$host.out" ] || fail "$host prints something"; done
    nothing_on h1 h2 h3
done

# Without -n: the slots of all. The exit code is the job's. Ranks are in the order of names.
of_job codes
fresh
for host in h1 h2 h3; do on "$host" --nodes 3 -N 2 sh -c 'echo $FTMPI_RANK $(hostname); [ $FTMPI_RANK != 3 ] || { sleep 3; exit 7; }'; done
led
prints '5 h3'
# Asked by the pid that was started, on each.
for host in h1 h2 h3; do
    lab in "$host" "$ftrun" status "$(front_of "$host")" >"$tmp/status" 2>&1 || fail "$what: no status on $host: $(cat "$tmp/status")"
done
leaves 7 h1 h2 h3
sort -n "$tmp/$leader.out" | tr '\n' , | grep -qx '0 h1,1 h1,2 h2,3 h2,4 h3,5 h3,' || fail "$what: ranks are elsewhere: $(cat "$tmp/$leader.out")"

# Between MIN and MAX: those that have come.
of_job some
fresh
for host in h1 h3; do on "$host" --nodes 2:3 -n 4 sh -c 'echo $FTMPI_RANK $(hostname)'; done
led
leaves 0 h1 h3
sort -n "$tmp/$leader.out" | tr '\n' , | grep -qx '0 h1,1 h1,2 h3,3 h3,' || fail "$what: ranks are elsewhere: $(cat "$tmp/$leader.out")"

# Hosts that lead nothing, and have no program.
of_job joined
fresh
for host in h2 h3; do on "$host" --join; done
on h1 --nodes 3 -n 6 "${job[@]}"
led
[ "$leader" = h1 ] || fail "$what: $leader leads"
leaves 0 h1 h2 h3
sort "$tmp/h1.out" | cmp - "$tmp/wanted" || fail "$what: the output is another one"

# What torchrun's manifests say.
url='' what="torchrun's environment"
fresh
export PET_NNODES=3 PET_NPROC_PER_NODE=2 PET_RDZV_ENDPOINT=h1:29400 PET_RDZV_ID=torch PET_RDZV_BACKEND=c10d PET_RDZV_CONF=lease=2
for host in h1 h2 h3; do on "$host" "${job[@]}"; done
led
leaves 0 h1 h2 h3
sort "$tmp/$leader.out" | cmp - "$tmp/wanted" || fail "$what: the output is another one"
unset PET_NNODES

# SIGTERM at the leader is the job's.
of_job ended
fresh
for host in h1 h2 h3; do on "$host" --nodes 3 -n 3 sh -c 'echo begun; exec sleep 1000'; done
led
prints begun
lab in "$leader" kill -TERM "$(front_of "$leader")"
leaves 143 h1 h2 h3
[ "$(grep -c 'told to stop by signal 15' "$tmp/$leader.err")" = 1 ] || fail "$what: $(cat "$tmp/$leader.err")"
nothing_on h1 h2 h3
finish
