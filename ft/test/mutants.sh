#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Every seeded mutant of the engine is caught by an explorer.
set -u
src=${top_srcdir:-.}
build=${top_builddir:-.}
[ "$(uname -m)" = x86_64 ] || { echo "mutants: the explorer needs x86-64"; exit 77; }
cc=${CC:-cc}
obj=$(mktemp) || exit 2
trap 'rm -f "$obj" "$obj".*' EXIT
test=$src/ft/test
# object NAME FILE...: these in one.
object() {
  name=$1
  shift
  $cc -std=gnu17 -O2 -D_GNU_SOURCE -I"$src" -r -nostdlib -o "$obj.$name.o" "$@" "$test/search.c" "$test/coroutine.c" "$test/points.c" || exit 1
}
object explore "$test/explore.c" "$test/sched.c" "$test/program.c" "$test/second.c" "$test/versions.c" "$test/once.c" "$test/letters.c" "$test/letters_program.c" "$test/carried.c" \
  "$test/agent.c"
object apart "$test/apart.c" "$test/apart_sched.c" "$test/apart_wire.c" "$test/apart_program.c" "$test/apart_second.c"
object order "$test/order.c"
# As many at a time as there are processors.
n=$(nproc)
failed=0
pids=
# shellcheck disable=SC2086
for i in $(seq 0 $((n - 1))); do
  FT_SHARE=$i/$n perl "$src/ft/test/mutants.pl" "$src" "$build/.libs/libft.a" "$obj.explore.o" "$obj.apart.o" "$obj.order.o" $cc -std=gnu17 >"$obj.$i" 2>&1 &
  pids="$pids $!"
done
for pid in $pids; do wait "$pid" || failed=1; done
cat "$obj".[0-9]*
[ $failed != 0 ] || [ -n "${FT_MUTANTS-}" ] || echo "searched whole"
exit $failed
