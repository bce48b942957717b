/* SPDX-License-Identifier: BSD-3-Clause */
/* What a replay reads of the spill file is what was written there, in order and not; and what cannot be read is an error. It was a signal (SIGBUS): the
   file was mapped, so a disk that failed, or a file that somebody had cut off, killed each successor of the rank at the same place. */
#include "ft/shm/log.h"

#include <criterion/criterion.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ft/core/stream.h"
#include "ft/shm/extent.h"

enum { EXTENT = 64 << 10, PLACE = 3 };

static struct ft_region region;
static struct ft_stream s;
static struct ft_patience patience;
static char content[EXTENT], got[EXTENT];

/* A log of two extents, both in the file: the first one in place 3, the second in place 2. */
static void set_up(void)
{
    struct ft_params p;
    struct ft_error e;
    int fd = memfd_create("spill", MFD_CLOEXEC);

    ft_params_default(&p, 2, 2, 64u << 20);
    p.slot_bytes = p.slot_room = p.gather_bytes = p.segment = 8192;
    p.extent_bytes = EXTENT;
    cr_assert_eq(ft_region_create(&region, &p, &e), 0, "%s", e.text);
    ft_stream_open(&s, &region, 0, "WORLD", &patience, -1, fd);
    for (int i = 0; i < EXTENT; i++)
        content[i] = (char)(i * 7 + i / 251);
    cr_assert_eq(pwrite(fd, content, EXTENT, PLACE * EXTENT), EXTENT);
    cr_assert_eq(pwrite(fd, content, EXTENT, (PLACE - 1) * EXTENT), EXTENT);
    for (uint64_t i = 0; i < 2; i++)
        ft_publish((_Atomic uint64_t *)(uintptr_t)&s.log.table[i], ft_extent_entry(FT_EXTENT_FILE, 0, PLACE - i));
    ft_publish(&s.log.head->ready, 2 * EXTENT);
}

static void tear_down(void)
{
    close(s.log.spill_fd);
    ft_region_close(&region);
}

TestSuite(log, .init = set_up, .fini = tear_down, .timeout = 60);

static void expect(uint64_t position, uint64_t offset, uint64_t n)
{
    memset(got, 0x55, sizeof got);
    cr_assert_eq(ft_log_read(&s.log, position, offset, got, n, false), 0);
    cr_assert_eq(memcmp(got, content + (position + offset) % EXTENT, n), 0, "%d bytes at %d", (int)n, (int)(position + offset));
}

Test(log, reads_the_spill_file)
{
    for (uint64_t at = 0; at < EXTENT; at += 64)
        expect(at, 0, 64);
    expect(EXTENT - 64, 8, 56);  /* to the end of it */
    expect(EXTENT, 0, 64);       /* the next one, in another place */
    expect(0, 64, EXTENT - 64);  /* all at once, and back again */
    expect(FT_LOG_AHEAD - 64, 0, FT_LOG_AHEAD - 1);
    expect(FT_LOG_AHEAD - 64, 0, FT_LOG_AHEAD);
    expect(FT_LOG_AHEAD, 32, 8);
    expect(64, 0, 64);
}

Test(log, what_cannot_be_read_is_an_error)
{
    expect(0, 0, 64);
    cr_assert_eq(ftruncate(s.log.spill_fd, PLACE * EXTENT + FT_LOG_AHEAD / 2), 0);
    cr_assert_eq(ft_log_read(&s.log, FT_LOG_AHEAD, 0, got, 64, false), FT_ESPACE);
    cr_assert_eq(ft_log_read(&s.log, 0, 0, got, EXTENT, false), FT_ESPACE);
    expect(EXTENT, 0, EXTENT); /* the other one is there */
}
