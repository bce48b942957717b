#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Makes ./configure from configure.ac. Needs Debian's autoconf, automake, libtool, pkg-config.
set -e
cd "$(dirname "$0")"
for tool in autoconf automake libtoolize; do
  if ! command -v "$tool" >/dev/null 2>&1; then
    pkg=$tool; [ "$tool" = libtoolize ] && pkg=libtool
    echo "autogen.sh: $tool is missing: apt-get install $pkg" >&2
    exit 1
  fi
done
[ -n "$(find /usr/share/aclocal -name pkg.m4 2>/dev/null)" ] || { echo "autogen.sh: pkg.m4 is missing: apt-get install pkg-config" >&2; exit 1; }
mkdir -p m4
exec autoreconf --install --force "$@"
