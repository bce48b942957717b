/* SPDX-License-Identifier: BSD-3-Clause */
/* The simulator of many nodes (DESIGN section 9.2): the exchange between nodes as it ships (ft/core/exchange.c, tree.c), over a simulated
   network, with everything that can fail failing by seed. One thread, one heap of events, simulated time.

   A node here is what the engine makes of it: memory that outlives its representative (`mine`, `own`, the log), a representative that is
   in a call or computes, and connections its agent gives it. Payloads are values that know which nodes and which unit they are made
   of, so that an operand out of place, of another unit, or twice is seen where it happens. */
#ifndef FT_TEST_SIM_H
#define FT_TEST_SIM_H

#include "ft/core/exchange.h"

enum { MOST_OPS = 64, MOST_UNITS = 512, MOST_DEPTH = 8, FRAME_END = FT_FRAME_BYE + 1, FRAMES };

/* The contributions of nodes [from, to) to a unit. */
struct value {
    uint64_t unit, hash;
    uint32_t from, to;
};

struct frame {
    uint8_t what;  /* enum ft_frame, or FRAME_END: the other end has closed */
    uint64_t unit, count, at;
    struct value value;
};

/* A connection; [1] of each pair is the end of the node with the higher number. Frames to an end, in order. */
struct conn {
    struct conn *next;
    uint32_t node[2];
    uint64_t number;
    bool closed[2];
    struct queue {
        struct frame *frames;
        uint32_t first, n, room;
        uint64_t last;
    } to[2];
};

/* What a node has of each of its peers. */
struct side {
    struct value inbox[MOST_DEPTH], sending;
    struct conn *conn, *given;
    uint32_t known;           /* the life of it at its last HELLO */
};

struct node {
    /* what outlives a representative */
    uint64_t mine, own, base, log[MOST_UNITS];
    uint32_t life;            /* of the node */
    bool contributing;        /* an event is on its way */
    bool solo;                /* one rank: what it has contributed dies with it */
    bool left;                /* finalize is over */

    bool alive, in_call;
    uint32_t incarnation;     /* of the representative */
    uint32_t op;
    struct ft_exchange x;
    struct ft_peer *peer;
    struct side *side;        /* [x.n] */
    struct value partial[MOST_DEPTH], made[MOST_DEPTH];
    uint64_t sent;
};

struct op {
    enum ft_tree tree;
    enum ft_unit_kind kind;
    uint32_t root;
    uint64_t first, end;
};

enum event_what {
    CALLS, CONTRIBUTES, SENT, ARRIVES, TAKEN, DIALS, GIVEN, RESET, HEARS_GONE, STARTS, REPLACED, FAILS
};

struct event {
    uint64_t at, order;
    enum event_what what;
    uint32_t node, peer, life, incarnation;
    struct conn *conn;
};

enum fate { REPRESENTATIVE_DIES, NODE_DIES, LINK_BREAKS, RANK_DIES, HALF_DIES, FATES };

struct config {
    uint64_t seed;
    uint32_t nodes, depth, nops, failures;
    bool releases;    /* --survive rank: logs are released behind acknowledgements */
    bool steady;      /* every delay is one step: for the table */
    uint32_t hosts;   /* of 100 failures, those of whole nodes */
    /* the table: one failure, at this unit of this node */
    bool planned;
    enum fate fate;
    uint32_t victim;
    uint64_t at_unit;
};

struct job {
    struct config c;
    struct node *node;
    struct op op[MOST_OPS];
    uint64_t units, expected[MOST_UNITS];
    uint64_t random, now, order;
    struct event *heap;
    uint32_t nheap, room;
    struct conn *conns;
    uint64_t nconns;
    uint32_t left, restarts;   /* nodes that have left; times all began again, ... */
    uint32_t refetched;        /* ... and one, since it was short of what others had left with */
    uint64_t failures;         /* of the table's kind, so far */
    uint64_t frames[FRAMES], last, events;  /* last: PART and RES of finalize's unit */
    char failure[256];
};

extern struct job job;

static inline const struct op *op_of(const struct node *n) { return &job.op[n->op]; }

static inline bool last_op(const struct node *n) { return n->op + 1 == job.c.nops; }

static inline struct event mine_is(uint32_t i, enum event_what what)
{
    return (struct event){ .what = what, .node = i, .life = job.node[i].life, .incarnation = job.node[i].incarnation };
}

/* sim_events.c */
uint64_t roll(uint64_t below);
uint64_t mix(uint64_t a, uint64_t b, uint64_t c);
void schedule(uint64_t after, struct event e);
bool next_event(struct event *e);
void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
static inline bool failed(void) { return job.failure[0] != '\0'; }
static inline uint64_t delay(uint64_t most) { return job.c.steady ? 1 : 1 + roll(most); }

/* sim_net.c */
void dial(uint32_t a, uint32_t p, uint64_t after);
void net_is_there(uint32_t a);  /* all of its connections, and greetings exchanged */
void net_dials(uint32_t a, uint32_t p);
void net_given(const struct event *e);
void net_close(struct conn *c, uint32_t node, bool rudely, uint64_t after);
void net_push(struct conn *c, uint32_t from, struct frame f);
struct frame *net_first(struct conn *c, uint32_t to);
void net_pop(struct conn *c, uint32_t to);
void net_free(void);
static inline int end_of(const struct conn *c, uint32_t node) { return c->node[1] == node; }

/* sim_unit.c: of node i */
void contribute_later(uint32_t i);
void fold(uint32_t i, uint64_t u);
void make(uint32_t i, uint64_t u);
void result(uint32_t i, uint64_t u);
void commit(uint32_t i, uint64_t u, uint64_t hash);
struct value payload(uint32_t i, enum ft_frame what, uint64_t u);
void take_partial(uint32_t i, uint32_t p, const struct frame *f);

/* sim_node.c */
void look(uint32_t i);  /* a representative does whatever it can */
void node_event(const struct event *e);
void node_starts(uint32_t i);
void rank_dies(uint32_t i);  /* not the representative */
void representative_dies(uint32_t i, bool rudely, uint64_t after, uint64_t back);
void node_dies(uint32_t i);
void all_again(void);
void lose(uint32_t i, uint32_t p, bool heard);

#endif
