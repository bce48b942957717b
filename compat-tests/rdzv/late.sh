#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2154,SC2046
# Hosts that come when the job has begun are spares: one that is new, one that was lost and returns under its name. Without a spare the job
# waits for a host. By etcd; whoever comes when the job is over is told so.
. "$(dirname "$0")/../lib/test.sh"
uses lab
lab_enter "$0" "$@"
uses join
needs etcd etcd-server
needs curl
lab boot h1 h2 h3 h4
store=etcd://10.77.0.254:2379
etcd --data-dir "$tmp/etcd" --listen-client-urls http://10.77.0.254:2379 --advertise-client-urls http://10.77.0.254:2379 \
    --listen-peer-urls http://127.0.0.1:2380 >"$tmp/etcd.log" 2>&1 &
openssl rand -hex 32 >"$tmp/secret"
job=("$top_builddir/compat-tests/chaos/mixed" -n 600 -m 2000 -b 0 -e -w 10000)
"$ftrun" -n 6 "${job[@]}" 2>/dev/null | sort >"$tmp/wanted"
options=(-v --nodes 3 -n 6 --lease 1 --survive host --rdzv-secret-file "$tmp/secret")
wait_for curl -s -m 2 -o /dev/null http://10.77.0.254:2379/health

of_job late
for host in h1 h2 h3; do on "$host" "${options[@]}" "${job[@]}"; done
led
prints 'op 30'
first=$(others h1 h2 h3 | head -n 1)
second=$(others h1 h2 h3 | tail -n 1)

# One that is new.
on h4 "${options[@]}" "${job[@]}"
says h4 'this one is a spare'
says "$leader" 'host h4 is there'
lab lose "$first"
says "$leader" "host $first .* its ranks start again on h4"
says "$leader" 'node . on h4 is there'

# One that returns.
lab heal "$first"
lab boot "$first"
on "$first" "${options[@]}" "${job[@]}"
until_true 20 eval "[ \$(grep -c 'host $first is there' '$tmp/$leader.err') = 2 ]" || fail "$first does not return: $(cat "$tmp/$leader.err")"
lab lose h4
says "$leader" "host h4 .* its ranks start again on $first"

# None is left: the job waits for one.
lab lose "$second"
says "$leader" "cannot start on host $second .*; waiting for it"
lab heal h4
lab boot h4
on h4 "${options[@]}" "${job[@]}"
leaves 0 "$leader" "$first" h4
sort "$tmp/$leader.out" | cmp - "$tmp/wanted" || fail "$what: the output is another one"
nothing_on "$leader" "$first" h4

# It is over.
on h4 "${options[@]}" "${job[@]}"
leaves 0 h4
says h4 'job late is over: it has ended with exit code 0, and so does this ftrun; another job needs a name of its own'

# It is, for longer than hosts are waited for: this is somebody's new job.
url="${url%&timeout=*}&timeout=1"
sleep 1
on h4 "${options[@]}" "${job[@]}"
leaves 1 h4
says h4 'job late is over (closed); another one needs a name of its own'
finish
