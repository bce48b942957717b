#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What comes out of sockets after the handshake, on arbitrary bytes: by libFuzzer where clang has it, else only by the plain driver.
# FUZZ_SECONDS: each (default 4).
set -u
src=${top_srcdir:-.}
build=${top_builddir:-.}
seconds=${FUZZ_SECONDS:-4}
[ -z "${FTMPI_TEST_QUICK-}" ] || seconds=1
tmp=$(mktemp -d) || exit 99
trap 'rm -rf "$tmp"' EXIT

timeout -k 5 120 "$build/launcher/test/fuzz_wire_plain" "$seconds" || { echo "FAIL: fuzz_wire_plain: exit code $?"; exit 1; }

clang=${FUZZ_CC:-clang}
if ! command -v "$clang" >/dev/null ||
  ! printf 'int LLVMFuzzerTestOneInput(const char *d, long n) { return d && n < 0; }' >"$tmp/t.c" ||
  ! "$clang" -fsanitize=fuzzer,address -o "$tmp/t" "$tmp/t.c" 2>/dev/null; then
  echo "no clang with libFuzzer: the plain driver only (apt-get install clang)"
  exit 0
fi
# What looks at the bytes is instrumented; the rest comes out of the library.
# shellcheck disable=SC2046
"$clang" -std=gnu17 -O1 -g -D_GNU_SOURCE -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined -I"$src" -I"$build" -o "$tmp/fuzz" \
  "$src/launcher/test/fuzz_wire.c" "$src/launcher/wire.c" "$src/launcher/greeting.c" "$src/ft/shm/transfer.c" "$src/ft/shm/log.c" "$build/.libs/libft.a" \
  $(pkg-config --cflags --libs libxxhash jansson) -lpthread || { echo "FAIL: the fuzz target does not compile"; exit 1; }
mkdir "$tmp/corpus"
"$build/launcher/test/fuzz_wire_plain" seeds "$tmp/corpus" || exit 1
cd "$tmp" || exit 99
timeout -k 5 120 "$tmp/fuzz" -max_total_time="$seconds" -max_len=8192 -rss_limit_mb=4096 -verbosity=0 -print_final_stats=1 "$tmp/corpus" >"$tmp/log" 2>&1
code=$?
grep -E 'stat::(number_of_executed_units|new_units_added)' "$tmp/log"
[ $code = 0 ] || { tail -40 "$tmp/log"; echo "FAIL: libFuzzer: exit code $code"; exit 1; }
