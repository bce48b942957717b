/* SPDX-License-Identifier: BSD-3-Clause */
/* What is sent and received by sockets: over TCP by tcp.c, through streams of one host as through pipes (pipes.c). A datagram is recorded
   as it came; one that was under way may be lost or sent twice, as the network may do. Messages with descriptors in them, out-of-band
   bytes and the like are not followed. */
#include "ft/outcome/real.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

#include "ft/base/util.h"
#include "ft/outcome/descriptors.h"
#include "ft/outcome/mask.h"
#include "ft/outcome/pieces.h"
#include "ft/outcome/pipes.h"
#include "ft/outcome/record.h"
#include "ft/outcome/signals.h"
#include "ft/outcome/tcp.h"

enum {
    RECEIVE_TCP = MSG_NOSIGNAL | MSG_DONTWAIT | MSG_WAITALL | MSG_PEEK | MSG_CMSG_CLOEXEC,
    SEND_TCP = MSG_NOSIGNAL | MSG_DONTWAIT | MSG_MORE | MSG_EOR | MSG_DONTROUTE | MSG_CONFIRM,
    RECEIVE_PIPE = MSG_NOSIGNAL | MSG_CMSG_CLOEXEC | MSG_WAITALL | MSG_DONTWAIT,
    RECEIVE_DATAGRAM = MSG_NOSIGNAL | MSG_DONTWAIT | MSG_PEEK | MSG_TRUNC | MSG_WAITALL | MSG_CMSG_CLOEXEC,
    DATAGRAM = 64 << 10
};

/* Of others, the ways back were closed when they were made. */
static void cannot_follow(int fd, const char *call)
{
    enum ft_descriptor_kind kind = ft_descriptors_kind(fd);

    if (kind == FT_DESCRIPTOR_PIPE || kind == FT_DESCRIPTOR_TCP || kind == FT_DESCRIPTOR_DATAGRAM)
        ft_recorder_close("it has called %s on a socket with flags, addresses or descriptors", call);
}

/* After the call, whose result this is; its errno stays. */
static ssize_t after(ssize_t result)
{
    int error = errno;

    if (ft_signals_wait)
        ft_signals_at(FT_SIGNALS_AFTER);
    errno = error;
    return result;
}

/* MSG_DONTWAIT changes nothing. */
static bool never_waits(int fd) { return syscall(SYS_fcntl, fd, F_GETFL) & O_NONBLOCK; }

/* ---- datagrams ---- */

/* Before what has come, in its record. */
struct from {
    socklen_t bytes;
    int flags;
    struct sockaddr_storage of;
};

static bool gives_datagrams(int fd)
{
    ft_signals_give();
    return ft_recorder_replays() ? ft_recorder_next() == FT_CALL_DATAGRAM : ft_descriptors_kind(fd) == FT_DESCRIPTOR_DATAGRAM;
}

/* MSG_PEEK changes nothing there: what it has seen is recorded, as of a datagram. */
static bool looks_at_stream(int fd) { return !ft_recorder_replays() && ft_descriptors_kind(fd) == FT_DESCRIPTOR_PIPE; }

static bool takes_datagrams(int fd)
{
    ft_signals_give();
    return ft_recorder_replays() ? ft_recorder_next() == FT_CALL_SOCKET : ft_descriptors_kind(fd) == FT_DESCRIPTOR_DATAGRAM;
}

/* What a record has, for the caller. */
static void deliver(const struct from *from, size_t n, struct msghdr *m)
{
    ft_pieces_fill(m->msg_iov, m->msg_iovlen, 0, (const char *)(from + 1), n);
    if (m->msg_name)
        memcpy(m->msg_name, &from->of, ft_min(m->msg_namelen, from->bytes));
    m->msg_namelen = from->bytes;
    m->msg_flags = from->flags;
}

/* m has no control messages. */
static __attribute__((noinline)) ssize_t receive_datagram(int fd, struct msghdr *m, const size_t room, int flags)
{
    size_t least, came;
    struct msghdr inner = {.msg_iovlen = 1};
    struct ft_recorded c;
    struct from *from;
    struct iovec one;
    ssize_t n;

    if (ft_call_begin_wait(&c, FT_CALL_DATAGRAM, ft_what(fd, (int64_t)room, flags), sizeof *from + ft_min(room, DATAGRAM))) {
        if (c.record->result >= 0)
            deliver(ft_call_data(&c), ft_call_bytes(&c) - sizeof *from, m);
        return ft_call_give(&c);
    }
    from = ft_call_data(&c);
    least = ft_min(room, DATAGRAM);
    if (!from)
        return ft_call_end(&c, FT_WAITING(ft_real()->recvmsg(fd, m, flags)), 0);
    one = (struct iovec){from + 1, least};
    inner.msg_name = &from->of;
    inner.msg_namelen = sizeof from->of;
    inner.msg_iov = &one;
    n = FT_WAITING(ft_real()->recvmsg(fd, &inner, flags));
    if (n < 0)
        return ft_call_end(&c, n, 0);
    from->bytes = inner.msg_namelen;
    from->flags = inner.msg_flags;
    came = ft_min((size_t)n, least); /* more: it was cut, and the flags ask for its length */
    deliver(from, came, m);
    return ft_call_end(&c, n, sizeof *from + came);
}

