/* SPDX-License-Identifier: BSD-3-Clause */
/* The crash-point explorer's parts: sched.c runs the ranks and the keeper of one job as coroutines (coroutine.h) and kills
   them at crash points, program.c is what ranks run and how results are checked, second.c on another stream than the world's, versions.c their checkpoints,
   once.c their operations of the bootstrap cache, letters.c and letters_program.c their messages, carried.c those that checkpoints carry, agent.c memory and its keeper; explore.c is what is searched (search.h). */
#ifndef FT_TEST_EXPLORE_H
#define FT_TEST_EXPLORE_H

#include <stdbool.h>
#include <stdint.h>

#include "ft/core/op.h"
#include "ft/handle.h"
#include "ft/message.h"
#include "ft/shm/keeper.h"
#include "ft/shm/region.h"
#include "ft/shm/streams.h"
#include "ft/test/search.h"

enum { MAX_RANKS = 4, MAX_CALLS = 8, MORE_CALLS = 16, MAX_BYTES = 20480 };

/* PLACES: an operation of the bootstrap cache and a step of the program have these in common. */
enum { ONCE_COUNT = 3, ONCE_PLACE = 21 };

/* Log memory: enough; little, so that the keeper must spill while ranks work and replay, or forget; little that is used again behind checkpoints;
   what all have left is released, since nobody goes back (--max-restarts 0): no rank is killed. */
enum room { ROOMY, SPILLS, FORGETS, RELEASES, LEFT };

/* CHECKPOINTED: mixed, and ranks load and make checkpoints (ft/test/versions.c). DENSE: a checkpoint after every call, which is a bcast from
   rank 0: it waits for nobody else. LAZY: dense and mixed, and not every version is kept. KEYS, PLACES: operations of the bootstrap cache besides,
   with keys or known by their places (ft/test/once.c). RING and what follows: messages (ft/test/letters.c); LETTERS: of all kinds, and mixed; CARRIED: checkpoints,
   and messages that are under way at these (ft/test/carried.c); PASSES: mixed, on a communicator that has no stream, so that they are messages. */
enum what { BARRIER, BCAST, REDUCE, ALLREDUCE, ALLGATHER, ALLGATHERV, MIXED, CHECKPOINTED, DENSE, LAZY, KEYS, PLACES,
            RING, OPEN, ASKS, PROBES, SYNCHRONOUS, CANCELS, BURST, LETTERS, CARRIED, PASSES, NWHAT };

/* What may happen in a run besides results, so that a search can say that it did. */
enum seen {
    RELEASED,   /* extents of the log, */
    AROUND,     /* ... assigned in an entry of the table that was used before, */
    SPILLED, FORGOTTEN,
    RESETS,     /* all ranks began again */
    WOKEN,      /* snapshots */
    USELESS,    /* ... that the log did not reach any more */
    USES,       /* of the second stream after the first */
    WORN,       /* ... given up for a newer checkpoint */
    LOADS,      /* of versions */
    LACKING,    /* checkpoints that there was no memory for */
    UNKEPT,     /* lazy ones that were not kept */
    ANSWERED,   /* calls, out of the bootstrap cache, */
    AHEAD,      /* ... before the stream came there */
    REPEATED,   /* done once more, since all ranks were in doubt */
    NOES,       /* answers to questions for messages that have not come */
    CANCELLED,  /* receives for which there was a message */
    NSEEN
};

struct scenario {
    enum what what;
    uint32_t ranks;
    uint32_t count;      /* int32 elements per rank */
    uint32_t calls;
    bool in_place;
    enum room room;
    bool snapshots;      /* ranks take snapshots and are woken from them; the log is released and its memory used again */
    bool lies;           /* the successor of a killed rank contributes other data: --check-replay must find it */
    bool redundant;      /* all allreduces of two ranks are, not only middling ones */
    bool varies;         /* the successor of a killed rank contributes other data, and nobody checks: still all receive the same (RULE 29) */
    bool gaps;           /* all buffers have a layout: bytes lie where they would without, but are copied element by element */
    bool two;            /* some calls are made on a second stream, by ranks that come into it for a time */
    bool disputed;       /* the last rank takes itself for the root of a bcast: nobody may get bytes of both, all must hear of it */
};

enum state { READY, BLOCKED, ASLEEP /* on its doorbell: until it is rung */, DEAD, OVER };

/* Operations of the bootstrap cache in a life of a rank. */
struct life {
    uint32_t had;                  /* a bit for each that it has had */
    uint32_t from;                 /* the call that it began with, or loaded a version for */
    bool turned;                   /* it makes them in another order than before, */
    uint32_t ahead;                /* ... these as soon as it has loaded */
};

