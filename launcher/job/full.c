/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/job/full.h"

void ft_full_tell(const struct ft_job *job)
{
    const struct ft_params *p = &job->region.header->params;
    bool is_short = ft_keeper_is_short(job->keeper);
    char reached[96] = "there is little memory left", why[400] = "";

    if (!is_short)
        snprintf(reached, sizeof reached, "the log has reached its limit of %llu MiB",
                 (unsigned long long)(p->nextents * p->extent_bytes) >> 20);
    if (!ft_region_tell_full(&job->region))
        return;
    if (job->spill_memory)
        snprintf(why, sizeof why, " (%.256s is memory itself, %s; --log-spill names a directory on a disk)", job->options->log_spill,
                 job->spill_memory);
    if (ft_job_log_full(job) == FT_FULL_FORGET)
        ft_say_notice(&job->say, "%s: %s oldest part is forgotten from now on%s; if a rank dies "
                      "that has no snapshot behind that part, all ranks start again", reached, is_short ? "the log's" : "its", why);
    else
        ft_say_notice(&job->say, "%s: %s oldest part goes to a file in %s from now on%s", reached, is_short ? "the log's" : "its",
                      job->options->log_spill, why);
}
