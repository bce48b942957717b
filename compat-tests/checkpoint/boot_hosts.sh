#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The bootstrap cache of a job on several hosts, all of which are this one: a rank that comes back by a checkpoint, on a host of its own, with others,
# as a representative or not, on the host or on one that takes the place of a lost one, has what it calls again from the cache of its node, and
# the output is that of a run in which nobody dies. FT_TIER=full: by seed. boot_hosts.sh SEED...: these.
. "$(dirname "$0")/../lib/test.sh"
boot=$built/boot
misuse=$built/misuse
sanitizers detect_leaks=0
BOOT_KEPT=$tmp/kept
export BOOT_KEPT
printf '#!/bin/sh\nshift\nexec "$@"\n' >"$tmp/go"
chmod +x "$tmp/go"

over() { # OPTIONS AND PROGRAM...
    bounded 120 "$ftrun" --launcher "exec:$tmp/go" --stdin none --snapshot off "$@" >"$tmp/out" 2>"$tmp/err"
    code=$?
}
unhurried=20 # where no host is to be lost, none is because the machine is busy
lease=$unhurried
# same HOSTS OPTIONS HOW DEATHS [WORD...]: the output is the reference's. OPTIONS are one word.
same() {
    hosts=$1 options=$2
    shift 2
    what="-H $hosts $options boot $*"
    case $1 in plain) options="$options --bootstrap-cache" ;; esac
    how=$1 deaths=$2
    shift 2
    over -H "$hosts" -vv --lease $lease $options "$boot" "$how" 6 "$deaths" "$@"
    [ $code = 0 ] || fail "$what: exit code $code: $(grep -v ' link ' "$tmp/err" | tail -n 3)"
    sort "$tmp/out" | cmp -s - "$tmp/reference" || fail "$what: other output"
}
# kept NODE: "-1" in DEATHS waits until that node has version 3 of the one before it.
kept() {
    rm -f "$BOOT_KEPT" "$tmp/err"
    (
        until grep -q "node $1 keeps checkpoint 3 of" "$tmp/err" 2>/dev/null; do
            kill -0 $$ && sleep 0.05 || exit
        done
        : >"$BOOT_KEPT"
    ) &
}
said() { grep -q -e "$1" "$tmp/err" || fail "$what: does not say \"$1\": $(grep -v ' link ' "$tmp/err" | tail -n 5)"; }

bounded 60 "$ftrun" -n 3 "$boot" keys 6 none | sort >"$tmp/reference"
[ "$(wc -l <"$tmp/reference")" = 9 ] || fail "the reference is not complete"

