#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Command lines as people have them in their scripts for Open MPI and Hydra.
. "$(dirname "$0")/../lib/test.sh"

counts() { # ranks, arguments
    want=$1
    shift
    run "$@" sh -c 'echo $FTMPI_SIZE'
    expect_code 0
    expect_out $(seq "$want" | sed "s/.*/$want/")
}
host=$(uname -n)
counts 3 -H "$host:3"
counts 2 --host localhost,"$host"
printf '# mine\n\n%s slots=2 max_slots=2\nlocalhost slots=1 # more\n' "$host" >"$tmp/hosts"
counts 3 --hostfile "$tmp/hosts"
counts 3 -machinefile "$tmp/hosts"
counts 2 -n 2 --machinefile "$tmp/hosts"
printf 'localhost:3 # three\n127.0.0.1\n' >"$tmp/hosts"
counts 4 -f "$tmp/hosts"
echo localhost >"$tmp/hosts"
counts 1 -f "$tmp/hosts"
counts "$("${ftrun%ftrun}ftmpi_info" --parsable processors | sed 's/.*://')" --hostfile "$tmp/hosts"
printf 'localhost\nlocalhost\n' >"$tmp/hosts"
counts 2 --hostfile "$tmp/hosts"
# As Open MPI reads them: other words for slots, spaces around "=", the most, who is not among them, comments of C, words that do not count.
cat >"$tmp/hosts" <<'END'
// of C
localhost cpu = 2 max-slots=9 /* and
node17 slots=4
here */ 127.0.0.1 count=1
^node18
node18 slots=3
localhost max_slots=2 boards=1 sockets_per_board=2 cores-per-socket=4
END
counts 5 --hostfile "$tmp/hosts"
printf 'localhost slots=1 max_slots=2\n' >"$tmp/hosts"
counts 2 -n 2 --oversubscribe --hostfile "$tmp/hosts"
counts "$("${ftrun%ftrun}ftmpi_info" --parsable processors | sed 's/.*://')" -H 'localhost:*'
counts 2 -np 2 --oversubscribe --allow-run-as-root
counts 2 -ppn 2
expect_err_lines 0

bad() { # pattern, arguments
    pattern=$1
    shift
    run "$@"
    expect_code 2
    expect_err "$pattern"
    expect_err_lines 1
    expect_no_out
}
printf 'localhost:1\nnode17 slots 4\n' >"$tmp/hosts"
bad 'hosts:2: "slots" is not understood' --hostfile "$tmp/hosts" echo
printf 'localhost max_slots=9 slot=4\n' >"$tmp/hosts" # it was one rank
bad 'hosts:1: "slot=4" is not understood; did you mean slots=4?' --hostfile "$tmp/hosts" echo
printf 'localhost\n\001\033[2Jnode17\n' >"$tmp/hosts" # it was shown, and given to ssh
bad 'hosts:2: this is not text' --hostfile "$tmp/hosts" echo
printf 'localhost slots=none\n' >"$tmp/hosts"
bad 'hosts:1: "slots=none" is not a number of slots' --hostfile "$tmp/hosts" echo
printf 'localhost slots=1 max_slots=2\n' >"$tmp/hosts"
bad '1 rank more than the hosts may have (max_slots)' -n 3 --hostfile "$tmp/hosts" echo
printf 'localhost slots=1 max_slots=1\nnode17 max_slots=1' >"$tmp/hosts"
bad '2 ranks more than the hosts may have (max_slots)' -n 4 --hostfile "$tmp/hosts" echo
printf 'localhost slots=3 max_slots=2\n' >"$tmp/hosts"
bad 'hosts:1: max_slots=2 is less than slots=3' --hostfile "$tmp/hosts" echo
printf 'localhost\n\nlocalhost slits=2\n' >"$tmp/hosts"
bad 'hosts:3: "slits=2" is not understood; did you mean slots=2?' --hostfile "$tmp/hosts" echo
printf 'localhost slots=2 colour=red\n' >"$tmp/hosts" # it was ignored, whatever it was
bad 'hosts:1: "colour=red" is not understood; wanted: NAME \[slots=N\] \[max_slots=N\]' --hostfile "$tmp/hosts" echo
printf 'rank 0=localhost slot=1\n' >"$tmp/hosts"
bad 'hosts:1: a line of a rank file' --hostfile "$tmp/hosts" echo
printf '+n0 slots=2\n' >"$tmp/hosts"
bad 'hosts:1: "+n0": hosts by their place in another list are not supported' --hostfile "$tmp/hosts" echo
printf '"localhost" slots=2\n' >"$tmp/hosts"
bad 'hosts:1: ".*localhost.*" is not a host' --hostfile "$tmp/hosts" echo
printf 'node17 username=me@there\n' >"$tmp/hosts"
bad 'hosts:1: "me@there" is not the name of a user' --hostfile "$tmp/hosts" echo
printf '^localhost\nlocalhost\n' >"$tmp/hosts"
bad 'no host in it' --hostfile "$tmp/hosts" echo
bad 'how many processors it has is not known here' -H 'node17:*' echo
{ printf 'localhost slots=1'; head -c 5000 /dev/zero | tr '\0' ' '; echo 'slots=x'; } >"$tmp/hosts" # a long line was two
bad 'hosts:1: "slots=x" is not a number of slots' --hostfile "$tmp/hosts" echo
printf '# none\n' >"$tmp/hosts"
bad 'no host in it' --hostfile "$tmp/hosts" echo
bad 'not a host' -H -oProxyCommand=touch:2 -n 2 echo
bad 'does not work on several hosts yet' -H node17,node18 --log-full forget echo
bad 'need 3 hosts; there are 2' -H node17,node18 -n 5 -ppn 2 echo
bad 'no host of 2 is left' -H node17,node18 --spares 2 echo
bad 'wanted: exec:COMMAND' --launcher exec -H node17 echo
bad 'lease 0.05: at least 0.1 s' -H node17 --lease 0.05 echo # nobody was ever heard of in time
bad 'start-timeout 0: must be more than 0' -H node17 --start-timeout 0 echo
bad 'need 2 hosts' -n 4 -ppn 2 echo
bad 'Is a directory' --hostfile "$tmp" echo

