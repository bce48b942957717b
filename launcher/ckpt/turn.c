/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/ckpt/turn.h"

#include <event2/event.h>

#include "launcher/base/timer.h"
#include "launcher/ckpt/writer.h"
#include "launcher/options/options.h"

bool ft_ckpt_turn_is_free(const struct ft_ckpt_turn *t) { return !t->busy && !t->over; }

void ft_ckpt_turn_later(struct ft_ckpt_turn *t, uint64_t ms) { ft_timer_set(t->later, ms); }

void ft_ckpt_turn_end(struct ft_ckpt_turn *t)
{
    t->over = true;
    ft_ckpt_series_tell_end(t->config.series);
}

void ft_ckpt_turn_write(struct ft_ckpt_turn *t, const struct ft_ckpt_header *h, uint32_t slot)
{
    t->busy = true;
    ft_ckpt_writer_begin(t->writer, h, slot, t->config.series->totals.last);
}

/* What was written may have been removed since: then it is written again. */
static enum ft_ckpt_turn_what next_last(struct ft_ckpt_turn *t)
{
    if (t->looked)
        return FT_TURN_LAST;
    t->looked = t->busy = true;
    ft_ckpt_writer_look(t->writer, t->config.series->totals.last);
    return FT_TURN_NONE;
}

enum ft_ckpt_turn_what ft_ckpt_turn_next(struct ft_ckpt_turn *t, uint64_t newest)
{
    uint64_t wait;

    if (!ft_ckpt_turn_is_free(t))
        return FT_TURN_NONE;
    if (t->final)
        return next_last(t);
    wait = ft_ckpt_series_wait_ms(t->config.series);
    if (!wait)
        return ft_ckpt_series_is_due(t->config.series, newest) ? FT_TURN_WRITE : FT_TURN_KEEP;
    ft_ckpt_turn_later(t, wait);
    return FT_TURN_NONE;
}

static void on_done(evutil_socket_t fd, short what, void *arg)
{
    struct ft_ckpt_turn *t = arg;
    struct ft_ckpt_written result;

    (void)fd;
    (void)what;
    if (!ft_ckpt_writer_take(t->writer, &result))
        return;
    t->busy = false;
    ft_ckpt_series_note(t->config.series, &result);
    if (t->over || (t->final && result.version && result.err)) /* once more would not help */
        ft_ckpt_turn_end(t);
    t->config.written(t->config.arg);
}

static void on_later(evutil_socket_t fd, short what, void *arg)
{
    const struct ft_ckpt_turn *t = arg;

    (void)fd;
    (void)what;
    t->config.look(t->config.arg);
}

int ft_ckpt_turn_open(struct ft_ckpt_turn *t, const struct ft_ckpt_turn_config *config)
{
    const struct ft_ckpt_series *s = config->series;
    struct ft_ckpt_writer_config writer = {
        .dir = s->dir, .path = s->options->ckpt_dir, .series = s->id, .models = config->models, .taken = config->taken, .arg = config->arg};

    *t = (struct ft_ckpt_turn){.config = *config, .writer = ft_ckpt_writer_new(&writer)};
    if (!t->writer)
        return -1;
    t->done = event_new(config->base, ft_ckpt_writer_fd(t->writer), EV_READ | EV_PERSIST, on_done, t);
    t->later = evtimer_new(config->base, on_later, t);
    return t->done && t->later ? event_add(t->done, NULL) : -1;
}

void ft_ckpt_turn_close(struct ft_ckpt_turn *t)
{
    if (t->writer)
        ft_ckpt_writer_free(t->writer);
    ft_timer_free(t->done);
    ft_timer_free(t->later);
    *t = (struct ft_ckpt_turn){.over = true};
}
