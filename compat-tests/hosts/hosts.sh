#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Starting a job on several hosts: which rank is where, what it gets and gives, and in one line what is wrong when it cannot start. With
# a launcher of the user's and, where there is an sshd, over ssh; and over
# IPv6 alone.
. "$(dirname "$0")/../lib/test.sh"
uses lab
lab_enter "$0" "$@"
lab boot h1 h2 h3

# rank, host
who='echo $FTMPI_RANK $(hostname)'

# ---- where ranks are ----
run --host h1:2,h2:2 sh -c "$who"
expect_code 0
sorted && expect_out "0 h1" "1 h1" "2 h2" "3 h2"
run -n 3 --host h1,h2,h3 sh -c "$who"
sorted && expect_out "0 h1" "1 h2" "2 h3"
run -n 4 --host h1:2,h2:2 --map-by node sh -c "$who"
sorted && expect_out "0 h1" "1 h2" "2 h1" "3 h2"
run -n 4 --host h1:9,h2:9 --ppn 2 sh -c "$who"
sorted && expect_out "0 h1" "1 h1" "2 h2" "3 h2"
printf '%s\n' '# two' 'h2 slots=2' '' 'h1 slots=1 max_slots=4' >"$tmp/hostfile"
run --hostfile "$tmp/hostfile" sh -c "$who"
sorted && expect_out "0 h2" "1 h2" "2 h1"
printf '%s\n' 'h3:1' 'h1:2 # more' >"$tmp/hydra"
run -f "$tmp/hydra" sh -c "$who"
sorted && expect_out "0 h3" "1 h1" "2 h1"

# ---- what a rank gets and gives ----
run -n 2 --host h1,h2 -x COLOUR=blue --wdir / sh -c 'echo $FTMPI_RANK $COLOUR $(pwd) $OMPI_COMM_WORLD_RANK $OMPI_COMM_WORLD_SIZE $OMPI_COMM_WORLD_LOCAL_RANK'
sorted && expect_out "0 blue / 0 2 0" "1 blue / 1 2 0"
run -n 2 --host h1,h2 sh -c 'exit $((FTMPI_RANK * 7))'
expect_code 7
expect_err 'rank 1.*7'
run -n 2 --host h1,h2 --tag-output --max-restarts 0 sh -c 'echo err $FTMPI_RANK >&2; [ $FTMPI_RANK = 0 ] || kill -KILL $$; sleep 20'
expect_code 137
expect_err 'rank 1.*h2'
printf 'one\ntwo\n' | timeout 120 "$ftrun" --launcher "$through" -n 2 --host h1,h2 cat >"$tmp/out" 2>"$tmp/err"
what="standard input"
sorted && expect_out one two
run -n 2 --host h1,h2 "$top_builddir/compat-tests/chaos/mixed" -n 200 -m 2000 -b 0
expect_code 0
[ "$(grep -c ' done 200 ' "$tmp/out")" = 2 ] || fail "$what: $(cat "$tmp/out")"
run -n 2 --host h1,h2 no-such-program
expect_code 127
nothing_on h1 h2 h3

# ---- the end ----
begin -n 2 --host h1,h2 sleep 1000
until_true 120 eval 'lab running h2 | grep -q "sleep 1000"' || fail "no job"
kill -TERM "$front"
ended 120
expect_code 143
nothing_on h1 h2
run --timeout 1 -n 2 --host h1,h2 sleep 1000
expect_code 110
nothing_on h1 h2
# Both processes of the controller are gone: every node ends within a lease.
begin -n 2 --host h1,h2 --lease 1 sleep 1000
until_true 120 eval 'lab running h2 | grep -q "sleep 1000" && lab running h1 | grep -q "sleep 1000"' || fail "no job"
kill_both "$front"
ended 120
nothing_on h1 h2

