/* SPDX-License-Identifier: BSD-3-Clause */
/* Readers of those options that are more than a value stored in a field (settings.c). Each returns 0, or FT_EINVAL with e
   filled or left empty. Options of one program go to the context that is being read, the last. */
#ifndef LAUNCHER_OPTIONS_READERS_H
#define LAUNCHER_OPTIONS_READERS_H

#include "launcher/options/options.h"

/* One use of a row: `who` names it in messages ("--log-limit", "FTMPI_LOG_LIMIT", "FILE:3: log-limit"). */
struct ft_word {
    const char *who, *value, *second;  /* second: of options with two arguments */
};

#define FT_READER(name) int ft_read_##name(struct ft_options *o, const struct ft_word *w, struct ft_error *e)

FT_READER(count);
FT_READER(per_host);
FT_READER(wdir);
FT_READER(app);
FT_READER(host);
FT_READER(hostfile);
FT_READER(hydra_hostfile);
FT_READER(bind);
FT_READER(map);
FT_READER(order);
FT_READER(hwthreads);
FT_READER(display);
FT_READER(pernode);
FT_READER(old_placement);
FT_READER(oversubscribe);
FT_READER(nooversubscribe);
FT_READER(export);
FT_READER(genv);
FT_READER(env);
FT_READER(genvlist);
FT_READER(genvnone);
FT_READER(genvall);
FT_READER(output);
FT_READER(stdin);
FT_READER(verbose);
FT_READER(max_restarts);
FT_READER(snapshot);
FT_READER(snapshot_threads);
FT_READER(ckpt_every);
FT_READER(resume);
FT_READER(check_replay);
FT_READER(restart_on);
FT_READER(start_over);
FT_READER(other_mpi);
FT_READER(replay_time);
FT_READER(sockets);
FT_READER(log_limit);
FT_READER(log_full);
FT_READER(cores);
FT_READER(allreduce);
FT_READER(survive);
FT_READER(launcher);
FT_READER(launch_tree);
FT_READER(launch_arg);
FT_READER(rdzv);
FT_READER(join);
FT_READER(rmk);
FT_READER(help);
FT_READER(version);
FT_READER(tune);
FT_READER(nothing);
FT_READER(foreign);

#endif
