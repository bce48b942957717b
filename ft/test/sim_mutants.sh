#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Every seeded mutant of the exchange between nodes (ft/core/exchange.c) is caught by the simulator.
# Argument: only those whose name has it.
set -u
src=${top_srcdir:-.}
cc=${CC:-cc}
tmp=$(mktemp -d "${TMPDIR:-/tmp}/ftmpi-sim.XXXXXX") || exit 99
trap 'rm -rf "$tmp"' EXIT
trap 'exit 99' INT TERM HUP
# shellcheck disable=SC2086
$cc -std=gnu17 -O1 -w -I"$src" -r -nostdlib -o "$tmp/sim.o" "$src/ft/test/sim.c" "$src/ft/test/sim_events.c" "$src/ft/test/sim_net.c" \
  "$src/ft/test/sim_unit.c" "$src/ft/test/sim_node.c" "$src/ft/core/tree.c" || exit 99
missed=0

# mutant "NAME" "WHAT (occurs once)" "BY WHAT" [SEED, where the first 500 do not find it]
mutant() {
    # Also of those that are not asked for: what the code has no more is said at once.
    WHAT=$2 BY=$3 perl -0777 -pe '$n = s/\Q$ENV{WHAT}\E/$ENV{BY}/g; END { exit($n == 1 ? 0 : 1) }' "$src/ft/core/exchange.c" >"$tmp/exchange.c" ||
        { echo "FAIL    $1: does not apply"; missed=$((missed + 1)); return; }
    [ -z "$only" ] || case $1 in *"$only"*) ;; *) return ;; esac
    $cc -std=gnu17 -O1 -w -I"$src" -o "$tmp/sim" "$tmp/exchange.c" "$tmp/sim.o" ||
        { echo "FAIL    $1: does not compile"; missed=$((missed + 1)); return; }
    how="--seeds 500"
    [ -z "${4-}" ] || how="--seed $4"
    # shellcheck disable=SC2086,SC3045
    # Seconds of processor time, so that a busy machine does not look like a search without end.
    if (ulimit -t 60 && exec timeout 1200 "$tmp/sim" $how) >"$tmp/out" 2>&1; then
        echo "MISSED  $1"
        missed=$((missed + 1))
    else
        echo "caught  $1"
        sed -n 's/^FAILED [^:]*: [^:]*: /          /p' "$tmp/out"
    fi
}

only=${1-}
mutant "a result is not given upwards (RULE 24)" 'return to != FT_ROLE_NONE || owed < ft_max(peer->answer, x->first) ? FT_FRAME_RES' \
    'return to == FT_ROLE_DOWN || takes_turns(x, peer) || owed < ft_max(peer->answer, x->first) ? FT_FRAME_RES' 884
mutant "a partial is not sent again over a new connection (RULE 24)" 'peer->out = peer->ahead = count;' 'peer->out = ft_max(peer->out, count); peer->ahead = count;'
mutant "what a peer lacks from before is not answered to those aside" 'peer->answer = x->mine;' 'peer->answer = 0;
    if (peer->role[x->tree] == FT_ROLE_NONE) peer->out = x->mine;'
mutant "a result ahead is dropped, not left in the link" 'if (u > x->mine || u >= x->end)
        return FT_TAKE_WAIT;' 'if (u > x->mine)
        return FT_TAKE_DROP;
    if (u >= x->end)
        return FT_TAKE_WAIT;'
mutant "a unit is committed while its partial is being sent (RULE 5)" 'u >= x->end || sends_part(x, u) || takes(x, FT_TAKE_RES, u)' \
    'u >= x->end || takes(x, FT_TAKE_RES, u)'
mutant "a result is taken while its partial is being sent (RULE 5)" 'takes(x, FT_TAKE_RES, u) || sends_part(x, u) || is_made(x, u))
        return FT_TAKE_WAIT' 'takes(x, FT_TAKE_RES, u) || is_made(x, u))
        return FT_TAKE_WAIT'
mutant "a partial is begun while its result comes in" '|| takes(x, FT_TAKE_RES, *u))' ')'
mutant "two results of a unit are taken at a time" 'if (takes(x, FT_TAKE_RES, u) || sends' 'if (sends'
mutant "a fold does not wait for all children" 'x->kind != FT_UNIT_BCAST && came(x, FT_ROLE_DOWN, u)' 'x->kind != FT_UNIT_BCAST'
mutant "a half is combined with what the other half has not sent" '&& x->folded > u && came(x, FT_ROLE_EDGE, u);' '&& x->folded > u;'
mutant "a broadcast is decided by who is not its root" 'return x->me == x->root && x->own > u;' 'return x->own > u;'
mutant "settled units are sent again to those aside" 'peer->out >= ft_max(peer->answer, x->first)' '0'
mutant "a replaced node is taken for as far as it was" 'peer->count = count;  /*' 'peer->count = ft_max(peer->count, count);  /*'
mutant "released units are not refused" 'if (count < x->base)' 'if (0)'
mutant "that a peer has left says nothing of the last unit" 'if (last_is_known(x))
        return true;' '' 24359
mutant "a frame is begun in the middle of another" 'if (!peer->up || peer->sending)' 'if (!peer->up)'
mutant "a node leaves before its neighbours have all (RULE 20)" 'if (!x->peer[p].gone && x->peer[p].count < x->mine)' 'if (0)'
mutant "a call returns while a frame is being taken" '(peer->taking && peer->taking != FT_TAKE_DROP + 1) ||' ''
mutant "a call returns while a frame is due" '|| next_frame(x, peer, &u))
            return true;' ')
            return true;'
mutant "halves: partials sent over the last connection are taken for sent" 'peer->out = peer->ahead = count;' 'peer->out = count;'
mutant "halves: the other end is owed the result of what it combines" 'while (u < p->ahead && gets_part(x, p, u))' 'while (0)'
mutant "halves: a result goes to children before it is committed" '(takes_turns(x, peer) && is_made(x, owed))' 'is_made(x, owed)'
mutant "halves: a unit is combined two ahead" 'u <= x->mine + 1 && u < x->folded' 'u <= x->mine + 3 && u < x->folded'
mutant "halves: a unit is combined of what has not come" 'came(x, FT_ROLE_EDGE, u) &&' ''
mutant "halves: a unit of the other end is committed with ours" 'return x->kind == FT_UNIT_HALVES && u < x->made && is_ours(x, u);' \
    'return x->kind == FT_UNIT_HALVES && u < x->made;'
mutant "halves: who is not asked for a partial is taken to leave a gap" 'if (u > next + !gives_part(x, peer, next))' 'if (u > next)'
mutant "halves: what was made before is made now" 'x->folded = x->made = x->mine;' 'x->folded = x->mine; x->made += x->made > 0;'
echo "$missed missed"
[ $missed != 0 ] || [ -n "$only" ] || echo "searched whole"
[ $missed = 0 ]
