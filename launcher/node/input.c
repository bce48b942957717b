/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/node/input.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/event.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "launcher/base/timer.h"
#include "launcher/node/job.h"
#include "launcher/stdio/memory.h"

uint64_t ft_node_input_place(const struct ft_node *n)
{
    const struct ft_store *store = &n->job->stdio->store;
    int queued = 0, between = 0;

    if (n->input < 0)
        return 0;
    ioctl(0, FIONREAD, &queued);
    if (store->middle[0] >= 0)
        ioctl(store->middle[0], FIONREAD, &between);
    return (uint64_t)lseek(store->to, 0, SEEK_CUR) + (uint64_t)queued + (uint64_t)between;
}

static void end_input(struct ft_node *n)
{
    if (n->shared->input_ended && ft_node_input_place(n) >= n->shared->input_end)
        shutdown(n->input, SHUT_WR); /* for all that hold it; may be done twice */
}

static void on_room(evutil_socket_t fd, short what, void *arg)
{
    struct ft_node *n = arg;

    (void)fd;
    (void)what;
    evbuffer_write(n->waiting, n->input);
    if (evbuffer_get_length(n->waiting))
        event_add(n->room, NULL);
    end_input(n);
    ft_node_changed(n);
}

int ft_node_input_take(struct ft_node *n, const struct ft_wire_frame *f, struct ft_error *e)
{
    const uint8_t *data;
    uint64_t place, have;
    uint32_t len;
    bool last;

    if (ft_wire_get_input(f, &place, &last, &data, &len, e) < 0)
        return FT_EDAMAGED;
    if (n->input < 0)
        return 0;
    have = ft_node_input_place(n) + evbuffer_get_length(n->waiting);
    if (place > have || place + len < have)
        return 0;
    evbuffer_add(n->waiting, data + (have - place), len - (uint32_t)(have - place));
    if (last) {
        n->shared->input_end = place + len;
        n->shared->input_ended = true;
    }
    on_room(-1, 0, n);
    return 0;
}

/* What comes for the rank that reads standard input goes through a socketpair: it ends when it is shut down, whoever holds it. */
int ft_node_input_open(struct ft_node *n, struct ft_error *e)
{
    int pair[2];

    n->input = -1;
    if (n->job->options->stdin_rank < 0)
        return 0;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0 || dup2(pair[0], 0) < 0)
        return ft_err_set(e, FT_ESYS, "no socket for standard input: %s", strerror(errno));
    close(pair[0]);
    n->input = pair[1];
    fcntl(n->input, F_SETFL, O_NONBLOCK);
    return 0;
}

int ft_node_input_serve(struct ft_node *n)
{
    n->waiting = evbuffer_new();
    if (n->input >= 0)
        n->room = event_new(n->job->base, n->input, EV_WRITE, on_room, n);
    return n->waiting && (n->input < 0 || n->room) ? 0 : -1;
}

void ft_node_input_again(struct ft_node *n)
{
    evbuffer_drain(n->waiting, evbuffer_get_length(n->waiting));
}

void ft_node_input_leave(struct ft_node *n)
{
    ft_timer_free(n->room);
    if (n->waiting)
        evbuffer_free(n->waiting);
}

void ft_node_input_close(struct ft_node *n)
{
    if (n->input >= 0)
        close(n->input);
}
