#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A lab: "hosts" h1 h2 ... on this machine, to run a job over and to break. A host is a network namespace with a cable
# (veth) to a switch (bridge), a name, a pid namespace with its own init, its own /tmp, /dev/shm and System V memory.
#
#   lab.sh N [COMMAND...]            N hosts, and COMMAND (or a shell) beside them, at the switch
#   uses lab; lab_enter "$0" "$@"    for a test (test.sh): it starts once more, in a lab of its own; what follows is in there
#
# Everything lives in namespaces without names of one process, which dies with whoever started the lab, however that ends: nothing is
# left, and labs do not see each other. Inside:
#
#   lab boot h1...           makes hosts, or switches killed ones on again, with an empty /tmp
#   lab in h1 COMMAND...     runs COMMAND in the host, with its input and output here
#   lab ssh h1...            starts an sshd there (port 22) and lets root in; ssh h1 needs no option then. Asks for openssh-server
#   lab kill h1...           kills all that runs there: its sockets are closed, so the others learn it from the kernel
#   lab lose h1...           the same without anybody being told: the cable first
#   lab cut h1... | heal     frames from and to the host are dropped, without the carrier going | no longer
#   lab mute h1 | deaf h1    only what it sends | only what it is sent (heal: as above)
#   lab lossy h1 PERCENT     of what it sends is dropped, at random (heal)
#   lab unplug h1 | plug     as cut, but its carrier goes | comes
#   lab reset h1 [FILTER]    its TCP connections end with a reset, both ends learn it (FILTER: of ss, such as dport = 22)
#   lab freeze h1 | thaw     everything there stands still | goes on
#   lab running h1           a line for each process there that is not part of the lab
#
# Addresses: host N has 10.77.0.N and fd77::N, its name is in /etc/hosts; beside the hosts, "desk" is 10.77.0.254 and fd77::fe.
# $LAB is a directory that all share (as if by NFS), $LAB/hN/tmp the /tmp of hN as seen from outside.

lab_file=$(readlink -f "${BASH_SOURCE[0]:-$0}")
# How a test's run and begin reach hosts.
through="exec:${lab_file%/*}/launch.sh"

lab_skip() { echo "SKIP: $*" && exit 77; }

# For tests: nothing_on HOST...: nothing of the job runs there. A node that never met its controller waits 10 s for it.
nothing_on() {
    local host
    for host in "$@"; do
        # shellcheck disable=SC2154 # test.sh
        until_true 120 nothing_runs "$host" || fail "$what: left on $host: $(lab running "$host")"
    done
}
nothing_runs() { [ -z "$(lab running "$1")" ]; }

# For tests: killed RANK HOST: SIGKILL from outside, to that rank of the job that began, which is there.
killed() { until_true 60 is_killed "$@" || fail "$what: rank $1 is not there to be killed"; }
is_killed() {
    local pid
    # shellcheck disable=SC2154 # test.sh
    pid=$("$ftrun" status --json "$front" | /usr/bin/python3 -c "import json, sys; print(json.load(sys.stdin)['per_rank'][$1]['pid'])")
    lab in "$2" kill -KILL "$pid" 2>/dev/null # it may be about to come back
}

# What a lab takes: to be root, or to be allowed to be root of a namespace.
lab_unshare="unshare"
[ "$(id -u)" = 0 ] || lab_unshare="unshare -r"
lab_needs() {
    local tool
    for tool in unshare nsenter setpriv ip nft mount; do
        command -v $tool >/dev/null || lab_skip "a lab of hosts needs $tool (packages util-linux, iproute2, nftables)"
    done
    $lab_unshare -n -m -p -f --mount-proc sh -c 'ip link add switch type bridge && mount -t tmpfs t /run && nft add table bridge t' 2>/dev/null ||
        lab_skip "no namespaces, no bridge or no nft here, or not the right to make them"
}

# lab_enter SCRIPT ARGUMENT...: returns in the lab.
lab_enter() {
    # Hosts, and users there, reach a test's own directory.
    [ -z "${LAB-}" ] || { [ -z "${tmp-}" ] || chmod 755 "$tmp"; return 0; }
    PATH=$PATH:/usr/sbin:/sbin
    lab_needs
    # setpriv: who is killed with SIGKILL cannot tell; the kernel does.
    setpriv --pdeathsig KILL $lab_unshare -n -m -u -p -f --kill-child=KILL --mount-proc bash "$lab_file" --init "$@" <&0 &
    lab_process=$!
    trap 'kill -KILL $lab_process' INT TERM HUP
    wait $lab_process
    exit
}

