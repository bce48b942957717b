# SPDX-License-Identifier: BSD-3-Clause
# For the shell tests of this directory and of benchmarks/: where things are, a scratch directory, judgement.
# make check starts them in the build directory.
top=$(pwd)
: "${top_builddir:=$top}"
here=$(cd "$(dirname "$0")" && pwd)
ftrun=$top_builddir/ftrun
programs=$top_builddir/compat-tests/chaos
scratch=$(mktemp -d "${TMPDIR:-/tmp}/chaos-test.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
failed=0

quick() { [ "${FT_TIER:-}" = quick ]; }
skip() { echo "SKIP: $*"; exit 77; }
fail() { echo "FAILED: $*"; failed=1; }
finish() { exit $failed; }
# bounded SECONDS COMMAND...: a test never hangs
bounded() { timeout -k 5 "$@"; }
# aside COMMAND...: at the same time as others, for those that wait most of the time. asides_end: what they printed, one after the other, when all have
# ended; the test fails if one did.
asides=0
aside() {
    asides=$((asides + 1))
    { "$@" && : >"$scratch/aside.$asides.good"; } >"$scratch/aside.$asides" 2>&1 &
}
asides_end() {
    wait
    for aside in $(seq $asides); do
        cat "$scratch/aside.$aside"
        [ -e "$scratch/aside.$aside.good" ] || failed=1
    done
}
# Lines in order per rank.
by_rank() { sort -s -n -k1,1 "$@"; }
# A number out of ftrun's report.
reported() { sed -n 's/^ *"'"$2"'": \([0-9.]*\),*$/\1/p' "$1" | head -n 1; }
