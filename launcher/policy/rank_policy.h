/* SPDX-License-Identifier: BSD-3-Clause */
/* What to do when something happens to the ranks of a host (DESIGN section 7). A pure state machine: events in,
   effects out; no clock, no system call, no text. The agent turns effects into deeds, in the order given.

     a rank killed by a signal, or leaving with 129-159 (--restart-on)  -> it is restarted
     any other code                                                    -> the program's verdict: the job ends with it
     the rank ended the job (MPI_Abort, a fatal MPI error)              -> the job ends with the code it gave
     exit 0 between MPI_Init and MPI_Finalize                           -> an error, the job ends with 1
     exit 0 without MPI_Init, which others have called                  -> likewise
     it dies of its own: by its own hand, or twice at the same unit     -> it goes on from snapshot zero, if it has that beside a newer one
     three deaths of its own at the same furthest unit (RULE 19)        -> given up, 128 + signal; if each was a copy's of it, it is
                                                                           started by exec first
     it ended itself, as it could not follow its snapshot             -> it is started again: that is counted nowhere
     ftrun has killed it to see whether it comes back (--check-replay) -> likewise
     all others have waited for it for --hang-timeout                   -> it is killed, then as above; the third time
                                                                           at the same furthest unit: given up
     a rank that is to start from the beginning cannot                 -> all are killed, or called back if they have left, and
                                                                           start together when everything is as new. Only
                                                                           deaths by themselves are counted; what is counted
                                                                           at the furthest unit stays
     every rank has left with 0                                         -> done; on one node of several it stays, for its log, until
                                                                           the others are done, too
     the job ends on another node                                      -> it ends here, without a word
     it is cut off from the others                                     -> its ranks are killed at once, before others take their place */
#ifndef LAUNCHER_POLICY_RANK_POLICY_H
#define LAUNCHER_POLICY_RANK_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    FT_OWN_DEATHS = 3,     /* of its own, in a row, at the same furthest unit: given up */
    FT_HANGS = 3,          /* likewise */
    FT_QUICK_KILLS = 100,  /* killed by others within a second of its start, in a row, without progress: given up */
    FT_CODE_JOB = 1,       /* exit code of ftrun for what no rank gave a code for */
    FT_CODE_TIMEOUT = 110, /* exit code of --timeout, as Open MPI's */
    FT_CODE_DIFFERED = 111 /* --check-replay has found a replay that differed, and all have left with 0, or such a rank could not go on */
};

/* --restart-on: deaths after which a rank is started again. */
struct ft_restart_on {
    bool signal;
    uint64_t codes[4];     /* bit c % 64 of word c / 64: exit code c */
};

struct ft_policy_config {
    uint32_t nranks;
    struct ft_restart_on restart_on;
    uint64_t max_restarts; /* of the whole job; UINT64_MAX: no limit, 0: none are restarted */
    bool need_rabit;       /* a job in which no rank used the XGBoost engine has failed (--rabit) */
    bool node;             /* these ranks are not all of the job: it runs on several nodes */
};

/* How an incarnation came to be: the ways back that are left after it. */
enum ft_begun { FT_FROM_EXEC, FT_FROM_ZERO /* the snapshot of before main */, FT_FROM_SNAPSHOT };

enum ft_event_kind {
    FT_EV_STARTED,         /* rank: an incarnation runs */
    FT_EV_EXITED,          /* rank: its leader is dead */
    FT_EV_SIGNAL,          /* signal: ftrun was sent one that ends the job */
    FT_EV_GRACE,           /* the time given with the last FT_DO_SIGNAL is over */
    FT_EV_FAILED,          /* code: the agent cannot go on, and has said why */
    FT_EV_HUNG,            /* rank: all others have waited for it too long */
    FT_EV_ABSENT,          /* rank: it has left with 0 and has never called MPI_Init, and another one has */
    FT_EV_STRANDED,        /* rank, which was to be restarted: a part of the log that it would need is gone */
    FT_EV_RENEWED,         /* after FT_DO_GATHER: every rank is dead with its process tree, and the log is as new */
    FT_EV_ALL_DONE,        /* the ranks of all other nodes have left with 0, too */
    FT_EV_ENDED,           /* code: the job has ended on another node */
    FT_EV_FENCED           /* this node counts as lost, or will */
};

struct ft_event {
    enum ft_event_kind kind;
    uint32_t rank;
    int signal;            /* EXITED: that killed it, or 0 */
    int code;              /* EXITED: its exit code */
    uint32_t state;        /* EXITED: enum ft_rank_state of its block */
    int job_code;          /* EXITED with FT_RANK_ENDED: exit code it wants for the job */
    uint64_t progress;     /* EXITED, HUNG: furthest unit it ever reached */
    bool oom;              /* EXITED: the kernel killed it for want of memory (RULE 13: a death of its own) */
    bool by_itself;        /* EXITED: it sent itself the signal that it died of (likewise) */
    bool astray;           /* EXITED: it did not follow its snapshot, and ended itself for that: no death, but one way back less */
    bool check;            /* EXITED: ftrun has killed it itself (--check-replay): no death either */
    enum ft_begun from;    /* EXITED */
    bool quick;            /* EXITED: within a second of its start */
    bool rabit_used;       /* EXITED */
    bool lost;             /* EXITED: how, or what it printed last, went with a launcher process: it is started again, whatever the
                              limits say, and makes both again */
};

