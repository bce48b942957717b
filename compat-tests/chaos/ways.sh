#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Two ranks print the same whichever way their bytes go (--cores, --allreduce): undisturbed, when ranks are killed, and with snapshots. And ftrun --tune.
. "$(dirname "$0")/../lib/test.sh"
operations=400
if quick; then operations=100; fi

# mixed NAME OPTION...: its output in $tmp/NAME
mixed() {
    name=$1
    shift
    bounded 120 "$ftrun" -n 2 --quiet "$@" "$built/mixed" -m 300000 -n $operations -s 5 $kills >"$tmp/$name" 2>"$tmp/$name.err" ||
        fail "$name: exit code $?: $(head -n 3 "$tmp/$name.err")"
    by_rank "$tmp/$name" | cmp -s - "$tmp/want" || [ "$name" = first ] || fail "$name: prints something else than the first one"
}

kills=
mixed first --cores near --allreduce halved
by_rank "$tmp/first" >"$tmp/want"
[ -s "$tmp/want" ] || fail "nothing is printed"
mixed doubled --cores near --allreduce doubled
mixed far --cores far
kills="-k 0:$((operations / 4)),1:$((operations / 2)),0:$((operations * 3 / 4))"
mixed killed_far --cores far --allreduce halved
mixed killed_doubled --cores near --allreduce doubled
FTMPI_SNAPSHOT=0.05 mixed snapshots --cores far --allreduce doubled

for begins in "" other; do
    bounded 60 "$ftrun" -n 2 --quiet "$built/threads" $begins >"$tmp/out" 2>&1 || fail "threads $begins: exit code $?: $(head -n 3 "$tmp/out")"
    [ "$(grep -c '^done$' "$tmp/out")" = 2 ] || fail "threads $begins: $(head -n 3 "$tmp/out")"
done

# tells OPTION... : what -vv tells of the ways
tells() { bounded 60 "$ftrun" -n 2 -vv "$@" "$built/mixed" -n 5 2>&1 >/dev/null | grep -c -e "share no cache" -e "makes all of it"; }
for expected in "0 --cores near --allreduce halved" "1 --cores near" "1 --cores far --allreduce halved" "2 --cores far"; do
    set -- $expected
    want=$1
    shift
    told=$(tells "$@")
    [ "$told" = "$want" ] || fail "$*: -vv tells of $told ways, not $want"
done
bounded 60 "$ftrun" --cores perhaps true 2>"$tmp/err"
[ $? = 2 ] && grep -q 'wanted: auto|near|far' "$tmp/err" || fail "--cores perhaps: $(cat "$tmp/err")"

# What is printed may be set; where nothing can be tried, that is said.
if [ "$(nproc)" -gt 1 ]; then
    for try in 1 2 3 4 5; do # another program may need the processors
        bounded 20 "$ftrun" --tune >"$tmp/ftmpi.conf" 2>"$tmp/err" && break
        grep -q '^ftrun: --tune: nothing can be tried here' "$tmp/err" || fail "--tune: $(cat "$tmp/err")"
    done
    if [ -s "$tmp/ftmpi.conf" ]; then
        [ "$(grep -c -e '^cores = \(near\|far\)  #' -e '^allreduce = \(doubled\|halved\)  #' "$tmp/ftmpi.conf")" = 2 ] || fail "--tune prints $(cat "$tmp/ftmpi.conf")"
        mkdir "$tmp/ftmpi"
        mv "$tmp/ftmpi.conf" "$tmp/ftmpi/"
        XDG_CONFIG_HOME=$tmp bounded 20 "$ftrun" -n 1 true || fail "what --tune prints cannot be set"
    fi
fi
bounded 20 taskset -c "$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')" "$ftrun" --tune >"$tmp/out" 2>"$tmp/err"
[ $? = 1 ] && [ ! -s "$tmp/out" ] && grep -q 'it takes two processors' "$tmp/err" || fail "--tune on one processor: $(cat "$tmp/out" "$tmp/err")"
finish
