#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# ftrun --help: fits a terminal of 80 columns, and has the groups, options and examples of ftrun.1, no more and no less.
. "$(dirname "$0")/../lib/test.sh"
cd "$tmp" || exit 99
run --help
expect_code 0
expect_err_lines 0
awk 'length >= 80' out | grep . && fail "$what: lines of 80 columns and more"
sed 's/\\-/-/g; s/\\&//g; s/\\f[A-Z]//g' "$top_srcdir/docs/ftrun.1" >manual
sed -n '/^\.SH OPTIONS/,/^\.SH CONFIGURATION/p' manual >options

# Options: in the first column there, in the line after .TP here.
words() { grep -oE '(^|[ "[(])--?[A-Za-z][A-Za-z-]*' | tr -d ' "[(' | sort -u; }
sed -n 's/^  \(-.*\)$/\1/p' out | sed 's/   *.*//' | words >in_help
grep -A 1 '^\.TP' options | grep '^\.B' | words >in_man
words <out >named_in_help
[ "$(wc -l <in_help)" -gt 60 ] || fail "$what: $(wc -l <in_help) options only"
comm -23 in_help in_man | grep . && fail "options that ftrun.1 does not have"
comm -13 named_in_help in_man | grep . && fail "options that ftrun --help does not have"

# Groups, in the same order. (That of old spellings has another name there, as it explains them.)
sed -n 's/^\([A-Z][^.]*\):$/\1/p' out | grep -v -e '^Examples$' -e '^Accepted' >groups
sed -n 's/^\.SS //p' options | grep -v '^Accepted' | cmp -s - groups || { fail "other groups than in ftrun.1"; cat groups; }

# Examples: all of them are there, and ftrun takes each of them but for its program.
sed -n '/^Examples:/,/^$/s/^  \(ftrun .*\)/\1/p' out >examples
[ "$(wc -l <examples)" -ge 4 ] || fail "$what: $(wc -l <examples) examples"
sed -n '/^\.SH EXAMPLES/,$p' manual >examples_in_man
while read -r example; do
    grep -qxF -e "$example" examples_in_man || fail "ftrun.1 does not have the example $example"
    case $example in
    *' ./program'*)
        options=${example#ftrun }
        # shellcheck disable=SC2086
        run --version ${options%./program*} true
        expect_code 0
        ;;
    esac
done <examples

# The help of the commands fits, too; a misspelt option says what is near.
run list --help
expect_code 0
awk 'length >= 80' out | grep . && fail "$what: lines of 80 columns and more"
for option in --watch --json; do grep -q -e "$option" out || fail "$what: no $option"; done
run --hlep
expect_code 2
expect_err 'did you mean --help'
finish
