/* SPDX-License-Identifier: BSD-3-Clause */
/* eventfd and epoll. What they are the kernel tells in /proc/thread-self/fdinfo: so is found out whether a call that was under way was made. */
#include "ft/outcome/event.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

#include "ft/base/util.h"
#include "ft/outcome/children.h"
#include "ft/outcome/counts.h"
#include "ft/outcome/descriptors.h"
#include "ft/outcome/real.h"
#include "ft/outcome/record.h"

enum { INFO = 1 << 20, EVENTFD = -1, EPOLL = -2, CTL = -3 };

static const int64_t ZERO = 1ll << 40; /* in FT_COUNT_EVENTS: a thread may be known to have read before another one is known to have written */

static char info[INFO];

/* The text, until the next call. */
static const char *info_of(int fd)
{
    char path[40] = "/proc/thread-self/fdinfo/";
    size_t done = 0;
    ssize_t n;
    int file;

    ft_number_write(path + strlen(path), (uint64_t)fd);
    file = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
    while (file >= 0 && done < INFO - 1 && (n = (ssize_t)syscall(SYS_read, file, info + done, INFO - 1 - done)) > 0)
        done += (size_t)n;
    if (file >= 0)
        syscall(SYS_close, file);
    info[done] = 0;
    return info;
}

/* ---- eventfd ---- */

/* What is counted. */
static int64_t counted(int fd)
{
    const char *at = strstr(info_of(fd), "eventfd-count:");

    if (!at)
        return -1;
    at += strlen("eventfd-count:");
    at += strspn(at, " ");
    return (int64_t)ft_number_read(&at, 16);
}

static bool is_semaphore(int fd) { return strstr(info_of(fd), "eventfd-semaphore: 1"); }

static void cannot_tell(int fd) { ft_recorder_lost("it was killed in a call on eventfd %d, and whether that was made cannot be told", fd); }

static bool is_eventfd(int fd, const void *arg)
{
    (void)arg;
    return ft_descriptors_is_anonymous(fd, "anon_inode:[eventfd]");
}

/* What outcomes say that it counts, and ZERO. -1: others have it, too. */
static int64_t expected(int fd) { return ft_children_some() ? -1 : ft_counts_get(fd, FT_COUNT_EVENTS); }

static void expect(int fd, int64_t more)
{
    int64_t count = ft_counts_get(fd, FT_COUNT_EVENTS);

    if (count >= 0)
        ft_counts_set(fd, FT_COUNT_EVENTS, count + more);
}

static void made(int fd, unsigned count)
{
    if (fd < 0)
        return;
    ft_descriptors_add(fd);
    ft_counts_set(fd, FT_COUNT_EVENTS, ZERO + count);
}

static void write_raw(int fd, uint64_t value)
{
    ft_real_count_write();
    syscall(SYS_write, fd, &value, sizeof value);
}

static void put_back(int fd, int64_t count)
{
    uint64_t value;
    struct pollfd p = {fd, POLLIN, 0};

    if (counted(fd) == count)
        return;
    while (syscall(SYS_poll, &p, 1, 0) > 0 && p.revents & POLLIN)
        syscall(SYS_read, fd, &value, sizeof value);
    value = (uint64_t)count;
    if (value)
        write_raw(fd, value);
}

void ft_event_settle(void)
{
    for (int fd = 0; fd < FT_DESCRIPTORS; fd++) {
        int64_t count = expected(fd);

        if (count > 0)
            put_back(fd, count > ZERO ? count - ZERO : 0);
    }
}

int eventfd(unsigned count, int flags)
{
    struct ft_recorded c;
    int fd = -1;

    if (!ft_recording())
        return ft_real()->eventfd(count, flags);
    if (ft_call_begin(&c, FT_CALL_EVENT, ft_what(EVENTFD, count, flags), 0)) {
        made((int)c.record->result, count);
        return (int)ft_call_give(&c);
    }
    if (c.under_way)
        fd = ft_descriptors_stray(is_eventfd, NULL);
    errno = c.error;
    if (fd < 0)
        fd = ft_real()->eventfd(count, flags);
    made(fd, count);
    return (int)ft_call_end(&c, fd, 0);
}

