#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The manual pages: no warning when they are formatted, no page mentioned that is not there, nothing left out that the programs have.
# shellcheck disable=SC2154,SC2013 # make check sets top_srcdir and top_builddir
set -u
command -v man >/dev/null || { echo "man is missing: apt-get install man-db" && exit 77; }
failed=0
fail() { echo "FAIL: $*" && failed=1; }
docs=$top_srcdir/docs
tmp=$(mktemp -d) || exit 99
trap 'rm -rf "$tmp"' EXIT

for page in "$docs"/*.[1-8]; do
    name=$(basename "$page")
    # a page that is another's name is formatted where man looks for the other
    case $name in ftmpicxx.1) grep -q '^\.so man1/ftmpicc\.1$' "$page" || fail "$name is no other name of ftmpicc.1" && continue ;; esac
    MANWIDTH=80 LC_ALL=C.UTF-8 man --warnings -l "$page" >"$tmp/$name" 2>"$tmp/warnings" || fail "$name: man: exit code $?"
    [ ! -s "$tmp/warnings" ] || fail "$name: $(cat "$tmp/warnings")"
    [ "$(wc -l <"$tmp/$name")" -gt 30 ] || fail "$name: hardly anything in it"
    for other in $(grep -oE 'ft[a-z_+]+\([1-8]\)' "$tmp/$name" | sort -u | sed 's/(\(.\))/.\1/'); do
        [ -e "$docs/$other" ] || fail "$name mentions $other, which is not there"
    done
done

# says PAGE WORD: the words of the page as people see it
says() { tr -s ' \n' ' ' <"$tmp/$1" | sed 's/‐ //g; s/‐/-/g; s/−/-/g' | grep -qF -e "$2" || fail "$1 does not mention $2"; }
for function in $(grep -oE 'MPIX_[A-Za-z_]+' "$top_srcdir/mpi_shim/ftmpi.h" | sort -u); do says ftmpi.7 "$function"; done
for flag in $("$top_builddir/ftmpicc" -showme:help | sed -n 's/^  \(-[a-z:-]*\).*/\1/p'); do says ftmpicc.1 "$flag"; done
for flag in $("$top_builddir/ftmpi_info" --help | grep -oE -e ' --[a-z]+' | sort -u); do says ftmpi_info.1 "$flag"; done
for variable in $(sed -n '/others\[\] = {/,/}/p' "$top_srcdir/launcher/options/configure.c" | grep -oE 'FTMPI_[A-Z_]+'); do
    says ftmpi.7 "$variable"
done
exit $failed
