#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Communicators and intercommunicators, by programs compiled with Open MPI's header: what they print under ftrun they print under Open MPI.
. "$(dirname "$0")/../lib/test.sh"
uses openmpi
theirs communicators members.c start.c
theirs attributes members.c start.c
theirs intercommunicators members.c start.c
rounds=3000
if quick; then rounds=600; fi
for n in 1 2 3 4; do
    as_theirs $n communicators -n $rounds
    [ "$(wc -l <"$tmp/theirs")" -gt $((40 * n)) ] || fail "$n ranks: communicators.c prints too little"
    as_theirs $n attributes
    [ "$(wc -l <"$tmp/theirs")" -gt $((70 * n)) ] || fail "$n ranks: attributes.c prints too little"
    [ $n -gt 1 ] || continue
    as_theirs $n intercommunicators -n 50
    [ "$(wc -l <"$tmp/theirs")" -gt $((50 * n)) ] || fail "$n ranks: intercommunicators.c prints too little"
done
finish
