/* SPDX-License-Identifier: BSD-3-Clause */
/* The phases of ranks, nodes and the job: one enum for the life of a rank, and what else is said
   of it follows from that here. */
#ifndef LAUNCHER_POLICY_PHASES_H
#define LAUNCHER_POLICY_PHASES_H

#include <stdbool.h>

/* Where a rank's process is in its life, as its agent has it in shared memory (job.h). RULE 17:
   said before it is done. The policy has three of them: NEW and CLEARING (a process is to be
   started), RUNNING, RETIRED. What the rank itself says of MPI is enum ft_rank_state
   (ft/shm/layout.h). */
enum ft_phase {
    FT_PROC_NEW,
    FT_PROC_STARTING,       /* pid, once there is one, is written by the process itself */
    FT_PROC_WAKING,         /* its snapshot is to make the next incarnation */
    FT_PROC_RUNNING,
    FT_PROC_DEAD,           /* signal and code say how; nothing has followed from it yet */
    FT_PROC_CLEARING,       /* to be restarted once the rest of its tree is dead */
    FT_PROC_RETIRED         /* will not be started again */
};

/* The same as a node says it to the controller (wire.h), and ftrun status of a job on several
   hosts says it to people. */
enum ft_node_rank { FT_NODE_RANK_STARTING, FT_NODE_RANK_UP, FT_NODE_RANK_RESTARTING, FT_NODE_RANK_DOWN, FT_NODE_RANK_STATES };

enum ft_node_rank ft_phase_said(enum ft_phase phase);

/* "starting", "running", "restarting", "done". */
const char *ft_phase_text(enum ft_node_rank said);

/* What a rank is doing, in one word: for `ftrun status` on one host and --timeline. */
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

/* failed: it was killed, or left with a code other than 0. in_mpi: COMPUTING, IN_MPI, REPLAYING
   or STARTING, which is what counts while a process lives. */
enum ft_activity ft_phase_activity(enum ft_phase phase, bool failed, enum ft_activity in_mpi);

/* "outside MPI", "in MPI", "replaying", "starting", "clearing", "dead", "done". */
const char *ft_activity_text(enum ft_activity activity);

/* Who it is, and this: why the job ends if others are in MPI. */
#define FT_PHASE_NO_INIT "exited with code 0 without calling MPI_Init, which other ranks have called: they wait for it, in MPI_Finalize if " \
                         "not before; the job is ended (all ranks of a job call it, or none)"

/* What a node says of itself. */
enum ft_node_phase {
    FT_NODE_STARTING,            /* no rank runs yet: fetches the log */
    FT_NODE_RUNNING,
    FT_NODE_DONE,                /* all ranks have left with 0; stays, for its log */
    FT_NODE_ENDED,               /* the job is to end with `code`; the reason has been said (OUT) */
    FT_NODE_STRANDED,            /* its ranks cannot go on with what log it has: it wants to be replaced */
    FT_NODE_LEFT,                /* nothing of it is left, and all it had to say is acknowledged: its last word */
    FT_NODE_PHASES
};

/* What the controller says of the job. */
enum ft_job_phase {
    FT_JOB_RUN,
    FT_JOB_END,                  /* with `code`: end the ranks, then leave */
    FT_JOB_FINISH,               /* all ranks of all nodes are done: leave */
    FT_JOB_PHASES
};

#endif