/* A stream of its own that some ranks have, as a rank knows it. */
struct second {
    struct ft_use use;             /* the last one there was; .use 0: there was none */
    bool on;                       /* it goes on: calls are made on it */
    bool in;                       /* this rank is in it, or has not left it yet */
    uint32_t n, local[MAX_RANKS];  /* who is in it, ... */
    struct ft_stream stream;       /* ... as this rank perhaps is */
    struct ft_stream left[MAX_RANKS + 1];    /* those that it has left, by their numbers */
};

/* A rank's messages that are under way in a call. */
enum { MOST_LETTERS = 16, MOST_LETTER_BYTES = 20480, MOST_TOLD = 1024 };
struct letters {
    struct ft_comm comm;
    struct ft_comm passing;        /* of a job that passes messages: all ranks, without a stream */
    struct ft_request *request[MOST_LETTERS];
    struct asked {
        bool receives, synchronous;
        int source, tag;           /* or where it is sent */
        uint64_t room;
    } asked[MOST_LETTERS];
    uint32_t told;                 /* so many times it was told something that nothing else decides; ... */
    uint64_t history;              /* ... a hash of all that */
    unsigned char bytes[MOST_LETTERS][MOST_LETTER_BYTES + 8];
};

/* What the first incarnation to be told it was told. */
struct told {
    uint32_t n;
    uint64_t word[MOST_TOLD], history[MOST_TOLD + 1];
    uint32_t receives;             /* it has posted the receives of this call, less one: synchronous sends to it may be over */
};

/* A rank, or the keeper: the last one. */
struct actor {
    struct coroutine at;
    enum state state;
    uint32_t index, incarnation;

    bool waits;                    /* it has only looked since it stood at a wait, ... */
    uint64_t moves;                /* ... when so many steps had been made that are more than a look */

    struct ft ft;                  /* of a rank, as what follows: what its process has of the job */
    uint32_t call;
    struct second second;
    struct life life;
    struct letters letters;
    struct {
        bool alive;                /* and registered */
        struct ft_stream stream;
        struct second second;
        struct ft_checkpoints checkpoints;
        struct ft_cache cache;     /* its tables are its own */
        struct life life;
        uint32_t call;
    } snapshot;
    bool woken;                    /* this incarnation goes on from it */
    bool decided;                  /* it is dead, and the agent knows that its successor can be started */
    int32_t send[MAX_BYTES / 4], recv[MAX_BYTES / 4 * MAX_RANKS];
};

/* The job that is explored. */
struct job {
    struct scenario sc;
    struct ft_region region;
    struct ft_keeper *keeper;      /* the private memory of all its incarnations: what a killed one left is the next one's */
    bool sleeps;                   /* in this run ranks that wait sleep, and nothing but a ring ends that */
    uint32_t naps;                 /* sleeps that ended by themselves since anybody has done anything */
    struct actor actor[MAX_RANKS + 1];
    int models;                    /* memory for them */
    enum { UNKNOWN, MADE, FAILED } outcome[MORE_CALLS];  /* of the checkpoint after each call, in this life of all ranks */
    uint32_t begins[MORE_CALLS + 1]; /* by version: the call after it */
    bool may_fail;                 /* memory for a model may be lacking */
    uint32_t cached;               /* a bit for each operation that rank 0 has put into the bootstrap cache */
    uint32_t deaths;               /* of ranks, since all began */
    struct actor *registrar;       /* it moves a rank's cut, as the agent does, which decides of no way back meanwhile; NULL: nobody does */
    struct actor *hurries;         /* it was killed, and comes back as far as its load before anybody else goes on; NULL: nobody; */
    struct actor *tarries;         /* it does not look at what it needs as long as anybody else can go on; NULL: nobody */
    uint64_t clock_ns;             /* what lazy checkpoints go by */
    uint32_t seed;
    uint32_t liar;                 /* with sc.lies: the rank that was killed; MAX_RANKS: none yet */
    bool known[MORE_CALLS];        /* with sc.varies: somebody has received what ... */
    int32_t common[MORE_CALLS][MAX_BYTES / 4 * MAX_RANKS];  /* ... all are to receive in this call */
    struct told told[MAX_RANKS];   /* of messages */
    uint32_t come[MAX_RANKS];      /* they have made, or begun, so many calls */
    bool due;                      /* ... and that had said what it contributes, so that its lie must come out */
    uint64_t moves;                /* points passed in this run that were more than a look */
};

extern struct job job;

