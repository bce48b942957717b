# SPDX-License-Identifier: BSD-3-Clause
# Searching a model exhaustively, for the scripts that say which: release.sh, checkpoint.sh, cache.sh, links.sh. They set
# model, and broken_base: the flags that all its broken variants are searched with, and define sound_all and broken_all.
# shellcheck shell=sh disable=SC2154,SC2094
set -u
here=$(cd "$(dirname "$0")" && pwd) || exit 99
cc=${CC:-cc}
# Most searches are over before they are compiled: clang takes half as long for that.
quick_cc=$(command -v clang) || quick_cc=$cc
command -v spin >/dev/null || { echo "$model: no spin"; exit 77; }
tmp=$(mktemp -d "${TMPDIR:-/tmp}/ftmpi-model.XXXXXX") || exit 99
trap 'rm -rf "$tmp"' EXIT
trap 'exit 99' INT TERM HUP
cd "$tmp" || exit 99
cp "$here/$model.pml" . || exit 99
failed=0
only=
breadth="-O0 -DSAFETY -DBFS"

# search "SPIN FLAGS" "CC FLAGS" "PAN FLAGS": leaves out, and the story of an error in story. 1: there is an error,
# 2: the search was not completed or could not be made.
# shellcheck disable=SC2086
search() {
    rm -f pan ./*.trail story
    compiler=$cc
    [ "$2" != "$breadth" ] || compiler=$quick_cc
    spin -DSTORY $1 -a "$model.pml" >out 2>&1 && $compiler -w -DMEMLIM=2500 $2 -o pan pan.c >out 2>&1 || return 2
    ./pan -m100000 $3 >out 2>&1
    if [ -f "$model.pml.trail" ]; then
        ./pan -r -n 2>&1 | sed '/^spin: trail ends/,$d; /^pan:/d' >story
        return 1
    fi
    grep -q 'errors: 0' out && ! grep -q -e 'not completed' -e 'out of memory' -e 'too small' out || return 2
}

states() { awk '/states, stored/ { print $1; exit }' out; }

# sound "WHAT" FLAGS...: nothing goes wrong.
sound() {
    what=$1
    shift
    start=$(date +%s)
    if search "$@"; then
        echo "ok: $what: $(states) states, all fine ($(($(date +%s) - start)) s)"
    else
        echo "FAIL: $what:"
        cat story 2>/dev/null || tail -n 20 out
        grep -e 'assertion violated' -e 'end state (' -e 'cycle (' out
        failed=1
    fi
}

# broken NAME "FLAGS" "REASON": goes wrong for that reason. "hang": not everybody ends, and nothing can happen any more.
broken() {
    case " ${only:-$1} " in *" $1 "*) ;; *) return ;; esac
    search "$broken_base -D$1 $2" "$breadth" "-w18"
    code=$?
    reason=$(tail -n 1 story 2>/dev/null)
    grep -q 'invalid end state (' out && reason=hang
    [ -z "$only" ] || cat story
    if [ $code = 1 ] && [ "$reason" = "$3" ]; then
        echo "ok: $1 is rejected: $reason"
    else
        echo "FAIL: $1 is not rejected with \"$3\" (code $code): $reason"
        failed=1
    fi
}

# seen NUMBER "WHAT" "FLAGS": the search does get to see what it is about.
seen() {
    search "${3-$broken_base} -DSEEK=$1" "$breadth" "-w18"
    [ $? = 1 ] && return
    echo "FAIL: never seen: $2"
    failed=1
}

# check_all [NAME...]: both halves at a time, each in a directory of its own. With names: these broken variants, and the story of
# how each goes wrong.
check_all() {
    only=$*
    case ${model_half-} in
    sound) sound_all; exit $failed ;;
    broken) broken_all; exit $failed ;;
    esac
    if [ -n "$only" ]; then
        broken_all
        exit $failed
    fi
    model_half=sound sh "$here/$model.sh" >sound &
    model_half=broken sh "$here/$model.sh" >broken || failed=1
    wait $! || failed=1
    cat sound broken
    [ $failed != 0 ] || [ "${FT_TIER:-normal}" = quick ] || echo "searched whole"
    exit $failed
}