static ssize_t send_datagram(int fd, const struct msghdr *m, int flags)
{
    size_t total = ft_pieces_total(m->msg_iov, m->msg_iovlen);
    uint64_t what = ft_what((int64_t)ft_what_bytes(m->msg_name, m->msg_name ? m->msg_namelen : 0), (int64_t)total, flags);

    what = ft_what((int64_t)what, (int64_t)ft_pieces_hash(m->msg_iov, total), 0);
    return FT_CALL_PLAIN(FT_CALL_SOCKET, ft_what(fd, (int64_t)what, 0), ft_real()->sendmsg(fd, m, flags));
}

/* ---- streams of one host ---- */

/* As the call would with MSG_NOSIGNAL: SIGPIPE is for those who ask. */
static ssize_t write_quietly(int fd, const struct iovec *from, int n)
{
    sigset_t pipe, before, pending;
    ssize_t done;
    int error;

    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    syscall(SYS_rt_sigpending, &pending, NSIG / 8);
    ft_mask(SIG_BLOCK, &pipe, &before);
    done = ft_pipes_write(fd, from, n);
    error = errno;
    if (done < 0 && error == EPIPE && sigismember(&pending, SIGPIPE) != 1)
        syscall(SYS_rt_sigtimedwait, &pipe, NULL, &(struct timespec){0}, NSIG / 8);
    ft_mask(SIG_SETMASK, &before, NULL);
    errno = error;
    return done;
}

static ssize_t send_pieces(int fd, const struct iovec *from, int n, int flags)
{
    return flags & MSG_NOSIGNAL ? write_quietly(fd, from, n) : ft_pipes_write(fd, from, n);
}

/* Flags with which these can be followed: whether it waits is the descriptor's. */
static bool can_send(int fd, int flags)
{
    return !(flags & ~(MSG_NOSIGNAL | MSG_DONTWAIT)) && (!(flags & MSG_DONTWAIT) || ft_recorder_replays() || never_waits(fd));
}

static ssize_t read_pipe(int fd, void *to, size_t n, int flags)
{
    size_t done = 0;

    do {
        ssize_t got = ft_pipes_read(fd, (char *)to + done, n - done, !(flags & MSG_DONTWAIT));

        if (got <= 0)
            return done ? (ssize_t)done : got;
        done += (size_t)got;
    } while (done < n && flags & MSG_WAITALL);
    return (ssize_t)done;
}

/* ---- the calls ---- */

/* The first piece of memory that has any room: less than all is what a stream may give. */
static const struct iovec *first_room(const struct msghdr *m)
{
    size_t i = 0;

    while (i + 1 < m->msg_iovlen && m->msg_iov[i].iov_len == 0)
        i++;
    return &m->msg_iov[i];
}

/* What no stream sends: an address. TCP has no control messages but those that are asked for. */
static ssize_t receive_stream(int fd, struct msghdr *m, int flags, bool tcp)
{
    const struct iovec *to = first_room(m);

    m->msg_namelen = 0;
    m->msg_controllen = 0;
    m->msg_flags = 0;
    return tcp ? ft_tcp_receive(fd, m->msg_iov, (int)m->msg_iovlen, flags) : read_pipe(fd, to->iov_base, to->iov_len, flags);
}

/* *followed: whether it is. */
static ssize_t receive(int fd, struct msghdr *m, int flags, bool *followed)
{
    *followed = true;
    if (m->msg_iovlen && m->msg_iovlen <= IOV_MAX && !(flags & ~RECEIVE_TCP) && ft_tcp_gives(fd))
        return receive_stream(fd, m, flags, true);
    if (m->msg_iovlen && !m->msg_controllen && !(flags & ~RECEIVE_PIPE) && ft_pipes_gives(fd))
        return receive_stream(fd, m, flags, false);
    if (!m->msg_controllen && !(flags & ~RECEIVE_DATAGRAM) && (gives_datagrams(fd) || (flags & MSG_PEEK && looks_at_stream(fd))))
        return receive_datagram(fd, m, ft_pieces_total(m->msg_iov, m->msg_iovlen), flags);
    *followed = false;
    return -1;
}

