/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/tracker/mailbox.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ROOM = 8 << 20 /* as much of it as the system gives: a copy that waits takes a kilobyte */ };

union control {
    struct cmsghdr header;
    char room[CMSG_SPACE(sizeof(int))];
};

int ft_mailbox_open(struct ft_mailbox *m)
{
    int room = ROOM;

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, m->pair) < 0) {
        m->pair[0] = m->pair[1] = -1;
        return -1;
    }
    setsockopt(m->pair[0], SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
    return 0;
}

int ft_mailbox_put(struct ft_mailbox *m, int fd)
{
    union control control = {0};
    struct iovec text = {(void *)"", 1};
    struct msghdr h = {.msg_iov = &text, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    struct cmsghdr *c = CMSG_FIRSTHDR(&h);
    ssize_t n;

    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(c), &fd, sizeof fd);
    do
        n = sendmsg(m->pair[0], &h, MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    return n < 0 ? -1 : 0;
}

int ft_mailbox_take(struct ft_mailbox *m)
{
    union control control = {0};
    char byte;
    struct iovec text = {&byte, 1};
    struct msghdr h = {.msg_iov = &text, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    struct cmsghdr *c;
    int fd = -1;

    while (fd < 0 && recvmsg(m->pair[1], &h, MSG_CMSG_CLOEXEC) > 0) {
        c = CMSG_FIRSTHDR(&h);
        if (c && c->cmsg_type == SCM_RIGHTS) /* else there was no descriptor free for it */
            memcpy(&fd, CMSG_DATA(c), sizeof fd);
        h.msg_controllen = sizeof control;
    }
    return fd;
}

void ft_mailbox_close(struct ft_mailbox *m)
{
    for (int i = 0; i < 2; i++)
        if (m->pair[i] >= 0)
            close(m->pair[i]);
    m->pair[0] = m->pair[1] = -1;
}
