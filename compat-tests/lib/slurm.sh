# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=dash disable=SC2154 # test.sh sets tmp and others
# uses slurm: a cluster of Slurm's own programs, all of it this machine, with ports, keys and files
# of the test's own. It is gone with the test, whatever ends that.
PATH=$PATH:/usr/sbin:/sbin
for tool in slurmctld slurmd srun; do needs $tool slurm-wlm; done
needs munged munge
sanitizers detect_leaks=0
own_jobs
SLURM_CONF=$tmp/slurm.conf
export SLURM_CONF
daemons='' id='' guard=''
trap 'kill -KILL $guard 2>/dev/null; slurm_down; rm -rf "$whole_tmp"' EXIT

# What a daemon says is in $tmp/NAME.log. Its pid is $started.
daemon() { # name, command
    local name=$1
    shift
    (cd "$whole_tmp" && exec "$@") >>"$tmp/$name.log" 2>&1 </dev/null &
    started=$!
    daemons="$daemons $started"
}
# Who is of this cluster: by the environment, what runs in steps; slurmstepd, which writes over its
# own, is where slurmd is.
slurm_processes() {
    (
        of="SLURM_CONF=$SLURM_CONF"
        unset SLURM_CONF # those that look are not meant
        grep -lzxF "$of" /proc/[0-9]*/environ 2>/dev/null | cut -d / -f 3
        for process in $(grep -lxF slurmstepd /proc/[0-9]*/comm 2>/dev/null | cut -d / -f 3); do
            [ "$(readlink "/proc/$process/cwd")" != "$whole_tmp" ] || echo "$process"
        done
    )
}
slurm_down() {
    local process
    [ -z "$daemons" ] || { kill -KILL $daemons && wait $daemons; } 2>/dev/null
    for process in $(slurm_processes); do kill -KILL "$process" 2>/dev/null; done
    # Who is dying may still write here.
    until_true 10 eval '[ -z "$(slurm_processes)" ]'
}
# Ports that nobody has, as far as one can know: a test that runs beside this one has other ones.
port_is_free() { ! awk '{ print $2 }' /proc/net/tcp /proc/net/tcp6 2>/dev/null | grep -qi ":$(printf %04X "$1")$"; }
ports_are_free() { # first, how many
    local port
    for port in $(seq "$1" $(($1 + $2 - 1))); do
        port_is_free "$port" || return 1
    done
}
slurm_config() { # nodes, port
    cat >"$tmp/slurm.conf" <<END
ClusterName=ftmpi
SlurmctldHost=$(hostname -s)(127.0.0.1)
SlurmctldPort=$2
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
AuthType=auth/munge
AuthInfo=socket=$tmp/munge.socket
StateSaveLocation=$tmp/state
SlurmctldPidFile=$tmp/slurmctld.pid
SlurmdPidFile=$tmp/%n.pid
SlurmdSpoolDir=$tmp/spool-%n
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=5
MessageTimeout=5
SchedulerParameters=sched_interval=1
GresTypes=gpu
NodeName=n[1-$1] NodeHostname=$(hostname -s) NodeAddr=127.0.0.1 Port=[$(($2 + 1))-$(($2 + $1))] CPUs=4 Gres=gpu:2
PartitionName=all Nodes=ALL Default=YES State=UP
END
    echo 'Name=gpu File=/dev/null,/dev/zero' >"$tmp/gres.conf"
}
start_slurmd() { # node
    daemon "$1" slurmd -D -f "$SLURM_CONF" -N "$1"
    echo "$started" >"$tmp/$1.slurmd"
}
nodes_are_idle() { [ "$(sinfo -h -o %T 2>/dev/null | sort -u)" = idle ]; }
# slurm_boot NODES: n1 to nNODES, of 4 processors each, wait for jobs.
slurm_boot() {
    local node port=$((17000 + $$ % 900 * 16)) # below those that the system gives out
    until ports_are_free $port 16; do port=$((17000 + (port + 16 * 37) % 14400)); done
    head -c 1024 /dev/urandom >"$tmp/munge.key"
    chmod 400 "$tmp/munge.key"
    chmod 711 "$tmp"
    daemon munged munged -F --force --key-file="$tmp/munge.key" --socket="$tmp/munge.socket" --pid-file="$tmp/munged.pid" \
        --log-file="$tmp/munged.log" --seed-file="$tmp/munged.seed"
    slurm_config "$1" $port
    mkdir "$tmp/state"
    wait_for test -S "$tmp/munge.socket"
    daemon slurmctld slurmctld -D -c -f "$SLURM_CONF"
    for node in $(seq -f n%g "$1"); do start_slurmd "$node"; done
    # If the test is killed nobody else would end these.
    (
        trap '' INT TERM HUP
        trap - EXIT
        while kill -0 $$ 2>/dev/null; do sleep 1; done
        slurm_down
        rm -rf "$whole_tmp"
    ) >/dev/null 2>&1 &
    guard=$!
    until_true 60 nodes_are_idle && return
    for node in "$tmp"/*.log; do echo "$node:" && tail -n 5 "$node"; done
    fail "the cluster does not start"
    finish
}

# allocated OPTION... [-- ARGUMENT...]: ftrun, in an allocation with these options of salloc.
allocated() {
    local options=
    while [ $# -gt 0 ] && [ "$1" != -- ]; do options="$options $1" && shift; done
    [ $# = 0 ] || shift
    call salloc -Q $options "$ftrun" "$@"
    what="salloc$options ftrun $*"
}
# submit SCRIPT [OPTION...]: $id is its job; what it prints comes to $tmp/out, all in one file.
submit() {
    local script=$1
    shift
    what="sbatch $(basename "$script") $*"
    : >"$tmp/out"
    : >"$tmp/err"
    id=$(sbatch --parsable -o "$tmp/out" --open-mode=append "$@" "$script") || fail "$what: refused"
}
# batch_scripts: those of docs/clusters.md, as script.1 to script.4, in $tmp/at, where the test goes on. They start ./program by ftrun.
batch_scripts() {
    local i
    mkdir "$tmp/bin" "$tmp/at"
    ln -s "$ftrun" "$tmp/bin/ftrun"
    PATH=$tmp/bin:$PATH
    export PATH
    cd "$tmp/at" || exit 99
    for i in 1 2 3 4 5; do
        awk -v n=$i '/^    #!\/bin\/bash/ { i++ } /^    / { if (i == n) print substr($0, 5) } /^[^ ]/ && i == n { exit }' \
            "$top_srcdir/docs/clusters.md" >script.$i
    done
    grep -q '^exec ftrun' script.1 && grep -q USR1 script.2 && grep -q resume script.3 && grep -q requeue script.4 && [ ! -s script.5 ] ||
        fail "docs/clusters.md: the scripts are not where they were"
}
# program COMMAND: what ./program does.
program() { printf '#!/bin/sh\n%s\n' "$1" >program.new && chmod +x program.new && mv program.new program; }
job_has() { scontrol show job "$id" 2>/dev/null | tr ' ' '\n' | grep -qx "$1"; }
job_says() { scontrol show job "$id" 2>/dev/null | tr ' ' '\n' | sed -n "s/^$1=//p"; }
job_is_over() { ! job_says JobState | grep -qxE 'PENDING|CONFIGURING|RUNNING|COMPLETING|REQUEUED|SUSPENDED'; }
# job_ends STATE [CODE:SIGNAL]: the job does so, at last: a machine may be slow.
job_ends() {
    until_true 150 job_is_over
    job_has "JobState=$1" && job_has "ExitCode=${2-.*}" ||
        { fail "$what: the job is $(job_says JobState) with $(job_says ExitCode), not $*" && head -n 20 "$tmp/out"; }
}
# What belongs to no job of Slurm's any more is gone.
nothing_left() {
    wait_for eval '[ -z "$(squeue -h)" ]'
    until_true 60 eval '[ -z "$(ranks_left)" ]' || fail "$what: left behind: $(ranks_left)"
}
ranks_left() { for process in $(slurm_processes); do tr '\0' ' ' <"/proc/$process/cmdline" | grep -F ftrun; done 2>/dev/null; }
# on_node NODE: the processes of its steps.
on_node() {
    (
        processes=$(slurm_processes | sed 's|.*|/proc/&/environ|')
        unset SLURM_CONF
        grep -lzxF "SLURMD_NODENAME=$1" $processes 2>/dev/null | cut -d / -f 3
    )
}
# lose_node NODE: it is gone, with all that runs there. Nobody there sees another die.
lose_node() {
    local all steps process
    all=$(on_node "$1")
    steps=$(for process in $all; do awk '/^PPid/ { print $2 }' "/proc/$process/status"; done 2>/dev/null | sort -u |
        while read -r process; do [ "$(cat "/proc/$process/comm")" != slurmstepd ] || echo "$process"; done)
    kill -STOP $(cat "$tmp/$1.slurmd") $steps $all 2>/dev/null
    kill -KILL $(cat "$tmp/$1.slurmd") $steps $all 2>/dev/null
}
