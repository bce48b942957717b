#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A rank that is killed while it does all kinds of things to files leaves the tree that it would have left, was told the same by
# every call, and a peer outside has seen the same at every message: test/torture.c, by seeds. Killed at random times and at system
# calls (before, after, in the middle of a write), put back from named copies and from snapshot zero.
# FT_SEEDS: how many seeds. FT_SEED: the first one. torture.sh first: ends with the first run that is wrong.
set -u
top=${top_srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
build=$(cd "${top_builddir:-.}" && pwd)
: "$top"
tmp=$(mktemp -d "${TMPDIR:-/tmp}/ftmpi-torture.XXXXXX") || exit 99
trap 'rm -rf "$tmp"' EXIT
trap 'exit 99' INT TERM HUP
first=${FT_SEED:-1}
seeds=${FT_SEEDS:-$([ "${FT_TIER-}" = quick ] && echo 2 || echo 6)}
bad=0
messages=25

# The files that are read by reference must not have been changed for a while: made once for all runs, in as many trees as a batch has.
batch=0
tree_of() { echo "$tmp/trees/$1"; }
make_trees() {
    rm -rf "$tmp/trees"
    for t in $(seq 1 "$1"); do
        mkdir -p "$(tree_of "$t")/t"
        for i in 0 1 2; do
            yes "input $i" | head -c 120000 >"$(tree_of "$t")/t/in$i"
        done
    done
    sleep 3.1
    batch=0
}

# run PRELOAD SEED [OPTION...]: in the next tree, which is then $here. Its last line is in $said.
run() {
    preload=$1 seed=$2
    shift 2
    batch=$((batch + 1))
    here=$(tree_of "$batch")
    cd "$here/t" || exit 99
    FT_TEST_PRELOAD=$preload timeout 150 "$build/outcome_agent" "$@" -P "$build/outcome_torture -peer $seed" \
        "$build/outcome_torture" "$seed" "$messages" >../out 2>../err
    code=$?
    said=$(tail -n 1 ../err)
}

# All that is left: files, kinds, modes, links, lines of the shared file; and the values.
left() {
    cd "$here" || exit 99
    find t -type f -print0 | sort -z | xargs -0 cksum
    find t ! -type d -printf '%P %y %m %n %l\n' | sort
    find t -type d -printf '%P %y %m\n' | sort
    [ ! -e shared.log ] || sort shared.log
    cat out
}

field() { echo "$said" | sed -n "s/.* $1 \([0-9]*\).*/\1/p"; }

# About one torn append of 256 begins as it ends: it is told that nobody knows how much of it is there, which docs/outcomes.md promises. The
# agent here knows no other way back.
is_ambiguous() { case $said in *" lost 1: it was killed while it appended to a file, and how much of that is there cannot be told") ;; *) false ;; esac; }

kills=0 named=0 zero=0 torn=0 runs=0 told=0
modes=5
options() {
    case $1 in
    1) echo "-k 8 -t 5000 -c 3000" ;;
    2) echo "-k 8 -t 3000 -z -c 2000" ;;
    3) echo "-k 12 -p 60 -c 3000" ;;
    4) echo "-k 12 -p 60 -z" ;;
    *) echo "-k 20 -p 12 -c 1500" ;;
    esac
}

library=$build/.libs/liboutcome_test.so
[ -e "$library" ] || exit 77
per_batch=$((seeds < 40 ? seeds : 40))
for seed in $(seq "$first" $((first + seeds - 1))); do
    [ $(((seed - first) % per_batch)) != 0 ] || make_trees $((per_batch * (modes + 1)))
    run "" "$seed"
    left >"$tmp/reference"
    if [ "$code" != 0 ] || ! grep -q values "$tmp/reference"; then
        echo "FAIL: seed $seed, undisturbed: $said" && exit 1
    fi
    for mode in $(seq 1 $modes); do
        # shellcheck disable=SC2046
        run "$library" "$seed" -s "$seed" $(options "$mode")
        left >"$tmp/killed"
        runs=$((runs + 1))
        if is_ambiguous && [ "$told" -lt $((1 + runs / 50)) ]; then
            told=$((told + 1))
            continue
        fi
        if [ "$code" != 0 ] || [ "$(field lost)" != 0 ] || ! cmp -s "$tmp/reference" "$tmp/killed"; then
            echo "FAIL: seed $seed: outcome_agent -s $seed $(options "$mode") outcome_torture $seed $messages: $said"
            diff "$tmp/reference" "$tmp/killed" | head -n 3
            bad=$((bad + 1))
            [ "${1-}" != first ] || exit 1
            continue
        fi
        [ "$(field kills)" = $(($(field named) + $(field zero))) ] || { echo "FAIL: $said" && bad=$((bad + 1)); }
        kills=$((kills + $(field kills)))
        named=$((named + $(field named)))
        zero=$((zero + $(field zero)))
        torn=$((torn + $(field torn)))
    done
done
echo "$runs runs, $kills kills: $named put back from named copies, $zero from snapshot zero, $torn writes torn; $told told, $bad wrong"
[ "$bad" = 0 ] && [ "$named" -gt "$seeds" ] && [ "$zero" -gt "$seeds" ]
