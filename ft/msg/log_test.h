/* SPDX-License-Identifier: BSD-3-Clause */
/* A region of two ranks with channels, whose keeper this process is. */
#ifndef FT_MSG_LOG_TEST_H
#define FT_MSG_LOG_TEST_H

#include <criterion/criterion.h>

#include "ft/shm/channels.h"
#include "ft/shm/keeper.h"

enum { EXTENT = 64 << 10, EXTENTS = 64 };

static struct ft_region region;
static struct ft_keeper *keeper;
static struct ft_patience patience;
static struct ft_error e;

static void failed(void *arg, const char *line)
{
    (void)arg;
    cr_assert_fail("keeper: %s", line);
}

static void open_region(void)
{
    struct ft_keeper_config config = { .spill_dir = "/dev/shm" };
    struct ft_params p;

    ft_params_default(&p, 2, 2, 64u << 20);
    p.slot_bytes = p.slot_room = p.gather_bytes = p.segment = 8192;
    p.extent_bytes = EXTENT;
    p.nextents = 2 * EXTENTS;
    ft_params_channels(&p);
    cr_assert_eq(ft_region_create(&region, &p, &e), 0, "%s", e.text);
    cr_assert_eq(ft_keeper_open(&keeper, &region, &config, &e), 0, "%s", e.text);
    ft_keeper_adopt(keeper, failed, NULL);
}

/* The log has all the memory at once: nobody waits. */
static void give_memory(struct ft_counters *mine)
{
    ft_publish(&mine->want, EXTENTS * EXTENT);
    cr_assert(ft_keeper_serve(keeper));
}

static void close_region(void)
{
    ft_keeper_close(keeper);
    ft_region_close(&region);
}

#endif
