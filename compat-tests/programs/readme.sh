#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# README.md's example, word for word: in the build tree and against an installation, and with one rank killed as it says.
# shellcheck disable=SC2154 # what is not assigned here is by: uses stage
set -u
. "$(dirname "$0")/../lib/test.sh"
needs gcc
readme=$top_srcdir/README.md
unset MAKEFLAGS MAKELEVEL # make check's

# The top directory as the README's reader sees it.
mkdir "$tmp/top" && cd "$tmp/top" || exit 99
ln -s "$top_srcdir/mpi_shim" mpi_shim
ln -s "$top_builddir" build
ln -s "$top_srcdir/examples" examples

# block HEADING N: the Nth indented block below that heading
block() { awk -v heading="## $1" -v n="$2" '/^## / {on = $0 == heading} on && /^    / {if (!in_block) i++; in_block = 1; if (i == n) print substr($0, 5)} /^[^ ]/ {in_block = 0}' "$readme"; }

block 'A program of your own' 1 >"$tmp/commands"
grep -q '^build/ftrun ' "$tmp/commands" || fail "the example is not where it was"
timeout 120 sh -e "$tmp/commands" >"$tmp/out" 2>"$tmp/err" || fail "the example: exit code $?"
[ "$(cat "$tmp/out")" = 2999997000000 ] || fail "the example prints something else"
[ ! -s "$tmp/err" ] || fail "the example says more: $(cat "$tmp/err")"
[ "$(./sum)" = 0 ] || fail "without ftrun it is not a world of one"

# The one with checkpoints, and what it says about going on.
block 'Checkpoints of its own' 2 >"$tmp/shown"
sed 1d examples/rounds.c | cmp -s - "$tmp/shown" || fail "README.md shows another examples/rounds.c"
block 'Checkpoints of its own' 1 >"$tmp/commands"
grep -q '^build/ftrun .*--ckpt-dir ' "$tmp/commands" || fail "the example with checkpoints is not where it was"
timeout 120 sh -e "$tmp/commands" >"$tmp/out" 2>"$tmp/err" || fail "the example with checkpoints: exit code $?"
grep -qx '1\.[0-9]*e-11' "$tmp/out" || fail "the example with checkpoints prints something else"
cp "$tmp/out" "$tmp/first"
grep '^build/ftrun ' "$tmp/commands" | sed 's/--ckpt-dir/--resume &/' | sh >"$tmp/out" 2>"$tmp/err" || fail "it cannot be resumed: exit code $?"
cmp -s "$tmp/out" "$tmp/first" || fail "resumed, it prints something else"
! quick || finish

# One of its processes is killed, once it is under way.
build/ftrun -n 4 -v ./sum >"$tmp/out" 2>"$tmp/err" &
front=$!
victim=
while [ -z "$victim" ] && kill -0 $front 2>/dev/null; do
  # ranks are children of ftrun's second process; no newline ends these files
  for second in $(cat /proc/$front/task/*/children); do
    for pid in $(cat "/proc/$second"/task/*/children 2>/dev/null); do
      # the oldest: later ones may be snapshots
      [ -n "$victim" ] || [ "$(cat "/proc/$pid/comm" 2>/dev/null)" != sum ] || victim=$pid
    done
  done
done
sleep 0.1
kill -KILL "$victim" || fail "no process to kill"
wait $front || fail "with a rank killed: exit code $?"
[ "$(cat "$tmp/out")" = 2999997000000 ] || fail "with a rank killed it prints something else"
grep -q 'restart 1$' "$tmp/err" || fail "nobody was restarted"

# The commands for an installation, which is elsewhere here.
block 'By hand' 2 >"$tmp/commands"
grep -q '^ftrun ' "$tmp/commands" || fail "the commands for an installation are not where they were"
uses stage
ln -s "$prefix" "$tmp/installed"
sed -i "s|/usr/local|$tmp/installed|g" "$tmp/commands"
PATH=$tmp/installed/bin:$PATH timeout 120 sh -e "$tmp/commands" >"$tmp/out" 2>"$tmp/err" || fail "installed: exit code $?"
[ "$(cat "$tmp/out")" = 2999997000000 ] || fail "installed, it prints something else"
readelf -d sum | grep -q "$prefix/lib" || fail "the program is not linked with what is installed"

[ $failed = 0 ] || tail -n 20 "$tmp/out" "$tmp/err"
finish
