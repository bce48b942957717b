/* SPDX-License-Identifier: BSD-3-Clause */
/* The explorer of a job on several nodes: memory, ranks and a keeper for each node, all of them
   coroutines in one process (coroutine.h), killed at crash points as in explore.h. apart_sched.c
   runs and kills them, apart_wire.c is the connections between representatives and the agents
   that make them, apart_program.c what ranks run and how results are checked; apart.c is
   what is searched (search.h). */
#ifndef FT_TEST_APART_H
#define FT_TEST_APART_H

#include "ft/core/nodes.h"
#include "ft/shm/keeper.h"
#include "ft/shm/region.h"
#include "ft/test/search.h"

enum { MAX_NODES = 3, MAX_LOCAL = 2, MAX_WORLD = 4, MAX_ACTORS = MAX_WORLD + MAX_NODES, MAX_COUNT = 5000, STREAMS = 2 };

/* COMPOSED: allreduces by a user's function that does not commute. MIXED: all of these in turn. */
enum what { BARRIER, BCAST, REDUCE, ALLREDUCE, ALLGATHER, ALLGATHERV, COMPOSED, MIXED, NWHAT };

/* Log memory: enough; little, so that the keepers spill; little that is used again behind what
   all have left, since nobody goes back (--max-restarts 0): no rank is killed, connections are. */
enum room { ROOMY, SPILLS, LEFT, NROOMS };

struct scenario {
    enum what what;
    uint32_t layout;     /* ranks of each node, a digit each: 21 is two nodes, with two ranks and with one */
    uint32_t count;      /* int32 elements per rank */
    uint32_t calls;      /* and MPI_Finalize */
    enum room room;
    bool in_place;
    bool crooked;        /* ranks are not in the order of their places */
    bool wide;           /* units large enough to go past the cache */
    bool loses;          /* whole nodes are lost, and begin again with nothing (--survive host) */
    bool snapshots;      /* ranks are woken from them; the log is released behind these and what peers have acknowledged */
    bool two;            /* a second stream between the nodes, too: by turns with the first one, and both at the same time */
};

/* What may happen in a run besides results, so that a search can say that it did. */
enum seen {
    ADOPTED,    /* connections, */
    TORN,       /* ... that ended within a frame, */
    OLD,        /* results given out of the log */
    SPILLED, RELEASED,
    LOST,       /* nodes */
    WOKEN,      /* snapshots */
    USES,       /* of the second stream, but for the first one */
    LINGERED,   /* time passed, since somebody waited for a peer that may come back */
    NSEEN
};

enum state { READY, BLOCKED, ASLEEP /* on its doorbell: until it is rung */, DEAD, OVER };

/* A connection as the representative at one end of it has it. */
struct apart_link {
    int at;                        /* of the pool; -1: none */
    uint64_t generation;
    bool sending;                  /* half of a frame is out ... */
    const char *payload;           /* ... of which this is the whole */
    bool taking;                   /* a frame is being read: to here, and so much of it has been */
    char *sink;
    uint64_t taken;
};

struct apart_wire {
    struct actor *owner;
    uint32_t turns;
    struct apart_link link[STREAMS][MAX_NODES];
};

/* A rank, or a node's keeper: the last one of it. */
struct actor {
    struct coroutine at;
    enum state state;
    uint32_t index, incarnation;
    struct node *node;
    uint32_t local, rank;
    bool waits;                    /* it stands at a wait, or has only looked since it stood at one, ... */
    uint64_t since;                /* ... and went on from that when so much had changed */

    struct ft_patience patience;   /* ranks */
    struct ft_stream stream[STREAMS];
    struct ft_nodes nodes[STREAMS];
    struct apart_wire wire;
    uint32_t call;
    bool in;                       /* ... the second stream's use */
    bool registers;                /* it has made a snapshot of itself, and the agent is to know */
    struct {                       /* one that the agent knows is never lost here, and can be woken again */
        bool alive;
        struct ft_stream stream[STREAMS];
        struct ft_nodes nodes[STREAMS];
        struct ft_peer peer[STREAMS][MAX_NODES];
        struct ft_nodes_inbox inbox[STREAMS][MAX_NODES];
        struct ft_nodes_reader reader[STREAMS][MAX_NODES];
        uint32_t call;
        bool in;
    } snapshot;
    int32_t send[MAX_COUNT], recv[(MAX_COUNT + 1) * MAX_WORLD];
};

struct node {
    uint32_t number, n;            /* ranks */
    struct actor *actor;           /* [n + 1] */
    struct ft_region region;
    struct ft_keeper *keeper;
    struct { int at; uint64_t generation; } posted[STREAMS][MAX_NODES];  /* what waits for the representative, by stream and peer; at -1: nothing */
    bool leaving;                  /* one of its ranks has come to MPI_Finalize */
    bool gone;                     /* its representative has left, and the other agents know */
};

struct job {
    struct scenario sc;
    uint32_t nnodes, world, nactors;
    uint32_t first[MAX_NODES + 1], rank_at[MAX_WORLD];
    struct node node[MAX_NODES];
    struct actor actor[MAX_ACTORS];
    uint32_t entered[MAX_WORLD];   /* calls that each rank has come to, in any incarnation */
    bool sleeps;                   /* in this run ranks that wait for others of their node sleep, and nothing but a ring ends that */
    bool all_sleep;                /* ... representatives, too, for a short time */
    bool loses_frames;             /* what a dead representative has sent does not arrive any more */
    uint32_t naps;                 /* times that passed since anybody has done anything */
    uint64_t clock_ns;
    uint64_t changes;              /* so often has somebody done what others may see */
};

extern struct job job;

static inline bool is_keeper(const struct actor *a) { return a->local == a->node->n; }
static inline bool represents(const struct actor *a) { return a->local == 0; }
static inline uint32_t nstreams(void) { return job.sc.two ? 2 : 1; }

/* apart_sched.c */
void stop_between_calls(struct actor *a);
bool run_job(const struct plan *p);  /* one run; false: run.failure says why */
bool replay_all(void);               /* everybody again, alone and one after the other: all must come out of the log */

/* apart_wire.c */
void open_wire(struct actor *a, struct ft_wire *wire);
void reset_wires(void);                  /* there is no connection */
void cut_wires(struct node *k, bool all);  /* its representative is dead, and its connections end; all: those, too, that
                                              wait for its successor */
bool break_wire(struct node *k);         /* one of its connections, in both directions, with all that is under way. False: it has none */
uint32_t agent_can(void);                /* so many things can be done by agents now: */
void agent_does(uint32_t i);

/* apart_program.c */
extern const char *const what_text[NWHAT];
void rank_main(struct actor *a);
void expect(const struct actor *a, uint32_t i, int32_t want);
int32_t contribution(uint32_t call, uint32_t rank, uint32_t i);

/* apart_second.c */
void meet(struct actor *a, struct ft_error *e);  /* before a call: comes into the second stream, or leaves it */
bool is_second(const struct actor *a);           /* this call is on that, ... */
bool is_both(const struct actor *a);             /* ... or on both streams */
int make_both(struct actor *a, struct ft_error *e);
void register_snapshot(struct actor *a);
void drop_snapshot(struct actor *a);
void close_nodes(struct actor *a);

#endif
