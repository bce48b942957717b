/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/control/reach.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "launcher/base/pass.h"
#include "launcher/control/pipe.h"
#include "launcher/control/rundir.h"

enum { NODE_S = 5 /* for a node to answer, which waits for less itself */ };

bool ft_reach_is_node(const char *name)
{
    return strchr(name, '.') != strrchr(name, '.');
}

static json_t *read_known(int fd)
{
    struct ft_link *l = malloc(sizeof *l);
    json_t *known = NULL;
    int err;

    if (l) {
        ft_link_take(l, fd);
        l->timeout_ms = NODE_S * 1000;
        known = ft_link_line(l, &err);
    }
    free(l);
    return known;
}

/* Of a node: what it gives. */
static int take(int node, json_t **known)
{
    struct timeval patience = {.tv_sec = NODE_S};
    int fd = -1;
    char what = 0;
    ssize_t n;

    setsockopt(node, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    n = ft_take_descriptors(node, &what, 1, &fd, 1, 0);
    if (n < 0) /* EAGAIN: it is late */
        return -1;
    errno = ECONNRESET;
    if (n == 1 && what == FT_REACH_THERE)
        return fd;
    if (n == 1 && what == FT_REACH_NOT && (*known = read_known(node)))
        errno = EHOSTUNREACH;
    return -1;
}

int ft_reach(int dir, const char *name, json_t **known)
{
    int fd = ft_rundir_connect(dir, name), node = fd, error;

    *known = NULL;
    if (fd < 0 || !ft_reach_is_node(name))
        return fd;
    fd = take(node, known);
    error = errno;
    close(node);
    errno = error;
    return fd;
}
