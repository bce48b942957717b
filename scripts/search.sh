#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Searches are tests that find the same whenever they search the same: same sources, same compiler, same flags.
# scripts/searches says which tests are searches and what each searches. scripts/searched has a line for each
# search that has passed, all of it: its name, a key of what was searched, and which tools made it. While that
# line holds the search is skipped. Only this script writes the file, and only for a search that has just passed
# and says with its last line, "searched whole", that it has left nothing out. docs/models.md says more.
#
#   search.sh run NAME COMMAND...   what run-test.sh starts a search with; exit code 77: unchanged
#   search.sh line NAME             the line that it would write
#   search.sh inputs NAME           the files that are searched
#   search.sh names | programs      all searches; programs that some are made with
#   search.sh stale                 those that have not passed since something changed, as far as that can be said here
#   search.sh units PROGRAM         what it is made of, and how
#
# In a build directory. FT_TIER=full or FT_SEED: the search runs, and nothing is written.
set -u
top=$(cd "${top_srcdir:-$(dirname "$0")/..}" && pwd) || exit 99
table=${FT_SEARCHES:-$top/scripts/searches}
keys=${FT_SEARCHED:-$top/scripts/searched}
die() { echo "search.sh: $*" >&2 && exit 99; }

# field NUMBER NAME: of its line in the table, "NAME | MADE WITH | INPUTS".
field() {
  awk -F ' *[|] *' -v name="$2" -v n="$1" '$1 == name { print $n; found = 1 } END { exit !found }' "$table" || die "no search $2 in $table"
}

# files INPUT...: sources of these folders but for unit tests, these files, and those of sets that the table has a name for.
files() {
  for input in "$@"; do
    set=$(awk -F ' *= *' -v name="$input" '$1 == name { print $2 }' "$table")
    if [ -n "$set" ]; then
      # shellcheck disable=SC2086
      (files $set) || exit
    elif [ -d "$input" ]; then
      find "$input" -type f ! -name '*_test.c' \( -name '*.[ch]' -o -name '*.sh' -o -name '*.p[lm]' -o -name '*.pml' \)
    elif [ -f "$input" ]; then
      echo "$input"
    else
      die "no $input in $top"
    fi
  done
}

inputs() {
  words=$(field 3 "$1") || exit
  # shellcheck disable=SC2086
  list=$(cd "$top" && files $words) || exit
  [ -n "$list" ] || die "$1: no inputs"
  echo "$list" | LC_ALL=C sort -u
}

# version COMMAND: the first line of what it says; the same for gcc and cc.
version() { "$@" 2>/dev/null | sed 's/^[a-z0-9_-]*cc /gcc /; q'; }

# units PROGRAM: source and compiler with its flags, as its debug information has them, of each unit in it.
units() {
  readelf --debug-dump=info --dwarf-depth=1 "$1" 2>/dev/null | awk -v top="$top/" '
    function done() { if (unit != "") print unit, maker; unit = maker = "" }
    function value() { sub(/^[^:]*: (\([^)]*\): )?/, ""); return $0 }
    /DW_TAG_compile_unit/ { done() }
    /DW_AT_producer/ { maker = value() }
    /DW_AT_name/ { unit = value(); if (index(unit, top) == 1) unit = substr(unit, length(top) + 1); gsub(/^(\.\.?\/)+/, "", unit) }
    END { done() }' | LC_ALL=C sort
}

