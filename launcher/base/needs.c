/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/base/needs.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <unistd.h>

/* ---- each call: -1 with errno, or anything else ---- */

static int closed(int fd)
{
    int error = errno;

    if (fd >= 0)
        close(fd);
    errno = error;
    return fd;
}

static int closed_both(const int fds[2], int result)
{
    closed(fds[0]);
    closed(fds[1]);
    return result;
}

static int try_memfd_create(void) { return closed(memfd_create("ftmpi", MFD_CLOEXEC)); }

static int try_eventfd2(void) { return closed(eventfd(0, EFD_CLOEXEC)); }

static int try_signalfd4(void)
{
    sigset_t none;

    sigemptyset(&none);
    return closed(signalfd(-1, &none, SFD_CLOEXEC));
}

static int try_pipe2(void)
{
    int fds[2];

    return pipe2(fds, O_CLOEXEC) < 0 ? -1 : closed_both(fds, 0);
}

static int try_socketpair(void)
{
    int fds[2];

    return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0 ? -1 : closed_both(fds, 0);
}

/* Of a byte, to the other end of a pair of sockets, or of nothing, as none has come: EAGAIN. */
static int try_message(ssize_t (*move)(int fd, struct msghdr *m))
{
    char byte = 0;
    struct iovec one = {.iov_base = &byte, .iov_len = 1};
    struct msghdr m = {.msg_iov = &one, .msg_iovlen = 1};
    int fds[2];

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds) < 0)
        return 0;
    return closed_both(fds, (int)move(fds[0], &m));
}

static ssize_t send_one(int fd, struct msghdr *m) { return sendmsg(fd, m, 0); }
static ssize_t receive_one(int fd, struct msghdr *m) { return recvmsg(fd, m, 0); }
static int try_sendmsg(void) { return try_message(send_one); }
static int try_recvmsg(void) { return try_message(receive_one); }

static int try_epoll(void) { return closed(epoll_create1(EPOLL_CLOEXEC)); }

static int try_epoll_wait(void)
{
    struct epoll_event one;
    int fd = epoll_create1(EPOLL_CLOEXEC), got = fd < 0 ? 0 : epoll_wait(fd, &one, 1, 0);

    closed(fd);
    return got;
}

static int try_splice(void)
{
    int in[2], out[2], got;

    if (pipe2(in, O_CLOEXEC) < 0)
        return 0;
    if (pipe2(out, O_CLOEXEC) < 0)
        return closed_both(in, 0);
    got = write(in[1], "", 1) < 0 ? 0 : (int)splice(in[0], NULL, out[1], NULL, 1, SPLICE_F_NONBLOCK);
    return closed_both(out, closed_both(in, got));
}

static int try_madvise(void)
{
    void *page = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int got, error;

    if (page == MAP_FAILED)
        return 0;
    got = madvise(page, 1, MADV_DONTFORK);
    error = errno;
    munmap(page, 1);
    errno = error;
    return got;
}

static int try_prctl(void)
{
    int is;

    return prctl(PR_GET_CHILD_SUBREAPER, &is, 0, 0, 0);
}

static int try_prlimit64(void)
{
    struct rlimit r;

    return getrlimit(RLIMIT_NOFILE, &r);
}

/* Of its own group; a session's leader may not. */
static int try_setpgid(void) { return getsid(0) == getpid() ? 0 : setpgid(0, getpgrp()); }

/* Where there is no such call the C library does without. */
static int try_clone3(void)
{
#ifdef SYS_clone3
    return syscall(SYS_clone3, NULL, 0) < 0 && errno == EPERM ? -1 : 0;
#else
    return 0;
#endif
}

static int try_pwrite(void)
{
    int fd = memfd_create("ftmpi", MFD_CLOEXEC), got = fd < 0 ? 0 : (int)pwrite(fd, "", 1, 0);

    closed(fd);
    return got;
}

static int try_sendfile(void)
{
    int fd = memfd_create("ftmpi", MFD_CLOEXEC), got = fd < 0 ? 0 : (int)sendfile(fd, fd, NULL, 0);

    closed(fd);
    return got;
}

static const struct {
    const char *name;
    int (*try)(void);
} needs[] = {
    {"memfd_create", try_memfd_create}, {"pwrite64", try_pwrite}, {"eventfd2", try_eventfd2}, {"signalfd4", try_signalfd4},
    {"pipe2", try_pipe2}, {"splice", try_splice}, {"sendfile", try_sendfile}, {"socketpair", try_socketpair}, {"sendmsg", try_sendmsg}, {"recvmsg", try_recvmsg},
    {"epoll_create1", try_epoll}, {"epoll_wait", try_epoll_wait}, {"madvise", try_madvise}, {"prctl", try_prctl},
    {"prlimit64", try_prlimit64}, {"setpgid", try_setpgid}, {"clone3", try_clone3},
};

int ft_needs_is_refusal(int error) { return error == EPERM || error == ENOSYS || error == EACCES; }

int ft_needs_check(struct ft_error *e)
{
    char text[256];

    for (size_t i = 0; i < sizeof needs / sizeof needs[0]; i++)
        if (needs[i].try() < 0 && ft_needs_is_refusal(errno))
            return ft_err_set(e, FT_ESYS, "%s ftrun does not work without: allow it there, or run ftrun outside",
                              ft_needs_refused(needs[i].name, errno, NULL, text, sizeof text));
    return 0;
}

/* ---- in words ---- */

static bool is_older(const char *release, const char *since)
{
    int has[2] = {0}, wants[2] = {0};

    return since && sscanf(release, "%d.%d", &has[0], &has[1]) == 2 && sscanf(since, "%d.%d", &wants[0], &wants[1]) == 2 &&
           (has[0] < wants[0] || (has[0] == wants[0] && has[1] < wants[1]));
}

const char *ft_needs_refused(const char *call, int error, const char *since, char *text, size_t size)
{
    struct utsname kernel = {.release = "?"};

    uname(&kernel);
    if (is_older(kernel.release, since))
        snprintf(text, size, "%s is refused (%s): the kernel, Linux %.32s is older than %s.", call, strerror(error), kernel.release, since);
    else
        snprintf(text, size, "%s is refused (%s): by the system call filter of a container; Linux %.32s has it.", call, strerror(error),
                 kernel.release);
    return text;
}
