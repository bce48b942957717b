# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=dash disable=SC2154
# For tests of launcher/rdzv: hosts of a job, each a process (rdzv/member.c), and etcds of the test's own.
member=$top_builddir/compat-tests/rdzv/member
# Every process that was started is ended with the test.
: >"$tmp/pids"
pids=$tmp/pids
trap 'end_pids; rm -rf "$whole_tmp"' EXIT
end_pids() {
    local process
    while read -r process; do
        if kill -KILL "$process" 2>/dev/null; then wait "$process" 2>/dev/null; fi
    done <"$pids"
}
# free_ports N: as many numbers, below those that the system gives to whoever connects: a test beside this one had them a moment later.
free_ports() {
    python3 -c 'import os, socket, sys
def is_free(port):
    with socket.socket() as s:
        return s.connect_ex(("127.0.0.1", port)) != 0
ports = (10000 + (os.getpid() * 16 + i) % 6900 for i in range(6900))
print(*[p for p, _ in zip(filter(is_free, ports), range(int(sys.argv[1])))])' "$1"
}
# host NAME [MIN:MAX]: begins to look for the others at $url, with the file $secret if there is one. It prints to $tmp/NAME.
host() {
    [ -p "$tmp/$1.in" ] || mkfifo "$tmp/$1.in"
    "$member" "$url" "$1" "${2-}" "${secret-}" <>"$tmp/$1.in" >"$tmp/$1" 2>"$tmp/$1.err" &
    echo $! >"$tmp/$1.pid"
    echo $! >>"$pids"
}
say() {
    local name=$1
    shift
    echo "$*" >"$tmp/$name.in"
}
kill_host() { kill -KILL "$(cat "$tmp/$1.pid")"; }
# awaits NAME PATTERN: the host has printed such a line, or does within 20 s.
awaits() {
    until_true 20 grep -q -s -e "$2" "$tmp/$1" ||
        { fail "$1 does not say \"$2\": $(cat "$tmp/$1" "$tmp/$1.err")" && return 1; }
}
# The host that leads now.
leader() {
    local name
    for name in "$@"; do
        if [ "$(grep '^led ' "$tmp/$name" | tail -n 1 | cut -c 5-)" -gt 0 ] 2>/dev/null; then echo "$name"; fi
    done
}

# etcds N [ARGUMENT...]: as many, of one cluster, on this host; $etcd_ports. Their number is in etcd$i.pid.
etcds() {
    local n=$1 i all='' ports
    shift
    ports=$(free_ports $((2 * n)))
    # shellcheck disable=SC2086
    set -- $ports "$@" # a pair for each; what is left is for all
    etcd_ports=
    for i in $(seq "$n"); do
        all=$all${all:+,}e$i=http://127.0.0.1:$1
        echo "$1" >"$tmp/etcd$i.peer"
        echo "$2" >"$tmp/etcd$i.port"
        etcd_ports="$etcd_ports${etcd_ports:+ }$2"
        shift 2
    done
    etcd_cluster=$all
    for i in $(seq "$n"); do etcd_start "$i" "$@"; done
    for i in $etcd_ports; do wait_for etcd_answers "$i"; done
}
etcd_answers() { [ -n "${etcd_tls-}" ] || curl -s -m 2 "http://127.0.0.1:$1/health" | grep -q '"true"'; }
# etcd_start I [ARGUMENT...]: the one numbered so, with what it has on disk.
etcd_start() {
    local i=$1 scheme=http
    shift
    [ -z "${etcd_tls-}" ] || scheme=https
    ( etcd --name "e$i" --data-dir "$tmp/etcd$i" --listen-client-urls "$scheme://127.0.0.1:$(cat "$tmp/etcd$i.port")" \
        --advertise-client-urls "$scheme://127.0.0.1:$(cat "$tmp/etcd$i.port")" --listen-peer-urls "http://127.0.0.1:$(cat "$tmp/etcd$i.peer")" \
        --initial-advertise-peer-urls "http://127.0.0.1:$(cat "$tmp/etcd$i.peer")" --initial-cluster "$etcd_cluster" \
        --heartbeat-interval 100 --election-timeout 1000 "$@" >>"$tmp/etcd$i.log" 2>&1 &
        echo $! >"$tmp/etcd$i.pid" ) # not ours, or asides_end would wait for it
    cat "$tmp/etcd$i.pid" >>"$pids"
}
# etcd_kill I: it has gone, and its ports are free.
etcd_kill() {
    kill -KILL "$(cat "$tmp/etcd$1.pid")"
    wait_for is_gone "$(cat "$tmp/etcd$1.pid")"
}
# etcd_put KEY VALUE: somebody writes there.
etcd_put() {
    curl -s -m 5 "http://127.0.0.1:${etcd_ports%% *}/v3/kv/put" \
        -d "{\"key\":\"$(printf %s "$1" | base64 -w0)\",\"value\":\"$(printf %s "$2" | base64 -w0)\"}" >/dev/null
}

# ---- what is promised, over whatever store: each of a job of its own, at $store, with $parameters ----