# By seed: ranks that are killed and hosts that are lost, most of them right behind a checkpoint.
by_seed() {
    lease=2
    set -- $(awk -v seed="$1" 'BEGIN {
        srand(seed)
        for (i = 1 + int(rand() * 5); i > 0; i--)
            deaths = deaths ";" int(rand() * 3) "," 1 + int(rand() * 5) "," (rand() < 0.6 ? 0 : int(rand() * 12)) "," int(rand() * 1.6) (rand() < 0.35 ? "," int(rand() * rand() * 60000) : "")
        split("a:2,b a,b:2 a,b,c", hosts, " ")
        split("x skip early helper", word, " ")
        split("x shuffle early x", other, " ")
        how = rand() < 0.7 ? "plain" : "keys"
        w = 1 + int(rand() * 4)
        print hosts[1 + int(rand() * 3)], (rand() < 0.7 ? "host" : "rank"), how, substr(deaths, 2), (how == "plain" ? word[w] : other[w])
    }')
    same "$1" "--survive $2" "$3" "$4" slow "$5"
}
if [ $# -gt 0 ]; then
    for seed in "$@"; do by_seed "$seed"; done
    finish
fi

# A rank is killed: no representative, whose node knows; a representative beside another rank; the only one of its node, where another
# node has to say that the unit is something else; twice; in any order; all at once, when nobody knows.
for hosts in a:2,b a,b,c; do
    same "$hosts" "" plain '1,2,3,0'
    same "$hosts" "" plain '0,2,3,0' early
    same "$hosts" "" plain '2,2,0,0'
    said 'another host knows what unit 20 is'
    same "$hosts" "" plain '2,2,0,0;2,3,0,1;2,3,0,2' skip
    same "$hosts" "" plain '0,2,0,0;1,2,0,0;2,2,0,0'
    said 'all ranks of the job ask what unit 20 is: it is done once more'
    same "$hosts" "" keys '2,2,0,0;0,3,0,0;1,3,5,0' shuffle
    same "$hosts" "" places '2,2,0,0;0,3,0,0'
    same "$hosts" "" plain '2,2,0,0;1,3,0,0' parts
done
same a:2,b "" plain '0,2,0,0;1,2,0,0'
said 'another host knows what unit 20 is'
same a,b,c "" plain '1,2,0,0' helper

# A host is lost. Its ranks go on behind the checkpoint that another one has kept, with their cache and what they had contributed to it; or they
# begin at the start, where they have to note both; and die once more after it.
lease=2
kept 2
same a,b,c "--survive host" plain '1,3,0,0,-1'
said 'the ranks here go on from checkpoint 3'
said 'another host knows what unit 27 is'
kept 1
same a:2,b "--survive host" plain '0,3,0,0,-1;0,4,0,0;1,4,0,1;0,4,3,1' skip
said 'the ranks here go on from checkpoint 3'
same a,b,c "--survive host" plain '2,3,0,0,0;2,4,0,1' slow helper
kept 1
same a,b,c "--survive host" keys '0,3,0,0,-1;1,4,0,0' shuffle
said 'the ranks here go on from checkpoint 3'
same a,b,c "--survive rank" plain '1,3,0,0,0;1,4,0,1;0,4,0,0' slow skip
same a:2,b "--survive rank" plain '0,3,0,0,0;2,4,0,0' slow

# resumed PLACEMENT DEATHS WORD PATTERN: from version 3
resumed() {
    rm -rf "$tmp/ckpt"
    over -H a:2,b --ckpt-dir "$tmp/ckpt" --bootstrap-cache "$boot" plain 3 none "$3"
    [ $code = 0 ] || fail "boot plain 3 none $3: exit code $code: $(cat "$tmp/err")"
    what="$1 --resume boot plain 6 $2 $3"
    over $1 --ckpt-dir "$tmp/ckpt" --resume --bootstrap-cache "$boot" plain 6 "$2" "$3"
    [ $code = 0 ] || fail "$what: exit code $code: $(cat "$tmp/err")"
    said "$4"
    sort "$tmp/out" | cmp -s - "$tmp/rest" || fail "$what: other output: $(cat "$tmp/err")"
}
# Resumed on other hosts: what was called before the load, and what comes after it in the first version that is made then, is kept; a rank is
# killed, a host is lost.
grep -v 'version [123]:' "$tmp/reference" >"$tmp/rest"
for word in early slow; do
    resumed "-H a,b,c --lease $unhurried" '1,5,3,0;0,5,0,0' $word 'rank 1 .*restarted from checkpoint 5'
    resumed '-H a,b,c --lease 2' '0,5,0,0,0;1,5,3,0' $word 'rank 1 .*restarted from checkpoint 5'
done
# In the version after the one it was resumed from no rank can come back alone.
resumed '-n 3' '1,4,3,0' early 'rank 1 .*all ranks start again from checkpoint 4'
resumed '-H a,b,c --lease 2' '0,4,3,0' slow 'host a (rank 0) needs a part of the log that is gone; its ranks start again'

# wrong HOSTS RANKS CODE PATTERN WHAT...: a line that says what, on every node that finds out, and nobody gets to the end
wrong() {
    hosts=$1 n=$2 should=$3 pattern=$4
    shift 4
    over --quiet -H "$hosts" -n "$n" "$@"
    what="-H $hosts $*"
    [ $code = "$should" ] || fail "$what: exit code $code, not $should: $(cat "$tmp/err")"
    grep -q -e "$pattern" "$tmp/err" || fail "$what: does not say \"$pattern\": $(cat "$tmp/err")"
    ! grep -q end "$tmp/out" || fail "$what: the program came to its end"
}
for hosts in a,b a:2,b; do
    case $hosts in a,b) n=2 ;; *) n=3 ;; esac
    wrong "$hosts" "$n" 13 'the key "a" (at misuse+0x[0-9a-f]*) was used before' "$misuse" twice
    wrong "$hosts" "$n" 16 'mismatched collectives' "$misuse" others
    wrong "$hosts" "$n" 13 'rank 1 .*2 x int32, key.*of MPIX_Allreduce_cached(sum, 1 x int32, key' "$misuse" size
    wrong "$hosts" "$n" 13 'rank 1 .*1 x float.*of MPIX_Allreduce_cached(sum, 1 x int32' "$misuse" type
    wrong "$hosts" "$n" 16 'rank 1.*MPIX_Allreduce_cached(sum, 1 x int64, key\|rank 1 was restarted' "$misuse" unknown
    wrong "$hosts" "$n" 16 'rank 1 .*calls MPI_Allreduce(max, 1 x int64)\|rank 1 was restarted' --bootstrap-cache "$misuse" unknown-place
    wrong "$hosts" "$n" 16 'rank 1 came back by a checkpoint, and its MPI_Allreduce(sum, 1 x int64) at misuse' --bootstrap-cache "$misuse" mixed
    wrong "$hosts" "$n" 16 'all ranks came back by a checkpoint' --bootstrap-cache "$misuse" order
done
# All ranks have come back and called the beginning once more; then a host is lost whose rank begins at the start, and does not call it there.
wrong a,b,c 3 16 'rank 1 was restarted and, at unit 20 of .* calls MPI_Allreduce(sum, 3000 x double) .* but its log has MPI_Allreduce(max, 1 x uint64)' \
    --lease 2 --survive rank --bootstrap-cache "$boot" plain 6 '0,2,0,0;1,2,0,0;2,2,0,0;1,3,4,1,0'
[ "$(grep -c 'was restarted and' "$tmp/err")" = 1 ] || fail "$what: not one line: $(cat "$tmp/err")"
if full; then
    for seed in $(seq 40); do by_seed "$seed"; done
fi
finish
