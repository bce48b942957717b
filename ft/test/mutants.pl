#!/usr/bin/perl
# SPDX-License-Identifier: BSD-3-Clause
# Mutants of the engine: each breaks one rule, and an explorer must find every one of them: that of one node, that of several, apart, or that
# of threads, order. A mutant is one substitution in one file, compiled and put before the library that ships on the linker's line.
#
#   mutants.pl SOURCE_DIR LIBRARY EXPLORE_OBJECT APART_OBJECT ORDER_OBJECT CC [CFLAGS ...]     exit 0: all were caught
use strict;
use warnings;
use File::Temp qw(tempdir);

my $forgets = '--only 6,2,300,8,0,2,0,0 --seeds 200';
my $snapshots = '--only 6,2,300,16,0,2,1,0 --seeds 400';
my $versions = '--only 7,2,300,12,0,3,0,0 --seeds 400';
my $dense = '--only 8,2,300,12,0,3,0,0 --seeds 400';
my $lazy = '--only 9,2,300,14,0,3,0,0 --seeds 400';
my $keys = '--only 10,2,300,13,0,3,0,0 --seeds 400';
my $places = '--only 11,2,300,14,0,3,0,0 --seeds 400';
my $many = '--seeds 8000';   # of what one seed in 700 finds: which one moves with every change of an operation's steps. It stops at the first
my $both = '--only 7,2,300,12,0,3,1,0 --seeds 400';   # snapshots and checkpoints
my $two = '--only 6,2,300,16,0,0,1,16 --seeds 400';         # calls on two streams: spilled, ...
my $two_more = '--chance --only 6,3,300,16,0,0,1,16 --seeds 2000';
my $two_forget = '--chance --only 6,2,450,16,0,2,1,16 --seeds 800';  # ... forgotten
my $sleeps = '--only 0,3,0,8,0,0,0,0 --seeds 400';   # words that are all published with a ring
my $larger = '--only 1,2,5120,1,0,2,0,0 --seeds 60';

my $apart_sum = 'apart --only 3,22,150,1,0,0 --seeds 400';       # several nodes, which share out an allreduce each, ...
my $apart_small = 'apart --only 3,22,5,2,0,0 --seeds 60';      # ... have their representatives fold it, ...
my $apart_halves = 'apart --only 3,11,300,2,0,0 --seeds 60';   # ... exchange halves, ...
my $apart_in_place = 'apart --only 3,11,300,2,0,1 --seeds 60';
my $apart_gather = 'apart --only 4,21,75,1,0,0 --seeds 60';
my $apart_mixed = 'apart --chance --only 7,21,75,10,0,3 --seeds 800';
my $apart_two = 'apart --chance --only 7,21,75,10,0,32 --seeds 800';  # ... have two streams between them, ...
my $apart_spills = 'apart --chance --only 7,21,300,10,1,0 --seeds 800';

my $ring = '--only 12,2,625,2,0,0,0,0 --seeds 60';           # messages with named sources, ...
my $varied = '--only 12,2,300,2,0,0,0,8 --seeds 400';        # ... which each incarnation sends with other bytes, ...
my $burst = '--only 18,2,1000,1,0,0,0,0 --seeds 400';        # ... more of them than slots, ...
my $varied_burst = '--only 18,2,1000,1,0,0,0,8 --seeds 400';
my $open = '--chance --only 13,3,300,3,0,0,0,0 --seeds 800';  # ... with open ones, ...
my $asks = '--only 14,2,300,2,0,0,0,0 --seeds 400';          # ... and what is told of them
my $probes = '--chance --only 15,3,300,3,0,0,0,0 --seeds 800';
my $synchronous = '--only 16,2,300,2,0,0,0,0 --seeds 60';
my $cancels = '--chance --only 17,3,300,3,0,0,0,0 --seeds 2000';
my $letters = '--chance --only 19,3,300,12,0,0,0,0 --seeds 800';
my $letters_spill = '--chance --only 19,3,900,12,0,1,0,0 --seeds 800';
my $letters_left = '--chance --only 19,3,900,12,0,4,0,0 --seeds 800';

my $carried = '--chance --only 20,2,300,16,0,3,0,0 --seeds 400';       # ... under way at checkpoints
my $carried_early = '--chance --only 20,2,300,16,1,3,0,0 --seeds 400';
my $passes = '--only 21,3,75,8,0,0,0,0 --seeds 60';           # collectives that are messages
my $passes_in_place = '--chance --only 21,3,300,16,1,1,0,0 --seeds 60';

my $threads = 'order --only 2,2,0 --seeds 60';                   # threads that call at the same time
my $order_waits = 'order --only 2,2,1 --seeds 400';
my $order_more = 'order --chance --only 2,4,0 --seeds 1500';
my $order_waits_more = 'order --chance --only 2,4,1 --seeds 3000';

