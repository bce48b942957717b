/* SPDX-License-Identifier: BSD-3-Clause */
/* What a rank is doing, in one word: for `ftrun status` and --timeline. */
#ifndef LAUNCHER_REPORT_ACTIVITY_H
#define LAUNCHER_REPORT_ACTIVITY_H

struct ft_inspect;
struct ft_proc;

enum ft_activity {
    FT_COMPUTING,           /* the program's own code */
    FT_IN_MPI,
    FT_REPLAYING,
    FT_STARTING,            /* before MPI_Init */
    FT_CLEARING,            /* dead; what is left of its tree is being killed */
    FT_DEAD,
    FT_DONE,
    FT_ACTIVITIES
};

/* i is of the same rank, and of now. */
enum ft_activity ft_activity_of(const struct ft_proc *proc, const struct ft_inspect *i);

/* "outside MPI", "in MPI", "replaying", "starting", "clearing", "dead", "done". */
const char *ft_activity_text(enum ft_activity activity);

#endif
