#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Starting a job on several hosts: which rank is where, what it gets and gives, and in one line what is wrong when it cannot start. With
# a launcher of the user's and, where there is an sshd, over ssh; and over
# IPv6 alone.
# shellcheck source=compat-tests/lib/lab_lib.sh
. "$(dirname "$0")/../lib/lab_lib.sh"
lab boot h1 h2 h3

out() { printf '%s\n' "$@" | diff - <(sort "$scratch/out") >"$scratch/diff" || { fail "$what: the output differs:" && cat "$scratch/diff"; }; }
# rank, host
# shellcheck disable=SC2016
who='echo $FTMPI_RANK $(hostname)'

# ---- where ranks are ----
job --host h1:2,h2:2 sh -c "$who"
expect 0
out "0 h1" "1 h1" "2 h2" "3 h2"
job -n 3 --host h1,h2,h3 sh -c "$who"
out "0 h1" "1 h2" "2 h3"
job -n 4 --host h1:2,h2:2 --map-by node sh -c "$who"
out "0 h1" "1 h2" "2 h1" "3 h2"
job -n 4 --host h1:9,h2:9 --ppn 2 sh -c "$who"
out "0 h1" "1 h1" "2 h2" "3 h2"
printf '%s\n' '# two' 'h2 slots=2' '' 'h1 slots=1 max_slots=4' >"$scratch/hostfile"
job --hostfile "$scratch/hostfile" sh -c "$who"
out "0 h2" "1 h2" "2 h1"
printf '%s\n' 'h3:1' 'h1:2 # more' >"$scratch/hydra"
job -f "$scratch/hydra" sh -c "$who"
out "0 h3" "1 h1" "2 h1"

# ---- what a rank gets and gives ----
# shellcheck disable=SC2016
job -n 2 --host h1,h2 -x COLOUR=blue --wdir / sh -c 'echo $FTMPI_RANK $COLOUR $(pwd) $OMPI_COMM_WORLD_RANK $OMPI_COMM_WORLD_SIZE $OMPI_COMM_WORLD_LOCAL_RANK'
out "0 blue / 0 2 0" "1 blue / 1 2 0"
# shellcheck disable=SC2016
job -n 2 --host h1,h2 sh -c 'exit $((FTMPI_RANK * 7))'
expect 7
says 'rank 1.*7'
# shellcheck disable=SC2016
job -n 2 --host h1,h2 --tag-output --max-restarts 0 sh -c 'echo err $FTMPI_RANK >&2; [ $FTMPI_RANK = 0 ] || kill -KILL $$; sleep 20'
expect 137
says 'rank 1.*h2'
printf 'one\ntwo\n' | timeout 120 "$ftrun" --launcher "exec:$here/../lib/launch.sh" -n 2 --host h1,h2 cat >"$scratch/out" 2>"$scratch/err"
what="standard input"
out one two
job -n 2 --host h1,h2 "$programs/mixed" -n 200 -m 2000 -b 0
expect 0
[ "$(grep -c ' done 200 ' "$scratch/out")" = 2 ] || fail "$what: $(cat "$scratch/out")"
job -n 2 --host h1,h2 no-such-program
expect 127
nothing_on h1 h2 h3

# ---- the end ----
begin -n 2 --host h1,h2 sleep 1000
until_true 120 eval 'lab running h2 | grep -q "sleep 1000"' || fail "no job"
kill -TERM "$job"
ended 120
expect 143
nothing_on h1 h2
job --timeout 1 -n 2 --host h1,h2 sleep 1000
expect 110
nothing_on h1 h2
# The controller is gone: every node ends within a lease.
begin -n 2 --host h1,h2 --lease 1 sleep 1000
until_true 120 eval 'lab running h2 | grep -q "sleep 1000" && lab running h1 | grep -q "sleep 1000"' || fail "no job"
kill -KILL "$job"
ended 120
nothing_on h1 h2

