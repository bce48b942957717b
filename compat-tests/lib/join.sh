# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2154
# For tests of ftrun --rdzv, in a lab: one ftrun on each host, of the job $url.
parameters='lease=2&last_call_timeout=1&timeout=20'
of_job() {
    url="${store-rdzv://h1:29400}/$1?$parameters"
    what="ftrun --rdzv $url"
}
# on HOST ARGUMENT...: ftrun begins there. What it prints is in $tmp/HOST.out and .err; its own process is on_HOST.
on() {
    local host=$1
    shift
    rm -f "$tmp/$host.pid" "$tmp/$host.code"
    { lab in "$host" timeout --foreground -k 5 60 sh -c 'echo $$ >"$0" && exec "$@"' "$tmp/$host.pid" "$ftrun" --rdzv "$url" "$@" \
        >"$tmp/$host.out" 2>"$tmp/$host.err" </dev/null
      echo $? >"$tmp/$host.code"; } 2>/dev/null &
}
front_of() {
    wait_for test -s "$tmp/$1.pid"
    cat "$tmp/$1.pid"
}
# leaves CODE HOST...: its ftrun ends so, within 30 s.
leaves() {
    local want=$1 host got
    shift
    for host in "$@"; do
        until_true 30 test -s "$tmp/$host.code" || { fail "$what: ftrun on $host does not end: $(cat "$tmp/$host.err")" && continue; }
        got=$(cat "$tmp/$host.code")
        [ "$got" = "$want" ] || fail "$what: ftrun on $host ends with $got, not $want: $(cat "$tmp/$host.err")"
    done
}
says() { until_true 20 grep -q -e "$2" "$tmp/$1.err" || fail "$what: $1 does not say \"$2\": $(cat "$tmp/$1.err")"; }
# Which of all that have begun leads.
is_led() { leader=$(grep -l 'the loss of this host would end the job' "$tmp"/h*.err | sed 's,.*/,,; s,\.err,,'); [ -n "$leader" ]; }
led() { until_true 20 is_led 2>/dev/null || { fail "$what: nobody leads" && exit 1; }; }
# others HOST...: but the leader.
others() { printf '%s\n' "$@" | grep -vx "$leader"; }
prints() { until_true 20 grep -q -e "$1" "$tmp/$leader.out" || fail "$what: $leader does not print \"$1\": $(cat "$tmp/$leader.err")"; }
fresh() { rm -f "$tmp"/h*.err "$tmp"/h*.out; }