parameters='lease=2&last_call_timeout=1&timeout=15'
of_job() { url="$store/$1?$parameters"; }

# Statements 1 and 5: at max at once; in the order of names, not of arrival.
scene_any_order() {
    of_job any
    host host10 2:3
    host host9 2:3
    host host2 2:3
    awaits host10 '^joined 2 of 3, round 1, .* host2 host9 host10$'
    awaits host9 '^joined 1 of 3'
    awaits host2 '^joined 0 of 3'
}
# Statement 1: between min and max the last call.
scene_last_call() {
    of_job call
    host a 2:4
    host b 2:4
    host c 2:4
    awaits a '^joined 0 of 3, .* a b c$'
    awaits b '^joined 1 of 3'
    awaits c '^joined 2 of 3'
}
# Statement 2.
scene_too_few() {
    of_job 'few'
    url="$store/few?lease=2&timeout=2"
    host a 2
    awaits a '^failed --rdzv: 1 of at least 2 hosts came to job few within 2 s'
    awaits a '^left$'
}
# Statement 7.
scene_death_before_final() {
    url="$store/early?lease=2&last_call_timeout=4&timeout=15"
    host a 2:4
    host b 2:4
    sleep 0.5
    kill_host b
    sleep 0.5
    host c 2:4
    awaits a '^joined 0 of 2, .* a c$'
    awaits c '^joined 1 of 2'
}
# Statements 6 and 10: a spare takes the place of who has died; who returns is a spare, and takes the next.
scene_spares() {
    local lead one
    of_job spares
    host a 3
    host b 3
    host c 3
    awaits a '^joined 0 of 3'
    awaits b '^joined 1 of 3'
    awaits c '^joined 2 of 3'
    host d 3
    awaits d '^joined -1 of 3'
    awaits a '^changed 0 of 3, round 1, spares 1: a b c$'
    kill_host b
    awaits d '^changed 1 of 3, round 1, spares 0: a d c$'
    awaits a '^changed 0 of 3, round 1, spares 0: a d c$'
    host b 3
    awaits b '^joined -1 of 3, round 1, .* a d c$'
    say c leave
    awaits b '^changed 2 of 3, round 1, spares 0: a d b$'
    awaits c '^left$'
    kill_host a
    awaits b '^changed 2 of 3, round 1, spares 0: a! d b$'
    host a 3
    awaits a '^\(joined\|changed\) 0 of 3, round 1, .* a d b$'
}
# The leader says where its controller is; the leader dies, and another one has a higher term: the round's controller stays, and who comes is told.
is_led() { [ -n "$(leader "$@")" ]; }
scene_leader() {
    local first second name
    of_job leader
    for name in a b c; do host $name 3; done
    for name in a b c; do awaits $name '^joined'; done
    first=$(leader a b c)
    [ -n "$first" ] || { fail "nobody leads" && return; }
    for name in a b c; do say $name publish "$name:1"; done
    for name in a b c; do awaits $name "^controller .* $first:1\$"; done
    kill_host "$first"
    : >"$tmp/$first"
    until_true 20 is_led a b c || fail "nobody leads after $first"
    host d 3
    awaits d "^controller .* $first:1\$"
    ! cat "$tmp/a" "$tmp/b" "$tmp/c" | grep '^controller' | grep -v " $first:1\$" || fail "there is another controller"
    second=$(leader a b c)
    [ -n "$second" ] && [ "$second" != "$first" ] || fail "$first led, then ${second:-nobody}"
}
# Statement 9; and a new round, statement 6.
scene_close() {
    of_job close
    host a 1:2
    awaits a '^joined 0 of 1'
    host b 1:2
    awaits b '^joined -1 of 1'
    say a renew
    awaits a '^void$'
    awaits b '^joined 1 of 2, round 2, .* a b$'
    say b close
    say a close
    awaits a '^closed$'
    awaits b '^closed$'
    [ -n "${embedded-}" ] || { host late 1:2 && awaits late '^closed$'; }
}
# Statement 8.
scene_values() {
    of_job values
    host a 2
    host b 2
    awaits a '^joined'
    awaits b '^joined'
    say b get colour 10000
    say a set colour dark red
    awaits b '^get colour: dark red$'
    say a add n 5
    awaits a '^add n: 5$'
    say b add n 2
    awaits b '^add n: 7$'
    say b check nothing
    awaits b '^check nothing: no$'
    say b get nothing 100
    awaits b '^get nothing: nobody has set "nothing"'
}
# Statement 4: a name is one process's.
scene_names() {
    of_job names
    host a 1:2
    awaits a '^joined 0 of 1'
    mkdir "$tmp/twin"
    mkfifo "$tmp/twin/in"
    "$member" "$url" a 1:2 "${secret-}" <>"$tmp/twin/in" >"$tmp/twin/out" 2>&1 &
    echo $! >>"$pids"
    until_true 20 grep -q '^failed .*another host of job names is called a, too' "$tmp/twin/out" || fail "two are called a: $(cat "$tmp/twin/out")"
    ! grep -q '^changed' "$tmp/a" || fail "who came second has disturbed the first: $(cat "$tmp/a")"
}
