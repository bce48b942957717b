/* SPDX-License-Identifier: BSD-3-Clause */
/* Pairs of stream sockets are pipes of two directions: bytes go through the scratch (pipes.c). Messages with descriptors in them, and
   flags that look or wait otherwise, are not followed; nor are other sockets: wrap_closed.c. */
#include "ft/outcome/real.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>

#include "ft/outcome/descriptors.h"
#include "ft/outcome/mask.h"
#include "ft/outcome/pipes.h"
#include "ft/outcome/record.h"
#include "ft/outcome/signals.h"

/* Of one that is none, the ways back were closed when it was made. */
static void cannot_follow(int fd, const char *call)
{
    if (ft_descriptors_kind(fd) == FT_DESCRIPTOR_PIPE)
        ft_recorder_close("it has called %s on a pair of sockets with flags, addresses or descriptors", call);
}

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

/* After the call, whose result this is; its errno stays. */
static ssize_t after(ssize_t result)
{
    int error = errno;

    if (ft_signals_wait)
        ft_signals_at(FT_SIGNALS_AFTER);
    errno = error;
    return result;
}

FT_CALLED ssize_t recv_from(int fd, void *to, size_t n, int flags, struct sockaddr *address, socklen_t *bytes)
{
    if (!ft_recording())
        return ft_real()->recvfrom(fd, to, n, flags, address, bytes);
    if (ft_pipes_gives(fd) && !(flags & ~MSG_NOSIGNAL)) {
        if (address && bytes)
            *bytes = 0;
        return ft_pipes_read(fd, to, n);
    }
    cannot_follow(fd, "recv");
    return after(ft_real()->recvfrom(fd, to, n, flags, address, bytes));
}

FT_CALLED ssize_t send_to(int fd, const void *from, size_t n, int flags, const struct sockaddr *address, socklen_t bytes)
{
    if (!ft_recording())
        return ft_real()->sendto(fd, from, n, flags, address, bytes);
    if (ft_pipes_takes(fd) && !(flags & ~MSG_NOSIGNAL) && !address)
        return send_pieces(fd, &(struct iovec){(void *)(uintptr_t)from, n}, 1, flags);
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

/* Of the first piece of memory that has any room: less than all is what a stream may give. */
ssize_t recvmsg(int fd, struct msghdr *m, int flags)
{
    size_t i = 0;

    if (!ft_recording())
        return ft_real()->recvmsg(fd, m, flags);
    while (i + 1 < m->msg_iovlen && m->msg_iov[i].iov_len == 0)
        i++;
    if (ft_pipes_gives(fd) && !(flags & ~(MSG_NOSIGNAL | MSG_CMSG_CLOEXEC)) && !m->msg_controllen && m->msg_iovlen) {
        m->msg_namelen = 0;
        m->msg_flags = 0;
        return ft_pipes_read(fd, m->msg_iov[i].iov_base, m->msg_iov[i].iov_len);
    }
    cannot_follow(fd, "recvmsg");
    return after(ft_real()->recvmsg(fd, m, flags));
}

ssize_t sendmsg(int fd, const struct msghdr *m, int flags)
{
    if (!ft_recording())
        return ft_real()->sendmsg(fd, m, flags);
    if (ft_pipes_takes(fd) && !(flags & ~MSG_NOSIGNAL) && !m->msg_controllen && !m->msg_namelen && m->msg_iovlen && m->msg_iovlen <= IOV_MAX)
        return send_pieces(fd, m->msg_iov, (int)m->msg_iovlen, flags);
    cannot_follow(fd, "sendmsg");
    return after(ft_real()->sendmsg(fd, m, flags));
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

int shutdown(int fd, int how)
{
    enum { SHUTDOWN = -1 };

    if (!ft_recording() || (!ft_recorder_replays() && ft_descriptors_kind(fd) != FT_DESCRIPTOR_PIPE) ||
        (ft_recorder_replays() && ft_recorder_next() != FT_CALL_FCNTL))
        return ft_real()->shutdown(fd, how);
    return (int)FT_CALL_PLAIN(FT_CALL_FCNTL, ft_what(fd, SHUTDOWN, how), ft_real()->shutdown(fd, how));
}