# Variables.
A=outside && export A
show='echo ${A-unset} ${B-unset} $FTMPI_RANK'
run -genv B 1 -n 1 sh -c "$show"
expect_out 'outside 1 0'
run -x B=2 -genv B 1 -n 1 sh -c "$show"
expect_out 'outside 2 0'
run -genvnone -n 1 /bin/sh -c "$show"
expect_out 'unset unset 0'
run -genvlist A,PATH -n 1 sh -c "$show"
expect_out 'outside unset 0'
run -genvnone -x A -env B 3 -n 1 /bin/sh -c "$show"
expect_out 'outside 3 0'
run -genvall -n 1 sh -c "$show"
expect_out 'outside unset 0'

# Open MPI's parameters do nothing here, and one line says so.
run -mca btl self,vader --mca pml ob1 -n 1 echo ran
expect_out ran
expect_err '-mca btl and others are ignored'
expect_err_lines 1
run -q --prtemca a b -n 1 echo ran
expect_out ran
expect_err_lines 0

# What does nothing says so; it was ignored without a word. Files and variables may speak of other hosts: they are for all jobs.
for words in '--spares 1' '--survive host' '--wait-for-host 9'; do
    run $words -n 1 true
    expect_code 0
    expect_err "^ftrun: $words does nothing: all ranks run on this host"
    expect_err_lines 1
done
FTMPI_SURVIVE=host && export FTMPI_SURVIVE
run --survive rank -n 1 true
expect_err_lines 0
run -n 1 true
expect_err_lines 0
unset FTMPI_SURVIVE
for option in --map-by --bind-to; do
    run $option board -n 1 true
    expect_code 0
    expect_err "^ftrun: $option board is ignored: "
    expect_err_lines 1
done

# A file of programs.
mkdir "$tmp/dir"
cat >"$tmp/app" <<EOF
# two programs
-n 2 sh -c 'echo first \$FTMPI_RANK'

-n 1 -wdir "$tmp/dir" \\
  sh -c 'echo second \$FTMPI_RANK \$(basename "\$PWD") "\$0"' a\\ b # the last
EOF
run --app "$tmp/app"
expect_code 0
sorted
expect_out 'first 0' 'first 1' 'second 2 dir a b'
run -n 1 echo before : --app "$tmp/app"
expect_code 0
expect_err_lines 0
grep -q '^second 3 ' "$tmp/out" || fail "ranks of an --app file do not follow those before"
bad 'belongs in the file' -n 2 --app "$tmp/app"
bad 'and a program, echo' --app "$tmp/app" echo
echo "-n 1 'echo" >"$tmp/app"
bad 'app:1: a quote is not closed' --app "$tmp/app"
echo '-n 1 --app other' >"$tmp/app"
bad 'other' --app "$tmp/app"
echo '-n 2' >"$tmp/app"
bad 'app:1: no program' --app "$tmp/app"
: >"$tmp/app"
bad 'there is no program in it' --app "$tmp/app"
bad 'No such file' --app "$tmp/nonesuch"
finish
