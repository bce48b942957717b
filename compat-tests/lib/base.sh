# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=dash
# What every shell test has, sourced by compat-tests/lib/lib.sh and compat-tests/lib/chaos_lib.sh: a directory, $scratch, which goes with it; waiting with
# a bound; what runs at the same time; the end. Whoever sources it says how something fails.
scratch=$(mktemp -d "${TMPDIR:-/tmp}/ftmpi-test.XXXXXX") || exit 99
trap 'rm -rf "$scratch"' EXIT
trap 'exit 99' INT TERM HUP
failed=0

# until_true SECONDS COMMAND...: polls until the command succeeds; fails after as long, or longer: it may be a busy machine that is slow.
until_true() {
    local attempts=$(($1 * 20)) # not the callers'
    shift
    until "$@"; do
        [ $attempts -gt 0 ] || return 1
        attempts=$((attempts - 1))
        sleep 0.05
    done
}

# aside COMMAND...: beside what follows, for what waits most of the time. asides_end: what they have said, one after the other, when all have ended;
# the test fails if one did.
asides=0
aside() {
    asides=$((asides + 1))
    { "$@" && : >"$scratch/aside.$asides.good"; } >"$scratch/aside.$asides.said" 2>&1 &
}
asides_end() {
    local i
    wait
    for i in $(seq $asides); do
        cat "$scratch/aside.$i.said"
        [ -e "$scratch/aside.$i.good" ] || failed=1
    done
}

finish() { exit $failed; }
