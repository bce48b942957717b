/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/job/full.h"

void ft_full_tell(const struct ft_job *job)
{
    const struct ft_params *p = &job->region.header->params;
    unsigned long long limit = p->nextents * p->extent_bytes >> 20;

    if (!ft_region_tell_full(&job->region))
        return;
    if (job->options->log_full == FT_FULL_FORGET)
        ft_say_notice(&job->say, "the log has reached its limit of %llu MiB: its oldest part is forgotten from now on; if a rank dies "
                      "that has no snapshot behind that part, all ranks start again", limit);
    else
        ft_say_notice(&job->say, "the log has reached its limit of %llu MiB: its oldest part goes to a file in %s from now on", limit,
                      job->options->log_spill);
}
