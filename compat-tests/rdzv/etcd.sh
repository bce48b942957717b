#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=dash disable=SC2154
# The hosts of a job find each other by etcd: what torchelastic states and docs/rendezvous.md promises.
# What strangers write there has no effect; etcd may be away for longer than a lease.
. "$(dirname "$0")/../lib/test.sh"
uses rdzv
needs etcd etcd-server
needs curl
needs python3
openssl rand -hex 32 >"$tmp/secret"
secret=$tmp/secret
etcds 1
store=etcd://127.0.0.1:$etcd_ports

scene_strangers() {
    local key
    of_job strangers
    etcd_put /ftmpi/rdzv/strangers/round/leader evil
    etcd_put /ftmpi/rdzv/strangers/member/a evil
    etcd_put /ftmpi/rdzv/strangers/round/state 'state 1 closed 1 1 0 0 0000000000000001 1 1 0 0 0'
    host a 2
    host b 2
    awaits a '^joined 0 of 2'
    awaits b '^joined 1 of 2'
    for key in round/state round/leader round/controller list member/a member/b member/x; do etcd_put "/ftmpi/rdzv/strangers/$key" evil; done
    host c 2
    awaits c '^joined -1 of 2, round 1, .* a b$'
    grep -q "is not this job's" "$tmp/a.err" || fail "a is not told: $(cat "$tmp/a.err")"
    [ "$(grep -c "is not this job's" "$tmp/a.err")" = 1 ] || fail "told more than once: $(cat "$tmp/a.err")"
    ! grep -q '^void\|^closed\|^failed' "$tmp/a" || fail "strangers have disturbed a: $(cat "$tmp/a")"
}
scene_other_secret() {
    of_job secrets
    host a 1:2
    awaits a '^joined 0 of 1'
    openssl rand -hex 32 >"$tmp/other"
    secret=$tmp/other host b 1:2
    awaits b "^failed --rdzv: there is a job secrets at .*, whose secret is another one"
    ! grep -q '^changed\|^void' "$tmp/a" || fail "a host with another secret has disturbed the first: $(cat "$tmp/a")"
    # Finding: such a one wrote over "closed", and the name could begin anew.
    say a close
    awaits a '^closed$'
    secret=$tmp/other host c 1:2
    awaits c "^failed --rdzv: there is a job secrets at .*, whose secret is another one"
    host d 1:2
    awaits d '^closed$'
}

for scene in any_order last_call too_few death_before_final spares leader close values names strangers other_secret; do
    aside apart scene_$scene
done
asides_end
finish
