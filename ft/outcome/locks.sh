#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A rank with threads is killed, and put back from snapshot zero, or from newer copies: its threads take all locks in the same order as before.
# What test/locks*.c print are chains: a step by another thread breaks one. Killed at any time, and at points of lock operations: before a
# lock is taken, when it is taken, noted, recorded, published; in a replay, too.
#   locks.sh [ROW...]   only these; python: test/locks.py
# FT_SEEDS=N: so many runs of each row and each kind of kill. FT_SEED=N: the first one. FT_WRONG=N: ends when so many are wrong (5).
set -u
build=$(cd "${top_builddir:-.}" && pwd) source=$(cd "${top_srcdir:-$(dirname "$0")/../..}" && pwd)
agent=$build/outcome_agent locks=$build/outcome_locks
library=$build/.libs/liboutcome_test.so
[ -e "$library" ] || exit 77
export FT_TEST_PRELOAD="$library"
work=$(mktemp -d "${TMPDIR:-/tmp}/ftmpi-locks.XXXXXX") && trap 'rm -rf "$work"' EXIT && trap 'exit 1' INT TERM HUP
cd "$work" || exit 99
seed=${FT_SEED:-1} seeds=${FT_SEEDS:-$([ "${FT_TIER-}" = quick ] && echo 1 || echo 2)}
runs=0 bad=0 kills=0 zero=0 newer=0

word() { sed -n "\$s/.*\\<$1 \\([0-9]*\\).*/\\1/p" err | grep . || echo 0; }

# run OPTION...: what the row printed is in out, what the agent said in err.
run() {
    case $row in
    python) timeout "${FT_LIMIT:-100}" "$agent" "$@" /usr/bin/python3 "$source/ft/outcome/test/locks.py" ;;
    *) timeout "${FT_LIMIT:-100}" "$agent" "$@" "$locks" "$row" ;;
    esac >out 2>err </dev/null
    code=$?
    "$locks" -check out >checked || code="$code, $(cat checked)"
}

# is_good KILLS OPTION...: each kill came, but for one that came too late, and each time a copy was woken: a newer one only if such were made.
is_good() {
    most=$1
    shift
    got=$(word kills) back=$(word zero) from_newer=$(word named)
    runs=$((runs + 1)) kills=$((kills + got)) zero=$((zero + back)) newer=$((newer + from_newer))
    case " $* " in *" -c "*) ;; *) [ "$from_newer" = 0 ] || code="$code, a newer copy was woken" ;; esac
    if [ "$code" = 0 ] && [ "$got" -le "$most" ] && [ $((back + from_newer)) -ge $((got - 1)) ] && [ "$(tail -n 1 checked)" = "$end" ] &&
        tail -n 1 err | grep -q '^code 0 .* lost 0$'; then
        return 0
    fi
    bad=$((bad + 1))
    echo "FAIL: $row: outcome_agent $* outcome_locks $row: code $code"
    tail -n 2 err
    [ "$bad" -lt "${FT_WRONG:-5}" ] || exit 1
}

# A list of so many points, drawn by the seed: the first one of a live operation.
points() {
    awk -v seed="$seed" -v n="$1" -v of="$operations" 'BEGIN {
        srand(seed * 7919)
        for (i = 0; i < n; i++)
            printf "%s%d.%d", i ? "," : "", int(rand() * (i ? 6 : 5)), 1 + int(rand() * of * (i ? 0.3 : 0.9))
    }'
}

# shellcheck disable=SC2046
[ $# != 0 ] || set -- $("$locks" -rows) $([ ! -x /usr/bin/python3 ] || echo python)
row_newer=0
for row; do
    run -k 0
    [ "$code" = 0 ] || { echo "FAIL: $row, undisturbed: code $code" && cat err && exit 1; }
    end=$(tail -n 1 checked) operations=$(word locks)
    [ "$operations" -gt 0 ] || { echo "FAIL: $row: it counts no locks" && exit 1; }
    begun=$(date +%s%N)
    run -k 0
    us=$((($(date +%s%N) - begun) / 1000))
    for i in $(seq 1 "$seeds"); do
        seed=$((seed + 1))
        run -s "$seed" -k 3 -t "$us"
        is_good 3 -s "$seed" -k 3 -t "$us"
        list=$(points $((1 + seed % 3)))
        run -L "$list"
        is_good 3 -L "$list"
        # With newer copies, which are made all the time.
        cut=$((us / 8 + 500))
        if [ $((i % 2)) = 1 ]; then
            run -s "$seed" -k 3 -t "$us" -c "$cut"
            is_good 3 -s "$seed" -k 3 -t "$us" -c "$cut"
        else
            run -c "$cut" -L "$list"
            is_good 3 -c "$cut" -L "$list"
        fi
    done
    echo "$row: put back from newer copies $((newer - row_newer)) times"
    row_newer=$newer
done
# Threads that hand too many locks to each other: recording ends, and a line says so; nothing else happens.
row=barriers closed=0
export FT_TEST_LOCKS=10
for i in 1 2 3 4 5 6; do
    run -s "$i" -k 1 -t 60000
    if grep -qx 'closed: a thread of it is handed locks by others more than 100000 times a second' out; then
        closed=$((closed + 1))
    elif ! tail -n 1 err | grep -q '^code 0 .* lost 0$'; then
        bad=$((bad + 1))
        echo "FAIL: too many locks: $code" && cat err
    fi
done
[ "$closed" != 0 ] || { bad=$((bad + 1)) && echo "FAIL: too many locks end no recording"; }

echo "$runs runs, $kills kills, put back from snapshot zero $zero times, from newer copies $newer times, $bad wrong"
[ "$bad" = 0 ] && [ "$zero" != 0 ] && [ "$newer" -gt $# ]
