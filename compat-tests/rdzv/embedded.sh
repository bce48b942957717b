#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=dash disable=SC2154
# The hosts of a job find each other by rdzv://, whose store is in one of them: what torchelastic states
# and docs/rendezvous.md promises. Strangers are turned away; torchrun's environment is read.
. "$(dirname "$0")/../lib/test.sh"
uses rdzv
needs curl
needs python3
embedded=yes
openssl rand -hex 32 >"$tmp/secret"
secret=$tmp/secret
# Each scene has a store, in a process that stays to its end, as any ftrun may be the first.
with_store() {
    store=rdzv://127.0.0.1:$(free_ports 1)
    url="$store/keeper?$parameters"
    host keeper 1
    awaits keeper '^joined'
    "$@"
}

scene_strangers() {
    local port path code
    of_job strangers
    port=${store##*:}
    host a 2
    host b 2
    awaits a '^joined'
    for path in kv/put kv/range kv/txn lease/grant lease/revoke watch; do
        code=$(curl -s -m 5 -o /dev/null -w '%{http_code}' "http://127.0.0.1:$port/v3/$path" -d '{"key":"YQ=="}')
        [ "$code" = 401 ] || fail "a stranger is told $code at $path"
    done
    curl -s -m 5 "http://127.0.0.1:$port/" >/dev/null && [ "$(grep -c 'a stranger connected' "$tmp/keeper.err")" = 1 ] ||
        fail "strangers are not told once: $(cat "$tmp/keeper.err")"
    openssl rand -hex 32 >"$tmp/other"
    secret=$tmp/other host c 2
    awaits c "^failed --rdzv: the store at 127.0.0.1:$port turns this host away: the job's secret there is another one\$"
    ! grep -q '^changed\|^void' "$tmp/a" || fail "strangers have disturbed a: $(cat "$tmp/a")"
}
# The process that has the store is lost, and returns with an empty one: the round goes on.
scene_store_lost() {
    of_job lost
    host a 2
    host b 2
    awaits a '^joined 0 of 2'
    awaits b '^joined 1 of 2'
    kill_host keeper
    url="$store/keeper?$parameters"
    sleep 1
    host keeper 1
    until_true 20 grep -q 'the store has lost its memory' "$tmp/a.err" || fail "a does not notice: $(cat "$tmp/a.err")"
    of_job lost
    host c 2
    awaits c '^joined -1 of 2, round 1, .* a b$'
    ! grep -q '^void' "$tmp/a" || fail "the round did not go on: $(cat "$tmp/a")"
}
scene_torchrun() {
    local port
    port=$(free_ports 1)
    export PET_NNODES=2 PET_MASTER_ADDR=127.0.0.1 PET_MASTER_PORT="$port" PET_RDZV_ID=torch PET_RDZV_CONF='lease=2'
    url=-
    host a
    host b
    awaits a '^joined 0 of 2'
    awaits b '^joined 1 of 2'
}
scene_no_secret() {
    store=rdzv://127.0.0.1:$(free_ports 1)
    of_job open
    secret='' host a 1
    awaits a '^joined'
    grep -q '^ftrun: --rdzv: without a secret file whoever reaches the port can join' "$tmp/a.err" || fail "not told: $(cat "$tmp/a.err")"
    secret=$tmp/nonexistent host b 1
    awaits b '^cannot: cannot read the secret file'
}

for scene in any_order last_call too_few death_before_final spares leader close values names strangers store_lost; do
    aside apart with_store scene_$scene
done
aside apart scene_torchrun
aside apart scene_no_secret
asides_end
finish