enum ft_effect_kind {
    FT_DO_RESTART,         /* rank; number: how manieth restart of this rank. Once its process tree is dead */
    FT_DO_FORSAKE,         /* rank; number 1: its newest snapshot is not woken again, if zero can be; 2: nor is any */
    FT_DO_RETIRE,          /* rank: it will not be started again */
    FT_DO_END,             /* code, reason, rank, number: the job ends; pending restarts are off */
    FT_DO_SIGNAL,          /* number: to every rank that runs; unless it is SIGKILL, EV_GRACE is wanted later */
    FT_DO_FINISH,          /* code: no rank is left */
    FT_DO_KILL,            /* rank, with its process group; its death will be an FT_EV_EXITED like any other */
    FT_DO_TELL_ALL,        /* rank: because of it all start again from the beginning */
    FT_DO_STAY,            /* all ranks here have left with 0; FT_EV_ALL_DONE is wanted */
    FT_DO_GATHER           /* every rank that runs is killed; one that has left becomes one to be restarted. FT_EV_RENEWED is wanted,
                              and no rank started before */
};

/* Why the job ends. number is: */
enum ft_reason {
    FT_END_VERDICT,        /* -; rank left with an exit code that is the program's own */
    FT_END_DEATH,          /* -; rank died, and restarts are off or --restart-on leaves this death out */
    FT_END_LAST_WORDS,     /* -; rank has said why itself */
    FT_END_NO_FINALIZE,    /* -; rank */
    FT_END_NO_INIT,        /* -; rank */
    FT_END_GIVEN_UP,       /* deaths of its own; rank */
    FT_END_KILLED_EARLY,   /* kills; rank */
    FT_END_MAX_RESTARTS,   /* restarts so far; rank */
    FT_END_SIGNALLED,      /* signal that ftrun was sent */
    FT_END_NO_RABIT,       /* - */
    FT_END_SAID,           /* the agent has told the user */
    FT_END_HUNG,           /* times in a row at the same furthest unit; rank */
    FT_END_ELSEWHERE,      /* -; it has been told there */
    FT_END_FENCED,         /* - */
    FT_END_STRANDED        /* -; rank cannot go on with the log of this node, which wants to be replaced */
};

struct ft_effect {
    enum ft_effect_kind kind;
    uint32_t rank;
    int code;
    uint64_t number;
    enum ft_reason reason;
};

enum { FT_EFFECTS_MAX = 4 };

struct ft_effects {
    int n;
    struct ft_effect e[FT_EFFECTS_MAX];
};

struct ft_policy;

/* All ranks are waiting for FT_EV_STARTED. memory: ft_policy_bytes of zeros, the caller's, who frees it; NULL: so is what is returned. */
size_t ft_policy_bytes(uint32_t nranks);
struct ft_policy *ft_policy_new(void *memory, const struct ft_policy_config *config);

/* One step, and not before the last one is settled. Events about ranks that are down are ignored,
   as is everything after FT_DO_FINISH. */
void ft_policy_step(struct ft_policy *p, const struct ft_event *event, struct ft_effects *out);

/* The effects of the last step are deeds. */
void ft_policy_settle(struct ft_policy *p);

/* In the process that goes on after another one was killed (the memory is shared): does a step that was not settled once
   more; else says again what the job's end is waiting for. Doing an effect twice must do no harm. */
void ft_policy_recover(struct ft_policy *p, struct ft_effects *out);

/* Before that: what rank printed last is lost; if its death is the step that is not settled, it counts as lost. */
void ft_policy_lose(struct ft_policy *p, uint32_t rank);

/* True if an incarnation of rank is to be started. */
bool ft_policy_wants(const struct ft_policy *p, uint32_t rank);

/* All ranks are to start together: FT_EV_RENEWED is wanted. */
bool ft_policy_gathers(const struct ft_policy *p);

/* FT_DO_STAY was the last word. */
bool ft_policy_stays(const struct ft_policy *p);

/* The job ends; its code. */
bool ft_policy_ends(const struct ft_policy *p, int *code);

/* So often all ranks had to start together; the signal that the job ends by, 0: by something else, or it does not. */
uint64_t ft_policy_gatherings(const struct ft_policy *p);
int ft_policy_signal(const struct ft_policy *p);

uint64_t ft_policy_restarts(const struct ft_policy *p);  /* of the whole job; those with all others are not counted */
uint64_t ft_policy_restarts_of(const struct ft_policy *p, uint32_t rank);  /* all */

#endif