# ---- what is wrong, in a line ----
printf 'h1\nh2 slots=x\n' >"$scratch/hostfile"
job --hostfile "$scratch/hostfile" true
expect 2
lines 1
says "hostfile.*:2:"
lab cut h3
job -n 2 --host h1,h3 true
lab heal h3
[ "$code" != 0 ] || fail "$what: code 0"
lines 1
says 'h3.*No route to host.*tried'
job -n 2 --host h1,h2 --prefix /nowhere true
[ "$code" != 0 ] || fail "$what: code 0"
says '/nowhere/bin/ftrun'
mkdir -p "$scratch/old/bin"
# shellcheck disable=SC2016
printf '#!/bin/sh\nsed -u "s/\\"ftmpi\\": *\\"[^\\"]*\\"/\\"ftmpi\\":\\"0.0.1\\"/" | exec %s "$@"\n' "$ftrun" >"$scratch/old/bin/ftrun"
chmod 755 "$scratch/old/bin/ftrun"
job -n 2 --host h1,h2 --prefix "$scratch/old" true
[ "$code" != 0 ] || fail "$what: code 0"
says 'version'
says '0\.0\.1'
nothing_on h1 h2 h3

# ---- ssh ----
if [ "$(id -u)" = 0 ] && [ -x /usr/sbin/sshd ]; then
    lab ssh h1 h2
    what="ftrun over ssh"
    timeout 120 "$ftrun" --host h1:1,h2:1 --lease 3 sh -c "$who" >"$scratch/out" 2>"$scratch/err" </dev/null
    code=$?
    expect 0
    out "0 h1" "1 h2"
    timeout 120 "$ftrun" --host '[fd77::1]:1,fd77::2' --iface fd77::/64 sh -c "$who" >"$scratch/out" 2>"$scratch/err" </dev/null
    code=$?
    expect 0
    out "0 h1" "1 h2"
    # h3 runs, and nobody listens there: refused.
    timeout 120 "$ftrun" --host h1,h3 true >"$scratch/out" 2>"$scratch/err" </dev/null && fail "$what: no sshd, code 0"
    lines 1
    says 'h3.*refused (exit code 255); tried 3 times'
    nothing_on h1 h2
fi

# ---- IPv6 alone ----
# mixed KILLS OPTION...: the output, in $scratch/sorted
mixed() {
    local kills=$1
    shift
    job "$@" "$programs/mixed" -n 200 -m 60000 -b 20 -k "$kills"
    expect 0
    by_rank "$scratch/out" >"$scratch/sorted"
}
six() {
    mixed "$@"
    says "rank ${1%:*} .*restarted, restart 1"
    cmp -s "$scratch/sorted" "$scratch/wanted" || fail "$what: other output than over IPv4"
}
mixed "" --host h1:2,h2
cp "$scratch/sorted" "$scratch/wanted"
[ "$(grep -c ' done 200 ' "$scratch/wanted")" = 3 ] || fail "$what: $(cat "$scratch/wanted")"
printf '%s\n' '# two' '[fd77::1]:2' 'fd77::2 slots=1 # alone' >"$scratch/hostfile"
# There are addresses of IPv4, which lead nowhere.
nft add rule bridge lab from ether type '{ ip, arp }' drop
six 0:150 --hostfile "$scratch/hostfile" --iface fd77::/64
ip -4 address flush dev switch
for host in h1 h2; do
    lab in $host ip -4 address flush dev eth0
    [ -z "$(lab in $host ip -4 -o address show scope global)" ] || fail "$host has an address of IPv4"
done
six 2:150 --host '[fd77::1]:2,fd77::2'
six 1:150 --host h1-v6:2,h2-v6
# Names that the launcher alone knows how to reach.
six 1:150 --host h1:2,h2
job --host fd77::1,fd77::2 --iface fd78::/64 true
expect 2
lines 1
says 'fd78::/64: this host has no such interface'
nothing_on h1 h2
finish
