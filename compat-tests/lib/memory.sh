# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=dash disable=SC2154 # test.sh sets tmp and others
# uses memory: control groups that limit memory. Version 1, or 2 where the system has such groups there already.

# $groups: a directory in which they can be made; $bound: a group's file that does.
v1=$(awk '$3 == "cgroup" && $4 ~ /(^|,)memory(,|$)/ { print $2; exit }' /proc/mounts)
v2=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
if [ -n "$v1" ]; then
    groups=$v1 bound=memory.limit_in_bytes
elif grep -qw memory "$v2/cgroup.subtree_control" 2>/dev/null; then
    groups=$v2 bound=memory.max
else
    skip "no control groups for memory"
fi
made_groups=
# limited NAME LIMIT: makes that group, $group, or changes its limit. It goes with the test.
limited() {
    group=$groups/ftrun-test-$$-$1
    if ! [ -d "$group" ]; then
        mkdir "$group" 2>"$tmp/err" || skip "cannot make a control group that limits memory: $(cat "$tmp/err")"
        made_groups="$made_groups $group"
    fi
    echo max 2>/dev/null >"$group/memory.swap.max" # version 2
    echo -1 2>/dev/null >"$group/memory.memsw.limit_in_bytes"
    echo "$2" 2>"$tmp/err" >"$group/$bound" || skip "cannot limit a control group's memory: $(cat "$tmp/err")"
    echo 0 2>/dev/null >"$group/memory.swap.max"
    echo "$2" 2>/dev/null >"$group/memory.memsw.limit_in_bytes"
}
# Ranks that are gone may be in it a moment longer.
remove_groups() {
    for group in $made_groups; do
        until_true 10 rmdir "$group" 2>/dev/null || [ ! -d "$group" ] || echo "left: $group"
    done
}
trap 'remove_groups; rm -rf "$whole_tmp"' EXIT
cat >"$tmp/inside" <<'END'
#!/bin/sh
# inside GROUP RANKS PROGRAM ARGUMENTS: those of these ranks (- for whatever is no rank) enter it before they begin
case $2 in *${FTMPI_RANK:--}*) echo $$ >"$1/cgroup.procs" || exit 4 ;; esac
shift 2
exec "$@"
END
chmod +x "$tmp/inside"
