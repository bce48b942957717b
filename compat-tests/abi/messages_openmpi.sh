#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Messages, by a program compiled with Open MPI's header: what it prints under ftrun it prints under Open MPI.
. "$(dirname "$0")/../lib/test.sh"
uses openmpi
theirs messages "$top_srcdir/compat-tests/chaos/progress.c"
many=100000
if quick; then many=20000; fi
for n in 1 2 3 4; do
    as_theirs $n messages -n $many
    [ "$(wc -l <"$tmp/theirs")" -gt $((100 * n)) ] || fail "$n ranks: messages.c prints too little"
done
finish
