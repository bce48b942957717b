#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What comes out of sockets after the handshake, on arbitrary bytes: fuzz_wire (agents, controller) and fuzz_frames (representatives). By
# the plain drivers; with FT_TIER=full, or FUZZ_SECONDS, also by libFuzzer, where clang has it. FUZZ_SECONDS: each (default 2; 20 in full).
set -u
src=${top_srcdir:-.}
build=${top_builddir:-.}
seconds=${FUZZ_SECONDS:-2}
[ -z "${FTMPI_TEST_QUICK-}" ] || seconds=1
tmp=$(mktemp -d) || exit 99
trap 'rm -rf "$tmp"' EXIT

timeout -k 5 120 "$build/launcher/test/fuzz_wire_plain" "$seconds" || { echo "FAIL: fuzz_wire_plain: exit code $?"; exit 1; }
timeout -k 5 120 "$build/fuzz_frames_plain" "$seconds" || { echo "FAIL: fuzz_frames_plain: exit code $?"; exit 1; }
[ "${FT_TIER-}" = full ] || [ -n "${FUZZ_SECONDS-}" ] || exit 0
seconds=${FUZZ_SECONDS:-20}

clang=${FUZZ_CC:-clang}
if ! command -v "$clang" >/dev/null ||
  ! printf 'int LLVMFuzzerTestOneInput(const char *d, long n) { return d && n < 0; }' >"$tmp/t.c" ||
  ! "$clang" -fsanitize=fuzzer,address -o "$tmp/t" "$tmp/t.c" 2>/dev/null; then
  echo "no clang with libFuzzer: the plain drivers only (apt-get install clang)"
  exit 0
fi

# fuzz NAME SEEDS SOURCE...: what looks at the bytes is instrumented, the rest comes out of the library. (pointer-overflow: NULL + 0.)
fuzz() {
  name=$1 seeds=$2
  shift 2
  # shellcheck disable=SC2046
  "$clang" -std=gnu17 -O1 -g -D_GNU_SOURCE -fsanitize=fuzzer,address,undefined -fno-sanitize=pointer-overflow \
    -fno-sanitize-recover=undefined -I"$src" -I"$build" -o "$tmp/$name" "$@" "$build/.libs/libft.a" \
    $(pkg-config --cflags --libs libxxhash jansson) -lpthread || { echo "FAIL: $name does not compile"; exit 1; }
  mkdir "$tmp/$name.corpus"
  "$seeds" seeds "$tmp/$name.corpus" || exit 1
  (cd "$tmp" && timeout -k 5 300 "./$name" -max_total_time="$seconds" -max_len=8192 -verbosity=0 -print_final_stats=1 "$name.corpus") >"$tmp/log" 2>&1
  code=$?
  grep -E 'stat::(number_of_executed_units|new_units_added)' "$tmp/log"
  [ $code = 0 ] || { tail -40 "$tmp/log"; echo "FAIL: $name: exit code $code"; exit 1; }
}
fuzz fuzz_wire "$build/launcher/test/fuzz_wire_plain" "$src/launcher/test/fuzz_wire.c" "$src/launcher/wire.c" "$src/launcher/greeting.c" \
  "$src/ft/shm/transfer.c" "$src/ft/shm/log.c"
fuzz fuzz_frames "$build/fuzz_frames_plain" "$src/ft/test/fuzz_frames.c" "$src/ft/net/links.c" "$src"/ft/core/*.c "$src/ft/base/sig.c"
