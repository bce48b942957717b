#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# While a copy is made, and in the one that is woken until it is back in the program, no lock is taken that a thread may have which stands
# still: nothing of malloc, of streams or directories, of the dynamic linker or the environment is called. Ranks of streams.sh and
# relay.sh with such functions guarded (test/guard.c), killed and put back; also where mappings have to be read line by line. What no run
# comes to is looked for in the code: scripts/layers.table, [still].
set -u
build=$(cd "${top_builddir:-.}" && pwd)
library=$build/.libs/liboutcome_test.so guard=$build/.libs/liboutcome_guard.so agent=$build/outcome_agent
[ -e "$library" ] && [ -e "$guard" ] || exit 77
export FT_TEST_PRELOAD="$library:$guard"
work=$(mktemp -d "${TMPDIR:-/tmp}/ftmpi-bare.XXXXXX") || exit 99
trap 'rm -rf "$work"' EXIT
trap 'exit 99' INT TERM HUP
bad=0 cuts=0 newer=0 zero=0

word() { sed -n "\$s/.*\\<$1 \\([0-9]*\\).*/\\1/p" "$work/err" | grep . || echo 0; }

run() { # WAY PROGRAM ARGUMENT...
  way=$1
  shift
  rm -rf "$work/d" && mkdir "$work/d"
  # shellcheck disable=SC2086
  timeout 60 "$agent" $way "$@" >"$work/out" 2>"$work/err" </dev/null
}

FT_TEST_FALSIFY=1 run "-s 1 -k 1 -t 5000" "$build/outcome_children" "$work/d" 1
if ! grep -q '^malloc in a cut$' "$work/err"; then
  echo "FAIL: a call of malloc in a cut is not seen"
  exit 1
fi

for no_query in '' 1; do
  for program in children stores events relay; do
    case $program in
    children) set -- "$build/outcome_children" "$work/d" 3 ;;
    stores) set -- "$build/outcome_stores" "$work/d" 6 ;;
    events) set -- "$build/outcome_events" 4 ;;
    relay) set -- "$build/outcome_relay" "$work/d" 150 ;; # a dozen threads
    esac
    for way in "-s 1 -k 4 -t 9000 -c 3000" "-s 2 -k 4 -p 120 -c 3000" "-s 3 -k 2 -t 9000 -c 2000 -z"; do
      FT_TEST_NO_QUERY=$no_query
      export FT_TEST_NO_QUERY
      [ -n "$no_query" ] || unset FT_TEST_NO_QUERY
      run "$way" "$@"
      code=$?
      cuts=$((cuts + $(word cuts))) newer=$((newer + $(word named))) zero=$((zero + $(word zero)))
      if [ "$code" != 0 ] || grep 'in a cut' "$work/err"; then
        echo "FAIL: outcome_agent $way outcome_$program${no_query:+, which cannot ask about mappings}: code $code"
        tail -n 2 "$work/err"
        bad=$((bad + 1))
      fi
    done
  done
done
echo "$cuts cuts; put back from newer copies $newer times, from snapshot zero $zero times; $bad wrong"
[ "$bad" = 0 ] && [ "$cuts" -gt 20 ] && [ "$newer" -gt 5 ] && [ "$zero" -gt 5 ]