# ---- what is wrong, in a line ----
printf 'h1\nh2 slots=x\n' >"$tmp/hostfile"
run --hostfile "$tmp/hostfile" true
expect_code 2
expect_err_lines 1
expect_err "hostfile.*:2:"
lab cut h3
run -n 2 --host h1,h3 true
lab heal h3
[ "$code" != 0 ] || fail "$what: code 0"
expect_err_lines 1
expect_err 'h3.*No route to host.*tried'
run -n 2 --host h1,h2 --prefix /nowhere true
[ "$code" != 0 ] || fail "$what: code 0"
expect_err '/nowhere/bin/ftrun'
mkdir -p "$tmp/old/bin"
printf '#!/bin/sh\nsed -u "s/\\"ftmpi\\": *\\"[^\\"]*\\"/\\"ftmpi\\":\\"0.0.1\\"/" | exec %s "$@"\n' "$ftrun" >"$tmp/old/bin/ftrun"
chmod 755 "$tmp/old/bin/ftrun"
run -n 2 --host h1,h2 --prefix "$tmp/old" true
[ "$code" != 0 ] || fail "$what: code 0"
expect_err 'version'
expect_err '0\.0\.1'
nothing_on h1 h2 h3

# ---- ssh ----
if [ "$(id -u)" = 0 ] && [ -x /usr/sbin/sshd ]; then
    lab ssh h1 h2
    what="ftrun over ssh"
    timeout 120 "$ftrun" --host h1:1,h2:1 --lease 3 sh -c "$who" >"$tmp/out" 2>"$tmp/err" </dev/null
    code=$?
    expect_code 0
    sorted && expect_out "0 h1" "1 h2"
    timeout 120 "$ftrun" --host '[fd77::1]:1,fd77::2' --iface fd77::/64 sh -c "$who" >"$tmp/out" 2>"$tmp/err" </dev/null
    code=$?
    expect_code 0
    sorted && expect_out "0 h1" "1 h2"
    # h3 runs, and nobody listens there: refused.
    timeout 120 "$ftrun" --host h1,h3 true >"$tmp/out" 2>"$tmp/err" </dev/null && fail "$what: no sshd, code 0"
    expect_err_lines 1
    expect_err 'h3.*refused (exit code 255); tried 3 times'
    nothing_on h1 h2
fi

# ---- IPv6 alone ----
# mixed KILLS OPTION...: the output, in $tmp/sorted
mixed() {
    local kills=$1
    shift
    run "$@" "$top_builddir/compat-tests/chaos/mixed" -n 200 -m 60000 -b 20 -k "$kills"
    expect_code 0
    by_rank "$tmp/out" >"$tmp/sorted"
}
six() {
    mixed "$@"
    expect_err "rank ${1%:*} .*restarted\( from its snapshot\|\), restart 1"
    cmp -s "$tmp/sorted" "$tmp/wanted" || fail "$what: other output than over IPv4"
}
mixed "" --host h1:2,h2
cp "$tmp/sorted" "$tmp/wanted"
[ "$(grep -c ' done 200 ' "$tmp/wanted")" = 3 ] || fail "$what: $(cat "$tmp/wanted")"
printf '%s\n' '# two' '[fd77::1]:2' 'fd77::2 slots=1 # alone' >"$tmp/hostfile"
# There are addresses of IPv4, which lead nowhere.
nft add rule bridge lab from ether type '{ ip, arp }' drop
six 0:150 --hostfile "$tmp/hostfile" --iface fd77::/64
ip -4 address flush dev switch
for host in h1 h2; do
    lab in $host ip -4 address flush dev eth0
    [ -z "$(lab in $host ip -4 -o address show scope global)" ] || fail "$host has an address of IPv4"
done
six 2:150 --host '[fd77::1]:2,fd77::2'
six 1:150 --host h1-v6:2,h2-v6
# Names that the launcher alone knows how to reach.
six 1:150 --host h1:2,h2
run --host fd77::1,fd77::2 --iface fd78::/64 true
expect_code 2
expect_err_lines 1
expect_err 'fd78::/64: this host has no such interface'
nothing_on h1 h2
finish
