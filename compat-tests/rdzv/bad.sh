#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2154,SC2016
# What cannot become a job by ftrun --rdzv ends with a line that says why, on each host, and soon. What is secret is neither told nor shown.
. "$(dirname "$0")/../lib/test.sh"
uses lab
lab_enter "$0" "$@"
uses join
lab boot h1 h2 h3
openssl rand -hex 32 >"$tmp/secret"
openssl rand -hex 32 >"$tmp/other"
echo short >"$tmp/short"

# refused PATTERN ARGUMENT...: in a line, with code 2 or 1.
refused() {
    local pattern=$1
    shift
    call "$ftrun" "$@"
    [ "$code" = 2 ] || [ "$code" = 1 ] || fail "$what: exit code $code"
    expect_err "$pattern"
    expect_err_lines 1
    expect_no_out
}
refused '--rdzv and --host: hosts are named, or they find each other' --rdzv rdzv://h1/j -H h1,h2 true
refused '--nodes does nothing without --rdzv URL' --nodes 3 true
refused '--spares does nothing with --rdzv' --rdzv rdzv://h1/j --spares 1 true
refused '"3:2" is no number of hosts' --rdzv rdzv://h1/j --nodes 3:2 true
refused 'cannot read .*/nowhere' --rdzv rdzv://h1/j --rdzv-secret-file "$tmp/nowhere" true
refused 'secret' --rdzv rdzv://h1/j --rdzv-secret-file "$tmp/short" true
refused '--log-full forget\|no program given' --rdzv rdzv://h1/j

# Too few.
url='rdzv://h1:29400/few?lease=2&timeout=2'
what="too few"
for host in h1 h2; do on "$host" --nodes 3 true; done
leaves 1 h1 h2
says h1 '[12] of at least 3 hosts came to job few within 2 s'
says h2 '[12] of at least 3 hosts came to job few within 2 s'

# Another secret: it is kept out, and the others go on.
of_job secret
fresh
on h1 --nodes 2 -n 2 --rdzv-secret-file "$tmp/secret" sh -c 'sleep 2; echo $FTMPI_RANK'
on h3 --nodes 2 -n 2 --rdzv-secret-file "$tmp/other" true
sleep 0.3
on h2 --nodes 2 -n 2 --rdzv-secret-file "$tmp/secret" sh -c 'sleep 2; echo $FTMPI_RANK'
led
leaves 1 h3
says h3 "the job's secret there is another one"
leaves 0 h1 h2
[ "$(sort "$tmp/$leader.out" | tr '\n' ,)" = 0,1, ] || fail "$what: $(cat "$tmp/$leader.out")"

# What the leader cannot do is the end for all.
of_job more
fresh
for host in h1 h2; do on "$host" --nodes 2 -n 5 -N 2 true; done
wait_for grep -q '5 ranks at 2 per host need 3 hosts; there are 2' "$tmp/h1.err" "$tmp/h2.err"
leader=$(grep -l '5 ranks at 2' "$tmp"/h?.err | sed 's,.*/,,; s,\.err,,')
leaves 2 "$leader"
leaves 2 "$(others h1 h2)"
says "$(others h1 h2)" 'job more is over: it has ended with exit code 2'
of_job nowhere
fresh
for host in h1 h2; do on "$host" --nodes 2 -n 2 no-such-program; done
leaves 127 h1 h2

# A password is not in the list of processes.
of_job hidden
url='etcd://me:geheim@h1/hidden?timeout=20'
on h2 --nodes 2 true
wait_for test -s "$tmp/h2.pid"
until_true 10 eval 'lab running h2 | grep -q "etcd://me:xxxxxx@h1"' || fail "$what: it is not written over: $(lab running h2)"
lab running h2 | grep -v '^[0-9]* timeout ' | grep -q geheim && fail "$what: it is shown: $(lab running h2)"
lab in h2 kill -TERM "$(front_of h2)"
leaves 143 h2
nothing_on h1 h2 h3
finish
