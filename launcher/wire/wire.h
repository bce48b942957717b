/* SPDX-License-Identifier: BSD-3-Clause */
/* What a node's agent and the controller say to each other, once both have proved themselves (auth.h). Pure: bytes in, structs out,
   and back; nothing is believed that is not checked. Numbers are little endian.

   A frame is {u32 length of the payload, u8 type, 3 zero bytes} and the payload. What is said is state, not events: on every
   connection each side begins with all of it (the node HELLO and STATE, the controller TABLE and JOB), and says it again when it
   changes; a broken connection loses nothing.

     node -> controller   HELLO    who it is, and where its links come to
                          STATE    what has become of its ranks; how far it has SIGNAL and INPUT
                          OUT      u64 place in its spool, then whole records: what its ranks print
                          BEAT     nothing: it lives. The controller answers each with one
                          REPORT   what it has to say for --report (wire_report.h)
                          CELLS    if wanted: for --timeline (likewise)
                          CALLS    where its ranks are, when it was asked (wire_calls.h)
                          HELD     which checkpoint it holds, when it was asked to (wire_models.h)
                          STORE_ASK     what a rank asks of the job's store (wire/store.h)
     controller -> node   TABLE    all nodes
                          JOB      what is to become of the job
                          GOT      u64: what the spool holds below this place has been taken over
                          SIGNAL   for the ranks, numbered from 1; those above STATE's number are said again
                          INPUT    u64 place in standard input, u32 1 if it ends with these bytes, then the bytes; from STATE's place on
                          BEAT
                          ASK      nothing: somebody wants to know where ranks are; STATE and CALLS follow
                          HOLD     with --ckpt-dir: which checkpoint is to be held (wire_models.h)
                          HELD     with --resume: what it was resumed from
                          STORE_ANSWER  what a rank is answered (wire/store.h)
     both, where hosts    WORD     a word of shares.h, as text
     come (--rdzv)        TEXT     a piece of what the next WORD is about; BEAT, answered with one
     both                 GIVE     a piece of a model is wanted; MODEL: here it is

   Leases: the answer to a BEAT says that the controller has heard of this node since that was sent, and nothing else does: so who counts
   from there counts from earlier than the controller does.

   A record is {u32 rank in the job, u16 stream, u16 flags, u64 position, u32 length, u32 zero} and the bytes. position counts what
   the rank has printed there over all its lives, so whatever lies below what is had already is dropped (a node that replaces a lost one
   prints all again). Lines of the agent itself have a stream of their own; they are not counted, and never said twice. */
#ifndef LAUNCHER_WIRE_WIRE_H
#define LAUNCHER_WIRE_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ft/base/err.h"
#include "launcher/policy/phases.h"

enum {
    FT_WIRE_HEAD = 8,
    FT_WIRE_MOST = 2 << 20,      /* of a payload */
    FT_WIRE_PLACE = 8,           /* before the records of OUT; GOT */
    FT_WIRE_INPUT = 12,          /* before the bytes of INPUT */
    FT_WIRE_RECORD = 24,         /* before the bytes of a record */
    FT_WIRE_PIECE = 64 << 10,    /* of a record's bytes */
    FT_WIRE_ADDRESSES = 8,       /* of a node */
    FT_WIRE_NAME = 256
};

enum ft_wire_type {
    FT_WIRE_HELLO = 1, FT_WIRE_STATE, FT_WIRE_OUT, FT_WIRE_BEAT,
    FT_WIRE_TABLE, FT_WIRE_JOB, FT_WIRE_GOT, FT_WIRE_SIGNAL, FT_WIRE_INPUT_BYTES,
    FT_WIRE_REPORT, FT_WIRE_CELLS, FT_WIRE_CALLS, FT_WIRE_ASK,
    FT_WIRE_HOLD, FT_WIRE_HELD, FT_WIRE_GIVE, FT_WIRE_MODEL,
    FT_WIRE_STORE_ASK, FT_WIRE_STORE_ANSWER,
    FT_WIRE_WORD, FT_WIRE_TEXT,
    FT_WIRE_TYPES
};

struct ft_wire_frame {
    enum ft_wire_type type;
    uint32_t length;
    const uint8_t *payload;      /* where it was received */
};

/* The frame that data begins with. The bytes it takes; 0: it is not all there; FT_EDAMAGED: it is none. */
int ft_wire_next(const void *data, size_t len, struct ft_wire_frame *f, struct ft_error *e);

/* Head of a frame whose payload follows. */
void ft_wire_head(uint8_t head[FT_WIRE_HEAD], enum ft_wire_type type, uint32_t length);

/* A whole frame, the caller's to free. data NULL: no memory. */
struct ft_wire_bytes {
    uint8_t *data;
    size_t len;
};

/* A frame whose payload is to be written behind its head. */
struct ft_wire_bytes ft_wire_new(enum ft_wire_type type, size_t length);

struct ft_wire_address {
    char text[64];               /* numeric */
};

struct ft_wire_hello {
    uint32_t node, incarnation;
    char version[32];            /* of ftmpi */
    char host[FT_WIRE_NAME];
    uint32_t pid;
    uint32_t naddresses;         /* where other nodes reach it */
    struct ft_wire_address addresses[FT_WIRE_ADDRESSES];
    uint32_t port;
};

struct ft_wire_rank {
    enum ft_node_rank state;
    uint32_t incarnation, restarts, pid;
};

