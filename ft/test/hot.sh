#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What every short call runs (FT_HOT, ft/base/util.h) lies side by side in the library that ships, in four pages or five: it was in fourteen,
# and a barrier of 16 ranks on 2 processors took a tenth longer.
set -u
src=${top_srcdir:-.}
build=${top_builddir:-.}
names=$(grep -rhoE '^FT_HOT .*\bft_[a-z_]+\(' "$src/ft" --include=*.c | sed 's/.* \**\(ft_[a-z_]*\)($/\1/')
nm -n -S "$build/.libs/libftmpi.so" | awk -v names="$names" '
  BEGIN { n = split(names, list, "\n"); for (i = 1; i <= n; i++) hot[list[i]] = 1 }
  function number(hex,  i, x) { for (i = 1; i <= length(hex); i++) x = x * 16 + index("0123456789abcdef", substr(hex, i, 1)) - 1; return x }
  ($4 in hot) && !($4 in seen) { seen[$4] = 1; found++; at = number($1); if (!from || at < from) from = at; if (at + number($2) > to) to = at + number($2) }
  END {
    if (n < 20 || found < n - 2) { print "FAIL: " n " functions are marked, " found " are in the library"; exit 1 }
    if (to - from > 16384) { print "FAIL: they are spread over " to - from " bytes"; exit 1 }
    print found " functions within " to - from " bytes"
  }'
