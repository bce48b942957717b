/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/msg/answers.h"

#include <stdlib.h>
#include <string.h>

static const struct ft_sig a_match = { .call = FT_CALL_MATCH, .root = -1, .elem = 1, .length = 16, .count = 16 };
static const struct ft_sig a_run = { .call = FT_CALL_ANSWER, .root = -1, .elem = 1, .length = 16, .count = 16 };
static const struct ft_sig a_turn = { .call = FT_CALL_TURN, .root = -1, .elem = 1, .length = 16, .count = 16 };

enum { NUMBER_BITS = 42 };  /* sources are below 2^11: there are no more than 2^22 channels */

uint64_t ft_answer_of(int32_t source, uint64_t number) { return (uint64_t)(source + 1) << NUMBER_BITS | number; }

void ft_answer_is(uint64_t answer, int32_t *source, uint64_t *number)
{
    *source = (int32_t)(answer >> NUMBER_BITS) - 1;
    *number = answer & ((1ull << NUMBER_BITS) - 1);
}

static int no_memory(struct ft_error *e) { return ft_err_set(e, FT_ENOMEM, "no memory for what this rank was told of its messages"); }

/* One more of n elements. NULL: no memory, and all is as it was. */
static void *grow(void *all, uint64_t n, uint64_t *room, size_t each)
{
    uint64_t wanted = n < *room ? *room : 2 * *room + 64;
    void *more = n < *room ? all : realloc(all, wanted * each);

    *room = more ? wanted : *room;
    return more;
}

static int note_run(struct ft_answers *a, const struct ft_answer_run *run, struct ft_error *e)
{
    struct ft_answer_run *more = grow(a->again, a->nagain, &a->room, sizeof *more);

    if (!more)
        return no_memory(e);
    a->again = more;
    a->again[a->nagain++] = *run;
    return 0;
}

static int note_turn(struct ft_answers *a, const struct ft_turn *turn, struct ft_error *e)
{
    struct ft_turn *more = grow(a->turns, a->nturns, &a->turns_room, sizeof *more);

    if (!more)
        return no_memory(e);
    a->turns = more;
    a->turns[a->nturns++] = *turn;
    return 0;
}

/* What this process has said of a run before it was copied is not said again. */
static int note(struct ft_answers *a, const struct ft_sig *sig, const char *bytes, struct ft_error *e)
{
    uint64_t words[2], number, said = a->said;
    int32_t source;

    memcpy(words, bytes, sizeof words);
    a->said = 0;
    if (sig->call == FT_CALL_ANSWER)
        return note_run(a, &(struct ft_answer_run){ words[0] - said, words[1] }, e);
    if (sig->call == FT_CALL_TURN)
        return note_turn(a, &(struct ft_turn){ words[0], (uint32_t)words[1] }, e);
    ft_answer_is(words[1], &source, &number);
    if ((source == FT_MATCH_NOBODY ? ft_match_decide_none(a->match, words[0]) : ft_match_decide(a->match, words[0], source, number)) != 0)
        return no_memory(e);
    return 0;
}

static _Atomic uint64_t *words_of(struct ft_message_slot *slot) { return (_Atomic uint64_t *)(void *)slot->bytes; }

/* The last one may be published only. A run that is open is broken there. */
static int note_published(struct ft_answers *a, struct ft_error *e)
{
    struct ft_message_slot *slot = ft_msg_slot(&a->log);
    int err;

    if (!ft_msg_is_published(&a->log))
        return 0;
    if (slot->sig.call == FT_CALL_ANSWER && ft_peek(&words_of(slot)[1]) == FT_RUN_OPEN)
        ft_publish(&words_of(slot)[1], FT_RUN_BROKEN);
    err = note(a, &slot->sig, slot->bytes, e);
    ft_msg_log(&a->log);
    return err;
}

static int read_all(struct ft_answers *a, struct ft_error *e)
{
    int err = 0;

    a->open = false;
    while (!err && a->log.unit < a->log.logged) {
        struct ft_unit u;

        uint64_t end = a->log.end;

        err = ft_msg_walk(&a->log, a->log.unit, &end, &u, e);
        ft_msg_go_to(&a->log, a->log.unit + 1, end);
        if (!err)
            err = note(a, &u.sig, u.bytes, e);
    }
    return err ? err : note_published(a, e);
}