# The first process of a lab's pid namespace: it is the switch, and collects who has no parent.
lab_init() {
    LAB=/run/lab
    export LAB
    hostname desk
    # Its address is its own: else it is the lowest of its ports' and changes when that host dies. Then nobody reaches the desk for seconds, until their
    # tables of neighbours have grown old: no switch does that to a host.
    mount -t tmpfs -o mode=755 run /run
    mkdir -p "$LAB/ssh" /run/sshd /run/lock
    ip -batch - <<END
link set lo up
link add switch address 02:77:00:00:00:fe type bridge mcast_snooping 0
address add 10.77.0.254/24 dev switch
address add fd77::fe/64 dev switch nodad
link set switch up
END
    nft -f - <<END
table bridge lab {
 set cut { type ifname; }
 set mute { type ifname; }
 set deaf { type ifname; }
 chain from { type filter hook prerouting priority 0; policy accept;
  iifname @cut drop
  iifname @mute drop
 }
 chain to { type filter hook postrouting priority 0; policy accept;
  oifname @cut drop
  oifname @deaf drop
 }
 chain lossy { type filter hook prerouting priority 10; policy accept; }
}
END
    cp /etc/hosts "$LAB/hosts"
    echo "10.77.0.254 desk" >>"$LAB/hosts"
    mount --bind "$LAB/hosts" /etc/hosts
    "$@"
    exit
}

lab() {
    local verb=$1
    shift
    lab_"$verb" "$@"
}

# lab_each FUNCTION HOST...
lab_each() {
    local verb=$1 host
    shift
    for host in "$@"; do
        [ -d "$LAB/$host" ] || { echo "lab: there is no $host" >&2 && return 2; }
        "$verb" "$host" || return
    done
}

lab_boot() {
    local host
    for host in "$@"; do
        case $host in h[1-9]*) ;; *) echo "lab: hosts are h1 h2 ..., not $host" >&2 && return 2 ;; esac
        [ -d "$LAB/$host" ] || lab_furnish "$host"
    done
    lab_each lab_boot_one "$@"
}

