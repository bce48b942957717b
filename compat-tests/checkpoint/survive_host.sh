#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Checkpoints of a job on three hosts, all of which are this one, and a host is lost: with --survive host its ranks go on behind the checkpoint that
# the next node has kept, or begin at the start if that is lost as well; with --survive rank, and a log that is released, all begin again. What
# is printed is the same. FT_TIER=full: before, while and after each commit, by seed. survive_host.sh SEED...: these.
. "$(dirname "$0")/../lib/test.sh"
uses hosts
program=$built/versions

# wants HOSTS ARGS: what is printed if nobody is lost; sets wanted
wants() {
    wanted="$tmp/want $*"
    [ -f "$wanted" ] || timeout 120 "$ftrun" --stdin none --launcher "exec:$tmp/go" -H "$1" "$program" $2 2>/dev/null | sort >"$wanted"
    [ -s "$wanted" ] || fail "$program $2 on $1 prints nothing"
}
# same HOSTS OPTIONS ARGS WHAT...: as without losses; OPTIONS and ARGS are one word each.
same() {
    list=$1 options=$2 args=$3
    shift 3
    wants "$list" "$args"
    hosts "$list" --stdin none --lease 3 --snapshot off -v $options "$program" $args "$@"
    expect_code 0
    sort "$tmp/out" | cmp -s "$wanted" - || { fail "$what: output differs"; sort "$tmp/out" | diff "$wanted" - | head; }
    ! grep -q 'not what it was before' "$tmp/err" || fail "$what: a line was printed differently"
}
said() { [ "$(grep -c "$2" "$tmp/err")" = "$1" ] || fail "$what: \"$2\" is not said $1 time(s)"; }
goes_on='^ftrun: the ranks here go on from checkpoint'
lost='is gone for 3 s; its ranks start again there'
again='no host that is left has all of the log, which its ranks need to catch up (--survive host keeps it): all ranks start again'

# By seed: two losses of any of the three hosts, at a place in a version and some time after, and ranks that are killed.
by_seed() {
    set -- $(awk -v seed="$1" 'BEGIN {
        srand(seed)
        for (i = 0; i < 2; i++) {
            v = 2 + 5 * i + int(rand() * 4)
            printf "lose=%d,%d,%d,%d,%d ", int(rand() * 5), v, int(rand() * 4), 0, rand() < 0.3 ? 0 : int(rand() * rand() * 40000)
        }
        printf "kill=%d,%d,%d,0 kill=%d,%d,%d,1", int(rand() * 5), int(rand() * 12), int(rand() * 4), int(rand() * 5), 3 + int(rand() * 9), int(rand() * 4)
    }')
    same a:2,b,c:2 '--survive host' '12 slow' "$@"
}
if [ $# -gt 0 ]; then
    for seed in "$@"; do by_seed "$seed"; done
    finish
fi

# In the middle; again in the replay, and by then ranks have died.
same a:2,b,c:2 '--survive host' '8 slow' lose=0,4,1,0,0 lose=0,4,3,1,500 kill=3,5,1,0 kill=1,6,2,2
said 2 "$lost"
said 2 "$goes_on [234],"
# A host and the next one, which has kept its models: they begin at the start, and those of the other one do not.
same a,b,c '--survive host' '6 slow' lose=1,4,1,0,0 lose=2,4,1,0,0
said 2 "$lost"
said 1 "$goes_on"
# Large ones, and such as are not kept; the lines that a job ends with.
same a,b '--survive host' '9 slow mixed big=5000000' lose=1,7,2,0,2000
said 1 "$goes_on"
# The log is released, and all begin again. A line that was begun when they were ended was printed in two pieces.
same a,b,c '' '6 slow flood=3' lose=1,5,1,0,0
said 1 "$again"
said 0 "$goes_on"
if full; then
    for seed in $(seq 40); do by_seed "$seed"; done
    # It is released while the replacement asks for it.
    for after in 0 2 5 8 11 14 17 20 30 50; do
        same a,b,c '' '7 slow flood=4' lose=2,4,0,0,${after}000
    done
fi
finish
