#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The agent is killed before and after each of its system calls, while ranks read, print, die and come back: the output is that
# of an undisturbed run, and so is the exit code. FT_EVERY=1 tries every stop.
. "$(dirname "$0")/../lib/test.sh"
cd "$tmp" || exit 99
sanitizers detect_leaks=0 # it cannot look at a traced process
killat=$built/killat
every=7
if quick; then every=29; fi
every=${FT_EVERY:-$every}
seeded

cat >job <<'E'
echo "rank $FTMPI_RANK begins"
echo "an error of $FTMPI_RANK" >&2
[ "$FTMPI_RANK" = 1 ] || while read -r line; do echo "input $line"; done
if [ "$FTMPI_RANK.$FTMPI_INCARNATION" = 1.0 ]; then
    printf 'rank 1 has'
    kill -9 $$
fi
echo "rank $FTMPI_RANK has more"
(echo "child of $FTMPI_RANK")
echo "and an end $FTMPI_RANK"
E
seq 200 >input
# shellcheck disable=SC2002,SC2094
one() { # stop, where the output goes
    rm -f out err
    case $2 in
    pipe) cat input | { timeout -k 5 300 "$killat" "agent:$1" self "$ftrun" -q -n 2 sh job 2>err 9>stops; echo $? >code; } | cat >out ;;
    file) timeout -k 5 300 "$killat" "agent:$1" self "$ftrun" -q -n 2 sh job <input >out 2>err 9>stops; echo $? >code ;;
    append) timeout -k 5 300 "$killat" "agent:$1" self "$ftrun" -q -n 2 sh job <input >>out 2>>err 9>stops; echo $? >code ;;
    esac
    read -r code <code
}
undisturbed() { # where; sets stops
    one 0 "$1"
    [ "$code" = 0 ] || fail "$1, undisturbed: exit code $code"
    sort out >wanted.out
    sort err >wanted.err
    [ "$(wc -l <wanted.out)" = 208 ] || fail "$1, undisturbed: $(wc -l <wanted.out) lines"
    stops=$(sed -n 's/^agent //p' stops)
}
# all_stops WHERE: those that have their turn, in a directory of their own
all_stops() {
    mkdir "$1" && cd "$1" && ln ../job ../input . || exit 99
    undisturbed "$1"
    n=$((1 + seed % every)) runs=0
    while [ $n -le "$stops" ]; do
        one $n "$1"
        [ "$code" = 0 ] || fail "$1, killed at stop $n of $stops: exit code $code"
        sort out | cmp -s - wanted.out || fail "$1, killed at stop $n of $stops: stdout differs: $(sort out | diff - wanted.out | head -3 | tr '\n' '|')"
        sort err | cmp -s - wanted.err || fail "$1, killed at stop $n of $stops: stderr differs"
        n=$((n + every))
        runs=$((runs + 1))
    done
    echo "$1: $runs runs"
    exit $failed
}
# Each waits most of the time.
pids=
for where in pipe file append; do
    (all_stops $where) &
    pids="$pids $!"
done
for pid in $pids; do wait "$pid" || failed=1; done
finish