struct ft_wire_state {
    enum ft_node_phase phase;
    int code;                    /* of the job; 0..255 */
    uint64_t committed;          /* units */
    bool whole;                  /* its log begins at the start: a replacement can have it */
    uint64_t signals, input;     /* last number, bytes it has */
    uint64_t version;            /* of the newest checkpoint that it has committed; 0: none */
    bool connected;              /* ranks of it have had connections of their own, and cannot start from their beginning without telling others again */
    bool loaded;                 /* its program has loaded what it begins with. (False, too, if it did in the log that this node has fetched) */
    bool through;                /* its representative (local rank 0) has left with 0 after MPI_Finalize: it lacks nothing any more */
    bool called;                 /* a rank of it has called MPI_Init, ... */
    uint32_t absent;             /* ... and this one (local index) has left with 0 and never did; nranks: none */
    uint32_t nranks;
    struct ft_wire_rank *ranks;  /* by local index; the receiver's to free: ft_wire_state_free */
};

struct ft_wire_node {
    bool up;
    bool done;                   /* STATE's `through` */
    uint32_t incarnation;
    char host[FT_WIRE_NAME];
    uint32_t naddresses;
    struct ft_wire_address addresses[FT_WIRE_ADDRESSES];
    uint32_t port;
};

struct ft_wire_table {
    uint32_t nnodes;
    struct ft_wire_node *nodes;  /* the receiver's to free: ft_wire_table_free */
};

struct ft_wire_job {
    enum ft_job_phase phase;
    int code;
    bool stay;                   /* END, FINISH: do all that, but leave only when this is said without: its checkpoint is wanted (--ckpt-dir) */
};

struct ft_wire_bytes ft_wire_put_hello(const struct ft_wire_hello *m);
struct ft_wire_bytes ft_wire_put_state(const struct ft_wire_state *m);
struct ft_wire_bytes ft_wire_put_table(const struct ft_wire_table *m);
struct ft_wire_bytes ft_wire_put_job(const struct ft_wire_job *m);
struct ft_wire_bytes ft_wire_put_beat(void);
struct ft_wire_bytes ft_wire_put_got(uint64_t place);
struct ft_wire_bytes ft_wire_put_signal(uint64_t number, int signal);
struct ft_wire_bytes ft_wire_put_input(uint64_t place, bool last, const void *data, uint32_t len);  /* len at most FT_WIRE_PIECE */

/* 0; FT_EDAMAGED: the payload is not what its type says; FT_ENOMEM. */
int ft_wire_get_hello(const struct ft_wire_frame *f, struct ft_wire_hello *m, struct ft_error *e);
int ft_wire_get_state(const struct ft_wire_frame *f, struct ft_wire_state *m, struct ft_error *e);
int ft_wire_get_table(const struct ft_wire_frame *f, struct ft_wire_table *m, struct ft_error *e);
int ft_wire_get_job(const struct ft_wire_frame *f, struct ft_wire_job *m, struct ft_error *e);
int ft_wire_get_got(const struct ft_wire_frame *f, uint64_t *place, struct ft_error *e);
int ft_wire_get_signal(const struct ft_wire_frame *f, uint64_t *number, int *signal, struct ft_error *e);
int ft_wire_get_input(const struct ft_wire_frame *f, uint64_t *place, bool *last, const uint8_t **data, uint32_t *len, struct ft_error *e);

void ft_wire_state_free(struct ft_wire_state *m);
void ft_wire_table_free(struct ft_wire_table *m);

enum { FT_RECORD_STDOUT, FT_RECORD_STDERR, FT_RECORD_AGENT, FT_RECORD_STREAMS };
enum {
    FT_RECORD_BEGINS = 1,        /* the bytes begin a line; else they go on with one */
    FT_RECORD_MORE = 2,          /* the line goes on in the next record, which follows at once: it is one line */
    FT_RECORD_LAST = 4,          /* nothing follows in this stream, though the line may be unfinished. AGENT: it is why the job ends */
    FT_RECORD_LEFT_OUT = 8,      /* for the rank's own file only (same.h) */
    FT_RECORD_FLAGS = 15
};

/* Where in a rank's stream the bytes begin: in this line, from 0, after so many of its bytes. Lines are counted, not bytes: a replay may print others. */
enum { FT_WIRE_OFFSET_BITS = 24 };
static inline uint64_t ft_wire_position(uint64_t line, uint32_t offset) { return line << FT_WIRE_OFFSET_BITS | offset; }

struct ft_wire_record {
    uint32_t rank;               /* AGENT: 0 */
    uint16_t stream, flags;
    uint64_t position;           /* ft_wire_position. AGENT: 0 */
    uint32_t length;
    const uint8_t *data;
};

void ft_wire_record_head(uint8_t head[FT_WIRE_RECORD], const struct ft_wire_record *r);

/* The record that data begins with. The bytes it takes; 0: it is not all there; FT_EDAMAGED. */
int ft_wire_record(const void *data, size_t len, struct ft_wire_record *r, struct ft_error *e);

/* Head of an OUT frame with `length` bytes of records. */
enum { FT_WIRE_OUT_HEAD = FT_WIRE_HEAD + FT_WIRE_PLACE };
void ft_wire_out_head(uint8_t head[FT_WIRE_OUT_HEAD], uint64_t place, uint32_t length);

/* The records of one are *data, *len: for ft_wire_record, to the end. Checked: whole ones. */
int ft_wire_get_out(const struct ft_wire_frame *f, uint64_t *place, const uint8_t **data, uint32_t *len, struct ft_error *e);

#endif
