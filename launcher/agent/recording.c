/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/agent/recording.h"

#include <errno.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ft/base/util.h"
#include "launcher/base/library.h"
#include "launcher/base/pidfd.h"
#include "launcher/job/job.h"

enum { LEAST_MIB = 256, MOST_MIB = 4096 };

/* Why ranks are not recorded; "": they are. Their snapshots are processes that the agent has not made itself, and must watch. */
static const char *why_not(const struct ft_job *job, char *text, size_t size)
{
    const struct ft_options *o = job->options;

    *text = 0;
    if (!o->snapshot_ms)
        return "with --snapshot off nothing is recorded";
    if (!o->max_restarts)
        return "with --max-restarts 0 nothing is recorded";
    if (!ft_library_records())
        return "this ftmpi is built with sanitizers, and records nothing";
    ft_pidfd_works(text, size);
    return text;
}

/* How far a call on a connection came is asked of the kernel (ft/outcome/tcp.c). */
static bool counts_connections(void)
{
    struct tcp_info info;
    socklen_t bytes = sizeof info;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), waits;
    bool does;

    if (fd < 0 && errno == EAFNOSUPPORT)
        fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    does = fd >= 0 && getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &bytes) == 0 &&
           bytes >= offsetof(struct tcp_info, tcpi_bytes_received) + sizeof info.tcpi_bytes_received && ioctl(fd, SIOCOUTQ, &waits) == 0;
    if (fd >= 0)
        close(fd);
    return does;
}

static const struct ft_context *not_preloaded(const struct ft_options *o)
{
    for (size_t i = 0; i < o->ncontexts; i++)
        if (o->contexts[i].alone)
            return &o->contexts[i];
    return NULL;
}

static int check_sockets(const struct ft_options *o, const char *why, struct ft_error *e)
{
    const struct ft_context *alone = not_preloaded(o);

    if (*why)
        return ft_err_set(e, FT_EINVAL, "--sockets: sockets of ranks cannot be kept on %s: %s", ft_say_host(), why);
    if (alone)
        return ft_err_set(e, FT_EINVAL, "--sockets: sockets of ranks cannot be kept on %s: %.80s has a sanitizer's runtime, so it is not recorded",
                          ft_say_host(), alone->argv[0]);
    if (!counts_connections())
        return ft_err_set(e, FT_EINVAL, "--sockets: sockets of ranks cannot be kept on %s: the kernel, or a filter, does not tell how much of a "
                          "connection was sent and received (TCP_INFO)", ft_say_host());
    return 0;
}

/* Of each rank's log of outcomes: its share of the limit, for a rank with threads keeps all of it. */
static uint64_t log_bytes(uint64_t limit, uint32_t nranks)
{
    uint64_t share = ft_min((uint64_t)MOST_MIB << 20, limit / nranks);

    return ft_min(limit, ft_max((uint64_t)LEAST_MIB << 20, share));
}

int ft_recording_choose(const struct ft_job *job, struct ft_params *params, uint64_t limit, struct ft_error *e)
{
    const struct ft_options *o = job->options;
    char text[256];
    const char *why = why_not(job, text, sizeof text);

    if (o->sockets == FT_SOCKETS_ON && check_sockets(o, why, e) < 0)
        return FT_EINVAL;
    if (why == text && *why)
        ft_say_notice(&job->say, "%s There are no snapshots in this job: a rank that is killed replays from the start", why);
    if (!*why)
        params->outcome_bytes = ft_align(log_bytes(limit, o->nranks), 1 << 20);
    params->clocks_untold = o->replay_time_off;
    params->one_thread = o->one_thread;
    params->sockets_untold = o->sockets == FT_SOCKETS_OFF;
    return 0;
}