# What outlives the host's death: its entry in the files, its place to put /tmp.
lab_furnish() {
    local number=${1#h}
    mkdir -p "$LAB/$1/tmp"
    printf '%s\n' "10.77.0.$number $1 $1-v4" "fd77::$(printf %x "$number") $1-v6" >>"$LAB/hosts"
}

lab_boot_one() {
    local at="$LAB/$1" number=${1#h} pid i
    ! lab_is_up "$1" || { echo "lab: $1 runs" >&2 && return 2; }
    while umount -l "$at/tmp" 2>/dev/null; do :; done
    mount -t tmpfs -o mode=1777 tmp "$at/tmp"
    lab_keep_visible "$at/tmp" "$(pwd)" "$(dirname "$lab_file")/../.." "${top_builddir:-.}"
    rm -f "$at/init"
    unshare -n -u -i -m -p -f --kill-child=KILL bash "$lab_file" --host "$1" </dev/null >>"$at/log" 2>&1 &
    for ((i = 0; i < 12000; i++)); do
        [ ! -s "$at/init" ] || break
        sleep 0.01
    done
    pid=$(cat "$at/init") || { echo "lab: $1 does not start" >&2 && return 2; }
    # The cable of one that was killed may not be gone yet.
    ip link delete "v$1" 2>/dev/null
    ip -batch - <<END || return
link add v$1 type veth peer name eth0 netns $pid
link set v$1 master switch up
END
    nsenter -t "$pid" -n ip -batch - <<END
link set lo up
address add 10.77.0.$number/24 dev eth0
address add fd77::$(printf %x "$number")/64 dev eth0 nodad
link set eth0 up
END
}

# What lies below /tmp and is needed in hosts: the source and the build tree may.
lab_keep_visible() {
    local tmp=$1 directory
    shift
    for directory in "$@"; do
        directory=$(readlink -f "$directory")
        case $directory in
            /tmp/?*)
                mkdir -p "$tmp/${directory#/tmp/}"
                mountpoint -q "$tmp/${directory#/tmp/}" || mount --bind "$directory" "$tmp/${directory#/tmp/}"
                ;;
        esac
    done
}

# The first process of a host. $LAB/HOST/init: its number as the lab sees it; /proc is still the lab's.
lab_host() {
    local pid
    read -r pid _ </proc/self/stat
    hostname "$1"
    mount --rbind "$LAB/$1/tmp" /tmp
    mount -t tmpfs -o mode=1777 shm /dev/shm
    mount -t proc proc /proc
    echo "$pid" >"$LAB/$1/init.new"
    mv "$LAB/$1/init.new" "$LAB/$1/init"
    # It waits for nothing, for ever, and collects orphans meanwhile.
    mkfifo "$LAB/$1/never.$pid"
    exec 3<>"$LAB/$1/never.$pid"
    while :; do read -r _ <&3; done
}

lab_is_up() { [ -s "$LAB/$1/init" ] && [ -d "/proc/$(cat "$LAB/$1/init")" ]; }

# That a new connection could be made from the desk.
lab_is_reached() { lab_is_up "$1" && ! lab_is_cut "$1"; }

lab_init_of() {
    lab_is_up "$1" || { echo "lab: $1 is down" >&2 && return 2; }
    cat "$LAB/$1/init"
}

lab_in() {
    local host=$1 pid
    shift
    pid=$(lab_init_of "$host") || return 255
    nsenter -t "$pid" -n -u -i -m -p "$@"
}

lab_kill_one() {
    local pid i
    pid=$(lab_init_of "$1") || return
    kill -KILL "$pid"
    pkill -CONT -x nsenter # see lab_thaw_one
    # It ends when all in its pid namespace have.
    for ((i = 0; i < 12000; i++)); do
        lab_is_up "$1" || return 0
        sleep 0.01
    done
    echo "lab: $1 does not die" >&2
    return 2
}

lab_kill() { lab_each lab_kill_one "$@"; }
lab_lose() { lab_cut "$@" && lab_kill "$@"; }

# ---- cables ----

lab_cut() { lab_each lab_cut_one "$@"; }
lab_mute() { lab_each lab_mute_one "$@"; }
lab_deaf() { lab_each lab_deaf_one "$@"; }
lab_cut_one() { nft add element bridge lab cut "{ v$1 }"; }
lab_mute_one() { nft add element bridge lab mute "{ v$1 }"; }
lab_deaf_one() { nft add element bridge lab deaf "{ v$1 }"; }
lab_is_cut() { nft get element bridge lab cut "{ v$1 }" >/dev/null 2>&1; }

lab_lossy() {
    [ -d "$LAB/$1" ] || { echo "lab: there is no $1" >&2 && return 2; }
    nft add rule bridge lab lossy iifname "v$1" numgen random mod 100 lt "$2" drop
}

lab_heal() { lab_each lab_heal_one "$@"; }
lab_heal_one() {
    local set handle
    for set in cut mute deaf; do
        nft delete element bridge lab $set "{ v$1 }" 2>/dev/null
    done
    for handle in $(nft -a list chain bridge lab lossy | sed -n "s/.*iifname \"v$1\".* # handle //p"); do
        nft delete rule bridge lab lossy handle "$handle"
    done
}

lab_unplug() { lab_each lab_unplug_one "$@"; }
lab_plug() { lab_each lab_plug_one "$@"; }
lab_unplug_one() { ip link set "v$1" down; }
lab_plug_one() { ip link set "v$1" up; }

lab_reset() {
    local pid
    pid=$(lab_init_of "$1") || return
    shift
    nsenter -t "$pid" -n ss -HtnK state established "${@:-( sport != 0 )}" >/dev/null
}

# ---- processes ----

# lab_pids HOST: all of its pid namespace, its init too.
lab_pids() {
    local pid
    pid=$(lab_init_of "$1") || return
    find /proc/[0-9]*/ns/pid -maxdepth 0 -lname "*$(readlink "/proc/$pid/ns/pid" | tr -dc 0-9)*" 2>/dev/null | cut -d/ -f3
}

lab_running() {
    local init pid line
    init=$(lab_init_of "$1") || return
    for pid in $(lab_pids "$1"); do
        [ "$pid" != "$init" ] || continue
        line=$( (tr '\0' ' ' <"/proc/$pid/cmdline") 2>/dev/null) || continue
        case $line in sshd:* | /usr/sbin/sshd* | '') ;; *) echo "$pid $line" ;; esac
    done
}

# Version 2's freezer: what is frozen can be killed. The group exists while the host is frozen; an old one is left by a lab that was killed then.
lab_freezer() { awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts; }
lab_group_of() { echo "$(lab_freezer)/ftmpi-lab.$(readlink /proc/self/ns/net | tr -dc 0-9).$1"; }

lab_freeze() { lab_each lab_freeze_one "$@"; }
lab_thaw() { lab_each lab_thaw_one "$@"; }

