#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Every seeded mutant of the engine is caught by the explorer.
set -u
src=${top_srcdir:-.}
build=${top_builddir:-.}
[ "$(uname -m)" = x86_64 ] || { echo "mutants: the explorer needs x86-64"; exit 77; }
cc=${CC:-cc}
obj=$(mktemp) || exit 2
trap 'rm -f "$obj" "$obj".*' EXIT
$cc -std=gnu17 -O2 -D_GNU_SOURCE -I"$src" -r -nostdlib -o "$obj.o" \
  "$src/ft/test/explore.c" "$src/ft/test/sched.c" "$src/ft/test/coroutine.c" "$src/ft/test/points.c" "$src/ft/test/program.c" "$src/ft/test/second.c" \
  "$src/ft/test/versions.c" "$src/ft/test/once.c" "$src/ft/test/agent.c" || exit 1
# As many at a time as there are processors.
n=$(nproc)
failed=0
pids=
# shellcheck disable=SC2086
for i in $(seq 0 $((n - 1))); do
  FT_SHARE=$i/$n perl "$src/ft/test/mutants.pl" "$src" "$build/.libs/libft.a" "$obj.o" $cc -std=gnu17 >"$obj.$i" 2>&1 &
  pids="$pids $!"
done
for pid in $pids; do wait "$pid" || failed=1; done
cat "$obj".[0-9]*
[ $failed != 0 ] || [ -n "${FT_MUTANTS-}" ] || echo "searched whole"
exit $failed
