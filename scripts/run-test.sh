#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# run-test.sh TEST: what make check starts each test with. Tests may run several at a time (make -j), but for those in
# $tests_alone, which want the machine to themselves: they wait until nobody else runs.
# FT_TESTS=dist: only those in $tests_dist, for which it matters that they come out of a tarball; FT_TESTS=sanitized: all but those in
# $tests_unsanitized, which show nothing more there; FT_TIER=quick: all but those in $tests_long. Others are skipped.
# A test that has not ended after $FT_PATIENCE seconds is ended, and has failed. Unset: who has started it sees, and can interrupt it.
is_in() {
  for name in $2; do
    case $1 in *"$name") return 0 ;; esac
  done
  return 1
}
left_out() {
  [ -z "${test_left_out-}" ] || echo "$1" >>"$test_left_out"
  echo "${1##*/}: left out ($2)"
  exit 77
}
case ${FT_TESTS-} in
  dist) is_in "$1" "${tests_dist-}" || left_out "$1" "FT_TESTS=dist" ;;
  sanitized) ! is_in "$1" "${tests_unsanitized-}" || left_out "$1" "FT_TESTS=sanitized" ;;
esac
[ "${FT_TIER-}" != quick ] || ! is_in "$1" "${tests_long-}" || left_out "$1" "FT_TIER=quick"
how=--shared
for alone in ${tests_alone-}; do
  case $1 in *"$alone") how=--exclusive ;; esac
done
# Searches are skipped when nothing has changed (scripts/search.sh).
name=${1#./} name=${name#"${srcdir:-.}/"} scripts=${0%/*}
search() { "$@"; }
if awk -v name="$name" '$1 == name { found = 1 } END { exit !found }' "$scripts/searches"; then
  search() { sh "$scripts/search.sh" run "$name" "$@"; }
fi
began=$(date +%s)
# Its time begins when it has the lock. That is not waited for for ever, either: what an interrupted make left running may have it.
[ -z "${FT_PATIENCE-}" ] || set -- timeout --kill-after=20 "$FT_PATIENCE" "$@"
if command -v flock >/dev/null; then
  search flock $how --timeout 1800 --conflict-exit-code 99 --close . "$@"
else
  search "$@"
fi
code=$?
[ $code != 124 ] && [ $code != 137 ] || [ -z "${FT_PATIENCE-}" ] || echo "FAIL: $name: not at its end after $FT_PATIENCE s"
# Its name, seconds, and seconds of processor time of all processes that were waited for.
[ -z "${test_times-}" ] || echo "$name $(($(date +%s) - began)) $(awk -v ticks="$(getconf CLK_TCK)" '{ printf "%.0f", ($16 + $17) / ticks }' /proc/$$/stat)" >>"$test_times"
exit $code
