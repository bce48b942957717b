#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# ftmpi_info: every setting with its value and source, in a form for people and one for programs; paths that are there; mistakes.
# shellcheck disable=SC2154 # what is not assigned here is by: uses stage
set -u
. "$(dirname "$0")/../lib/test.sh"
uses stage
export XDG_CONFIG_HOME="$tmp/config"
mkdir -p "$tmp/config/ftmpi"

info() {
    what="ftmpi_info $*"
    "$prefix/bin/ftmpi_info" "$@" >"$tmp/out" 2>"$tmp/err" </dev/null
    code=$?
}
fact() { sed -n "s/^$1://p" "$tmp/out"; }
expect_fact() { [ "$(fact "$1")" = "$2" ] || fail "$what: $1 is \"$(fact "$1")\", not \"$2\""; }

# Every setting: those of ftrun --help that a variable can give, all facts of each.
info --parsable
expect_code 0
expect_err_lines 0
grep -vE '^((version|build|path|engine):[a-z-]+:.|setting:[a-z-]+:(value|source|default|type|variable|text):.)' "$tmp/out" && fail "$what: these are no facts"
[ "$(cut -d: -f1-3 "$tmp/out" | grep '^setting:' | sort | uniq -d)" = '' ] || fail "$what: a fact twice"
n=$(grep -c '^setting:.*:value:' "$tmp/out")
[ "$n" -gt 20 ] || fail "$what: $n settings only"
for kind in source default type variable text; do
    [ "$(grep -c "^setting:[a-z-]*:$kind:" "$tmp/out")" = "$n" ] || fail "$what: not every setting has a $kind"
done
"$ftrun" --help >"$tmp/help"
for name in $(sed -n 's/^setting:\(.*\):value:.*/\1/p' "$tmp/out"); do
    grep -qe "--$name" "$tmp/help" || fail "$what: ftrun --help does not know $name"
done
for name in log-limit grace max-restarts tag-output report timeout; do grep -q "^setting:$name:value:" "$tmp/out" || fail "$what: no $name"; done
expect_fact version:version "$("$ftrun" --version | sed 's/.* //')"
expect_fact version:mpi 3.1
expect_fact setting:grace:value 2
expect_fact setting:grace:source default

# Where things are: in the place to which the installation was moved.
expect_fact path:bindir "$prefix/bin"
[ -e "$(fact path:libdir)/libftmpi.so.0" ] || fail "$what: no library in $(fact path:libdir)"
[ -e "$(fact path:compat-dir)/libmpi.so.40" ] || fail "$what: no libmpi in $(fact path:compat-dir)"
expect_fact path:user-configuration "$tmp/config/ftmpi/ftmpi.conf"
[ "$(fact engine:processors)" -gt 0 ] || fail "$what: processors"
[ "$(fact engine:memory)" -gt 1000000 ] || fail "$what: memory"

# Sources, each before the next.
printf 'grace = 3\nlog-limit = 64M # enough\n' >"$tmp/config/ftmpi/ftmpi.conf"
FTMPI_LOG_LIMIT=32M info --parsable
expect_fact setting:grace:value 3
expect_fact setting:grace:source "$tmp/config/ftmpi/ftmpi.conf:1"
expect_fact setting:log-limit:value 32M
expect_fact setting:log-limit:source FTMPI_LOG_LIMIT
expect_fact setting:log-limit:default auto
expect_fact engine:log-bytes $((32 * 1024 * 1024))

# One item, by any of its names; for people.
for name in log-limit --log-limit FTMPI_LOG_LIMIT; do
    info $name
    expect_code 0
    [ "$(head -n 1 "$tmp/out")" = "log-limit = 64M ($tmp/config/ftmpi/ftmpi.conf:2)" ] || fail "$what: says $(head -n 1 "$tmp/out")"
    [ "$(wc -l <"$tmp/out")" = 3 ] || fail "$what: more than one setting"
done
info libdir && expect_code 0 && expect_out "libdir = $(dirname "$(find "$prefix" -name libftmpi.so.0)")"
info --parsable mpi && expect_code 0 && expect_out version:mpi:3.1
info
expect_code 0
grep -qx '  mpi = 3.1' "$tmp/out" || fail "$what: not listed"

# Mistakes: one line, with what was meant.
info libdri && expect_code 2 && expect_err 'did you mean libdir' && expect_err_lines 1 && expect_no_out
info --gracee && expect_code 2 && expect_err 'did you mean grace' && expect_err_lines 1
info mpi libdir && expect_code 2 && expect_err_lines 1
FTMPI_GRCE=1 info mpi && expect_code 0 && expect_err 'FTMPI_GRACE' && expect_err_lines 1
echo 'grace = long' >>"$tmp/config/ftmpi/ftmpi.conf"
info mpi && expect_code 2 && expect_err 'ftmpi.conf:3' && expect_err_lines 1
rm "$tmp/config/ftmpi/ftmpi.conf"
if [ -e /dev/full ]; then
    "$prefix/bin/ftmpi_info" >/dev/full 2>"$tmp/err" && fail "a full disk is not noticed"
fi
info --help && expect_code 0
grep -q parsable "$tmp/out" || fail "$what"
info --version && expect_code 0
finish