lab_freeze_one() {
    local group before='' now
    group=$(lab_group_of "$1")
    find "$(lab_freezer)" -maxdepth 1 -name 'ftmpi-lab.*' -mmin +60 -exec rmdir {} \; 2>/dev/null
    now=$(lab_pids "$1") || return
    if mkdir "$group" 2>/dev/null && echo 1 >"$group/cgroup.freeze"; then
        # Those that were forked meanwhile are in the list the next time.
        while [ "$now" != "$before" ]; do
            lab_move "$group" "$now"
            before=$now
            now=$(lab_pids "$1")
        done
    else
        while [ "$now" != "$before" ]; do
            # Not its first process, whose parent would stop too.
            kill -STOP $(grep -vx "$(lab_init_of "$1")" <<<"$now") 2>/dev/null
            before=$now
            now=$(lab_pids "$1")
        done
    fi
}

lab_thaw_one() {
    local group
    group=$(lab_group_of "$1")
    if [ -d "$group" ]; then
        echo 0 >"$group/cgroup.freeze"
        # Again for what was forked meanwhile (the group was busy then, once in mixed.sh).
        for _ in $(seq 100); do
            lab_move "$(lab_freezer)$(sed -n 's/^0:://p' /proc/self/cgroup)" "$(cat "$group/cgroup.procs")"
            ! rmdir "$group" 2>/dev/null || return 0
            sleep 0.05
        done
        rmdir "$group"
    else
        kill -CONT $(lab_pids "$1") 2>/dev/null
        # An nsenter stops with its child. (None but the lab's is in this /proc.)
        pkill -CONT -x nsenter
    fi
}

# lab_move GROUP "PID...": who is gone meanwhile is no error.
lab_move() {
    local pid
    for pid in $2; do
        echo "$pid" >"$1/cgroup.procs"
    done 2>/dev/null
}

# ---- ssh ----

lab_ssh() {
    if [ "$(id -u)" != 0 ] || ! [ -x /usr/sbin/sshd ]; then lab_skip "no sshd (package openssh-server), or not root"; fi
    [ -f "$LAB/ssh/sshd_config" ] || lab_keys || return
    lab_each lab_ssh_one "$@"
}

# All hosts have one key; the lab's /etc/ssh is a directory of its own.
lab_keys() {
    ssh-keygen -q -t ed25519 -N '' -f "$LAB/ssh/host" && ssh-keygen -q -t ed25519 -N '' -f "$LAB/ssh/user" || return
    cat >"$LAB/ssh/sshd_config" <<END
HostKey "$LAB/ssh/host"
AuthorizedKeysFile "$LAB/ssh/user.pub"
StrictModes no
UsePAM no
PermitRootLogin yes
PasswordAuthentication no
MaxStartups 200:30:400
PrintMotd no
PidFile none
END
    cat >"$LAB/ssh/ssh_config" <<END
Host *
 IdentityFile "$LAB/ssh/user"
 IdentitiesOnly yes
 UserKnownHostsFile /dev/null
 GlobalKnownHostsFile "$LAB/ssh/known"
 LogLevel ERROR
END
    echo "* $(cut -d' ' -f1,2 "$LAB/ssh/host.pub")" >"$LAB/ssh/known"
    mount --bind "$LAB/ssh" /etc/ssh
}

lab_ssh_one() {
    # Its mount namespace is older than the keys.
    lab_in "$1" sh -c 'mountpoint -q /etc/ssh || mount --bind "$1/ssh" /etc/ssh; exec /usr/sbin/sshd -f "$1/ssh/sshd_config" -E "$1/$2/sshd.log"' - "$LAB" "$1"
}

# ---- called as a command ----

lab_play() {
    local n=$1
    shift
    lab_boot $(seq -f 'h%g' "$n")
    "${@:-${SHELL:-bash}}"
}

if [ "$(readlink -f "$0")" = "$lab_file" ]; then
    case ${1-} in
        --init) shift && lab_init "$@" ;;
        --host) lab_host "$2" ;;
        --play) shift && lab_play "$@" ;;
        [1-9]*) lab_enter "$lab_file" --play "$@" ;;
        [a-z]*) [ -n "${LAB-}" ] || { echo "$0: not in a lab" >&2 && exit 2; }; lab "$@" ;;
        *) echo "usage: $0 HOSTS [COMMAND...]; in a lab: $0 VERB HOST... (see its head)" >&2 && exit 2 ;;
    esac
fi
