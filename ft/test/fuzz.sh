#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Bytes from outside, whatever they are: checkpoint files (fuzz_checkpoint), what agents and controller read from sockets
# after the handshake (fuzz_wire), what representatives do (fuzz_frames), checkpoints that another node sends (fuzz_kept).
# By the plain drivers, all at a time; then, where clang has it, by libFuzzer. The corpus of each, ft/test/corpus/NAME, goes
# before all else. So many inputs, always the same ones, and libFuzzer for the checkpoints only. FT_TIER=full, FT_SECONDS,
# or arguments (only these targets): all by libFuzzer, too, each FT_SECONDS (20) long; the seed is any, is printed, and
# FT_SEED says it. FT_KEEP=1: what libFuzzer found that goes new ways is added to the corpus.
set -u
src=${top_srcdir:-.}
build=${top_builddir:-.}
names=${*:-fuzz_checkpoint fuzz_wire fuzz_frames fuzz_kept}
search=$names
seed=${FT_SEED:-$$} # any
seconds=${FT_SECONDS:-20}
how_long="-max_total_time=$seconds"
# As many as there were in three seconds on two processors that had nothing else to do; in the quick tier a third.
share=1
[ "${FT_TIER-}" != quick ] || share=3
if [ "${FT_TIER-}" != full ] && [ -z "${FT_SECONDS-}" ] && [ $# = 0 ]; then
  search=fuzz_checkpoint
  seconds=
  seed=${FT_SEED:-1}
  how_long="-runs=$((100000 / share))"
fi
inputs() {
  [ -z "$seconds" ] || { echo "${seconds}s"; return; }
  case $1 in
    fuzz_checkpoint) echo $((700000 / share)) ;;
    fuzz_wire) echo $((80000 / share)) ;;
    *) echo $((5000 / share)) ;;
  esac
}
echo "FT_SEED=$seed"
tmp=$(mktemp -d) || exit 99
trap 'rm -rf "$tmp"' EXIT
trap 'exit 99' INT TERM HUP

failed=0
for name in $names; do
  {
    "$build/${name}_plain" kept "$src/ft/test/corpus/$name" && timeout -k 5 120 "$build/${name}_plain" "$(inputs "$name")" "$seed"
    echo $? >"$tmp/$name.code"
  } >"$tmp/$name.log" 2>&1 &
done
wait
for name in $names; do
  cat "$tmp/$name.log"
  [ "$(cat "$tmp/$name.code")" = 0 ] || { echo "FAIL: ${name}_plain: exit code $(cat "$tmp/$name.code")"; failed=1; }
done
[ $failed = 0 ] || exit 1
# libFuzzer's programs have sanitizers of their own: one build's are as good as another's.
[ -z "${sanitized-}" ] || exit 0

clang=${FT_CLANG:-clang}
if ! command -v "$clang" >/dev/null ||
  ! printf 'int LLVMFuzzerTestOneInput(const char *d, long n) { return d && n < 0; }' >"$tmp/t.c" ||
  ! "$clang" -fsanitize=fuzzer,address -o "$tmp/t" "$tmp/t.c" 2>/dev/null; then
  echo "no clang with libFuzzer: the plain drivers only (apt-get install clang)"
  exit 0
fi

# fuzz NAME SOURCE...: what looks at the bytes is instrumented, the rest comes out of the library. (pointer-overflow: NULL + 0.)
fuzz() {
  name=$1
  shift
  # shellcheck disable=SC2046
  "$clang" -std=gnu17 -O1 -g -D_GNU_SOURCE -fsanitize=fuzzer,address,undefined -fno-sanitize=pointer-overflow \
    -fno-sanitize-recover=undefined -I"$src" -I"$build" -o "$tmp/$name" "$@" "$build/.libs/liblaunch.a" "$build/.libs/libftstore.a" \
    "$build/.libs/libft.a" $(pkg-config --cflags --libs libxxhash jansson libevent_core) -lpthread || { echo "FAIL: $name does not compile"; exit 1; }
  mkdir "$tmp/$name.corpus"
  "$build/${name}_plain" seeds "$tmp/$name.corpus" && "$build/${name}_plain" kept "$src/ft/test/corpus/$name" "$tmp/$name.corpus" || exit 1
  (cd "$tmp" && timeout -k 5 300 "./$name" "$how_long" -seed="$seed" -max_len=8192 -verbosity=0 -print_final_stats=1 "$name.corpus") >"$tmp/log" 2>&1
  code=$?
  grep -E 'stat::(number_of_executed_units|new_units_added)' "$tmp/log"
  [ $code = 0 ] || { tail -40 "$tmp/log"; echo "FAIL: $name: exit code $code"; exit 1; }
  [ -z "${FT_KEEP-}" ] || keep_corpus
}
keep_corpus() {
  mkdir "$tmp/$name.least"
  (cd "$tmp" && timeout 300 "./$name" -merge=1 -max_len=512 -verbosity=0 "$name.least" "$name.corpus") >"$tmp/log" 2>&1 || { tail -40 "$tmp/log"; exit 1; }
  perl -e 'for (@ARGV) { open my $f, "<:raw", $_ or die "$_: $!\n"; local $/; print unpack("H*", <$f>), "\n" }' "$tmp/$name.least"/* | LC_ALL=C sort -u >"$src/ft/test/corpus/$name"
}
for name in $search; do
  case $name in
    fuzz_checkpoint) fuzz "$name" "$src/ft/store/fuzz_checkpoint.c" "$src/ft/store/ckpt_header.c" "$src/ft/store/ckpt_file.c" \
      "$src/ft/base/err.c" "$src/ft/base/util.c" ;;
    fuzz_wire) fuzz "$name" "$src/launcher/wire/fuzz_wire.c" "$src/launcher/wire/wire.c" "$src/launcher/wire/calls.c" "$src/launcher/wire/store.c" "$src/ft/base/value.c" "$src/launcher/report/wire.c" "$src/launcher/wire/greeting.c" \
      "$src/ft/shm/transfer.c" "$src/ft/shm/log.c" ;;
    fuzz_frames) fuzz "$name" "$src/ft/test/fuzz_frames.c" "$src/ft/net/links.c" "$src/ft/core/frames.c" "$src/ft/core/exchange.c" \
      "$src/ft/core/tree.c" "$src"/ft/core/nodes*.c "$src/ft/base/sig.c" ;;
    fuzz_kept) fuzz "$name" "$src/launcher/node/fuzz_kept.c" "$src/launcher/node/cargo.c" "$src/launcher/node/kept.c" "$src/launcher/net/parcel.c" "$src/launcher/wire/greeting.c" \
      "$src/launcher/stdio/lines.c" "$src/ft/shm/models.c" "$src/ft/shm/versions.c" ;;
    *) echo "no target $name" && exit 2 ;;
  esac
done
