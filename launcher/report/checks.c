/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/report/checks.h"

#include <stdio.h>

#include "ft/base/util.h"
#include "launcher/report/report.h"

bool ft_report_differs(const struct ft_report *r)
{
    for (uint32_t i = 0; i < r->nranks; i++)
        if (r->ranks[i].checks.differed || r->ranks[i].checks.unable)
            return true;
    return false;
}

/* "2 of rank 1, 1 of rank 3" */
static void say_which(const struct ft_report *r, char *text, size_t size)
{
    uint32_t more = 0;
    size_t n = 0;

    text[0] = 0;
    for (uint32_t i = 0; i < r->nranks; i++) {
        uint32_t differed = r->ranks[i].checks.differed;

        if (differed && n < size - 64)
            n += (size_t)snprintf(text + n, size - n, "%s%u of rank %u", n ? ", " : "", differed, i);
        else
            more += differed != 0;
    }
    if (more)
        snprintf(text + n, size - n, " and some of %u other rank%s", more, ft_plural(more));
}

bool ft_report_checks(const struct ft_report *r, bool failed, char *line, size_t size)
{
    uint64_t snapshot = 0, start = 0, records = 0, all;
    uint32_t ranks = 0, unable = 0;
    char which[192];

    for (uint32_t i = 0; i < r->nranks; i++) {
        const struct ft_checks *c = &r->ranks[i].checks;

        snapshot += c->from_snapshot;
        start += c->from_start;
        records += c->records;
        unable += c->unable;
        ranks += c->from_snapshot + c->from_start > 0;
    }
    all = snapshot + start;
    if (!r->checks)
        return false;
    say_which(r, which, sizeof which);
    snprintf(line, size, "--check-replay: %llu replay%s of %u rank%s (%llu from a snapshot, %llu from the start), %llu record%s: %s%s%s",
             (unsigned long long)all, ft_plural(all), ranks, ft_plural(ranks), (unsigned long long)snapshot, (unsigned long long)start,
             (unsigned long long)records, ft_plural(records), !all ? "nothing is known" : *which ? "these differed: " :
             failed ? "none of these differed" : "all exact", which, all && !*which && unable ? ", but not of the whole run" : "");
    return true;
}
