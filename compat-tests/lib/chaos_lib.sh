# SPDX-License-Identifier: BSD-3-Clause
# For tests that kill, and those of benchmarks/: where things are, judgement.
# make check starts them in the build directory.
top=$(pwd)
: "${top_builddir:=$top}"
here=$(cd "$(dirname "$0")" && pwd)
: "${top_srcdir:=${here%/compat-tests/*}}"
. "$top_srcdir/compat-tests/lib/base.sh"
ftrun=$top_builddir/ftrun
programs=$top_builddir/compat-tests/chaos

quick() { [ "${FT_TIER:-}" = quick ]; }
skip() { echo "SKIP: $*"; exit 77; }
fail() { echo "FAILED: $*"; failed=1; }
# bounded SECONDS COMMAND...: a test never hangs
bounded() { timeout -k 5 "$@"; }
# Lines in order per rank.
by_rank() { sort -s -n -k1,1 "$@"; }
# A number out of ftrun's report.
reported() { sed -n 's/^ *"'"$2"'": \([0-9.]*\),*$/\1/p' "$1" | head -n 1; }
