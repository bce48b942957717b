#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Ranks with threads under the C library of another Debian: builds the tree in a directory made by debootstrap, and runs a sample of torture
# and unnoticed there. By hand, as root; not part of the gate.
#   chroot.sh SUITE DIRECTORY: trixie, sid ... (glibc 2.32 or later, so not bullseye). The directory is made if it is not there, and kept.
# FT_RUNS: how many seeds.
. "$(dirname "$0")/../lib/test.sh"
[ $# = 2 ] || { echo "usage: chroot.sh SUITE DIRECTORY" && exit 2; }
[ "$(id -u)" = 0 ] || skip "root only"
needs debootstrap
suite=$1 root=$2
# shellcheck source=/dev/null
. "$top_srcdir/scripts/packages.sh"
in_root() { chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive HOME=/root sh -c "$1"; }
if [ ! -e "$root/usr/bin/gcc" ]; then
    debootstrap --variant=minbase "$suite" "$root" >"$tmp/log" || { tail -n 5 "$tmp/log" && exit 99; }
    # shellcheck disable=SC2154
    in_root "apt-get update -q && apt-get install -q -y --no-install-recommends $packages_build python3 procps" >"$tmp/log" 2>&1 ||
        { tail -n 5 "$tmp/log" && exit 99; }
fi
mkdir -p "$root/ftmpi/build"
(cd "$top_srcdir" && tar c --exclude=.git --exclude=autom4te.cache .) | tar x -C "$root/ftmpi"
for system in proc dev; do mount --bind "/$system" "$root/$system" || exit 99; done
trap 'umount "$root/proc" "$root/dev"; rm -rf "$whole_tmp"' EXIT
in_root "ldd --version | head -n 1; cd /ftmpi && ./autogen.sh >/dev/null 2>&1; cd build && ../configure >/dev/null && make -j2 >log 2>&1 && make -j2 check TESTS= >log 2>&1" ||
    { tail -n 20 "$root/ftmpi/build/log" && exit 1; }
in_root "cd /ftmpi/build && FT_RUNS=${FT_RUNS:-5} top_builddir=/ftmpi/build /ftmpi/compat-tests/threads/torture.sh" || failed=1
in_root "cd /ftmpi/build && top_builddir=/ftmpi/build /ftmpi/compat-tests/threads/unnoticed.sh" || failed=1
finish
