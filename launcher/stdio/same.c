/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/stdio/same.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "ft/base/util.h"
#include "launcher/base/say.h"
#include "launcher/base/timer.h"

enum { QUIET_MS = 1000 /* a traceback after that is another one */, GROWS_MS = 200 /* ... is still being printed */, MOST = 64 << 10 /* a pipe's capacity */, SLOTS = 1 << 20, LIST = 160 };

static const char head[] = "Traceback (most recent call last):\n";

/* From the first line of a traceback on, all that the rank has printed, unless it has printed nothing for a while before the next. */
struct block {
    char *text;
    size_t len;
    uint64_t last_ns;
    int64_t as;                /* this rank's was left out, for it is that one's; -1: it was not */
};

struct ft_same {
    uint32_t nranks;
    int scratch[2];            /* a pipe */
    char peeked[MOST];
    struct block blocks[];
};

static bool is_older(const struct block *b, uint64_t ms) { return ft_timer_boot_ns() - b->last_ns > ms * 1000000; }

static void drop(struct block *b)
{
    free(b->text);
    b->text = NULL;
    b->len = 0;
}

/* Where a traceback begins; NULL: nowhere. */
static const char *beginning(const char *data, size_t len, bool begins)
{
    const char *end = data + len;

    while (data < end && !(begins && (size_t)(end - data) >= sizeof head - 1 && !memcmp(data, head, sizeof head - 1))) {
        data = memchr(data, '\n', (size_t)(end - data));
        data = data ? data + 1 : end;
        begins = true;
    }
    return data < end ? data : NULL;
}

void ft_same_note(struct ft_same *s, uint32_t rank, const char *data, size_t len, bool begins)
{
    const char *start = beginning(data, len, begins);
    struct block *b = &s->blocks[rank];
    char *more;

    if ((!b->text && !start) || b->as >= 0)
        return; /* nearly always */
    if (start && b->text && is_older(b, QUIET_MS))
        drop(b);
    if (!b->text) {
        len -= (size_t)(start - data);
        data = start;
    }
    b->last_ns = ft_timer_boot_ns();
    more = b->len + len <= MOST ? realloc(b->text, b->len + len) : NULL;
    if (!more) {
        drop(b);
        return;
    }
    memcpy(more + b->len, data, len);
    b->text = more;
    b->len += len;
}

/* Without taking it. Bytes, all that there are; 0: there are none, or not all can be had. */
static size_t peek(struct ft_same *s, int fd)
{
    int there = 0;
    ssize_t n;

    if (fd < 0 || ioctl(fd, FIONREAD, &there) < 0 || there <= 0 || there > MOST)
        return 0;
    n = tee(fd, s->scratch[1], MOST, SPLICE_F_NONBLOCK);
    n = n > 0 ? read(s->scratch[0], s->peeked, (size_t)n) : 0;
    return n == there ? (size_t)n : 0;
}

/* What has been peeked at is this traceback; or not whole: as far as it has come, or that one. */
static bool is_it(const struct ft_same *s, const struct block *b, size_t len, bool whole)
{
    if (!b->text || memcmp(b->text, s->peeked, ft_min(len, b->len)) != 0)
        return false;
    return whole ? len == b->len : len <= b->len || !is_older(b, GROWS_MS);
}

/* A rank that it is of; nranks: none. */
static uint32_t find(const struct ft_same *s, uint32_t rank, size_t len, bool whole)
{
    uint32_t r = 0;

    if (!len || memcmp(s->peeked, head, ft_min(len, sizeof head - 1)) != 0)
        return s->nranks;
    while (r < s->nranks && (r == rank || !is_it(s, &s->blocks[r], len, whole)))
        r++;
    return r;
}

bool ft_same_holds(struct ft_same *s, uint32_t rank, int fd)
{
    bool any = false;

    for (uint32_t r = 0; r < s->nranks && !any; r++)
        any = r != rank && s->blocks[r].text;
    if (!any || (s->blocks[rank].text && !is_older(&s->blocks[rank], QUIET_MS)))
        return false;
    return find(s, rank, peek(s, fd), false) < s->nranks;
}

bool ft_same_take(struct ft_same *s, uint32_t rank, int fd)
{
    uint32_t as = find(s, rank, peek(s, fd), true);

    if (as == s->nranks)
        return false;
    s->blocks[rank].as = as;
    return true;
}

static uint32_t number(const uint32_t *ranks, uint32_t rank) { return ranks ? ranks[rank] : rank; }

/* "1-3, 7", as far as it fits; how many there are. */
static uint32_t list(const struct ft_same *s, uint32_t as, const uint32_t *ranks, char text[LIST])
{
    uint32_t n = 0, first = 0, last = 0;
    bool cut = false;
    size_t len = 0;

    for (uint32_t r = 0; r <= s->nranks; r++) {
        bool one = r < s->nranks && s->blocks[r].as == (int64_t)as;

        if (one && n && number(ranks, r) == last + 1) {
            last++;
        } else if (one || (r == s->nranks && n)) {
            if (n && len < LIST - 32)
                len += (size_t)snprintf(text + len, LIST - len, first == last ? "%s%u" : "%s%u-%u", len ? ", " : "", first, last);
            else if (n && !cut)
                snprintf(text + len, LIST - len, " ...");
            cut |= len >= LIST - 32;
            first = last = r < s->nranks ? number(ranks, r) : 0;
        }
        n += one;
    }
    return n;
}

void ft_same_tell(struct ft_same *s, const struct ft_say *say, const uint32_t *ranks)
{
    char text[LIST];

    for (uint32_t r = 0; r < s->nranks; r++) {
        uint32_t n = list(s, r, ranks, text);

        if (n)
            ft_say(say, "%u more rank%s ended with the same traceback as rank %u: %s", n, n == 1 ? "" : "s", number(ranks, r), text);
    }
    for (uint32_t r = 0; r < s->nranks; r++)
        s->blocks[r].as = -1;
}

struct ft_same *ft_same_new(uint32_t nranks)
{
    struct ft_same *s = calloc(1, sizeof *s + nranks * sizeof s->blocks[0]);

    if (!s)
        return NULL;
    s->nranks = nranks;
    for (uint32_t r = 0; r < nranks; r++)
        s->blocks[r].as = -1;
    if (pipe2(s->scratch, O_CLOEXEC | O_NONBLOCK) == 0) {
        fcntl(s->scratch[1], F_SETPIPE_SZ, SLOTS); /* a rank's small writes take a slot each; if it is not had: what does not fit is shown */
        return s;
    }
    free(s);
    return NULL;
}

void ft_same_free(struct ft_same *s)
{
    if (!s)
        return;
    for (uint32_t r = 0; r < s->nranks; r++)
        drop(&s->blocks[r]);
    close(s->scratch[0]);
    close(s->scratch[1]);
    free(s);
}