int ft_answers_open_at(struct ft_answers *a, const struct ft_answers_place *at, const struct ft_region *region, uint32_t rank, struct ft_match *match,
                       const struct ft_patience *patience, int kick_fd, int spill_fd, struct ft_error *e)
{
    *a = (struct ft_answers){ .match = match, .said = at->said };
    ft_msg_open(&a->log, region, rank, rank, rank, patience, kick_fd, spill_fd);
    ft_msg_go_to(&a->log, at->unit, at->end);
    return read_all(a, e);
}

int ft_answers_open(struct ft_answers *a, const struct ft_region *region, uint32_t rank, struct ft_match *match, const struct ft_patience *patience,
                    int kick_fd, int spill_fd, struct ft_error *e)
{
    return ft_answers_open_at(a, &(struct ft_answers_place){ 0 }, region, rank, match, patience, kick_fd, spill_fd, e);
}

struct ft_answers_place ft_answers_at(const struct ft_answers *a)
{
    return (struct ft_answers_place){ .unit = a->log.unit, .end = a->log.end, .said = a->open ? a->said : 0 };
}

int ft_answers_resume(struct ft_answers *a, struct ft_error *e)
{
    ft_msg_resume(&a->log);
    return read_all(a, e);
}

void ft_answers_close(struct ft_answers *a)
{
    free(a->again);
    free(a->turns);
    *a = (struct ft_answers){ 0 };
}

static void publish(struct ft_answers *a, const struct ft_sig *sig, uint64_t first, uint64_t second)
{
    uint64_t words[2] = { first, second };
    struct ft_view v = ft_view_of(words, sizeof words, (struct ft_type){ .elem = 1, .kind = FT_BYTE });

    ft_msg_publish(&a->log, sig, 0, &v, 0);
}

static void end_run(struct ft_answers *a, uint64_t answer)
{
    ft_publish(&words_of(ft_msg_slot(&a->log))[1], answer);
    ft_msg_log(&a->log);
    a->open = false;
    a->said = 0;
}

static void begin_run(struct ft_answers *a, uint64_t no, uint64_t answer)
{
    publish(a, &a_run, no, answer);
}

static void say(struct ft_answers *a, const struct ft_sig *sig, uint64_t first, uint64_t second)
{
    if (a->open)
        end_run(a, FT_RUN_BROKEN);
    publish(a, sig, first, second);
    ft_msg_log(&a->log);
}

void ft_answers_match(struct ft_answers *a, uint64_t receive, int32_t source, uint64_t number)
{
    say(a, &a_match, receive, ft_answer_of(source, number));
}

void ft_answers_turn(struct ft_answers *a, const struct ft_turn *turn) { say(a, &a_turn, turn->step, turn->thread); }

bool ft_answers_again(struct ft_answers *a, bool *yes, uint64_t *answer)
{
    while (a->given < a->nagain) {
        struct ft_answer_run *run = &a->again[a->given];

        if (run->no) {
            run->no--;
            *yes = false;
            return true;
        }
        a->given++;
        if (run->answer >= FT_RUN_ANSWERED) {
            *yes = true;
            *answer = run->answer - FT_RUN_ANSWERED;
            return true;
        }
    }
    return false;
}

void ft_answers_no(struct ft_answers *a)
{
    _Atomic uint64_t *no = &words_of(ft_msg_slot(&a->log))[0];

    if (a->open)
        ft_publish(no, ft_peek(no) + 1);
    else
        begin_run(a, 1, FT_RUN_OPEN);
    a->open = true;
    a->said++;
}

void ft_answers_yes(struct ft_answers *a, uint64_t answer)
{
    if (a->open) {
        end_run(a, answer + FT_RUN_ANSWERED);
        return;
    }
    begin_run(a, 0, answer + FT_RUN_ANSWERED);
    ft_msg_log(&a->log);
}