# made_with NAME: a line that says with which tools and for which machine; then, of a program, its units, and definitions.
made_with() {
  tools=$(field 2 "$1") || exit
  text='' linked='' defined=''
  for tool in $tools; do
    case $tool in
    spin) text="$text$(version spin -V), " ;;
    clang) text="$text$(version clang --version), " ;;
    cc) text="$text$(version "${CC:-cc}" --version), " ;;
    flags) # The makefile's; and what it defines for one file or the other, which debug information does not have.
      text="$text${search_flags:-default flags}, "
      defined=$(cd "$top" && find Makefile.am ft launcher -name '*.mk' -o -name Makefile.am | LC_ALL=C sort | xargs grep -h -e ' -D')
      ;;
    *)
      linked=$(units "$tool")
      [ -n "$linked" ] || { echo "$1: $tool has no debug information" >&2; exit 1; }
      # Of this tree: what the compiler adds has units of its own.
      strange=$({ inputs "$1" && inputs "$1" && echo "$linked" | cut -d ' ' -f 1 | sort -u; } | sort | uniq -u | while read -r unit; do
        [ ! -e "$top/$unit" ] || echo "$unit"
      done)
      [ -z "$strange" ] || die "$1: $tool is made of what is not an input in $table:" "$strange"
      ;;
    esac
  done
  # shellcheck disable=SC2086
  echo $text "$(uname -m), $(getconf GNU_LIBC_VERSION 2>/dev/null)"
  echo "$linked"
  echo "$defined"
}

line() {
  with=$(made_with "$1") || exit
  list=$(inputs "$1") || exit
  key=$({ echo "$with" && cd "$top" && echo "$list" | tr '\n' '\0' | xargs -0 sha256sum; } | sha256sum) || exit
  echo "$1 ${key%% *} $(echo "$with" | head -n 1)"
}

names() { awk -F ' *[|] *' '!/^#/ && NF == 3 { print $1 }' "$table"; }

# keep LINE: in the place of what there was for this search made with the same tools, and of searches there are no more. A directory that cannot be written is
# someone else's; a lock, since builds may share it.
keep() {
  [ -w "$keys" ] && [ -w "${keys%/*}" ] || return 0
  name=${1%% *} tools=${1#* * }
  (
    flock 9 && new=$(mktemp "$keys.XXXXXX") || exit
    {
      grep '^#' "$keys"
      {
        names=" $(names | tr '\n' ' ')"
        grep -v '^#' "$keys" | awk -v name="$name" -v tools="$tools" -v names="$names" '
          { with = $0; sub(/^[^ ]* [^ ]* /, "", with) }
          index(names, " " $1 " ") && ($1 != name || with != tools)'
        echo "$1"
      } | LC_ALL=C sort
    } >"$new" && chmod 644 "$new" && mv "$new" "$keys" && echo "${keys#"$top"/} says so now"
  ) 9<"${keys%/*}"
}

# tell NAME WHAT: to scripts/check.sh.
tell() { [ -z "${test_searches-}" ] || echo "$1 $2" >>"$test_searches"; }

run() {
  name=$1
  shift
  case ${FT_TIER:-normal} in normal | quick) ;; *) exec "$@" ;; esac
  [ -z "${FT_SEED-}" ] || exec "$@"
  now=$(line "$name") || { [ $? = 1 ] || exit 99; exec "$@"; }
  if grep -qxF "$now" "$keys" 2>/dev/null; then
    echo "$name: unchanged since all of it was searched: $now"
    tell "$name" unchanged
    exit 77
  fi
  out=$(mktemp) || exit 99
  trap 'rm -f "$out" "$out.code"' EXIT
  trap 'exit 99' INT TERM HUP
  { "$@" 2>&1; echo $? >"$out.code"; } | tee "$out"
  code=$(cat "$out.code")
  if [ "$code" != 0 ]; then
    [ "$code" = 77 ] || tell "$name" failed
  elif [ "$(tail -n 1 "$out")" != "searched whole" ]; then
    tell "$name" "in part"
  elif [ "$(line "$name")" != "$now" ]; then
    echo "$name: something changed meanwhile, nothing is kept"
    tell "$name" "while it changed"
  else
    tell "$name" whole
    keep "$now"
  fi
  exit "$code"
}

what=${1-}
[ $# = 0 ] || shift
case $what in
run) run "$@" ;;
line | inputs | units) "$what" "${1-}" ;;
names) names ;;
stale) names | while read -r name; do grep -qxF "$(line "$name" 2>/dev/null)" "$keys" || echo "$name"; done ;;
programs) awk -F ' *[|] *' '!/^#/ && NF == 3 { print $2 }' "$table" | tr ' ' '\n' | grep -vx 'spin\|clang\|cc\|flags' | sort -u ;;
*) sed -n 's/^#   /usage: /p' "$0" >&2 && exit 2 ;;
esac
