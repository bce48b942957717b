/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/net/handover.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

union control {
    struct cmsghdr header;
    char room[CMSG_SPACE(sizeof(int))];
};

static int send_post(int to, const struct ft_link_post *post, int fd)
{
    union control control = {0};
    struct iovec text = {(void *)post, sizeof *post};
    struct msghdr h = {.msg_iov = &text, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    struct cmsghdr *c = CMSG_FIRSTHDR(&h);
    ssize_t n;

    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(c), &fd, sizeof fd);
    do
        n = sendmsg(to, &h, MSG_DONTWAIT | MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    return n < 0 ? -1 : 0;
}

/* Takes the oldest out again. */
static bool take_back(int from)
{
    union control control;
    struct ft_link_post post;
    struct iovec text = {&post, sizeof post};
    struct msghdr h = {.msg_iov = &text, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    struct cmsghdr *c;
    int fd;

    if (recvmsg(from, &h, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) < 0)
        return false;
    c = CMSG_FIRSTHDR(&h);
    if (c && c->cmsg_type == SCM_RIGHTS) {
        memcpy(&fd, CMSG_DATA(c), sizeof fd);
        close(fd);
    }
    return true;
}

int ft_handover(const int pair[2], const struct ft_link_post *post, int fd)
{
    int failed;

    while ((failed = send_post(pair[0], post, fd)) && (errno == EAGAIN || errno == ETOOMANYREFS) && take_back(pair[1]))
        ;
    return failed;
}
