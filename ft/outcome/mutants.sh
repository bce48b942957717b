#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Recorders that break one rule each: torture.sh must find every one. A mutant is one substitution in one file, linked in the place of
# the object that ships. mutants.sh TEXT: only those whose description has it.
# shellcheck disable=SC2016
set -u
top=$(cd "${top_srcdir:-$(dirname "$0")/../..}" && pwd)
build=$(cd "${top_builddir:-.}" && pwd)
command -v perl >/dev/null || exit 77
[ -e "$build/.libs/liboutcome_test.so" ] || exit 77
tmp=$(mktemp -d "${TMPDIR:-/tmp}/ftmpi-outcome-mutants.XXXXXX") || exit 99
trap 'rm -rf "$tmp"' EXIT
trap 'exit 99' INT TERM HUP
bad=0
only=${1-}
mkdir "$tmp/.libs" "$tmp/objects"
cp "$build/outcome_agent" "$build/outcome_torture" "$tmp"
cp "$build"/ft/outcome/.libs/liboutcome_la-*.o "$tmp/objects"
cp "$build"/ft/outcome/test/.libs/*start.o "$tmp/objects/start.o"

# mutant TEXT FILE FROM TO: FROM is in FILE once.
mutant() {
    case $1 in *"$only"*) ;; *) return ;; esac
    object=$tmp/objects/liboutcome_la-$(basename "$2" .c).o
    [ "$(basename "$2")" != start.c ] || object=$tmp/objects/start.o
    if ! from=$3 to=$4 perl -0pe '$n = s/\Q$ENV{from}\E/$ENV{to}/g; END { exit($n != 1) }' "$top/$2" >"$tmp/mutant.c"; then
        echo "FAIL: $1: its text is not in $2 once" && bad=1 && return
    fi
    cp "$object" "$tmp/kept.o"
    # shellcheck disable=SC2086
    ${CC:-cc} -std=gnu17 -O2 -fPIC -w -D_GNU_SOURCE -U_FORTIFY_SOURCE -I"$top" -I"$build" -c -o "$object" "$tmp/mutant.c" &&
        ${CC:-cc} -shared -o "$tmp/.libs/liboutcome_test.so" "$tmp"/objects/*.o "$build/.libs/libft.a" -ldl -lpthread
    linked=$?
    cp "$tmp/kept.o" "$object"
    [ $linked = 0 ] || { echo "FAIL: $1: cannot be built" && bad=1 && return; }
    if top_srcdir=$top top_builddir=$tmp FT_SEEDS=${FT_SEEDS:-12} sh "$top/ft/outcome/torture.sh" first >"$tmp/said" 2>&1; then
        echo "FAIL: not found: $1" && bad=1
    else
        echo "found: $1: $(grep -m 1 FAIL "$tmp/said" | cut -c 1-150)"
    fi
}

mutant "what a rename was of is not looked at" ft/outcome/wrap_names.c \
    'else if (was_renamed(&c, dir, from, todir, to, flags))' 'else if (0)'
mutant "what a removal was of is not looked at" ft/outcome/wrap_names.c \
    'else if (c.record->note[0] && name_id(dir, name) != c.record->note[0])' 'else if (0)'
mutant "what was there before a mkdir is not looked at" ft/outcome/wrap_names.c \
    'else if (!c.record->note[0] && is_made(dir, name, kind))' 'else if (0)'
mutant "an open is made again whatever there is" ft/outcome/wrap_open.c \
    'fd = ft_descriptors_stray(is_opened, &flags);' 'fd = -1;'
mutant "descriptors that are left are not swept" ft/outcome/record.c 'ft_descriptors_sweep();' ''
mutant "a copy is made before what is left is swept" ft/outcome/record.c \
    'ft_recorder_live(); /* a copy' '/* a copy'
mutant "an append is written again" ft/outcome/wrap_write.c 'if (end != SENTINEL)' 'if (0)'
mutant "a read does not go back" ft/outcome/wrap_read.c 'if (c.record->step && at >= 0)' 'if (0)'
mutant "offsets counted before a copy are believed" ft/outcome/descriptors.c 'table[fd].at = -1; /* the' '/* the'
mutant "a replayed close takes what is left" ft/outcome/descriptors.c '(struct descriptor){.left = of(fd)->left}' '(struct descriptor){0}'
mutant "a copy has a table of its own" ft/outcome/copies.c 'CLONE_PARENT | CLONE_FILES' 'CLONE_PARENT'
mutant "an input that is changed has no copy made" ft/outcome/inputs.c 'ft_recorder.cut_now();' ''
exit $bad
