/* SPDX-License-Identifier: BSD-3-Clause */
/* Waiting for descriptors: what was ready is recorded. Under way, the kernel is asked again. epoll is wrap_event.c's. */
#include "ft/outcome/real.h"

#include <string.h>

#include "ft/outcome/record.h"

/* What poll fills in. */
static long give_events(struct ft_recorded *c, struct pollfd *fds, nfds_t n)
{
    if (ft_call_bytes(c) == n * sizeof *fds)
        memcpy(fds, ft_call_data(c), n * sizeof *fds);
    return ft_call_give(c);
}

static long end_events(struct ft_recorded *c, long result, const struct pollfd *fds, nfds_t n)
{
    if (result < 0 || !c->record)
        return ft_call_end(c, result, 0);
    memcpy(ft_call_data(c), fds, n * sizeof *fds);
    return ft_call_end(c, result, n * sizeof *fds);
}

int ppoll(struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask)
{
    struct timespec room;
    struct ft_recorded c;

    if (!ft_recording() || n > FT_OUTCOME_PIECE / sizeof *fds)
        return ft_real()->ppoll(fds, n, timeout, mask);
    if (ft_call_begin_wait(&c, FT_CALL_POLL, ft_what((int64_t)n, 1, 0), n * sizeof *fds))
        return (int)give_events(&c, fds, n);
    timeout = ft_call_rest(&c, timeout, &room);
    if (mask)
        ft_waits_masked();
    return (int)end_events(&c, FT_WAITING(ft_real()->ppoll(fds, n, timeout, mask)), fds, n);
}

int poll(struct pollfd *fds, nfds_t n, int ms)
{
    struct ft_recorded c;

    if (!ft_recording() || n > FT_OUTCOME_PIECE / sizeof *fds)
        return ft_real()->poll(fds, n, ms);
    if (ft_call_begin_wait(&c, FT_CALL_POLL, ft_what((int64_t)n, 0, ms), n * sizeof *fds))
        return (int)give_events(&c, fds, n);
    ms = ft_call_rest_ms(&c, ms);
    return (int)end_events(&c, FT_WAITING(ft_real()->poll(fds, n, ms)), fds, n);
}

/* What a fortified program calls. */
void __chk_fail(void) __attribute__((noreturn));
int __poll_chk(struct pollfd *fds, nfds_t n, int ms, size_t room);
int __ppoll_chk(struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask, size_t room);

int __poll_chk(struct pollfd *fds, nfds_t n, int ms, size_t room)
{
    if (room / sizeof *fds < n)
        __chk_fail();
    return poll(fds, n, ms);
}

int __ppoll_chk(struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask, size_t room)
{
    if (room / sizeof *fds < n)
        __chk_fail();
    return ppoll(fds, n, timeout, mask);
}

/* What select fills in. Of each set the kernel looks at whole words up to n, and a program may have no more. */
struct ready {
    fd_set sets[3];
    struct timeval left;
};

static size_t bytes_for(int n) { return ((size_t)n + 63) / 64 * 8; }

static void put_set(fd_set *to, const fd_set *from, int n)
{
    if (to)
        memcpy(to, from, bytes_for(n));
}

static long give_ready(struct ft_recorded *c, int n, fd_set *in, fd_set *out, fd_set *odd, struct timeval *left)
{
    const struct ready *r = ft_call_data(c);

    if (ft_call_bytes(c) == sizeof *r) {
        put_set(in, &r->sets[0], n);
        put_set(out, &r->sets[1], n);
        put_set(odd, &r->sets[2], n);
        if (left)
            *left = r->left;
    }
    return ft_call_give(c);
}

static long end_ready(struct ft_recorded *c, int n, long result, const fd_set *in, const fd_set *out, const fd_set *odd,
                      const struct timeval *left)
{
    struct ready *r = ft_call_data(c);

    if (result < 0 || !r)
        return ft_call_end(c, result, 0);
    if (in)
        put_set(&r->sets[0], in, n);
    if (out)
        put_set(&r->sets[1], out, n);
    if (odd)
        put_set(&r->sets[2], odd, n);
    if (left)
        r->left = *left;
    return ft_call_end(c, result, sizeof *r);
}

/* What the kernel is given, and fills in: the program's own are changed when it is known what came of it. */
struct asked {
    fd_set sets[3];
    fd_set *in, *out, *odd;
};

static void ask(struct asked *a, int n, const fd_set *in, const fd_set *out, const fd_set *odd)
{
    a->in = in ? &a->sets[0] : NULL;
    a->out = out ? &a->sets[1] : NULL;
    a->odd = odd ? &a->sets[2] : NULL;
    put_set(a->in, in, n);
    put_set(a->out, out, n);
    put_set(a->odd, odd, n);
}

static void answer(const struct asked *a, int n, fd_set *in, fd_set *out, fd_set *odd)
{
    put_set(in, a->in, n);
    put_set(out, a->out, n);
    put_set(odd, a->odd, n);
}

/* As ft_call_rest. */
static struct timeval rest_of(struct ft_recorded *c, struct timeval time)
{
    struct timespec t = {.tv_sec = time.tv_sec, .tv_nsec = time.tv_usec * 1000}, room;
    const struct timespec *rest = time.tv_usec < 1000000 ? ft_call_rest(c, &t, &room) : &t;

    return rest == &t ? time : (struct timeval){.tv_sec = rest->tv_sec, .tv_usec = rest->tv_nsec / 1000};
}

int select(int n, fd_set *in, fd_set *out, fd_set *odd, struct timeval *left)
{
    struct timeval rest;
    struct ft_recorded c;
    struct asked a;
    int result;

    if (!ft_recording() || n < 0 || n > FD_SETSIZE)
        return ft_real()->select(n, in, out, odd, left);
    if (ft_call_begin_wait(&c, FT_CALL_POLL, ft_what(n, 2, 0), sizeof(struct ready)))
        return (int)give_ready(&c, n, in, out, odd, left);
    ask(&a, n, in, out, odd);
    rest = left ? rest_of(&c, *left) : (struct timeval){0};
    result = FT_WAITING(ft_real()->select(n, a.in, a.out, a.odd, left ? &rest : NULL));
    answer(&a, n, in, out, odd);
    if (left)
        *left = rest;
    return (int)end_ready(&c, n, result, in, out, odd, left);
}

int pselect(int n, fd_set *in, fd_set *out, fd_set *odd, const struct timespec *timeout, const sigset_t *mask)
{
    struct timespec room;
    struct ft_recorded c;
    struct asked a;
    int result;

    if (!ft_recording() || n < 0 || n > FD_SETSIZE)
        return ft_real()->pselect(n, in, out, odd, timeout, mask);
    if (ft_call_begin_wait(&c, FT_CALL_POLL, ft_what(n, 3, 0), sizeof(struct ready)))
        return (int)give_ready(&c, n, in, out, odd, NULL);
    ask(&a, n, in, out, odd);
    timeout = ft_call_rest(&c, timeout, &room);
    if (mask)
        ft_waits_masked();
    result = FT_WAITING(ft_real()->pselect(n, a.in, a.out, a.odd, timeout, mask));
    answer(&a, n, in, out, odd);
    return (int)end_ready(&c, n, result, in, out, odd, NULL);
}
