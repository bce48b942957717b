#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# run-test.sh TEST: what make check starts each test with. Tests may run several at a time (make -j), but for those in
# $tests_alone, which want the machine or the build tree to themselves: they wait until nobody else runs.
how=--shared
for alone in ${tests_alone-}; do
  case $1 in *"$alone") how=--exclusive ;; esac
done
command -v flock >/dev/null || exec "$@"
# Not for ever: what an interrupted make left running may have it.
exec flock $how --timeout 900 --conflict-exit-code 99 --close . "$@"
