#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=dash disable=SC2154
# etcd with users and TLS. A wrong password, and a certificate that does not fit, end with a line; no
# password is in a log or a process list.
. "$(dirname "$0")/../lib/test.sh"
uses rdzv
needs etcd etcd-server
needs openssl
needs curl
needs python3
certificates() {
    openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj "/CN=test $1" -keyout "$1.ca.key" -out "$1.ca" 2>/dev/null
    openssl req -newkey rsa:2048 -nodes -subj "/CN=127.0.0.1" -keyout "$1.key" -out "$1.csr" 2>/dev/null
    printf 'subjectAltName=IP:127.0.0.1\nextendedKeyUsage=serverAuth,clientAuth\n' >"$1.ext"
    openssl x509 -req -in "$1.csr" -CA "$1.ca" -CAkey "$1.ca.key" -CAcreateserial -days 2 -extfile "$1.ext" -out "$1.cert" 2>/dev/null
}
post() { curl -s -m 5 "http://127.0.0.1:$etcd_ports/v3/auth/$1" -d "$2"; }

users() {
    etcds 1
    {
        post user/add '{"name":"root","password":"toor"}'
        post role/add '{"name":"root"}'
        post user/grant '{"user":"root","role":"root"}'
        post user/add '{"name":"nobody","password":"nothing"}'
        post enable '{}'
    } >"$tmp/said"
    url="etcd://root@127.0.0.1:$etcd_ports/users?lease=2&last_call_timeout=0.2"
    printf 'toor\n' >"$tmp/password"
    MEMBER_PASSWORD=toor host a 3
    url="etcd://root:toor@127.0.0.1:$etcd_ports/users?lease=2" host b 3
    url="$url&password_file=$tmp/password" host c 3
    awaits a '^joined 0 of 3'
    awaits b '^joined 1 of 3'
    awaits c '^joined 2 of 3'
    MEMBER_PASSWORD=wrong host d 3
    awaits d '^failed --rdzv: the store at 127.0.0.1:[0-9]* says: etcdserver: authentication failed, invalid user ID or password$'
    url="etcd://127.0.0.1:$etcd_ports/users" host e 3
    awaits e '^failed --rdzv: the store at .* says: etcdserver: user name is empty$'
    url="etcd://nobody:nothing@127.0.0.1:$etcd_ports/users" host f 3
    awaits f '^failed --rdzv: the store at .* says: etcdserver: permission denied$'
    for name in a b c d e f; do
        ! grep -q 'toor\|wrong\|nothing' "$tmp/$name" "$tmp/$name.err" || fail "a password is printed: $(cat "$tmp/$name" "$tmp/$name.err")"
    done
    ! tr '\0' ' ' <"/proc/$(cat "$tmp/b.pid")/cmdline" | grep -q toor || fail "a password is in the process list"
}
tls() {
    cd "$tmp" || exit 99
    certificates good
    certificates other
    etcd_tls=yes
    etcds 1 --cert-file good.cert --key-file good.key --client-cert-auth --trusted-ca-file good.ca
    store=etcds://127.0.0.1:$etcd_ports
    url="$store/tls?lease=2&cacert=$tmp/good.ca&cert=$tmp/good.cert&key=$tmp/good.key"
    host a 2
    url="etcd://127.0.0.1:$etcd_ports/tls?lease=2&protocol=https&cacert=$tmp/good.ca&cert=$tmp/good.cert&key=$tmp/good.key" host b 2
    awaits a '^joined 0 of 2'
    awaits b '^joined 1 of 2'
    url="$store/tls?lease=2&timeout=2&cacert=$tmp/other.ca&cert=$tmp/good.cert&key=$tmp/good.key" host c 2
    awaits c '^failed .*certificate'
    url="$store/tls?lease=2&timeout=2&cacert=$tmp/good.ca" host d 2
    awaits d '^failed .*has not answered within 2 s'
    url="$store/tls?cacert=$tmp/nonexistent" host e 2
    awaits e '^failed\|^cannot'
}
aside apart users
aside apart tls
asides_end
finish