static inline struct actor *keeper_actor(void) { return &job.actor[job.sc.ranks]; }

/* sched.c */
void stop_here(struct actor *a, int kind);   /* of the actor that runs: lets others run */
void end_here(struct actor *a) __attribute__((noreturn));
bool run_job(const struct plan *p);          /* one run; false: run.failure says why */
bool replay_all(void);                       /* everybody again, alone and one after the other: all must come out of the log */

static inline uint32_t nlogs(void) { return ft_params_logs(&job.region.header->params); }
static inline bool sends_letters(void) { return job.sc.what >= RING; }
static inline bool makes_versions(void) { return (job.sc.what >= CHECKPOINTED && !sends_letters()) || job.sc.what == CARRIED; }

/* versions.c */
void open_versions(struct actor *r);
void copy_versions(struct actor *r);         /* for its snapshot */
void wake_versions(struct actor *r);         /* it is its snapshot's copy now (without versions: the snapshot, which is used up) */
void resume_versions(struct actor *r);       /* ... and looks at what has become of its words */
void drop_versions(struct actor *r);         /* it is dead */
void drop_snapshot(struct actor *r);         /* that is no more */
void reset_versions(bool all);               /* memory as for the first incarnations; all: all ranks begin again with the base version */
bool load_version(struct actor *r);          /* before the call it stands at, if it is time: which may then be another one. False: failed */
bool awaits_version(const struct actor *r);  /* it has made one, and waits until it is committed */
bool reads_version(const struct actor *r);   /* it has found one, and is about to read it */
bool make_version(struct actor *r);          /* after it, if it is time. False: failed */

/* second.c */
void meet(struct actor *r, struct ft_error *e);      /* before the call it stands at, if it is time: the second stream begins */
void part(struct actor *r);                          /* ... or ends */
bool is_out(const struct actor *r);                  /* that call is on the second stream, without this rank */
bool is_both(const struct actor *r);                 /* it is one call on each stream */
int make_both(struct actor *r, struct ft_error *e);
struct ft_stream *stream_of(struct actor *r);        /* of that call */
uint32_t crew_of(const struct actor *r, uint32_t ranks[MAX_RANKS], uint32_t *me);  /* who makes it: so many; r is number *me */
void second_position(const struct actor *r, struct ft_positions *p);
void second_resume(struct actor *r);
bool second_replays(const struct actor *r);

/* once.c */
bool make_once(struct actor *r, uint32_t step);  /* step 2 * call: before that call; 2 * call + 1: after it. False: failed */
void begin_life(struct actor *r);            /* from the call it stands at */

/* letters.c, letters_program.c */
void open_letters(struct actor *r);
bool make_passing(struct actor *r);          /* of all ranks, before their first call. False: failed */
bool begin_letters(struct actor *r);         /* those of the call it stands at. False: failed */
bool end_letters(struct actor *r);           /* ... after the collective operation */
void drop_letters(struct actor *r);          /* it is dead, or over */

/* carried.c */
bool begin_carried(struct actor *r);         /* as begin_letters, ... */
bool end_carried(struct actor *r);           /* ... and end_letters */

/* program.c */
extern const char *const what_text[NWHAT];
const struct ft_layout *layout_of_all(void); /* with job.sc.gaps, else NULL */
int32_t truth(uint32_t call, uint32_t rank, uint32_t i);
int32_t contribution(const struct actor *r, uint32_t call, uint32_t i);
void expect_bcast(struct actor *r, uint32_t call, uint32_t root, uint32_t count);
void expect_reduced(struct actor *r, uint32_t call, uint32_t count);
void rank_main(struct actor *a);

/* agent.c */
void reset_region(void);                     /* memory as the agent leaves it for the first incarnations */
void keeper_main(struct actor *a);
bool is_quiet(const struct actor *a);        /* what it sleeps for may have been published without a ring */
void note_seen(void);                        /* in the end, what of the log's life there was: run.seen */
void note_killed(const struct actor *a);
void judge_dispute(void);                    /* in the end, with sc.disputed, likewise */
void judge_lie(void);                        /* in the end, with job.due: a failure if it did not come out, and none if it did */
bool keeper_has_work(void);                  /* ranks want more than there is, or need less */
bool keeper_releases_first(void);            /* ... and would be the first to release anything */
bool keeper_forgets(void);                   /* ... or is about to forget, or not */
void check_log(void);           /* when all is over */
void check_inspection(const struct actor *a, bool again);  /* what `ftrun status` would say; it waited at its last point too */
void check_tables(void);                     /* no memory is given away twice */

#endif
