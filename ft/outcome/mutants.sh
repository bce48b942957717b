#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Recorders that break one rule each: torture.sh must find every one, or points.sh if a row is named. A mutant is one substitution in one
# file, linked in the place of the object that ships. mutants.sh TEXT: only those whose description has it.
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
cp "$build/outcome_agent" "$build/outcome_torture" "$build/outcome_calls" "$tmp"
(cd "$tmp/objects" && ar x "$build/.libs/liboutcome.a") || exit 99
cp "$build"/ft/outcome/test/.libs/*start.o "$tmp/objects/start.o"

# search ROW: with the mutant.
search() {
    if [ -n "$1" ]; then
        FT_RUNS=all FT_PAIRS=0 sh "$top/ft/outcome/points.sh" "$1"
    else
        FT_SEEDS=${FT_SEEDS:-12} sh "$top/ft/outcome/torture.sh" first
    fi
}

# mutant TEXT FILE FROM TO [ROW]: FROM is in FILE once.
mutant() {
    case $1 in *"$only"*) ;; *) return ;; esac
    object=$tmp/objects/liboutcome_la-$(basename "$2" .c).o
    [ "$(basename "$2")" != start.c ] || object=$tmp/objects/start.o
    if ! from=$3 to=$4 perl -0pe '$n = s/\Q$ENV{from}\E/$ENV{to}/g; END { exit($n != 1) }' "$top/$2" >"$tmp/mutant.c"; then
        echo "FAIL: $1: its text is not in $2 once" && bad=1 && return
    fi
    cp "$object" "$tmp/kept.o"
    # shellcheck disable=SC2086
    ${CC:-cc} -std=gnu17 -O2 -fPIC -w -D_GNU_SOURCE -U_FORTIFY_SOURCE -Dsyscall=ft_syscall -I"$top" -I"$build" -c -o "$object" "$tmp/mutant.c" &&
        ${CC:-cc} -shared -o "$tmp/.libs/liboutcome_test.so" "$tmp"/objects/*.o "$build/.libs/libft.a" -ldl -lpthread
    linked=$?
    cp "$tmp/kept.o" "$object"
    [ $linked = 0 ] || { echo "FAIL: $1: cannot be built" && bad=1 && return; }
    if (export top_srcdir="$top" top_builddir="$tmp" && search "${5-}") >"$tmp/said" 2>&1; then
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
    'fd = ft_descriptors_stray(is_opened, &(struct opening){dir, name, flags});' 'fd = -1;'
mutant "descriptors that are left are not swept" ft/outcome/record.c 'ft_descriptors_sweep();' ''
mutant "a copy is made before what is left is swept" ft/outcome/record.c \
    'ft_recorder_live(); /* first: the copy' '/* first: the copy'
mutant "an append is written again" ft/outcome/wrap_write.c 'if (end != SENTINEL)' 'if (0)'
mutant "a replayed close takes what is left" ft/outcome/descriptors.c \
    '(struct descriptor){.left = of(fd)->left, .was_open = of(fd)->was_open}' '(struct descriptor){0}'
mutant "a copy has a table of its own" ft/snap/image.c 'CLONE_PARENT | CLONE_FILES' 'CLONE_PARENT'
# Not by these, since their files are too young: "an input that is changed has no copy made" (no ft_recorder_renew in inputs.c). streams.sh finds it.

# At one point of a call only.
mutant "a read does not go back" ft/outcome/wrap_read.c '        if (at >= 0)' '        if (0)' read
mutant "a dup2 that ends a replay is closed" ft/outcome/wrap_descriptor.c \
    'ft_descriptors_add(to); /* first: where' '(void)0; /* first: where' dup
mutant "a read is noted before where it was" ft/outcome/wrap_read.c 'ft_call_note(&c, at, 0);' \
    'if (c.record) { c.record->step = 1; __asm__ volatile("" ::: "memory"); c.record->note[0] = at; }' read
mutant "an attribute that was there is not looked at" ft/outcome/wrap_attributes.c 'EEXIST, again && !c.record->note[0])' 'EEXIST, again)' xattr
mutant "what is in the scratch is sent again" ft/outcome/pipes.c 'if (o->step == SEND) {' 'if (0) {' 'write to a pipe'
exit $bad
