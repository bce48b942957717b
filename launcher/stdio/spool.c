/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/stdio/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ft/base/util.h"

enum { PAGE = 4096, PUNCH = 1 << 20, BLOCK = 16 << 10 };

uint64_t ft_spool_pending(const struct ft_spool *s)
{
    return s->state->dead ? 0 : s->state->tail - s->written;
}

void ft_spool_give_up(struct ft_spool *s, int error)
{
    if (error)
        s->state->error = error;
    ft_stdio_order();
    s->state->dead = true;
}

void ft_spool_put(struct ft_spool *s, uint64_t at, const void *data, size_t len)
{
    const char *p = data;

    while (len && !s->state->dead) {
        ssize_t n = pwrite(s->fd, p, len, (off_t)at);

        if (n > 0) {
            p += n;
            at += (uint64_t)n;
            len -= (size_t)n;
        } else if (n == 0 || errno != EINTR) {
            ft_spool_give_up(s, n ? errno : ENOSPC);
        }
    }
}

bool ft_spool_open(const struct ft_spool *s, uint64_t place)
{
    char last;

    return place && pread(s->fd, &last, 1, (off_t)place - 1) == 1 && last != '\n';
}

/* Whole pages only: what is left in a page that a pipe's reader has yet to read must not become zeros. */
static void give_back(struct ft_spool *s)
{
    uint64_t end = (s->written - 1) & ~(uint64_t)(PAGE - 1); /* ft_spool_open looks at the last byte */

    if (end - s->punched < PUNCH)
        return;
    fallocate(s->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)s->punched, (off_t)(end - s->punched));
    s->punched = end;
}

/* What one write() takes: a block of whole lines if the output's position will tell how much of it was written, else a
   line. */
static size_t block_of(const char *data, size_t len, bool regular)
{
    const char *end = regular ? memrchr(data, '\n', len) : memchr(data, '\n', len);

    return end ? (size_t)(end - data) + 1 : len;
}

/* A write() is about to happen. */
static void announce(struct ft_spool_state *state, int out, int64_t size, uint64_t from, size_t len)
{
    state->from = UINT64_MAX;
    ft_stdio_order();
    state->len = len;
    state->at = lseek(out, 0, SEEK_CUR);
    state->size = size;
    ft_stdio_order();
    state->from = from;
    ft_stdio_order();
}

static ssize_t write_block(struct ft_spool *s, int out, size_t most)
{
    char block[BLOCK];
    struct stat st;
    bool regular = !fstat(out, &st) && S_ISREG(st.st_mode);
    ssize_t n = pread(s->fd, block, ft_min(most, sizeof block), (off_t)s->written);

    if (n <= 0)
        return n;
    n = (ssize_t)block_of(block, (size_t)n, regular);
    announce(s->state, out, regular ? st.st_size : -1, s->written, (size_t)n);
    n = write(out, block, (size_t)n);
    if (n > 0)
        lseek(s->fd, (off_t)(s->written + (uint64_t)n), SEEK_SET);
    return n;
}

int ft_spool_write_apart(const struct ft_spool *s, int out, uint64_t from, const char *data, size_t len)
{
    struct stat st;

    while (len) {
        ssize_t n;

        announce(s->state, out, !fstat(out, &st) && S_ISREG(st.st_mode) ? st.st_size : -1, from, len);
        n = write(out, data, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            errno = n ? errno : ENOSPC;
            return -1;
        }
        data += n;
        from += (uint64_t)n;
        len -= (size_t)n;
        lseek(s->fd, (off_t)from, SEEK_SET);
    }
    return 0;
}

/* An announced write() whose end the spool's position does not show: it was made if the output's position has moved. */
static void settle(struct ft_spool *s, int out)
{
    const struct ft_spool_state *state = s->state;
    int64_t now = lseek(out, 0, SEEK_CUR), n;

    if (!state->len || state->from != s->written || state->size < 0 || now < 0 || now == state->at)
        return;
    n = now - state->size;
    if (n <= 0 || (uint64_t)n > state->len)
        return; /* somebody else has moved it: repeat rather than lose */
    s->written += (uint64_t)n;
    lseek(s->fd, (off_t)s->written, SEEK_SET);
}

void ft_spool_adopt(struct ft_spool *s, int out)
{
    s->written = (uint64_t)lseek(s->fd, 0, SEEK_CUR);
    s->punched = 0;
    s->by_write = false;
    settle(s, out);
}

void ft_spool_had(struct ft_spool *s, uint64_t place)
{
    s->written = place;
    give_back(s);
}

void ft_spool_taken(struct ft_spool *s, uint64_t place)
{
    if (place <= s->written)
        return;
    lseek(s->fd, (off_t)place, SEEK_SET);
    ft_spool_had(s, place);
}

ssize_t ft_spool_write(struct ft_spool *s, int out, size_t most)
{
    ssize_t n = -1;

    most = ft_min(most, ft_spool_pending(s));
    if (!s->by_write) {
        n = sendfile(out, s->fd, NULL, most);
        s->by_write = n < 0 && (errno == EINVAL || errno == ENOSYS);
    }
    if (s->by_write)
        n = write_block(s, out, most);
    if (n > 0) {
        s->written += (uint64_t)n;
        give_back(s);
    }
    return n;
}
