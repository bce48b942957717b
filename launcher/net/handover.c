/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/net/handover.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <unistd.h>

#include "launcher/base/pass.h"

/* Takes the oldest out again. */
static bool take_back(int from)
{
    struct ft_link_post post;
    int fd;

    if (ft_take_descriptors(from, &post, sizeof post, &fd, 1, MSG_DONTWAIT) < 0)
        return false;
    if (fd >= 0)
        close(fd);
    return true;
}

int ft_handover(const int pair[2], const struct ft_link_post *post, int fd)
{
    int failed;

    do
        failed = ft_pass_descriptors(pair[0], post, sizeof *post, &fd, 1, MSG_DONTWAIT);
    while (failed && (errno == EAGAIN || errno == ETOOMANYREFS) && take_back(pair[1]));
    return failed;
}
