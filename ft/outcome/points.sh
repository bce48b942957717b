#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Each call of calls.table is killed before, inside and after: at every stop of the rank in a call of the system, and after every store
# into its log (test/points.c). Then its successor is, in the replay and after that. What outcome_calls prints, and the files that it
# leaves, are those of the undisturbed run; the copy that is woken is the one that is to be. No kill here is by chance: the points of a
# row are listed first.
#   points.sh [ROW...]   only these
# FT_RUNS: how many points of each row (6, in the quick tier 3), or `all`. FT_PAIRS: how many with a second kill; with `all`, of each point. FT_SEED: which.
set -u
build=$(cd "${top_builddir:-.}" && pwd) source=$(cd "${top_srcdir:-$(dirname "$0")/../..}" && pwd)
library=$build/.libs/liboutcome_test.so
[ -e "$library" ] || exit 77
export FT_TEST_PRELOAD="$library"
tmp=$(mktemp -d "${TMPDIR:-/tmp}/ftmpi-points.XXXXXX") || exit 99
trap 'rm -rf "$tmp"' EXIT
trap 'exit 99' INT TERM HUP
points=${FT_RUNS:-$([ "${FT_TIER-}" = quick ] && echo 2 || echo 4)} pairs=${FT_PAIRS:-1} seed=${FT_SEED:-1}
agent=$build/outcome_agent calls=$build/outcome_calls
runs=0 kills=0 newer=0 zero=0 closed=0 missed=0 bad=0
: >"$tmp/killed" && mkdir "$tmp/t" && umask 022

# Rows in which a timer says how many calls there are: points of them are missed, more the busier the machine is.
by_timer() { case $1 in pause | sem_wait | sigwait) true ;; *) false ;; esac; }

nth_row=0
newer_too() {
    nth_row=$((nth_row + 1))
    [ "${FT_TIER-}" != quick ] || [ -n "${FT_RUNS-}" ] || [ $((nth_row % 4)) = 1 ]
}

# Rows that are killed elsewhere, or cannot be followed by the tests' agent.
elsewhere() {
    case $1 in
    end) true ;;           # every program comes to it
    exec) true ;;          # the new program is not recorded here: compat-tests/snapshot/programs.sh
    pthread_create) true ;; # two threads: relay.sh, locks.sh
    "this user") true ;;   # compat-tests/threads/asks.sh
    siglongjmp) true ;;    # compat-tests/threads/jumps.sh
    random_device) true ;; # of C++: streams.sh, time and chance
    mutex | "mutex, made" | "condition, else" | rwlock | "spin lock" | semaphore | condition | barrier | once | "end of a thread" | OpenMP* | "streams of several threads") true ;; # locks.sh
    *) false ;;
    esac
}

# An input that is read by reference must be old.
head -c 100000 /dev/zero | tr '\0' i >"$tmp/input"
touch -d '1 hour ago' "$tmp/input"

# run ROW OPTION...: in an empty directory. What is left there, and what it printed, is in $left; what the agent says in $tmp/err.
run() {
    row=$1
    shift
    cd "$tmp/t" || exit 99
    if [ $# = 0 ]; then
        "$calls" "$row" >"$tmp/out" 2>"$tmp/err" </dev/null
    else
        "$agent" "$@" "$calls" "$row" >"$tmp/out" 2>"$tmp/err" </dev/null
    fi
    code=$?
    cd "$tmp" || exit 99
    left=$("$calls" -left t out)
}

fail() {
    bad=$((bad + 1))
    echo "FAIL: $row: outcome_agent $options outcome_calls '$row': $1"
    cat "$tmp/err"
    [ "$bad" -lt 20 ] || exit 1
}

# is_good KILLS: it was killed so often, each time put back as the point said, and nobody can tell.
is_good() {
    got=0 from_newer=0 from_zero=0 end='' way=''
    while read -r word where kind state life stop call way of; do
        [ "$word" != code ] || end="$word $where $kind $state $life $stop $call $way $of"
        [ "$word" = killed ] || continue
        got=$((got + 1))
        case $way in newer) from_newer=$((from_newer + 1)) ;; zero) from_zero=$((from_zero + 1)) ;; closed) break ;; esac
        echo "$state $life $stop $of" >>killed
    done <err
    runs=$((runs + 1)) kills=$((kills + got)) newer=$((newer + from_newer)) zero=$((zero + from_zero))
    if [ "$way" = closed ]; then
        closed=$((closed + 1))
        if [ "$code" != 96 ] || ! grep -q '^closed: ' out; then
            fail "code $code, though no way back is left" && return 1
        fi
        return 0
    fi
    case $row.$end in
    posix_spawn.*"by posix_spawn, and whether that runs cannot be told"*) # what the child does before its exec nobody can add to
        closed=$((closed + 1))
        return 0
        ;;
    esac
    by_timer "$row" || missed=$((missed + $1 - got))
    case $end in
    "code 0 kills $got named $from_newer zero $from_zero "*" lost 0") ;;
    *) fail "does not end well" && return 1 ;;
    esac
    [ "$left" = "$expected" ] || {
        fail "is another one than undisturbed"
        echo "$expected" >expected && echo "$left" | diff expected - | head -n 5
        return 1
    }
}

