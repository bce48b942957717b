/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/report/summary.h"

#include <stdio.h>
#include <string.h>

#include "ft/base/util.h"
#include "launcher/report/report.h"

/* In the words of a sentence; `all` is one start of all ranks, whoever died. */
static const char *const ways[] = {
    [FT_BACK_SNAPSHOT] = "from a snapshot", [FT_BACK_CHECKPOINT] = "from a checkpoint", [FT_BACK_START] = "from the start",
    [FT_BACK_ALL] = "with all ranks from the start",
};

enum { WAYS = sizeof ways / sizeof ways[0] };

/* The time in which at least one rank was not where it had been: deaths at once count once. In the order in which they died. */
static uint64_t lost_ns(const struct ft_report *r)
{
    uint64_t sum = 0, until = 0;

    for (uint64_t i = 0; i < r->nrestarts; i++) {
        const struct ft_restart *one = &r->restarts[i];
        uint64_t from = ft_max(one->died_ns, until);

        if (one->live_ns <= from)
            continue;
        sum += one->live_ns - from;
        until = one->live_ns;
    }
    return sum;
}

bool ft_report_summary(const struct ft_report *r, char *line, size_t size)
{
    uint64_t back[WAYS] = {0}, number = 0, replayed = 0, astray = 0;
    size_t n = 0;

    for (uint64_t i = 0; i < r->nrestarts; i++)
        if (r->restarts[i].started_ns) {
            back[r->restarts[i].way]++;
            replayed += r->restarts[i].replayed;
            astray += r->restarts[i].astray;
            number++;
        }
    if (!number)
        return false;
    n = (size_t)snprintf(line, size, number == 1 ? "%llu death of a rank survived:" : "%llu deaths of ranks survived:",
                         (unsigned long long)number);
    for (int w = 0, any = 0; w < WAYS; w++)
        if (back[w])
            n += (size_t)snprintf(line + n, size - n, "%s %llu %s", any++ ? "," : "", (unsigned long long)back[w], ways[w]);
    if (astray)
        n += (size_t)snprintf(line + n, size - n, "; %llu tr%s of a snapshot in vain", (unsigned long long)astray, astray == 1 ? "y" : "ies");
    if (lost_ns(r)) /* it is known of those that use MPI */
        snprintf(line + n, size - n, "; %llu unit%s replayed, %.3f s until they were back", (unsigned long long)replayed, ft_plural(replayed),
                 (double)lost_ns(r) / 1e9);
    return true;
}
