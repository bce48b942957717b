#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Messages, requests and statuses, by programs compiled with Open MPI's header: what they print under ftrun they print under Open MPI.
. "$(dirname "$0")/../lib/test.sh"
uses openmpi
for program in messages requests statuses; do
    theirs $program ring.c start.c
done
many=100000
if quick; then many=20000; fi
for n in 1 2 3 4; do
    as_theirs $n messages -n $many
    [ "$(wc -l <"$tmp/theirs")" -gt $((15 * n)) ] || fail "$n ranks: messages.c prints too little"
    as_theirs $n requests -n $many
    [ "$(wc -l <"$tmp/theirs")" -gt $((40 * n)) ] || fail "$n ranks: requests.c prints too little"
    as_theirs $n statuses
    [ "$(wc -l <"$tmp/theirs")" -gt $((40 * n)) ] || fail "$n ranks: statuses.c prints too little"
done
finish