/* If others have it, too: note[0] is what was counted before. Whoever waits (0) leaves no trace: what came then from a child may have been
   taken. */
ssize_t ft_event_read(int fd, void *to)
{
    struct ft_recorded c;
    uint64_t value;
    ssize_t n;
    int64_t before, now;

    if (ft_call_begin_wait(&c, FT_CALL_EVENT, ft_what(fd, 1, 0), sizeof value)) {
        value = 0;
        memcpy(to, ft_call_data(&c), ft_call_bytes(&c));
        memcpy(&value, ft_call_data(&c), ft_call_bytes(&c));
        expect(fd, -(int64_t)value);
        return ft_call_give(&c);
    }
    n = -1;
    if (ft_call_noted(&c) && expected(fd) < 0) {
        before = c.record->note[0];
        now = counted(fd);
        value = is_semaphore(fd) ? 1 : (uint64_t)before;
        if (ft_threads_many || (now != before && now != before - (int64_t)value))
            cannot_tell(fd); /* other threads may have changed it, too */
        if (before == 0 && now == 0 && ft_children_some())
            cannot_tell(fd); /* without children nobody else has it */
        n = now == before ? -1 : (ssize_t)sizeof value;
    } else if (!c.under_way) {
        ft_call_note(&c, expected(fd) < 0 ? counted(fd) : 0, 0);
    }
    errno = c.error;
    if (n < 0)
        n = FT_WAITING(ft_real()->read(fd, &value, sizeof value));
    if (n == (ssize_t)sizeof value) {
        memcpy(to, &value, sizeof value);
        if (c.record)
            memcpy(ft_call_data(&c), &value, sizeof value);
        expect(fd, -(int64_t)value);
    }
    return ft_call_end(&c, n, n > 0 ? sizeof value : 0);
}

ssize_t ft_event_write(int fd, const void *from)
{
    struct ft_recorded c;
    uint64_t value;
    int64_t before, now;
    ssize_t n;

    memcpy(&value, from, sizeof value);
    if (ft_call_begin_wait(&c, FT_CALL_EVENT, ft_what(fd, 2, (int64_t)value), 0)) {
        if (c.record->result > 0)
            expect(fd, (int64_t)value);
        return ft_call_give(&c);
    }
    if (ft_call_noted(&c) && expected(fd) < 0) {
        before = c.record->note[0];
        now = counted(fd);
        if (ft_threads_many || (now != before && now != before + (int64_t)value))
            cannot_tell(fd);
        if (now != before) {
            errno = c.error;
            return ft_call_end(&c, sizeof value, 0);
        }
    } else if (!c.under_way) {
        ft_call_note(&c, expected(fd) < 0 ? counted(fd) : 0, 0);
    } else if (expected(fd) >= 0 && expected(fd) < ZERO) { /* more has been read than was written without this */
        expect(fd, (int64_t)value);
        errno = c.error;
        return ft_call_end(&c, sizeof value, 0);
    }
    errno = c.error;
    n = FT_WAITING(ft_real()->write(fd, &value, sizeof value));
    if (n > 0)
        expect(fd, (int64_t)value);
    return ft_call_end(&c, n, 0);
}

/* ---- epoll ---- */

static bool is_epoll(int fd, const void *arg)
{
    (void)arg;
    return ft_descriptors_is_anonymous(fd, "anon_inode:[eventpoll]");
}

static int create(int flags)
{
    struct ft_recorded c;
    int fd = -1;

    if (ft_call_begin(&c, FT_CALL_EVENT, ft_what(EPOLL, flags, 0), 0))
        return ft_call_give_fd(&c);
    if (c.under_way)
        fd = ft_descriptors_stray(is_epoll, NULL);
    errno = c.error;
    return ft_call_end_fd(&c, fd >= 0 ? fd : ft_real()->epoll_create1(flags));
}

int epoll_create1(int flags) { return ft_recording() ? create(flags) : ft_real()->epoll_create1(flags); }

int epoll_create(int size)
{
    if (!ft_recording() || size <= 0)
        return ft_real()->epoll_create(size);
    return create(0);
}

