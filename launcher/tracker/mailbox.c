/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/tracker/mailbox.h"

#include <sys/socket.h>
#include <unistd.h>

#include "launcher/base/pass.h"

enum { ROOM = 8 << 20 /* as much of it as the system gives: a copy that waits takes a kilobyte */ };

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

int ft_mailbox_put(struct ft_mailbox *m, int fd) { return ft_pass_descriptors(m->pair[0], "", 1, &fd, 1, 0); }

int ft_mailbox_take(struct ft_mailbox *m)
{
    char byte;
    int fd = -1;

    while (fd < 0 && ft_take_descriptors(m->pair[1], &byte, 1, &fd, 1, 0) > 0)
        ; /* for that one there was no number free */
    return fd;
}

void ft_mailbox_close(struct ft_mailbox *m)
{
    for (int i = 0; i < 2; i++)
        if (m->pair[i] >= 0)
            close(m->pair[i]);
    m->pair[0] = m->pair[1] = -1;
}