static ssize_t transmit(int fd, const struct msghdr *m, int flags, bool *followed)
{
    *followed = true;
    if (m->msg_iovlen && m->msg_iovlen <= IOV_MAX && !m->msg_controllen) {
        if (!(flags & ~SEND_TCP) && ft_tcp_takes(fd))
            return ft_tcp_send(fd, m->msg_iov, (int)m->msg_iovlen, flags);
        if (!m->msg_namelen && can_send(fd, flags) && ft_pipes_takes(fd))
            return send_pieces(fd, m->msg_iov, (int)m->msg_iovlen, flags);
    }
    if (!m->msg_controllen && takes_datagrams(fd))
        return send_datagram(fd, m, flags);
    *followed = false;
    return -1;
}

FT_CALLED ssize_t recv_from(int fd, void *to, size_t n, int flags, struct sockaddr *address, socklen_t *bytes)
{
    struct iovec one = {to, n};
    struct msghdr m = {.msg_name = address, .msg_namelen = address && bytes ? *bytes : 0, .msg_iov = &one, .msg_iovlen = 1};
    bool followed;
    ssize_t result;

    if (!ft_recording())
        return ft_real()->recvfrom(fd, to, n, flags, address, bytes);
    result = receive(fd, &m, flags, &followed);
    if (followed) {
        if (address && bytes && result >= 0)
            *bytes = m.msg_namelen;
        return result;
    }
    cannot_follow(fd, "recv");
    return after(ft_real()->recvfrom(fd, to, n, flags, address, bytes));
}

FT_CALLED ssize_t send_to(int fd, const void *from, size_t n, int flags, const struct sockaddr *address, socklen_t bytes)
{
    struct iovec one = {(void *)(uintptr_t)from, n};
    struct msghdr m = {.msg_name = (void *)(uintptr_t)address, .msg_namelen = address ? bytes : 0, .msg_iov = &one, .msg_iovlen = 1};
    bool followed;
    ssize_t result;

    if (!ft_recording())
        return ft_real()->sendto(fd, from, n, flags, address, bytes);
    result = transmit(fd, &m, flags, &followed);
    if (followed)
        return result;
    cannot_follow(fd, "send");
    return after(ft_real()->sendto(fd, from, n, flags, address, bytes));
}

ssize_t recv(int fd, void *to, size_t n, int flags) { return recv_from(fd, to, n, flags, NULL, NULL); }

ssize_t recvfrom(int fd, void *restrict to, size_t n, int flags, struct sockaddr *restrict address, socklen_t *restrict bytes)
{
    return recv_from(fd, to, n, flags, address, bytes);
}

ssize_t send(int fd, const void *from, size_t n, int flags) { return send_to(fd, from, n, flags, NULL, 0); }

ssize_t sendto(int fd, const void *from, size_t n, int flags, const struct sockaddr *address, socklen_t bytes)
{
    return send_to(fd, from, n, flags, address, bytes);
}

ssize_t recvmsg(int fd, struct msghdr *m, int flags)
{
    bool followed;
    ssize_t result;

    if (!ft_recording())
        return ft_real()->recvmsg(fd, m, flags);
    result = receive(fd, m, flags, &followed);
    if (followed)
        return result;
    cannot_follow(fd, "recvmsg");
    return after(ft_real()->recvmsg(fd, m, flags));
}

ssize_t sendmsg(int fd, const struct msghdr *m, int flags)
{
    bool followed;
    ssize_t result;

    if (!ft_recording())
        return ft_real()->sendmsg(fd, m, flags);
    result = transmit(fd, m, flags, &followed);
    if (followed)
        return result;
    cannot_follow(fd, "sendmsg");
    return after(ft_real()->sendmsg(fd, m, flags));
}

/* Many at once: of datagrams, most of the time. */
int recvmmsg(int fd, struct mmsghdr *m, unsigned n, int flags, struct timespec *timeout)
{
    if (ft_recording())
        cannot_follow(fd, "recvmmsg");
    return ft_real()->recvmmsg(fd, m, n, flags, timeout);
}

int sendmmsg(int fd, struct mmsghdr *m, unsigned n, int flags)
{
    if (ft_recording())
        cannot_follow(fd, "sendmmsg");
    return ft_real()->sendmmsg(fd, m, n, flags);
}

/* What a fortified program calls. */
void __chk_fail(void) __attribute__((noreturn));
ssize_t __recv_chk(int fd, void *to, size_t n, size_t room, int flags);
ssize_t __recvfrom_chk(int fd, void *restrict to, size_t n, size_t room, int flags, struct sockaddr *restrict address, socklen_t *restrict bytes);

ssize_t __recv_chk(int fd, void *to, size_t n, size_t room, int flags)
{
    if (n > room)
        __chk_fail();
    return recv_from(fd, to, n, flags, NULL, NULL);
}

ssize_t __recvfrom_chk(int fd, void *restrict to, size_t n, size_t room, int flags, struct sockaddr *restrict address, socklen_t *restrict bytes)
{
    if (n > room)
        __chk_fail();
    return recv_from(fd, to, n, flags, address, bytes);
}
