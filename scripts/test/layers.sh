#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Who may include whom and use which names, and that what is called pure is: scripts/layers.table.
set -u
for program in python3 objdump "${CC:-cc}"; do
  command -v "${program%% *}" >/dev/null && continue
  echo "$program is missing: apt-get install python3 binutils gcc"
  exit 77
done
exec python3 "${top_srcdir:-.}/scripts/layers.py"