/* What the program wants to be told with a descriptor's events: an address, mostly, which in a replay may be another one. So the kernel is given
   the descriptor, and this is kept here. A descriptor is in one epoll, mostly; in another one, too: `more`. When one of the two is closed
   another may have the place: until then it stays, for the kernel goes on if there is a double. */
static struct wish {
    int epoll, fd;
    enum { NEVER, HELD, CLOSED } state;
    uint64_t data;
} wishes[FT_DESCRIPTORS], more[256];
static int nmore;                          /* of them have been used */
static bool is_watcher[FT_DESCRIPTORS];    /* epolls that have some */

static const uint64_t TAG = 0x66746d70ull << 32;

static struct wish *find_wish(int epoll, int fd)
{
    if (wishes[fd].state != NEVER && wishes[fd].epoll == epoll)
        return &wishes[fd];
    for (int i = 0; i < nmore; i++)
        if (more[i].epoll == epoll && more[i].fd == fd)
            return &more[i];
    return NULL;
}

/* If there is none left both epolls are told the newest. */
static struct wish *place_for_wish(int epoll, int fd)
{
    struct wish *w = find_wish(epoll, fd);
    int i = 0;

    if (w || wishes[fd].state != HELD)
        return w ? w : &wishes[fd];
    while (i < nmore && more[i].state != CLOSED)
        i++;
    if (i == sizeof more / sizeof more[0])
        return &wishes[fd];
    nmore += i == nmore;
    return &more[i];
}

static void close_wish(struct wish *w, int fd)
{
    if (w->state == HELD && (w->fd == fd || w->epoll == fd))
        w->state = CLOSED;
}

void ft_event_closed(int fd)
{
    if (fd < 0 || fd >= FT_DESCRIPTORS)
        return;
    close_wish(&wishes[fd], fd);
    for (int i = 0; i < nmore; i++)
        close_wish(&more[i], fd);
    for (int i = 0; is_watcher[fd] && i < FT_DESCRIPTORS; i++)
        close_wish(&wishes[i], fd);
    is_watcher[fd] = false;
}

/* What the kernel is to be given in its place. */
static struct epoll_event keep(int epoll, int fd, const struct epoll_event *event)
{
    struct epoll_event kernels = *event;

    if (fd < 0 || fd >= FT_DESCRIPTORS)
        return kernels;
    *place_for_wish(epoll, fd) = (struct wish){epoll, fd, HELD, event->data.u64};
    if (epoll >= 0 && epoll < FT_DESCRIPTORS)
        is_watcher[epoll] = true;
    kernels.data.u64 = TAG | (uint64_t)fd;
    return kernels;
}

/* Of what the kernel has told: n events. */
static int tell(int epoll, struct epoll_event *events, int n)
{
    for (int i = 0; i < n; i++) {
        uint64_t fd = events[i].data.u64 ^ TAG;
        const struct wish *w = fd < FT_DESCRIPTORS ? find_wish(epoll, (int)fd) : NULL;

        if (fd < FT_DESCRIPTORS)
            events[i].data.u64 = w ? w->data : wishes[fd].data;
    }
    return n;
}

struct entry {
    int fd;
    uint32_t events;
    uint64_t data;
};

/* The next of the text's; false: there is none. */
static bool next_entry(const char **at, struct entry *e)
{
    const char *line = strstr(*at, "tfd:");

    if (!line || sscanf(line, "tfd: %d events: %" SCNx32 " data: %" SCNx64, &e->fd, &e->events, &e->data) != 3)
        return false;
    *at = line + 4;
    return true;
}

static bool has(int epoll, int fd)
{
    const char *at = info_of(epoll);
    struct entry e;

    while (next_entry(&at, &e))
        if (e.fd == fd)
            return true;
    return false;
}

