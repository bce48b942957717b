/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/controller/tell.h"

#include <stdio.h>
#include <string.h>

#include "ft/base/util.h"
#include "launcher/options/map.h"

enum { WHO = 400, HELP = 500 };

typedef unsigned long long ull;

/* "rank 3", "ranks 4-7", "4 ranks". */
static const char *ranks_of(const struct ft_map *map, uint32_t node, char *text, size_t size)
{
    const uint32_t *ranks = map->rank_at + map->first[node];
    uint32_t n = map->first[node + 1] - map->first[node];

    if (n == 1)
        snprintf(text, size, "rank %u", ranks[0]);
    else if (ranks[n - 1] - ranks[0] == n - 1)
        snprintf(text, size, "ranks %u-%u", ranks[0], ranks[n - 1]);
    else
        snprintf(text, size, "%u ranks", n);
    return text;
}

/* What becomes of a host's ranks. */
static void tell_lost(const struct ft_say *say, const struct ft_options *o, const struct ft_nodes_effect *fx, const char *who)
{
    const char *how = fx->number ? "has not been heard from" : "is gone";
    double lease = (double)o->lease_ms / 1e3;

    if (fx->to == fx->host)
        ft_say_notice(say, "%s %s for %g s; its ranks start again there", who, how, lease);
    else
        ft_say_notice(say, "%s %s for %g s; its ranks start again on %s", who, how, lease, o->map->hosts.list[fx->to].name);
}

/* What keeps a job that has lost a host, and has no other one. */
static const char *what_helps(const struct ft_options *o, char *text, size_t size)
{
    const char *others = o->survive_host ? "" : " and --survive host";
    size_t n = (size_t)snprintf(text, size, o->spares ? "; with more than --spares %llu%s it would have gone on" : "; with --spares %llu%s it would have gone on",
                                (ull)(o->spares ? o->spares : 1), others);

    if (o->ckpt_dir)
        snprintf(text + n, size - n, "; with --resume it goes on from what is in %.300s", o->ckpt_dir);
    else
        snprintf(text + n, size - n, ", with --ckpt-dir it could be resumed");
    return text;
}

static void tell_not_started(const struct ft_say *say, const struct ft_telling *t, const struct ft_nodes_effect *fx, const char *who)
{
    const struct ft_options *o = t->options;
    char then[WHO + HELP] = "the job is ended", help[HELP], why[WHO + 200];

    snprintf(why, sizeof why, "%s", t->why);
    if (!*why)
        snprintf(why, sizeof why, "no answer within %g s (--start-timeout)", (double)o->start_ms / 1e3);
    if (strstr(why, "ftrun: ") && strstr(why, "(exit code 127)"))
        snprintf(why + strlen(why), sizeof why - strlen(why), "; is ftmpi there? (--prefix)");
    if (fx->to != fx->host)
        snprintf(then, sizeof then, "%.300s takes its place", o->map->hosts.list[fx->to].name);
    else if (fx->waits)
        snprintf(then, sizeof then, "waiting for it (--wait-for-host %g)", (double)o->wait_ms / 1e3);
    else if (fx->lost)
        snprintf(then, sizeof then, "the job is ended%s", what_helps(o, help, sizeof help));
    if (fx->number > 1)
        ft_say(say, "cannot start on %s: %s; tried %llu times, %s", who, why, (ull)fx->number, then);
    else
        ft_say(say, "cannot start on %s: %s; %s", who, why, then);
}

void ft_controller_tell(const struct ft_say *say, const struct ft_telling *t, const struct ft_nodes_effect *fx)
{
    const struct ft_options *o = t->options;
    char who[WHO], ranks[64], help[HELP];

    snprintf(who, sizeof who, "host %.300s (%s)", o->map->hosts.list[fx->host].name, ranks_of(o->map, fx->node, ranks, sizeof ranks));
    switch (fx->reason) {
    case FT_NT_LOST:
        tell_lost(say, o, fx, who);
        break;
    case FT_NT_CANNOT_START:
        tell_not_started(say, t, fx, who);
        break;
    case FT_NT_RENEW:
        if (fx->number == 3) {
            ft_say_notice(say, "%s is lost, and its ranks had connections of their own, which are lost with it: all ranks start again "
                          "(--start-over always)", who);
            break;
        }
        if (fx->number == 2) {
            ft_say_notice(say, "%s needs a part of the log that no host has any more: all ranks start again", who);
            break;
        }
        ft_say_notice(say, "%s %s for %g s, and no host that is left has all of the log, which its ranks need to catch up%s: all ranks start again",
                      who, fx->number ? "has not been heard from" : "is gone", (double)o->lease_ms / 1e3,
                      o->survive_host ? "" : " (--survive host keeps it)");
        break;
    case FT_NT_STRANDED:
        ft_say_notice(say, "%s needs a part of the log that is gone; its ranks start again", who);
        break;
    case FT_NT_NOWHERE:
        ft_say(say, "%s has not come back within %g s (--wait-for-host); the job is ended%s", who, (double)o->wait_ms / 1e3,
               fx->lost ? what_helps(o, help, sizeof help) : "");
        break;
    case FT_NT_GIVEN_UP:
        ft_say(say, "%s is lost, %llu times in a row without progress; given up, the job is ended", who, (ull)fx->number);
        break;
    case FT_NT_CONNECTED:
        ft_say(say, "%s %s for %g s; its ranks had connections of their own, which are lost with it, so the job is ended; start it again from what "
               "the program has saved (with --start-over always all ranks would have begun again)", who,
               fx->number ? "has not been heard from" : "is gone", (double)o->lease_ms / 1e3);
        break;
    case FT_NT_LOST_TOO:
        ft_say(say, "%s is lost, too, and its ranks had connections of their own with others: perhaps the job ended because of that", who);
        break;
    case FT_NT_NO_RESTARTS:
        ft_say(say, "%s is lost; not replaced (--max-restarts 0), the job is ended", who);
        break;
    case FT_NT_MAX_RESTARTS:
        ft_say(say, "more restarts than --max-restarts %llu, on all hosts together; the job is ended", (ull)o->max_restarts);
        break;
    }
}

void ft_controller_display(const struct ft_say *say, const struct ft_options *o)
{
    char ranks[64];

    if (!o->display_map)
        return;
    ft_say(say, "job %s: %u rank%s on %u host%s", o->job_id, o->map->world, ft_plural(o->map->world), o->map->nnodes,
           ft_plural(o->map->nnodes));
    for (uint32_t node = 0; node < o->map->nnodes; node++)
        ft_say(say, "  %s: %s", o->map->hosts.list[o->map->host[node]].name, ranks_of(o->map, node, ranks, sizeof ranks));
}
