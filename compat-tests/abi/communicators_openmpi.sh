#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Communicators, by a program compiled with Open MPI's header: what it prints under ftrun it prints under Open MPI.
. "$(dirname "$0")/../lib/test.sh"
uses openmpi
theirs communicators "$top_srcdir/compat-tests/chaos/progress.c"
rounds=3000
if quick; then rounds=600; fi
for n in 1 2 3 4; do
    as_theirs $n communicators -n $rounds
    [ "$(wc -l <"$tmp/theirs")" -gt $((70 * n)) ] || fail "$n ranks: communicators.c prints too little"
done
finish
