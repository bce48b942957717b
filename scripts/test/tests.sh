#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# compat-tests/README.md is true: every word of the shell library is in it, no test gives one
# another meaning; every knob that a test reads is in its table, and no other. And a seed that is
# the time shows what this second does, not what this tree does.
# shellcheck disable=SC2013,SC2016
src=$(cd "${top_srcdir:-.}" && pwd)
readme=$src/compat-tests/README.md
tmp=$(mktemp -d) || exit 99
trap 'rm -rf "$tmp"' EXIT
failed=0
fail() { echo "FAIL: $*" && failed=1; }
find "$src/compat-tests" "$src/scripts/test" "$src/scripts/run-test.sh" "$src/ft/test" "$src/ft/outcome" "$src/ft/model" \( -name '*.sh' -o -name '*.py' \) \
    ! -path '*/scripts/test/tests.sh' >"$tmp/tests"
[ "$(wc -l <"$tmp/tests")" -ge 90 ] || fail "only $(wc -l <"$tmp/tests") tests"

# Words: of test.sh, and of its parts.
words() { sed -n 's/^\([a-z_]*\)() .*/\1/p' "$@"; }
for word in $(words "$src/compat-tests/lib/test.sh"); do
    grep -q "^| .*\`\([^\`|]* \)*${word}[ \`]" "$readme" || fail "README.md does not have $word"
    grep -v /compat-tests/lib/ "$tmp/tests" | xargs grep -lE "^[[:space:]]*$word\(\) " |
        grep /compat-tests/ && fail "these define $word, which is the library's"
done
for part in $(sed -n 's/^| `uses \([a-z]*\)`.*/\1/p' "$readme"); do
    [ -e "$src/compat-tests/lib/$part.sh" ] || fail "README.md has $part, the library does not"
done
for part in "$src"/compat-tests/lib/*.sh; do
    name=$(basename "$part" .sh)
    case $name in test | launch) continue ;; esac
    grep -q "^| \`uses $name\`" "$readme" || fail "README.md does not have uses $name"
done
for name in $(sed -n 's/^\(def\|class\) \([A-Za-z_]*\).*/\2/p' "$src/compat-tests/lib/ftmpitest.py"); do
    grep -q "^| .*\`${name}[(\`]" "$readme" || fail "README.md does not have ftmpitest.$name"
done

# Knobs: of shell, Python and C. What a test is started with by another one has small letters.
find "$src/compat-tests" "$src/ft" "$src/launcher" "$src/benchmarks" -name '*.c' >"$tmp/programs"
{
    xargs grep -hoE "\\\$\{?FT_[A-Z]+|env(iron)?(\.get\(|\[|\()['\"]FT_[A-Z]+" <"$tmp/tests"
    xargs grep -hoE 'getenv\("FT_[A-Z]+"\)' <"$tmp/programs"
} | grep -o 'FT_[A-Z]*' | sort -u >"$tmp/read"
sed -n 's/^| `\(FT_[A-Z]*\)` |.*/\1/p' "$readme" | sort -u >"$tmp/told"
comm -23 "$tmp/read" "$tmp/told" | grep . && fail "README.md does not have these knobs"
comm -13 "$tmp/read" "$tmp/told" | grep . && fail "README.md has these knobs, which nobody reads"
[ "$(wc -l <"$tmp/told")" -ge 5 ] || fail "no table of knobs"
xargs grep -nE '(seed|first)=.*date|RANDOM|time_ns\(\) %|SystemRandom|/dev/urandom|random\.(seed|Random)\(\)' <"$tmp/tests" |
    grep -v '/compat-tests/lib/' && fail "seeds that are not FT_SEED"

# Folders: each has its makefile and is in the list.
for folder in "$src"/compat-tests/*/; do
    name=$(basename "$folder")
    [ "$name" = lib ] || [ -e "$folder/local.mk" ] || fail "$name has no local.mk"
    grep -q "\`$name/" "$readme" || fail "README.md does not have $name/"
done
exit $failed
