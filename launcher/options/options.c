/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/options/options.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ft/shm/random.h"
#include "launcher/base/memory.h"
#include "launcher/base/say.h"
#include "launcher/options/kubernetes.h"
#include "launcher/options/values.h"
#include "launcher/policy/nodes_policy.h"

void *ft_options_own(struct ft_options *o, void *p)
{
    void **list = realloc(o->kept, (o->nkept + 1) * sizeof *list);

    if (list)
        o->kept = list;
    if (!p || !list) {
        free(p);
        return NULL;
    }
    return o->kept[o->nkept++] = p;
}

char *ft_options_keep(struct ft_options *o, const char *format, ...)
{
    char *text;
    va_list args;
    int n;

    va_start(args, format);
    n = vasprintf(&text, format, args);
    va_end(args);
    return ft_options_own(o, n < 0 ? NULL : text);
}

void ft_options_notice(struct ft_options *o, const char *format, ...)
{
    char **list = realloc(o->notices, (o->nnotices + 1) * sizeof *list);
    va_list args;

    if (!list)
        return; /* whatever comes next tells */
    o->notices = list;
    va_start(args, format);
    if (vasprintf(&list[o->nnotices], format, args) >= 0)
        o->nnotices++;
    va_end(args);
}

void ft_options_say_stopped(const struct ft_options *o, const struct ft_say *say, int signal)
{
    double most = 2 * (double)o->grace_ms / 1000; /* to end by this signal, and then by SIGTERM */

    if (o->ckpt_dir)
        ft_say(say, "told to stop by signal %d (SIG%s); the job is ended, within %g s (--grace) or by a second signal at once; with "
               "--resume it goes on from what is in %.300s", signal, sigabbrev_np(signal), most, o->ckpt_dir);
    else
        ft_say(say, "told to stop by signal %d (SIG%s); the job is ended, within %g s (--grace) or by a second signal at once", signal,
               sigabbrev_np(signal), most);
}

int ft_options_add(const char ***list, size_t *n, const char *text, struct ft_error *e)
{
    const char **more = realloc(*list, (*n + 1) * sizeof *more);

    if (!more)
        return ft_err_set(e, FT_EINVAL, "out of memory");
    *list = more;
    more[(*n)++] = text;
    return 0;
}

/* 8 characters of which none is easily taken for another. */
static void draw_job_id(char id[16])
{
    static const char digits[32] = "0123456789abcdefghjkmnpqrstvwxyz";
    unsigned char random[8] = {0};
    pid_t pid = getpid();

    if (ft_random(random, sizeof random) < 0)
        memcpy(random, &pid, sizeof pid);
    for (size_t i = 0; i < sizeof random; i++)
        id[i] = digits[random[i] % 32];
    id[sizeof random] = 0;
}

/* Where /tmp is memory, /var/tmp is on a disk, on most systems. */
const char *ft_options_spill_dir(void)
{
    const char *tmp = getenv("TMPDIR");

    if (tmp && *tmp)
        return tmp;
    return ft_memory_of_files("/tmp") && access("/var/tmp", W_OK) == 0 && !ft_memory_of_files("/var/tmp") ? "/var/tmp" : "/tmp";
}

void ft_options_defaults(struct ft_options *o)
{
    memset(o, 0, sizeof *o);
    draw_job_id(o->job_id);
    o->max_restarts = UINT64_MAX;
    ft_values_restart_on("signal,129-159", &o->restart_on);
    o->log_spill = ft_options_spill_dir();
    o->snapshot_ms = FT_SNAPSHOT_AUTO;
    o->ckpt_versions = 1;
    o->grace_ms = 2000;
    o->lease_ms = 3000;
    o->start_ms = 60000;
    o->start_tries = ft_kubernetes_is_here() ? FT_START_TRIES_LATE : FT_START_TRIES;
    o->launch_tree = FT_TREE_AUTO;
}

int ft_options_add_context(struct ft_options *o, struct ft_error *e)
{
    struct ft_context *list = realloc(o->contexts, (o->ncontexts + 1) * sizeof *list);

    if (!list)
        return ft_err_set(e, FT_EINVAL, "out of memory");
    o->contexts = list;
    o->contexts[o->ncontexts] = (struct ft_context){.number = (uint32_t)o->ncontexts, .nranks = 1};
    o->ncontexts++;
    return 0;
}

const char *ft_options_launcher(const struct ft_options *o)
{
    return o->launcher ? o->launcher : o->srun ? "srun" : "ssh";
}

const struct ft_context *ft_options_context(const struct ft_options *o, uint32_t rank)
{
    const struct ft_context *c = o->contexts;

    while (rank >= c->first + c->nranks)
        c++;
    return c;
}