/* note[0]: it had the descriptor before. */
int epoll_ctl(int epoll, int operation, int fd, struct epoll_event *event)
{
    struct epoll_event kernels = {0};
    struct ft_recorded c;
    int result = -1;
    bool had;

    if (!ft_recording())
        return ft_real()->epoll_ctl(epoll, operation, fd, event);
    if (ft_call_begin(&c, FT_CALL_EVENT, ft_what(epoll, CTL, (int64_t)ft_what(operation, fd, event ? (int64_t)event->events : 0)), 0)) {
        if (c.record->result == 0 && operation != EPOLL_CTL_DEL)
            keep(epoll, fd, event);
        return (int)ft_call_give(&c);
    }
    if (event)
        kernels = *event;
    had = ft_call_noted(&c) ? c.record->note[0] : has(epoll, fd);
    if (!ft_call_noted(&c))
        ft_call_note(&c, had, 0);
    else if (operation == EPOLL_CTL_ADD ? !had && has(epoll, fd) : operation == EPOLL_CTL_DEL && had && !has(epoll, fd))
        result = 0;
    if (event && operation != EPOLL_CTL_DEL && had == (operation == EPOLL_CTL_MOD))
        kernels = keep(epoll, fd, event); /* first: it may be told to another thread at once */
    errno = c.error;
    return (int)ft_call_end(&c, result == 0 ? 0 : ft_real()->epoll_ctl(epoll, operation, fd, event ? &kernels : NULL), 0);
}

/* Edges that a wait under way has taken with it come once more. */
static void rearm(int epoll)
{
    const char *at;
    struct entry e;

    ft_threads_lock();
    at = info_of(epoll);
    while (next_entry(&at, &e)) {
        struct epoll_event event = {.events = e.events, .data.u64 = e.data};

        if (e.events & EPOLLONESHOT)
            ft_recorder_lost("it was killed while it waited for descriptors that epoll reports only once (EPOLLONESHOT)");
        if (e.events & EPOLLET)
            ft_real()->epoll_ctl(epoll, EPOLL_CTL_MOD, e.fd, &event);
    }
    ft_threads_unlock();
}

static int give_events(struct ft_recorded *c, int epoll, struct epoll_event *events)
{
    if (c->record->result > 0)
        memcpy(events, ft_call_data(c), ft_call_bytes(c));
    tell(epoll, events, (int)c->record->result);
    return (int)ft_call_give(c);
}

/* mask NULL: none. ms, or time: NULL and -1 is for ever. */
static int do_wait(int epoll, struct epoll_event *events, int most, int ms, const struct timespec *time, const sigset_t *mask)
{
    int room = most > (int)(FT_OUTCOME_PIECE / sizeof *events) ? (int)(FT_OUTCOME_PIECE / sizeof *events) : most;
    struct timespec rest;
    struct ft_recorded c;
    int n;

    if (ft_call_begin_wait(&c, FT_CALL_POLL, ft_what(epoll, most, ms), room > 0 ? (size_t)room * sizeof *events : 0))
        return give_events(&c, epoll, events);
    if (c.under_way)
        rearm(epoll);
    errno = c.error;
    ms = ft_call_rest_ms(&c, ms);
    time = ft_call_rest(&c, time, &rest);
    if (mask)
        ft_waits_masked();
    n = FT_WAITING(time ? ft_real()->epoll_pwait2(epoll, events, room, time, mask) : ft_real()->epoll_pwait(epoll, events, room, ms, mask));
    if (n > 0 && c.record)
        memcpy(ft_call_data(&c), events, (size_t)n * sizeof *events);
    tell(epoll, events, n);
    return (int)ft_call_end(&c, n, n > 0 ? (size_t)n * sizeof *events : 0);
}

int epoll_wait(int epoll, struct epoll_event *events, int most, int ms)
{
    return ft_recording() ? do_wait(epoll, events, most, ms, NULL, NULL) : tell(epoll, events, ft_real()->epoll_wait(epoll, events, most, ms));
}

int epoll_pwait(int epoll, struct epoll_event *events, int most, int ms, const sigset_t *mask)
{
    return ft_recording() ? do_wait(epoll, events, most, ms, NULL, mask) : tell(epoll, events, ft_real()->epoll_pwait(epoll, events, most, ms, mask));
}

int epoll_pwait2(int epoll, struct epoll_event *events, int most, const struct timespec *time, const sigset_t *mask)
{
    return ft_recording() ? do_wait(epoll, events, most, -1, time, mask) : tell(epoll, events, ft_real()->epoll_pwait2(epoll, events, most, time, mask));
}
