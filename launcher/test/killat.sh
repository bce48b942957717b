#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The agent is killed before and after each of its system calls, while ranks read, print, die and come back: the output is that
# of an undisturbed run, and so is the exit code. KILLAT_EVERY=1 tries every stop; FTMPI_TEST_QUICK=1 each eleventh.
. "$(dirname "$0")/lib.sh"
cd "$tmp" || exit 99
ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0 # it cannot look at a traced process
export ASAN_OPTIONS
killat=$top_builddir/launcher/test/killat
every=${KILLAT_EVERY:-7}
[ -z "$FTMPI_TEST_QUICK" ] || every=11

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
one() { # stop, where the output goes
    rm -f out err
    case $2 in
    pipe) cat input | { timeout -k 5 60 "$killat" "agent:$1" self "$ftrun" -q -n 2 sh job 2>err 9>stops; echo $? >code; } | cat >out ;;
    file) timeout -k 5 60 "$killat" "agent:$1" self "$ftrun" -q -n 2 sh job <input >out 2>err 9>stops; echo $? >code ;;
    append) timeout -k 5 60 "$killat" "agent:$1" self "$ftrun" -q -n 2 sh job <input >>out 2>>err 9>stops; echo $? >code ;;
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
runs=0
for where in pipe file append; do
    undisturbed $where
    n=$((1 + $(date +%s) % every))
    while [ $n -le "$stops" ]; do
        one $n $where
        [ "$code" = 0 ] || fail "$where, killed at stop $n of $stops: exit code $code"
        sort out | cmp -s - wanted.out || fail "$where, killed at stop $n of $stops: stdout differs: $(sort out | diff - wanted.out | head -3 | tr '\n' '|')"
        sort err | cmp -s - wanted.err || fail "$where, killed at stop $n of $stops: stderr differs"
        n=$((n + every))
        runs=$((runs + 1))
    done
done
echo "$runs runs"
finish
