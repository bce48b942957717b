#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# launch.sh HOST COMMAND...: for `ftrun --launcher exec:launch.sh` in a lab, instead of ssh: starts COMMAND in the host as a login there
# would, with little of an environment. As ssh it ends with COMMAND's code, 255 if there is no host; and of a host that is lost
# without a word it learns nothing: it goes on waiting until the cable is whole again.
# FT_PIN=1, for benchmarks: each host has a processor of its own, as long as there are enough.
. "$(dirname "$0")/lab.sh"
while [ "${1#-}" != "$1" ]; do shift; done # MPICH's launcher says -x
host=$1
shift
[ -n "${LAB-}" ] || { echo "launch.sh: not in a lab" >&2 && exit 255; }
# It may be given as an address.
host=$(awk -v given="$host" '$1 == given || $2 == given || $3 == given { found = $2 } END { sub("-v6$", "", found); print found }' "$LAB/hosts")
lab_is_reached "$host" || { echo "launch.sh: connect to host $host: No route to host" >&2 && exit 255; }
pin=
[ -z "${FT_PIN-}" ] || pin="taskset -c $(((${host#h} - 1) % $(nproc)))"
# A session of its own: who ends this process does not end that one.
lab_in "$host" $pin setsid env -i HOME="$HOME" PATH=/usr/local/bin:/usr/bin:/bin sh -c "cd 2>/dev/null; $*"
code=$?
until lab_is_reached "$host" || ! lab_is_cut "$host"; do sleep 0.1; done
lab_is_up "$host" || code=255
exit $code