# name, file, what is replaced (must occur exactly once), by what; perhaps where the explorer finds it: `endless` before that if ranks go round
# in a loop without a crash point, so that the search has no end
my @mutants = (
    ['short slot refilled before everybody has finished with it (RULE 3)', 'ft/core/short.c',
     '    if (awaits_slot(s, s->unit, a))
        return false;', ''],
    ['having seen a contribution counts for later units too (RULE 3)', 'ft/core/short.c',
     's->finished = s->unit;', 's->finished = s->unit + 2;'],
    ['short slot published before it is written (RULE 2)', 'ft/core/short.c',
     '    if (bytes)
        ft_view_fill(&c->send, 0, bytes, slot + 1);
    slot->chain = s->chain;
    ft_stream_announce(s, FT_AWAIT_SHOWN, &slot->unit, s->unit + 1);',
     '    slot->chain = s->chain;
    ft_stream_announce(s, FT_AWAIT_SHOWN, &slot->unit, s->unit + 1);
    if (bytes)
        ft_view_fill(&c->send, 0, bytes, slot + 1);'],
    ['a published contribution is written again (RULE 2)', 'ft/core/short.c',
     'if (ft_stream_has_contributed(s))', 'if (0)', '--chance --only 3,2,5,5,0,0,0,0 --seeds 400000'],  # two kills in the right places
    ['done published before the log entry is written (invariant 2)', 'ft/core/short.c',
     '    if (x->result > 0) {
        piece = piece_of(c, x->result);
        write_log(c, x->record, x->position, x->result, &piece);
    }
    ft_stream_done_quiet(s, s->unit + 1, x->end);',
     '    ft_stream_done_quiet(s, s->unit + 1, x->end);
    if (x->result > 0) {
        piece = piece_of(c, x->result);
        write_log(c, x->record, x->position, x->result, &piece);
            }'],
    ['a barrier leaves no record', 'ft/core/short.c',
     'if (x->result == 0 &&', 'if (0 &&'],
    ['a successor reads slots for what its predecessor had finished (RULE 1)', 'ft/core/stream.c',
     's->mine = ft_peek(&ft_stream_counters(s, s->rank)->done);', 's->mine = 0;'],
    ['of a short result that all have nobody writes the bytes into the log', 'ft/core/short.c',
     '        p.to = result;
        p.view =', '        p.to = c->root < 0 ? 0 : result;
        p.view = c->root < 0 ? NULL :'],
    ['a replay does not wait for the commit', 'ft/core/short.c',
     '    if (behind >= 0) {', '    if (0) {'],
    ['segment slot refilled before its unit is committed (RULE 1)', 'ft/core/units.c',
     'awaits_contributions(x, u, a)) || awaits_window(s, u, a) ||', 'awaits_contributions(x, u, a)) ||'],
    ['segment slot refilled one unit early (RULE 1: D + 1 in flight)', 'ft/core/units.c',
     'return u >= depth && awaits(a, FT_AWAIT_DONE, ft_stream_behind(s, u - depth), true, u - depth);', 'return u > depth && awaits(a, FT_AWAIT_DONE, ft_stream_behind(s, u - depth - 1), true, u - depth);', '--only 3,4,75,3,0,0,0,0 --seeds 60'],  # by four: slots without turns
    ['a contribution is published before it is written (RULE 2)', 'ft/core/units.c',
     '        x->steps->contribute(x, position, result);', '        ft_stream_announce(s, FT_AWAIT_CONTRIBUTED, &mine->contributed, u + 1);
        x->steps->contribute(x, position, result);'],
    ['a published segment is contributed again (RULE 2)', 'ft/core/units.c',
     'if (ft_peek(&mine->contributed) > u) {', 'if (0) {'],
    ['a chunk is reduced again after done (RULE 2)', 'ft/core/units.c',
     '    if (ft_peek(&ft_stream_counters(s, s->rank)->done) > u) {
        x->fresh', '    if (0) {
        x->fresh'],
    ['a chunk is done before it is reduced', 'ft/core/units.c',
     '        if (x->steps->produce)
', '        ft_stream_done(s, u + 1, x->made_at);
        if (x->steps->produce)
'],
    ['a chunk is reduced before everybody has contributed', 'ft/core/units.c',
     'return (x->from == FT_FROM_NOBODY ? awaits_window',
     'return (x->from == FT_FROM_ALL ? false : x->from == FT_FROM_NOBODY ? awaits_window'],
    ["an earlier incarnation's chunk is taken for one that is where it is received", 'ft/core/chunked.c',
     'if (folds_to_result(x) && x->out >= x->fresh)', 'if (folds_to_result(x))'],
    ['an entry is consumed before it is committed', 'ft/core/units.c',
     'x->out < x->made && !consumption_awaits(x, &a)', 'x->out < x->made'],
    ['the root of a pipelined reduce does not wait for what it is to fold', 'ft/core/units.c',
     'ft_look(&ft_stream_counters(s, x->from)->contributed) > u ? -1 : x->from', '-1'],
    ['... or for a piece that it takes together with others', 'ft/core/units.c',
     'slot_depth / 2 &&
           !awaits_contributions(x, ft_units_unit(x, x->made), &a) &&', 'slot_depth / 2 &&', '--only 2,2,300,4,1,1,0,0 --seeds 60'],
    ['... or keeps the result for itself', 'ft/core/fold.c', '        ft_copy_unordered(log + at', '        if (0)
            ft_copy_unordered(log + at'],
    ['... or who sends contributes less than everything', 'ft/core/units.c',
     'ft_units_own_bytes(x, x->in));', 'ft_units_own_bytes(x, x->in) / 2);'],
    ['... or who receives a pipelined bcast keeps it for itself', 'ft/core/view.c',
     'ft_fill(log, to, n);', ';', '--only 1,2,300,4,0,0,0,0 --seeds 60'],
    ['... or leaves its record without a head', 'ft/core/pipelined.c',
     'payload, result);
    ft_units_head(x, position, result);
}

static void fold', 'payload, result);
    (void)position;
}

static void fold', '--only 1,2,300,4,0,0,0,0 --seeds 60'],
    ['... or takes it for received when a predecessor has finished it', 'ft/core/pipelined.c',
     'x->out >= x->fresh && !', '!', '--only 1,2,300,4,0,0,0,0 --seeds 60'],
    ['pipelined by three: a rank adds its own to what the next one has not contributed', 'ft/core/units.c',
     '(x->steps->adds && awaits_contributions(x, u, a)) ||', '', '--only 2,3,300,4,1,0,0,0 --seeds 20'],
    ["segments take turns in more than their slot's room", 'ft/core/algorithm.c',
     'plan->turns = ft_plan_turns(p, plan->segment);', 'plan->turns = 2 * ft_plan_turns(p, plan->segment);'],
    ['a bcast is consumed before its root has written it', 'ft/core/units.c',
     'ft_look(&ft_stream_counters(s, x->c->root)->done) > u ? -1 : x->c->root', '-1'],
    ['redundant: each contributes what the other one would add of halves', 'ft/core/redundant.c',
     'static const struct ft_steps steps = {
    .contribute = ft_units_contribute,', 'static void halve(struct ft_units *x, uint64_t position, uint64_t result)
{
    (void)position;
    ft_stream_fill_chunks(x->c->s, ft_units_slot(x, x->in), &x->c->send, ft_units_at(x, x->in), result, x->c->elem);
}

static const struct ft_steps steps = {
    .contribute = halve,', '--only 3,2,75,3,0,0,0,4 --seeds 20'],
    ['... or an operation that a predecessor has finished is not taken out of the log', 'ft/core/redundant.c',
     'return x->out < x->fresh ? ft_units_read', 'return 0 ? ft_units_read', '--only 3,2,75,3,0,0,0,4 --seeds 60'],
    ['... or before the other one has made its half of that', 'ft/core/units.c',
     'if (x->steps->after == FT_AFTER_ALL || ft_stream_replays(s, u))', 'if (x->steps->after == FT_AFTER_ALL)', '--only 3,2,75,3,0,0,0,4 --seeds 60'],
    ['... or nobody writes the log', 'ft/core/redundant.c',
     'x->unordered |= ft_coll_fold_logged(c, x->made, from, to + from, payload + from, end - from);', 'ft_coll_fold_chunk(c, x->made, from, to + from, end - from, NULL, NULL);', '--only 3,2,75,3,0,0,0,4 --seeds 60'],
    ['... or a result that came out of the bootstrap cache is made again (was a real crash)', 'ft/core/redundant.c',
     'if (c->known)', 'if (0)', '--only 10,2,300,13,0,3,1,4 --chance --seed 19001 --seeds 7000'],
    ['... or a successor adds what it would contribute now', 'ft/core/fold.c',
     'return r != c->s->rank || u < c->in_slot;', 'return r != c->s->rank;', '--only 6,2,75,8,0,0,0,8 --seeds 60'],
    ['an allgather is finished before everybody has contributed', 'ft/core/log_gather.c',
     'return ft_units_start(c, &steps, FT_FROM_ALL, e);', 'return ft_units_start(c, &steps, FT_FROM_NOBODY, e);'],
    ['a part contributed by a dead incarnation is not taken out of the log', 'ft/core/log_gather.c',
     '(r != c->s->rank || x->out < x->fresh)', 'r != c->s->rank'],
    ['who receives a bcast does not look for a second root (RULE 9)', 'ft/core/units.c',
     'if (x->steps->after != FT_AFTER_ROOT || x->c->s->n <= 2)', 'if (1)', '--only 1,3,75,2,0,0,0,2 --seeds 400'],
    ['a rank that has just seen the last contribution waits for itself (was a real hang)', 'ft/core/units.c',
     '        is = production_awaits(x, a);
    else if', '        is = production_awaits(x, a) || consumption_awaits(x, a);
    else if'],
    ['an extent ends without a gap', 'ft/core/stream.c',
     '        write_gap(s, u, before);', '        (void)write_gap;'],
    ['... or the gap is of another unit', 'ft/core/stream.c',
     'ft_walk_gap(u)', 'ft_walk_gap(u + 1)'],
    ['a record says another length', 'ft/core/stream.c',
     'rec.sig.length = (uint32_t)result;', 'rec.sig.length = (uint32_t)result + 64;'],
    ['who waits says so of another unit', 'ft/core/stream.c',
     'struct ft_await said = ft_stream_await_of(s, *a);', 'struct ft_await said = ft_stream_await_of(s, *a); said.unit--;'],
    ['... or does not say it', 'ft/shm/wait.c',
     '    ft_await_say(&doorbell_of(p)->awaits, &says);
    return', '    return'],
    ['a doorbell is rung before the word is published', 'ft/shm/wait.h',
     '        ft_announce(word, below);
    }
', '    }
    ft_wait_ring(p, kind, stream, below);
    ft_announce(word, below);
    return;
', $sleeps],
    ['... or not at all: the flags are not looked at', 'ft/shm/wait.h',
     'memory_order_seq_cst) != 0, 0)) {', 'memory_order_seq_cst) == 77, 0)) {', $sleeps],
    ['... or at most that of the first rank', 'ft/shm/doorbell.c',
     '        if (flag == FT_AWAKE)
            continue;', '        if (flag == FT_AWAKE)
            return;', $sleeps],
    ['... or not where the first that sleeps waits for another thing', 'ft/shm/doorbell.c',
     'ft_await_ends(&a, what))
            ring(&d->of[r]);', 'ft_await_ends(&a, what))
            ring(&d->of[r]);
        else
            return;', $sleeps],
    ['... or not for the unit itself', 'ft/shm/await.h',
     'a->unit < what->below);', 'a->unit + 1 < what->below);', $sleeps],
    ['... or not for memory', 'ft/shm/keeper.c',
     '    ft_doorbells_tell(k->region', '    if (0) ft_doorbells_tell(k->region', '--only 6,2,300,8,0,1,0,0 --seeds 60'],
    ['who sleeps has not looked since its flag is up', 'ft/shm/wait.c',
     '        raise_flag(w, p);
    return false;', '        raise_flag(w, p), sleep_within(w, p, 0);
    return false;', $sleeps],
    ['... or looks, and then notes how often it was rung', 'ft/shm/wait.c',
     '    ft_point_sleep(rings, w->heard);', '    w->heard = ft_look32(rings);
    ft_point_sleep(rings, w->heard);', $sleeps],
    ['... or says only then what it waits for', 'ft/shm/wait.c',
     '    syscall(SYS_futex, rings, FUTEX_WAIT, w->heard, &bound, NULL, 0);
    if (lets(w, p))
        ft_turns_take(p->turns, depth);
    lower(w, p);
}

struct ft_wait ft_wait_for(const struct ft_patience *p, const struct ft_await *a)
{
    struct ft_await says = with_others(p, a);

    if (!others_have_said(p))
        ft_await_say(&doorbell_of(p)->awaits, &says);', '    extern struct ft_await later[8];
    ft_await_say(&doorbell_of(p)->awaits, &later[p->self]);
    syscall(SYS_futex, rings, FUTEX_WAIT, w->heard, &bound, NULL, 0);
    (void)depth;
    lower(w, p);
}

struct ft_await later[8];
struct ft_wait ft_wait_for(const struct ft_patience *p, const struct ft_await *a)
{
    later[p->self] = *a;', $sleeps],
    ['... or leaves its flag up', 'ft/shm/wait.c',
     '    lower(w, p);
    *w =', '    *w =', $sleeps],
    ['counters of a successor go down (RULE 2)', 'ft/core/stream.c',
     '    if (said_before(c, unit, end))
        return;
    ft_stream_announce(s, FT_AWAIT_DONE, &c->done, unit);', '    ft_stream_announce(s, FT_AWAIT_DONE, &c->done, unit);'],
    ['records of a log overlap', 'ft/shm/log.h',
     'return ft_align(ft_record_offset(n) + n, FT_LINE);', 'return ft_align(n, FT_LINE);'],
    ['the keeper gives away memory of units that are not committed (RULE 13)', 'ft/shm/keeper.c',
     '(s->spilled + 1) * k->extent_bytes <= safe &&', '(void *)s != (void *)&safe &&'],
    ['the keeper does not say that an extent has moved (RULE 14)', 'ft/shm/keeper.c',
     'say(s, s->spilled, FT_EXTENT_FILE, place);', ''],
    ['the keeper says that an extent is in the file before it is', 'ft/shm/keeper.c',
     '    *freed = ft_extent_place(ft_look(entry_of(s, s->spilled)));
', '    *freed = ft_extent_place(ft_look(entry_of(s, s->spilled)));
    say(s, s->spilled, FT_EXTENT_FILE, place);
'],
    ['the keeper says that there is memory before the table has it', 'ft/shm/keeper.c',
     '    enter(s, place);
    s->ready = s->assigned * k->extent_bytes;
    tell_ready(k, s);', '    s->ready = (s->assigned + 1) * k->extent_bytes;
    tell_ready(k, s);
    enter(s, place);'],
    ['a successor of the keeper does not tell what its predecessor had assigned', 'ft/shm/keeper.c',
     '        tell_ready(k, &k->streams[i]);', '        ;'],
    ['a successor of the keeper does not find memory that was about to be handed on', 'ft/shm/keeper.c',
     'ft_places_name(&k->memory, ft_extent_place(entry));',
     'for (uint64_t q = 0; q <= ft_extent_place(entry); q++) ft_places_name(&k->memory, q);'],
    ['a successor of the keeper gives away memory that is in use', 'ft/shm/keeper.c',
     'ft_places_name(&k->memory, ft_extent_place(entry));', ';'],
    ['a successor of the keeper writes over what is spilled', 'ft/shm/keeper.c',
     'ft_places_name(&k->file.places, ft_extent_place(entry));', ''],
    ['a successor of the keeper spills again what is spilled', 'ft/shm/keeper.c',
     's->spilled = ft_max(s->spilled, next);', ''],
    ['a successor of the keeper goes on with what its private memory says', 'ft/shm/keeper.c',
     'ft_places_forget(&k->memory);', ''],
    ['the log is released by what ranks have done, not by their cuts (RULE 6)', 'ft/shm/cut.c',
     'floor = ft_min(floor, ft_cut_need(r, i, stream));', 'floor = ft_min(floor, ft_look(&ft_region_stream(r, stream).counters[i].done_at));'],
    ['the log is released behind the newest cut (RULE 6)', 'ft/shm/cut.c',
     '    for (uint32_t i = 0; i < r->header->params.nranks; i++)
        floor = ft_min(floor,', '    floor = 0;
    for (uint32_t i = 0; i < r->header->params.nranks; i++)
        floor = ft_max(floor,'],
    ['an extent is released that lies below the cuts in part only', 'ft/shm/keeper.c',
     'return ft_min(end, ft_streams_end(k->region, number_of(k, s))) / k->extent_bytes;', 'return (ft_min(end, ft_streams_end(k->region, number_of(k, s))) + k->extent_bytes - 1) / k->extent_bytes;'],
    ['memory is used again before the table says that it is released (RULE 14)', 'ft/shm/keeper.c',
     '    say(s, s->released, FT_EXTENT_RELEASED, 0);
', ''],
    ['released memory is not given back', 'ft/shm/keeper.c',
     '    if (ft_extent_state(entry) == FT_EXTENT_MEMORY)
        ft_places_give_back(&k->memory, place);', '    if (ft_extent_state(entry) == FT_EXTENT_MEMORY)
        ;'],
    ['a released place in the file is taken for memory', 'ft/shm/keeper.c',
     'ft_spill_drop(&k->file, place);', 'ft_places_give_back(&k->memory, place);'],
    ['released memory is given back twice', 'ft/shm/keeper.c',
     '    if (ft_extent_state(entry) == FT_EXTENT_MEMORY)
        ft_places_give_back', '    if (ft_extent_state(entry) == FT_EXTENT_MEMORY)
        ft_places_give_back(&k->memory, place), ft_places_give_back'],
    ['memory of another extent is given back', 'ft/shm/keeper.c',
     'ft_keeper_extent(k, place) - k->region->base)', 'ft_keeper_extent(k, place ^ 1) - k->region->base)'],
    ['a cut is withdrawn, and the keeper releases all the same', 'ft/shm/keeper.c',
     'if (below_cuts(k, s) < floor)', 'if (0)'],
    ['the floor is told when the table has been changed already', 'ft/shm/keeper.c',
     '    ft_announce(&s->head->floor, floor);
    if (below_cuts(k, s) < floor)
        ft_announce(&s->head->floor, s->released);  /* next time, perhaps */
    else
        while (s->released < floor)
            release_oldest(k, s);', '    while (s->released < floor)
        release_oldest(k, s);
    ft_announce(&s->head->floor, floor);'],
    ['a rank starts from the beginning and leaves its cut as it is', 'ft/shm/cut.c',
     '    move(r, rank, &p);
    return ft_cut_reaches', '    return ft_cut_reaches'],
    ['the log is forgotten under a rank that replays (RULE 14)', 'ft/shm/keeper.c',
     'if (left_by(s, r) < end)', 'if (ft_look(&s->counters[r].done_at) < end)', $forgets],
    ['the log is forgotten that the slowest rank has not left behind', 'ft/shm/keeper.c',
     'if (left_by(s, r) < end)
            return false;
    return true;', 'if (left_by(s, r) >= end)
            return true;
    return false;', $forgets],
    ['the keeper forgets without looking again who needs it', 'ft/shm/keeper.c',
     '    ft_announce(&s->head->floor, s->released + 1);
    if (!left_behind(k, s, end)) {', '    ft_announce(&s->head->floor, s->released + 1);
    if (0) {', $snapshots],
    ['the keeper does not say that it is about to forget', 'ft/shm/keeper.c',
     '    ft_announce(&s->head->floor, s->released + 1);
    if (!left_behind(k, s, end)) {
        ft_announce(&s->head->floor, s->released);
        return -1;
    }
    release_oldest(k, s);', '    release_oldest(k, s);
    ft_announce(&s->head->floor, s->released);', $snapshots],
    ['what is not forgotten after all stays announced', 'ft/shm/keeper.c',
     '        ft_announce(&s->head->floor, s->released);
        return -1;', '        return -1;', $snapshots],
    ['a rank is started again and does not say what it needs', 'ft/shm/cut.c',
     '    ft_cut_hold(r, rank);
    return', '    return', $snapshots],
    ['a rank that is started again needs what its predecessor did', 'ft/shm/cut.c',
     'ft_announce(&member_of(r, rank, s)->left_at, ft_cut_need(r, rank, s));', ';', $snapshots],
    ['a snapshot is woken that the log does not reach', 'ft/shm/cut.c',
     'holds = holds && is_there(r, s, ft_cut_need(r, rank, s));', ';', $snapshots],
    ['one stream is released by the cuts in another', 'ft/shm/keeper.c',
     'ft_cut_floor(k->region, number_of(k, s))', 'ft_cut_floor(k->region, 0)', $two_more],
    ['a rank that goes on from its cut says so of the first stream only', 'ft/shm/cut.c',
     '    for (uint32_t s = 0; s < ft_params_logs(&r->header->params); s = ft_streams_used(r, s + 1))
        if (member_of(r, rank, s))
            ft_announce', '    for (uint32_t s = 0; s < 1; s++)
        if (member_of(r, rank, s))
            ft_announce', $two_forget],
    ['a way back is judged by the first stream only', 'ft/shm/cut.c',
     '    for (uint32_t s = 0; s < ft_params_logs(&r->header->params); s = ft_streams_used(r, s + 1))
        holds', '    for (uint32_t s = 0; s < 1; s++)
        holds', $two_forget],
    ['the first stream takes ahead what others wait for', 'ft/shm/keeper.c',
     'return needed && k->bytes + more <=', 'return false && k->bytes + more <=', $two],
    ['who waits for two operations steps one of them', 'ft/core/run.c',
     '    for (uint32_t i = 0; i < n; i++) {
        struct ft_await own;', '    for (uint32_t i = c[0] ? 0 : 1; i < (c[0] ? 1 : n); i++) {
        struct ft_await own;', $two_more],
    ['who comes into a stream is behind those that were there', 'ft/core/stream.c',
     '    ft_note(&mine->done, use->unit);
', '', $two_more],
    ['who has left a stream needs nothing of it, wherever its cut is', 'ft/shm/cut.c',
     'return ft_ask(&stay->use) ?', 'return ft_ask(&stay->use) > ft_peek(&stay->left) ?', $two_more],
    ['of a stream that it has left a rank needs what follows, also in a replay that has not come there (was a real error)', 'ft/core/stream.c',
     's->left && !comes_again(s) ?', 's->left ?', $two],
    ['a part of a large operation is not left behind before its end', 'ft/core/units.c',
     'ft_stream_leave(x->c->s, x->out_at);', ';', $larger],
    ['... or not by who receives nothing', 'ft/core/units.c',
     'ft_stream_leave(s, x->made_at);', ';', $larger],
    ['done_at stays behind when a rank is killed after done (was a real hang)', 'ft/core/stream.c',
     'ft_publish(&c->done_at, end);
    return true;', ';
    return true;', '--only 1,3,5120,1,0,1,0,0 --seeds 60'],
    ['a successor of the keeper forgets free memory', 'ft/shm/places.c',
     'if (!p->named[i])', 'if (!p->named[i] && i % 2)'],
    ['a successor of the keeper has a free place twice', 'ft/shm/places.c',
     '            ft_places_give_back(p, i);', '            ft_places_give_back(p, i), ft_places_give_back(p, i);'],
    ['a successor of the keeper takes every lap for the first', 'ft/shm/keeper.c',
     'ft_extent_lap(entry) * n + i + 1', 'i + 1'],
    ['a successor of the keeper releases again what is released', 'ft/shm/keeper.c',
     's->released = ft_max(s->released, next);', ';'],
    ['a woken snapshot does not see what its rank has done since (mine)', 'ft/core/stream.c',
     '    ft_log_resume(&s->log);
    look_back(s);', '    uint64_t mine = s->mine;
    ft_log_resume(&s->log);
    look_back(s);
    s->mine = mine;'],
    ['a woken snapshot does not see what its rank has called since', 'ft/core/stream.c',
     '    ft_log_resume(&s->log);
    look_back(s);', '    uint64_t called = s->called;
    ft_log_resume(&s->log);
    look_back(s);
    s->called = called;'],
    ['the restart of everybody keeps the log that was', 'ft/shm/region.c',
     '(off_t)h->streams_at, (off_t)streams) != 0)', '(off_t)h->extents_at, 4096) != 0)'],
    ['--check-replay: all ranks share their hashes', 'ft/core/stream.c',
     'parts.checks + me * s->params->check_units;', 'parts.checks;'],
    ['--check-replay: the hash of a call with several units is the next one\'s', 'ft/core/check.c',
     'ft_note(&s->checks[s->unit], hash);', 'ft_note(&s->checks[s->unit + 1], hash);'],
    ['--check-replay: a rank says what it contributes after it has contributed', 'ft/collective.c',
     '    if (!err && __builtin_expect(s->checks != NULL, 0) && !ft_sig_agrees(sig) && !c->known)
        err = ft_check_contribution(c, e);
    if (err)
        return err;
    if (ft_collective_is_lone(s))
        return s->passing ? ft_pass_run(c, sig, site, e) : alone(c);
    c->progress = &progress;
    err = ft_coll_start(c, total, e);
    return err ? err : ft_coll_finish(c, e);',
     '    uint64_t u = s->unit;
    if (err)
        return err;
    if (ft_collective_is_lone(s))
        return s->passing ? ft_pass_run(c, sig, site, e) : alone(c);
    c->progress = &progress;
    err = ft_coll_start(c, total, e);
    err = err ? err : ft_coll_finish(c, e);
    s->unit = u;
    if (!err && s->checks)
        err = ft_check_contribution(c, e);
    s->unit = u + c->plan.units;
    return err;'],
    ['--check-replay: nobody compares', 'ft/core/check.c',
     'return before == hash ? 0 : differs(s, e);', 'return 0;'],
    ['inspection: who has called has contributed', 'ft/shm/inspect.c',
     'return ft_look(&slot->unit) > last ? called : last;', 'return called;'],
    ['inspection: a rank is in the call of its predecessor', 'ft/shm/inspect.c',
     'i->unit < i->called ? &m->again : trail_of', '0 ? &m->again : trail_of'],
    ['inspection: ... or in a stream that it was in', 'ft/shm/region.c',
     '    atomic_store(&m->next, 0);
', '', $two_more],
    ['inspection: no other stream is looked at', 'ft/shm/inspect.c',
     'rank); s; s =', 'rank); 0; s =', $two],
    ['inspection: of two calls another one is shown than that it waits in', 'ft/shm/inspect.c',
     'i->in_call && i->awaits.stream != stream', 'i->in_call', $two],
    ['inspection: a rank that waits for others to come into a stream is in no call', 'ft/shm/inspect.c',
     '    read_join(r, rank, i);
', '', $two],
    ["inspection: who is behind in a stream follows from the world's units", 'ft/shm/inspect.c',
     'a->stream ? is_behind_there(&v, ranks, q, a) :', '0 ? is_behind_there(&v, ranks, q, a) :', $two],
    ['inspection: a rank that is not in the stream is awaited there', 'ft/shm/inspect.c',
     'if (!ft_streams_has(&v->stays[other]))', 'if (0)', $two_more],
    ['a version is said before its models are written (VERSION_FIRST)', 'ft/checkpoint.c',
     '    err = write_models(c, slot, m, &hash, e);
    if (!err)
        err = write_carried(c, slot, e);
    if (!err)
        describe(c, words, m, &hash, count);', '    hash = (struct hashes){ ft_hash(0, m->local, m->nlocal), ft_hash(0, m->global, m->nglobal) };
    describe(c, words, m, &hash, count);
    err = write_models(c, slot, m, &hash, e);
    if (!err)
        err = write_carried(c, slot, e);', $versions],
    ['a version is loaded that is not committed (UNCOMMITTED)', 'ft/shm/versions.c',
     'return v->base || ft_region_committed(r, v->unit);', 'return true;', $versions],
    ['a load does not say that it has consumed the version (LOAD_UNSAID)', 'ft/checkpoint.c',
     '    c->kept_end = v->end;
    consume(c);', '    c->kept_end = v->end;', $versions],
    ['what is called before the load comes out of the log (PREFIX_LAST)', 'ft/checkpoint.c',
     'ft_prefix_follow(world, fd, ft_peek(&c->head->prefix_end) - 1, ft_peek(&c->mine->loads) - 1);',
     'ft_prefix_follow(world, fd, 0, ft_peek(&c->mine->loads) - 1);', $versions],
    ['words of slots stay when everybody begins again (OLD_WORDS)', 'ft/shm/region.c',
     '    ft_versions_renew(r);
    ft_point_store();', '    ft_point_store();', $versions],
    ['a rank is started from its beginning, and the base version is gone (was a real error)', 'ft/shm/cut.c',
     'return ft_cut_reaches(r, rank) && (loads || ft_versions_can_begin(r, rank));', 'return ft_cut_reaches(r, rank);', $versions],
    ['a rank goes by its own words and the unit, and another had no memory (OWN_WORDS)', 'ft/shm/versions.c',
     'if (!v->version || !all_have(r, v))', 'if (!v->version)', "endless $dense"],
    ['one slot instead of two (ONE_COPY)', 'ft/checkpoint.c',
     'uint32_t slot = c->kept ? 1 - c->slot : 0;', 'uint32_t slot = 0;', $dense],
    ['the beginning of the log is put aside across extents (was a real error)', 'ft/prefix.c',
     'ft_min(ft_min(PIECE, s->params->extent_bytes), s->end - at)', 'ft_min(PIECE, s->end - at)', $versions],
    ['a slot is written that somebody may still load (NO_WAIT)', 'ft/checkpoint.c',
     '    await_consumed(c);
    take_slot', '    take_slot', "--chance --only 8,2,300,12,0,3,0,0 $many"],
    ['a version is consumed before it is committed (EARLY)', 'ft/checkpoint.c',
     '    if (!err && c->s->n > 1) {
        say_busy', '    if (0) {
        say_busy', $dense],
    ['a rank has no snapshot any more: is the log there?, and then its cut is taken back (ASK_FIRST)', 'ft/shm/cut.c',
     '    move(r, rank, &p);
    return ft_cut_reaches(r, rank) && (', '    bool reaches = ft_cut_reaches(r, rank);
    move(r, rank, &p);
    return reaches && (', $both],
    ['a woken rank that loses its snapshot gives up the log on its way to a checkpoint (was a real error)', 'ft/shm/cut.c',
     '    if (v.version && ft_cut_unit(r, rank) <= v.unit && !ft_versions_moves_cut(r, rank, &v))', '    if (0)', "--chance --only 7,3,300,12,0,3,1,0 $many"],
    ['a woken snapshot uses the mapping of models that it does not have', 'ft/checkpoint.c',
     '    memset(c->maps, 0, sizeof c->maps);
    ft_publish', '    ft_publish', $both],
    ['lazy: version k goes to slot k mod 2 (IN_TURN)', 'ft/checkpoint.c',
     'uint32_t slot = c->kept ? 1 - c->slot : 0;', 'uint32_t slot = (uint32_t)c->version % 2;', $lazy],
    ['lazy: a successor goes by what it thinks itself', 'ft/checkpoint.c',
     '    int err = meet(c, FT_CALL_LAZY, 0, &wanted, site, e);
', '    uint64_t own = wanted;
    int err = meet(c, FT_CALL_LAZY, 0, &wanted, site, e);
    wanted = c->s->rank == 0 ? own : wanted;
', $lazy],
    ['lazy: one that is not kept is waited for', 'ft/checkpoint.c',
     '        if (ft_look(consumed) >= c->kept)
            continue;
        w = ft_stream_wait_for(c->s, &a);
        while (ft_look(consumed) < c->kept)', '        w = ft_stream_wait_for(c->s, &a);
        while (ft_look(consumed) < c->version)', $lazy],
    ['lazy: one that is not kept does not count', 'ft/checkpoint.c',
     'c->version += !err;', ';', $lazy],
    ['a load does not say which slot is the older one', 'ft/checkpoint.c',
     '    c->slot = v->slot;
    c->kept_end', '    c->kept_end', $lazy],
    ['cache: an entry is published before it is whole (END_FIRST)', 'ft/core/cache.c',
     '    memcpy(head, entry, sizeof *entry);', '    ft_publish(&k->head->cache_end, at + entry->bytes);
    memcpy(head, entry, sizeof *entry);', $keys],
    ['cache: only who does the operation live keeps its result (LIVE_ONLY)', 'ft/core/bootstrap_key.c',
     'if (err || !k->head || k->s->rank != 0 || k->lost', 'if (err || !k->head || k->s->rank != 0 || k->lost || ft_stream_replays(k->s, unit)', $keys],
    ['cache: what was answered before its turn is not done when it comes', 'ft/core/bootstrap_key.c',
     'if (!err && kept->unit > x->k->s->unit)', 'if (0)', $keys],
    ['cache: a checkpoint is made where what was answered before its turn is to come', 'ft/checkpoint.c',
     'return ft_cache_settle(c->s->cache, ft_collective_perform, e); }', 'return 0; }', $keys],
    ['cache, places: all are in doubt, and that is no reason to go on (ALONE_EVIDENT)', 'ft/core/bootstrap_place.c',
     'all = all_in_doubt(x, key, e, err);', '(void)all_in_doubt;', $places],
    ['cache, places: what is done again since all were in doubt counts as a step (MARK_ALL)', 'ft/core/bootstrap_place.c',
     'return ft_bootstrap_perform(x, &repeated, e);', '{ int err = count_again(x, e); return err ? err : ft_bootstrap_perform(x, &repeated, e); }',
     "--chance --only 11,2,300,14,0,3,0,0 $many"],
    ['cache, places: what is contributed does not count', 'ft/core/bootstrap_place.c',
     'if (hash && ft_cache_contributed(x->k, place->kept[i].unit) == hash) {', 'if (0) {', $places],
    ['cache, places: rank 0 does not count what recurs', 'ft/core/bootstrap_place.c',
     'if (++place->now <= place->most || k->lost)', 'if (1)', $places],
    ['cache, places: a version can be loaded before a whole one has been counted', 'ft/shm/versions.c',
     ' + r->header->params.bootstrap_cache)', ')', '--chance --only 11,3,300,14,0,3,0,0 --seeds 20000'],
    ['cache, places: only who does the operation live keeps its result (LIVE_ONLY)', 'ft/core/bootstrap_place.c',
     'return err || s->rank != 0 ? err : keep_place', 'return err || s->rank != 0 || ft_stream_replays(s, unit) ? err : keep_place', $places],

    # several nodes
    ['nodes: a result that comes is consumed before its part is made again (was a real hang)', 'ft/core/nodes_exchange.c',
     'op->out == i && op->made > i && !', 'op->out == i && !', 'apart --chance --only 3,11,300,2,0,0 --seeds 8000'],
    ['nodes: a representative that may not commit yet does not give way (was a real waste)', 'ft/core/nodes_exchange.c',
     '            return moved;  /* a peer is', '            return 1;  /* a peer is', "endless $apart_mixed"],
    ["nodes: a slot is refilled before its unit is committed (RULE 1)", 'ft/core/nodes_local.c',
     'contributed) > u || ft_stream_committed(s, u - depth));', 'contributed) > u || true);', $apart_sum],
    ['nodes: a published contribution is written again (RULE 2)', 'ft/core/nodes_local.c',
     '    if (ft_peek(&mine->contributed) > ft_nodes_unit(op, i))
        return;
    fill_slot(op, i);', '    fill_slot(op, i);
    if (ft_peek(&mine->contributed) > ft_nodes_unit(op, i))
        return;', 'apart --chance --only 3,22,150,3,0,0 --seeds 40000'],
    ['nodes: ... or published before it is written (RULE 2)', 'ft/core/nodes_local.c',
     '    fill_slot(op, i);
    if (i == 0)
        ft_stream_enter(s);
    ft_stream_announce(s, FT_AWAIT_CONTRIBUTED, &mine->contributed, ft_nodes_unit(op, i) + 1);',
     '    if (i == 0)
        ft_stream_enter(s);
    ft_stream_announce(s, FT_AWAIT_CONTRIBUTED, &mine->contributed, ft_nodes_unit(op, i) + 1);
    fill_slot(op, i);', $apart_sum],
    ['nodes: a chunk is made before all of the node have contributed', 'ft/core/nodes_local.c',
     'return s->n > 1 ? ft_stream_lacking(s, u) : -1;', 'return -1;', $apart_sum],
    ['nodes: ... or made again after done (RULE 2)', 'ft/core/nodes_local.c',
     'done) <= u && !op->small) {', 'done) <= u + 9 && !op->small) {', $apart_sum],
    ['nodes: ... or done before it is made', 'ft/core/nodes_local.c',
     '        if (op->kind == FT_UNIT_REDUCE) {
            if (s->n > 1)', '        if (s->rank != 0)
            ft_stream_done(s, u + 1, position + ft_record_bytes(result));
        if (op->kind == FT_UNIT_REDUCE) {
            if (s->n > 1)', $apart_sum],
    ['nodes: a representative sends what its others have not made', 'ft/core/nodes_exchange.c',
     'own = ft_min(own, done > s->first ? done - s->first : 0);', '(void)done;', $apart_sum],
    ['nodes: ... or of a small one, not contributed', 'ft/core/nodes_local.c',
     'if (s->rank != 0) {
        ft_stream_done(s, u + 1', 'if (s->rank != 0) {
        ft_stream_done(s, u + 1 + op->small', $apart_small],
    ['nodes: a result is consumed before the node has it', 'ft/core/nodes_local.c',
     'op->out < op->made && op->takes && ft_stream_committed(s, ft_nodes_unit(op, op->out))', 'op->out < op->made && op->takes', $apart_gather],
    ['nodes: ... or committed before its record is whole', 'ft/core/nodes_exchange.c',
     '    ft_stream_write_head(s, u, op->committed_end, position, result);
    op->committed_end = position + ft_record_bytes(result);
    ft_stream_announce(s, FT_AWAIT_DONE, &ft_stream_counters(s, 0)->done, u + 1);',
     '    ft_stream_announce(s, FT_AWAIT_DONE, &ft_stream_counters(s, 0)->done, u + 1);
    ft_stream_write_head(s, u, op->committed_end, position, result);
    op->committed_end = position + ft_record_bytes(result);', $apart_gather],
    ['nodes: ... or received by the program and not logged', 'ft/core/nodes_exchange.c',
     '    if (op->received)
        ft_copy', '    if (0)
        ft_copy', $apart_halves],
    ['nodes: a result in part is received over what is contributed', 'ft/core/nodes_exchange.c',
     'op->made > i && !ft_view_same(&c->recv, &c->send) ?', 'op->made > i ?', $apart_in_place],
    ["nodes: a successor's records begin where the operation does", 'ft/core/nodes_exchange.c',
     'op->placed_end = op->committed_end = end;', 'op->placed_end = op->committed_end = s->end;', $apart_sum],
    ['nodes: the keeper moves a record that is being sent', 'ft/core/nodes_exchange.c',
     'ft_nodes_release(op, u == n->x.mine ? position + ft_record_bytes(result) : ft_nodes_at(op, u - s->first));',
     'ft_nodes_release(op, position + ft_record_bytes(result));', $apart_spills],
    ['nodes: ... or a result is given from where the keeper has moved it', 'ft/core/nodes_local.c',
     '>= ft_peek(&ft_stream_counters(s, 0)->done_at);', '>= 0;', $apart_spills],
    ['nodes: partials of a peer are put where others still are', 'ft/core/frames.c',
     '    if (u == ft_exchange_needed(&n->x, p))
', '', 'apart --chance --only 3,11,600,3,1,0 --seeds 400'],
    ['nodes: who comes back to MPI_Finalize does not see that a peer has left', 'ft/core/nodes.c',
     '        ft_nodes_look_for_gone(n);
', '', $apart_small],
    ['nodes: the log is released that a peer lacks', 'ft/shm/keeper.c',
     'at = ft_min(at, ft_ask(&words->acked_at));', ';', 'apart --chance --only 7,21,600,10,2,0 --seeds 400'],
    ['what other hosts lack of a second stream is released', 'ft/shm/keeper.c',
     'if (number_of(k, s) > p->spread)', 'if (number_of(k, s) > 0)', 'apart --chance --only 7,21,600,10,2,32 --seeds 400'],
    ['a result of a call that is not made here yet is refused', 'ft/core/exchange.c',
     'if (u >= x->end || (takes_turns(x, peer) && !is_ours(x, u)))', 'if (takes_turns(x, peer) && !is_ours(x, u))', $apart_two],
    ['who comes into a second stream asks for no links', 'ft/core/nodes.c',
     'if (n->represents)
        n->wire.start(n->wire.net, n->number);', 'if (n->represents && !n->number)
        n->wire.start(n->wire.net, n->number);', $apart_two],
    ['a second stream begins between nodes where the first is', 'ft/core/nodes.c',
     'ft_peek(&ft_region_stream(n->region, n->number).counters[0].done)', 'ft_peek(&ft_region_stream(n->region, 0).counters[0].done)', $apart_two],
    ['a slot says that a message is there before it is', 'ft/msg/channel.c',
     '    ft_fill(&slot->sig, sig, sizeof slot->sig);
    slot->site = site;', '    ft_publish(&slot->unit, c->unit + 1);
    ft_fill(&slot->sig, sig, sizeof slot->sig);
    slot->site = site;', $ring],
    ['... or a message while the next one is written', 'ft/msg/channel.c',
     '    ft_publish(&slot->unit, 0); /* whoever sees that finds what was there in the log */
', '', $burst],
    ['a message is logged before the log has it', 'ft/msg/channel.c',
     '    if (n && !is_long(c, n))
        ft_fill(', '    ft_publish(&c->mine->done, c->unit + 1);
    if (n && !is_long(c, n))
        ft_fill(', $burst],
    ['the bytes of a long one are said to be in its slot', 'ft/msg/channel.c',
     'if (!is_long(c, u->sig.length) && read_cell', 'if (read_cell', $ring],
    ['... or logged out of it by a successor', 'ft/msg/channel.c',
     '    if (n && !is_long(c, n))
        ft_fill(', '    if (n)
        ft_fill(', $ring],
    ['... or published before they are in the log', 'ft/msg/channel.c',
     '    if (is_long(c, n))
        ft_view_fill_past(v, from, n, write_head(c, sig, site, &end), true);
    else
', '    if (is_long(c, n)) {
        ft_publish(&slot->unit, c->unit + 1);
        ft_view_fill_past(v, from, n, write_head(c, sig, site, &end), true);
    } else
', $ring],
    ['who has copied a slot does not look whether it is still that', 'ft/msg/channel.c',
     'return ft_peek(&slot->unit) == unit + 1;
}

int ft_msg_walk', 'return true;
}

int ft_msg_walk', $burst],
    ['... or a cell', 'ft/msg/channel.c',
     'return ft_peek(&slot->unit) == u->unit + 1;', 'return true;', $burst],
    ['a successor writes a published slot again', 'ft/msg/channel.c',
     '    if (!ft_msg_is_published(c)) {', '    if (1) {', $varied],
    ['... or takes what is published for logged', 'ft/msg/channel.c',
     '        return FT_EDIVERGED;
    }
    ft_msg_log(c);', '        return FT_EDIVERGED;
    }
    advance(c, ft_log_place(&c->log, c->end, sig->length) + ft_record_bytes(sig->length));', $ring],
    ['... or sends again what is logged', 'ft/msg/channel.c',
     'if (__builtin_expect(ft_msg_replays(c), 0))', 'if (0)', $varied_burst],
    ['a piece that is kept is looked for in the log alone', 'ft/msg/channel.c',
     '    if (see(c, unit, *position, u)) {', '    if (0) {', '--only 16,2,300,2,0,0,0,0 --seeds 60'],
    ['... or its last piece ends the extent without a gap', 'ft/msg/channel.c',
     'if (at != c->end)', 'if (0)', '--chance --only 12,2,900,6,0,0,0,0 --seeds 400'],
    ['a slow receiver does not look into the log', 'ft/msg/channel.c',
     'return (there == c->unit + 1 || ft_look(&c->theirs->done) > c->unit) && ft_msg_walk', 'return there == c->unit + 1 && ft_msg_walk', $burst],
    ['... or before its message is there', 'ft/msg/channel.c',
     'return (there == c->unit + 1 || ft_look(&c->theirs->done) > c->unit) && ft_msg_walk', 'return ft_msg_walk', $letters_spill],
    ['a receiver passes by gaps in a channel', 'ft/msg/channel.c',
     'u->at = ft_log_place(&c->log, end, u->sig.length);', 'u->at = end;', '--chance --only 12,2,900,6,0,0,0,0 --seeds 400'],
    ['what a replaying sender has logged goes down', 'ft/msg/channel.c',
     '    if (ft_peek(&c->mine->done) < c->unit)
        ft_publish(&c->mine->done, c->unit);
    if (ft_peek(&c->mine->done_at)', '    ft_publish(&c->mine->done, c->unit);
    if (ft_peek(&c->mine->done_at)', '--chance --only 12,2,900,6,0,0,0,8 --seeds 400'],
    ['a receiver needs no message that is kept', 'ft/arrivals.c',
     'uint64_t from = oldest ? message_of(oldest)->log_before : in->c.end;', 'uint64_t from = oldest ? in->c.end : in->c.end;', $letters_left],
    ['... or that a probe has taken', 'ft/arrivals.c',
     'return in->probed.next == &in->probed ? from : ft_min(from, in->probed.next->log_before);', 'return from;',
     '--chance --only 15,3,900,12,0,4,0,0 --seeds 2000'],
    ['a question that was answered no is not counted', 'ft/msg/answers.c',
     'begin_run(a, 1, FT_RUN_OPEN);', 'begin_run(a, 0, FT_RUN_OPEN);', $asks],
    ['... or is not from the second time on', 'ft/msg/answers.c',
     'ft_publish(no, ft_peek(no) + 1);', ';', $asks],
    ['... or is asked again in a replay', 'ft/msg/answers.c',
     '            run->no--;
            *yes = false;
            return true;', '            run->no = 0;
            *yes = false;
            return true;', $asks],
    ['a match is written over the noes before it', 'ft/msg/answers.c',
     '    if (a->open)
        end_run(a, FT_RUN_BROKEN);
', '', $asks],
    ['noes that nothing ended are told as an answer', 'ft/msg/answers.c',
     'if (run->answer >= FT_RUN_ANSWERED)', 'if (1)', $asks],
    ['an answer that is published and not logged is not told again', 'ft/msg/answers.c',
     'if (!ft_msg_is_published(&a->log))', 'if (1)', $asks],
    ['... or is written over', 'ft/msg/answers.c',
     '    err = note(a, &slot->sig, slot->bytes, e);
    ft_msg_log(&a->log);', '    err = note(a, &slot->sig, slot->bytes, e);', $asks],
    ['... or comes out of the log only as far as it was', 'ft/msg/answers.c',
     'while (!err && a->log.unit < a->log.logged) {', 'while (!err && a->log.unit + 1 < a->log.logged) {', $asks],
    ['it is not written down whose message an open receive has', 'ft/arrivals.c',
     'if (m->writes && !r->posted.decided)
            ft_answers_match(&m->answers, r->posted.number, is->source, number);', '', $open],
    ['... or is again in a replay', 'ft/arrivals.c',
     'if (m->writes && !r->posted.decided)
            ft', 'if (m->writes)
            ft', $open],
    ['a receive is matched in a wait for memory to write down another match', 'ft/arrivals.c',
     'if (m->busy || m->failed)', 'if (m->failed)', $open],
    ['a synchronous send is over when the message has come', 'ft/arrivals.c',
     '    in->nsynchronous += synchronous;', '    if (synchronous && !err)
        err = acknowledge(m, source, in->nsynchronous, e);
    in->nsynchronous += synchronous;', $synchronous],
    ['... or never, if no receive waited for it', 'ft/arrivals.c',
     '    if (a->first.sig.reduction == FT_MESSAGE_SYNCHRONOUS)
        err = acknowledge(m, source, a->synchronous, e);', '', $synchronous],
    ['of a message that is kept the first piece is received', 'ft/arrivals.c',
     'while (!err && r->come < a->come) {', 'while (0) {', $ring],
    ['... or the pieces that come later go nowhere', 'ft/arrivals.c',
     '        in->into = r;
        in->kept = NULL;
    }
    say_needs', '        in->into = NULL;
        in->kept = NULL;
    }
    say_needs', $letters],
    ['a message that is cut off is not', 'ft/arrivals.c',
     'uint64_t fits = r->room > r->come ? ft_min(r->room - r->come, u->sig.length) : 0;', 'uint64_t fits = r->room > r->come ? u->sig.length : 0;', $ring],
    ['a replay has no end where a test said that there was one', 'ft/requests.c',
     'return await_chosen(m, list, which, *nwhich, e);', 'return 0;', $asks],
    ['... or of all', 'ft/requests.c',
     'return *over ? wait_for_all(m, list, e) : 0;', 'return 0;', $asks],
    ['what a test says is not written down', 'ft/requests.c',
     'return settled || !m->writes;', 'return true;', $asks],
    ['a test tells of more than was asked for', 'ft/requests.c',
     'first + i < list->n && chosen < most; i++)', 'first + i < list->n; i++)', $asks],
    ['a cancelled receive takes a message in a replay', 'ft/arrivals.c',
     '        ft_answers_match(&m->answers, r->posted.number, FT_MATCH_NOBODY, 0);', '        ;', $cancels],
    ['... or one that has its message is cancelled', 'ft/requests.c',
     'answer = !r->matched && !r->over;', 'answer = !r->over;', $cancels],
    ['it is not written down whose message a probe has seen', 'ft/probe.c',
     '(!waits || p->wants.source == FT_MATCH_ANY || m->ft->order)', '!waits', $probes],
    ['... or a replay sees the first one', 'ft/probe.c',
     'return ft_messages_until(m, is_there_again, await_seen, p, e);', 'return ft_messages_until(m, is_there, await_seen, p, e);', $probes],
    ['a message that is decided for a receive goes to another one', 'ft/msg/match.c',
     '    if (pair) {
        p = pair->posted;
    } else {', '    if (0) {
        p = pair->posted;
    } else {', $open],
    ['a receive whose message is decided takes the first one', 'ft/msg/match.c',
     '    if (decided)
        return post_decided(m, p, decided);', '    p->decided = decided != NULL;', $open],
    ['a message is published without a ring', 'ft/msg/channel.c',
     'ft_wait_announce(c->patience, FT_AWAIT_MESSAGE, c->number, &slot->unit, c->unit + 1);', 'ft_publish(&slot->unit, c->unit + 1);', $burst],
    ['... or that a synchronous one is matched', 'ft/arrivals.c',
     'ft_wait_announce(c->patience, FT_AWAIT_MATCHED, c->number, word, value);', '(void)c;
    ft_publish(word, value);', '--only 16,2,5,2,0,0,0,0 --seeds 60'],
    ['who waits for any message waits for none', 'ft/requests.c',
     '.kind = FT_AWAIT_MESSAGE, .anything = true, .tag', '.kind = FT_AWAIT_MESSAGE, .tag', $probes],
    ['the keeper spills what is not logged of a channel', 'ft/shm/keeper.c',
     '        safe = ft_min(safe, ft_streams_end(k->region, i));', '        safe = i ? safe : ft_min(safe, ft_streams_end(k->region, i));', $letters_spill],
    ['who is ahead gets memory beyond the limit (was a real hang)', 'ft/shm/keeper.c',
     'if (!needed && k->bytes > limit_of(k))', 'if (0)', $letters_spill],
    # messages under way at checkpoints
    ['what a checkpoint carries is released behind its cut (was a broken invariant; CUT_TAKEN)', 'ft/carry.c',
     '    ft_messages_positions(ft, p);', '    for (uint32_t r = 0; m && m->writes && r < m->n; r++) {
        if (m->out[r])
            ft_position_add(p, m->out[r]->c.number, (struct ft_position){ m->out[r]->c.unit, m->out[r]->c.end });
        if (m->in[r])
            ft_position_add(p, m->in[r]->c.number, (struct ft_position){ m->in[r]->c.unit, m->in[r]->c.end });
    }', $carried],
    ['... or is not carried (KEPT_LOST)', 'ft/carry.c',
     'return ft_comms_number(ft, a->is.context) != UINT64_MAX;', 'return ft_comms_number(ft, a->is.context) != UINT64_MAX && 0;', $carried],
    ['... or at once, before all have come (NO_MEET)', 'ft/checkpoint.c',
     '    if (!err && ft_carry_is_on(c->s->ft))
        err = meet(c, FT_CALL_CHECKPOINT, m->nglobal, &word, site, e);', '    (void)word;', "--chance --only 20,2,300,16,0,3,0,0 $many"],
    ['... or when all have, and what has come is not looked at (NO_TAKE)', 'ft/checkpoint.c',
     'int64_t n = ft_carry_is_on(c->s->ft) ? ft_carry_left(c->s->ft, e) : 0;', 'int64_t n = 0;', $carried],
    ['who goes on from a checkpoint reads channels from their beginning (LOG_TOO)', 'ft/carry.c',
     'again ? row[END] : c->end', 'again ? 0 : c->end', $carried],
    ['... or numbers its receives anew', 'ft/carry.c',
     '        m->posts = head[AT_POSTS];', '        ;', $carried],
    ['all begin with a checkpoint, and number their messages anew', 'ft/carry.c',
     'ft_max(c->unit, row[UNIT])', 'again ? row[UNIT] : c->unit', $carried],
    ['a rank that has had messages begins with a checkpoint alone', 'ft/checkpoint.c',
     'if (!err && is_live(c) && !used && c->s->rank == 0)', 'if (!err && is_live(c) && c->s->rank == 0)', $carried_early],

    # collectives that are messages
    ['passes: a barrier is over for who has told the one before it', 'ft/pass/barrier.c',
     'return err ? err : ft_pass_bcast(p, 0, NULL, 0, e);', 'return err;', $passes],
    ['passes: a part goes round twice', 'ft/pass/allgather.c',
     'gives = (me + n - i + 1) % n, gets', 'gives = (me + n - (i > 1 ? i : i + 1) + 1) % n, gets', $passes],
    ['passes: an allgather leaves out its own part', 'ft/pass/allgather.c',
     '    ft_view_move(&mine, own, 0, ft_view_part_bytes(all, me), false);', '    (void)mine, (void)own;', $passes],
    ['passes: a reduction in place is not', 'ft/pass/fold.c',
     '    if (!err && first && n)', '    if (0)', $passes_in_place],
    ['passes: a rank folds before it has received', 'ft/pass/fold.c',
     '    int err = ft_pass_receive(p, p->c->me + 1, acc, n, e);

    if (err)
        return err;
    if (n)
        combine(op, own, acc, n, elem);', '    int err;

    if (n)
        combine(op, own, acc, n, elem);
    err = ft_pass_receive(p, p->c->me + 1, acc, n, e);
    if (err)
        return err;', $passes],
    ['passes: a bcast comes from the rank of that number, whoever its root is', 'ft/pass/bcast.c',
     'err = ft_pass_receive(p, (me - distance + root) % ranks, data, n, e);', 'err = ft_pass_receive(p, me - distance, data, n, e);', $passes],

    # threads that call at the same time
    ["order: a replay's steps are whose they like to be", 'ft/order.c',
     'if (replays(o) && owner(o) == thread)', 'if (replays(o))', $threads],
    ['order: another thread calls, and that is not written down', 'ft/order.c',
     '        if (owner(o) != thread)
            take_over(o, thread);', '        o->thread = thread;', $threads],
    ['order: ... or after the step counts', 'ft/order.c',
     '        if (owner(o) != thread)
            take_over(o, thread);
        ft_publish(o->done, o->steps + 1);', '        bool other = owner(o) != thread;
        ft_publish(o->done, o->steps + 1);
        if (other)
            take_over(o, thread);', $threads],
    ['order: a step does not count', 'ft/order.c',
     '        ft_publish(o->done, o->steps + 1);', '        ;', $threads],
    ['order: of two turns of one step the first counts', 'ft/order.c',
     '        o->thread = a->turns[o->given].thread;', '        if (!o->given || a->turns[o->given].step != a->turns[o->given - 1].step)
            o->thread = a->turns[o->given].thread;', $order_more],
    ['order: in a wait for memory for a turn a receive is matched (was an empty record)', 'ft/order.c',
     '    m->busy = true; /* in a wait', '    /* in a wait', $order_more],
    ['order: a call that has let others in is as they leave it (was a crash)', 'ft/order.c',
     '    if (ft->messages)
        ft->messages->busy = busy;', '    (void)ft, (void)busy;', $order_waits_more],
    ['order: killed while their slot is filled again, there were no answers (was another order)', 'ft/shm/channels.h',
     'atomic_load_explicit(&parts.counters[0].done, memory_order_acquire) != 0 ||', '', $order_more],
    ['order: something new is done while others are given what was before', 'ft/order.c',
     '    if (!waits && !o->settling)
        return false;', '    return false;', $order_waits],
    ['order: ... or while a step of before is not over', 'ft/order.c',
     '    if (!waits && !o->settling)', '    if (!waits)', $order_waits_more],
    ['order: who waits for its turn keeps others out', 'ft/order.c',
     '        if (replays(o))
            ft_order_turn(o->ft, &w);', '        if (replays(o))
            w.holds = true, ft_wait_turn(&w, &o->ft->patience);', $threads],
    ['order: a call that has waited goes on out of its turn', 'ft/requests.c',
     '    if (!err)
        ft_order_step(m->ft);
    m->holds = true;', '    m->holds = true;', $order_waits],
    ['order: a replay looks for what it waits for, whose turn it ever is', 'ft/requests.c',
     '    if (ft_order_replays(m->ft))
        return ft_order_is_mine(m->ft);
', '', $order_waits],
    ['order: whoever is in, each thread is', 'ft/shm/turns.c',
     'if (!ft_turns_mine(t))', 'if (!atomic_load(&t->taken))', $threads],
    ['order: ... or comes back as one that has just come', 'ft/shm/turns.c',
     '    t->away--;
    t->depth = depth;', '    t->away--;
    t->depth = 0;', $threads],
    ['receivers say seldom how far they are', 'ft/arrivals.c',
     'in->said + ft_min(SAY_AGAIN, in->c.log.extent_bytes / 4)', 'in->said + SAY_AGAIN', '--chance --only 19,2,900,12,0,2,0,0 --seeds 400'],
);
my ($source, $library, $explore, $apart, $order, @cc) = @ARGV;
die "usage: mutants.pl SOURCE_DIR LIBRARY EXPLORE_OBJECT APART_OBJECT ORDER_OBJECT CC [CFLAGS ...]\n" unless @cc;

# What the code has no more is said at once, of all mutants, also of those that are not asked for.
my $stale = 0;
for my $m (@mutants) {
    my ($name, $file, $from) = @$m;
    my $text = slurp("$source/$file");
    my $count = () = $text =~ /\Q$from\E/g;
    $stale++, print "FAIL    does not apply, $file has it in $count places: $name\n" if $count != 1;
}
exit(2) if $stale;

@mutants = grep { "$_->[1]: $_->[0]" =~ /$ENV{FT_MUTANTS}/ } @mutants if $ENV{FT_MUTANTS};  # some of them, by hand: FILE: NAME
my ($share, $shares) = split m{/}, $ENV{FT_SHARE} // '0/1';                        # each Nth of them: mutants.sh runs several
@mutants = @mutants[grep { $_ % $shares == $share } 0 .. $#mutants];

my $dir = tempdir(CLEANUP => 1);
my $missed = 0;

sub slurp {
    my ($path) = @_;
    open(my $in, '<', $path) or die "$path: $!\n";
    local $/;
    return scalar <$in>;
}

sub run { my $rc = system(@_); return $rc == -1 ? -1 : $rc >> 8; }

for my $m (@mutants) {
    my ($name, $file, $from, $to, $how_long) = @$m;
    $how_long //= '--seeds 60';
    my $endless = $how_long =~ s/^endless //;
    my @explorer = $how_long =~ s/^apart // ? ($apart, '-Wl,--wrap=ft_clock_ns') : $how_long =~ s/^order // ? ($order) : ($explore);
    # A header's mutant is seen by what includes it: a copy of the tree, and the files that matter compiled from there.
    run("rm -rf '$dir/ft' && mkdir -p '$dir/ft' && cp -r '$source/ft/base' '$source/ft/shm' '$source/ft/core' '$source/ft/msg' '$source/ft/net' '$source/ft/pass' '$source/ft/snap' '$dir/ft/' && mkdir '$dir/ft/outcome' && cp '$source'/ft/outcome/door.h '$source'/ft/outcome/copies.h '$source'/ft/outcome/log.[ch] '$source'/ft/outcome/kinds.h '$dir/ft/outcome/' && cp '$source'/ft/*.[ch] '$dir/ft/'") == 0
        or die "cannot copy $source/ft\n";
    my $text = slurp("$dir/$file");
    $text =~ s/\Q$from\E/$to/;
    open(my $out, '>', "$dir/$file") or die "$file: $!\n";
    print $out $text;
    close $out;
    my @files = $file =~ /\.c$/ ? ($file) :
        qw(ft/core/short.c ft/core/units.c ft/core/chunked.c ft/core/stream.c ft/shm/log.c ft/shm/walk.c ft/shm/doorbell.c ft/shm/wait.c ft/order.c);
    my @sources = map { "$dir/$_" } @files;
    run(@cc, '-w', '-D_GNU_SOURCE', "-I$dir", '-O1', '-o', "$dir/explore", @sources, @explorer, $library, '-lpthread') == 0
        or die "mutant does not compile: $name\n";
    # Seconds of processor time, so that a busy machine does not make a search look endless: the longest take 5 to 8. It may also sleep for ever.
    # One that is cut off has found nothing, whatever else is yet to come.
    my $rc = run("ulimit -t 30; timeout 1200 '$dir/explore' --quick $how_long > '$dir/out' 2>&1");
    my $cut_off = $rc == 124 || $rc == 137 || $rc == 152;
    if ($rc == 0 || ($cut_off && !$endless)) {
        print "MISSED  $name\n";
        print "          nothing found in 30 seconds: it needs other seeds or another scenario, or is `endless`\n" if $cut_off;
        $missed++;
    } else {
        my $said = slurp("$dir/out");
        my ($how) = $said =~ /^FAILED [^:]*: (.*)$/m;
        $how //= $cut_off ? 'no end' : "exit code $rc";
        print "caught  $name\n          $how\n";
    }
}
print scalar(@mutants), " mutants, $missed missed\n";
exit($missed ? 1 : 0);