# sample N FILE: so many of its points, as many before a call as after it, and of those made and not recorded; `all`: all of them.
sample() {
    if [ "$1" = all ]; then
        cut -d ' ' -f 1 "$2"
        return
    fi
    awk -v seed=$seed -v n="$1" 'BEGIN { srand(seed) }
        { class = $3 == "done" || $3 == "none" ? "after" : $5 == "leave" ? "inside" : "before"; print rand(), class, $1 }' "$2" | sort -n |
        awk -v n="$1" '{ if (of[$2]++ < n / 3) print $3 }'
}

# second_kills OPTIONS POINT N WHICH: the successor is killed, too, at so many of its points; WHICH: only of these.
second_kills() {
    # shellcheck disable=SC2086
    run "$row" $1 -x "$2" -l "$tmp/list2"
    options="$1 -x $2 -l LIST"
    is_good 1 || return
    grep -E "$4" list2 >list3
    seed=$((seed + 1))
    for second in $(sample "$3" list3 | head -n "$3"); do
        options="$1 -x $2,$second"
        # shellcheck disable=SC2086
        run "$row" $options
        is_good 2
    done
}

# row_under_kills N OPTIONS: at so many points, which are listed; and some of its successors.
row_under_kills() {
    options="$2 -l LIST"
    # shellcheck disable=SC2086
    run "$row" $2 -l "$tmp/list"
    is_good 0 || return
    grep " $row\$" list >of_row
    # Before the newer copy stands all is as without it.
    [ "$1" = all ] || [ -z "$2" ] || ! grep -q " newer " of_row || { grep " newer " of_row >list && mv list of_row; }
    seed=$((seed + 1))
    for point in $(sample "$1" of_row); do
        options="$2 -x $point"
        # shellcheck disable=SC2086
        run "$row" $options
        is_good 1 || continue
        [ "$1" != all ] || [ "$pairs" = 0 ] || [ "$way" = closed ] || second_kills "$2" "$point" "$pairs" .
    done
    grep -v ' closed ' of_row >not_closed
    if [ -z "$2" ]; then # the row is gone through again if the first kill is at its end
        for back in 1 3 6 10 15 21; do # the last may be missed (by_timer): then one before it
            second_kills "" "$(tail -n $back not_closed | head -n 1 | cut -d ' ' -f 1)" "$pairs" " replay .* $row\$"
            if [ "$pairs" = 0 ] || grep -qE "^[a-z]* replay .*$row\$" killed; then break; fi
        done
    else
        second_kills "$2" "$(sample 1 not_closed | head -n 1)" "$pairs" .
    fi
}

"$calls" -rows >"$tmp/rows"
[ $# = 0 ] || printf '%s\n' "$@" | sed 's/$/|/' >"$tmp/rows"
while IFS='|' read -r row closes <&3; do
    run "$row"
    [ "$code" = 0 ] || { echo "FAIL: $row, undisturbed: $code" && exit 1; }
    expected=$left
    n=$points
    if [ "$n" != all ] && by_timer "$row"; then n=$((n * 5)); fi
    row_under_kills "$n" ""
    # A newer copy, made within the row; in the quick tier of every fourth row.
    newer_too || continue
    [ -n "$closes" ] || {
        last=$(tail -n 1 "$tmp/of_row" | cut -d . -f 1)
        row_under_kills "$([ "$points" = all ] && echo all || echo 3)" "-C $((last * (seed / 4 % 4) / 4 + 1))"
    }
done 3<"$tmp/rows"

# No row is left out. Of what comes again by itself there is no record.
hit() { grep -qE "^$2 .*$1\$" "$tmp/killed" || { bad=$((bad + 1)) && echo "FAIL: $1: never killed $3"; }; }
[ $# != 0 ] || grep -v '^#' "$source/ft/outcome/calls.table" | grep . | sed 's/ *|.*//' >"$tmp/table"
[ $# != 0 ] || while read -r row; do
    elsewhere "$row" && continue
    hit "$row" "[a-z]* live [a-z]*" "live"
    if [ "$points" != all ] && by_timer "$row"; then continue; fi # a sample may miss any of these
    case $row in "a signal" | clone | syscall | "descriptors of other kinds" | raise) continue ;; esac # all from there on is told, or nothing is recorded
    [ "$pairs" = 0 ] || hit "$row" "[a-z]* replay [a-z]*" "in a replay"
    case $row in getpid | "a signal" | sigprocmask) continue ;; esac
    hit "$row" "(begun|noted) live (enter|store)" "before a call was made"
    hit "$row" "(begun|noted) live leave" "when a call was made and not recorded"
    hit "$row" "done live [a-z]*" "when a call was recorded"
done <"$tmp/table"
echo "$runs runs, $kills kills: $newer put back from newer copies, $zero from snapshot zero, $closed told that no way is left; $missed points not reached, $bad wrong"
[ "$bad" = 0 ] && [ $missed -le $((1 + runs / 100)) ]
