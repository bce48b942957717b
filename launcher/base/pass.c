/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/base/pass.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ft/base/util.h"

union control {
    struct cmsghdr header;
    char room[CMSG_SPACE(FT_PASS_MOST * sizeof(int))];
};

int ft_pass_descriptors(int to, const void *message, size_t bytes, const int *fds, size_t n, int flags)
{
    union control control = {0};
    struct iovec text = {(void *)(uintptr_t)message, bytes};
    struct msghdr h = {.msg_iov = &text, .msg_iovlen = 1};
    ssize_t sent;

    FT_INVARIANT(n <= FT_PASS_MOST, "no more descriptors are passed at a time");
    if (n > 0) {
        h.msg_control = &control;
        h.msg_controllen = CMSG_SPACE(n * sizeof *fds);
        control.header.cmsg_level = SOL_SOCKET;
        control.header.cmsg_type = SCM_RIGHTS;
        control.header.cmsg_len = CMSG_LEN(n * sizeof *fds);
        memcpy(CMSG_DATA(&control.header), fds, n * sizeof *fds);
    }
    do
        sent = sendmsg(to, &h, flags | MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent < 0 ? -1 : 0;
}

/* What nobody has asked for is closed. */
static void take(const struct cmsghdr *c, int *fds, size_t n)
{
    size_t has = (c->cmsg_len - CMSG_LEN(0)) / sizeof *fds;
    int fd;

    for (size_t i = 0; i < has; i++) {
        memcpy(&fd, CMSG_DATA(c) + i * sizeof fd, sizeof fd);
        if (i < n)
            fds[i] = fd;
        else
            close(fd);
    }
}

ssize_t ft_take_descriptors(int from, void *message, size_t bytes, int *fds, size_t n, int flags)
{
    union control control = {0};
    struct iovec text = {message, bytes};
    struct msghdr h = {.msg_iov = &text, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    const struct cmsghdr *c;
    ssize_t got;

    for (size_t i = 0; i < n; i++)
        fds[i] = -1;
    do
        got = recvmsg(from, &h, flags | MSG_CMSG_CLOEXEC);
    while (got < 0 && errno == EINTR);
    c = got < 0 ? NULL : CMSG_FIRSTHDR(&h);
    if (c && c->cmsg_type == SCM_RIGHTS)
        take(c, fds, n);
    return got;
}
