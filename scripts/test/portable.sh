#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A machine on which the engine would be wrong is refused, by configure and by the compiler (docs/portability.md).
top=$(cd "${top_srcdir:-.}" && pwd)
here=$(mktemp -d) || exit 99
trap 'rm -rf "$here"' EXIT
cd "$here" || exit 99
failed=0
echo '#include "ft/base/util.h"' >try.c

# compiles FLAG...: as on another machine.
compiles() { ${CC:-gcc} -std=gnu17 -I"$top" -fsyntax-only -Wno-builtin-macro-redefined "$@" try.c 2>err; }
# told MESSAGE WHAT
told() { grep -q "$1" err || { echo "FAIL: $2: $(cat err)" && failed=1; }; }
compiles || { echo "FAIL: not even here: $(cat err)" && failed=1; }
compiles -U__BYTE_ORDER__ -D__BYTE_ORDER__=__ORDER_BIG_ENDIAN__ && echo "FAIL: big endian" && failed=1
told 'error "ftmpi needs a little-endian machine' "the compiler, big endian"
compiles -U__SIZEOF_POINTER__ -D__SIZEOF_POINTER__=4 && echo "FAIL: 32 bits" && failed=1
told 'error "ftmpi needs a little-endian machine' "the compiler, 32 bits"

# configured VARIABLE=VALUE...: what it finds out is known beforehand.
configured() { timeout 300 env "$@" "$top/configure" -q CC="${CC:-gcc}" >out 2>err; }
configured ac_cv_c_bigendian=yes && echo "FAIL: configured, big endian" && failed=1
told 'ftmpi needs a little-endian machine' "configure, big endian"
configured ac_cv_sizeof_void_p=4 && echo "FAIL: configured, 32 bits" && failed=1
told 'ftmpi needs addresses of 64 bits' "configure, 32 bits"
configured ac_cv_func_sigabbrev_np=no && echo "FAIL: configured with another C library" && failed=1
told 'needs the GNU C library 2.32' "configure, C library"
exit $failed
