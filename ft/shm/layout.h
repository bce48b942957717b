/* SPDX-License-Identifier: BSD-3-Clause */
/* What agent-owned memory looks like (DESIGN section 3, RULES 1-14): one memfd per node, created by the
   agent, mapped by every rank. All offsets are from the start of the mapping.

     header | checkpoints | rank blocks | asleep flags | doorbells | which streams are used | stream 0 | stream 1 | ... | channels | extents of the log | outcomes of each rank
       | boxes of the ranks (ft/shm/box.h)

   A job on several nodes has such a memory on each, with one more part after the header: who is where, and the
   links (struct ft_link_words).

   One writer per word, but for the doorbells: the comment of each field says who. Everything that two incarnations must agree
   on (sizes, depths) is in struct ft_params, fixed for the job. */
#ifndef FT_SHM_LAYOUT_H
#define FT_SHM_LAYOUT_H

#include <stdatomic.h>
#include <stdint.h>

#include "ft/base/err.h"
#include "ft/base/position.h"
#include "ft/base/util.h"
#include "ft/base/reduce.h"
#include "ft/base/sig.h"

enum { FT_LAST_WORDS = 448, FT_LAYOUT_VERSION = 42, FT_SHORT_LIMIT = 16384 /* what a rank folds on its stack */ };
#define FT_MAGIC 0x31695f706d74665full

/* Job constants (RULE 8). Bytes unless said otherwise. */
struct ft_params {
    uint32_t nranks;        /* ranks of the job on this node */
    uint32_t nstreams;      /* the first one is of all ranks, others of those that come into them (ft/shm/streams.h) */
    uint32_t nchannels;     /* nranks * nranks, from each rank to each; or 0: no messages (ft/shm/channels.h). Numbered as streams behind these */
    uint32_t cores;         /* processors its ranks may run on, together */
    uint32_t short_max;     /* largest contribution on the short path; ... */
    uint32_t rooted_max;    /* ... of a bcast or a reduce; ... */
    uint32_t gather_max;    /* ... of an allgather, whose contributions can as well be written into the log at once */
    uint32_t redundant_max;    /* an allreduce of two ranks that is not short is redundant below so many bytes; 0: never */
    uint32_t slot_past_min;   /* what one rank writes into a slot for another goes past the cache from so many bytes on; UINT32_MAX: never */
    uint32_t bcast_past_min;  /* ... and a bcast that its root writes into the log for others to read ... */
    uint32_t gather_past_min; /* ... and an allgather's slices there */
    uint32_t short_depth;   /* short slots per rank */
    uint32_t slot_bytes;    /* a segment of the standard path */
    uint32_t gather_bytes;  /* of all ranks together in a unit of a gather, about */
    uint32_t slot_depth;    /* standard slots per rank: segments in flight */
    uint32_t slot_room;     /* of one standard slot: slot_bytes at least. Segments are not always in the same place of it (struct ft_plan) */
    uint32_t trail;         /* published signatures per rank */
    uint64_t past_cache;    /* a result of so many bytes is out of a core's own cache before the program sees the first of it */
    uint64_t extent_bytes;  /* of one piece of log memory */
    uint64_t nextents;      /* pieces of log memory: the log limit */
    uint64_t ntable;        /* pieces a stream's log can have at a time, in memory or spilled; a power of two. A channel's: FT_CHANNEL_TABLE */
    uint64_t bootstrap_cache;  /* --bootstrap-cache: 1 */
    uint64_t outcome_bytes; /* of each rank's log of outcomes (ft/outcome/log.h); 0: it has none */
    uint32_t sockets_untold; /* --sockets=off: calls on sockets of the rank's own are not in it */
    uint32_t one_thread;     /* --snapshot-threads off: no newer snapshot of a rank that has more than one thread */
    uint32_t clocks_untold; /* --replay-time off: what clocks say is not in it */
    uint32_t unfenced;      /* who publishes makes no barrier, who goes to sleep makes all: membarrier(2), which the agent has */
    uint64_t check_units;   /* --check-replay: units whose contributions are compared; 0: off */

    /* the job as a whole; what is not the node's own is the same on every node (ft_params_nodes) */
    uint32_t world;         /* ranks of the job on all nodes */
    uint32_t nnodes, node;  /* there are so many, this is number `node` */
    uint32_t spread;        /* so many streams after the first one are of all ranks of all nodes, too, with links of their own */
    uint32_t segment;       /* between nodes: bytes of a unit's result, at most, but for large reductions: slot_bytes, which is no less */
    uint32_t keeps_log;     /* nothing of the log is released: another node may be replaced (--survive host) */
    uint32_t unkept;        /* no rank is ever started again: of the log is released what all have left behind */
};

/* Between nodes: what this node says of a stream's link to another one. [1 + spread][nnodes] of them; not used for the node itself. A
   socket has a generation, which the agent counts up. */
struct ft_link_words {
    /* the representative (local rank 0) */
    _Alignas(FT_LINE) _Atomic uint64_t wanted;  /* it needs a socket of at least this generation: the agent tries while that is ahead of
                                                   `posted`. 0: no link to this node */
    _Atomic uint64_t acked_at;   /* the log below this position is not needed by it: what is released is below that. Lowered when it has begun
                                    again with less */
    _Atomic uint64_t lacks;      /* 1: the other node has begun again and lacks what is released here (RULE 26), or this one has, and the other
                                    one has left: this node is of no use as it is. The bell rings */

    /* agent */
    _Alignas(FT_LINE) _Atomic uint64_t posted;  /* the generation last handed over; said before it is sent, so that what a representative
                                                   took with it into its grave is not waited for */
    _Atomic uint64_t gone;       /* the other node's representative has left MPI_Finalize and its process is no more: it lacks nothing, of
                                    any stream. Of the first stream's words only */
};

/* With each socket over the socketpair of FTMPI_FDS comes this. */
struct ft_link_post {
    uint32_t stream;
    uint32_t peer;               /* node */
    uint32_t peer_incarnation;   /* of that node */
    uint64_t generation;
};

struct ft_header {
    uint64_t magic;         /* agent, last of all */
    uint64_t size;          /* of the mapping */
    uint64_t version;       /* of this layout */
    uint64_t nonce;         /* no other job's */
    struct ft_params params;
    _Atomic uint64_t resetting;  /* agent: everything is being made new */
    _Atomic uint64_t full;       /* keeper: 1 once the log has reached its limit; agent: 2 when that is told */
    _Atomic uint64_t starved;    /* keeper: 1: when it last looked somebody waited for memory of the log, which has reached its limit, and nothing of
                                    it could be forgotten (--log-full forget); else 0 */
    _Atomic uint64_t prepared;   /* keeper, before any rank is there: so many extents of the world's log are (--log-prepare); 0: the first, as always */
    _Atomic uint64_t boxed;      /* any rank, before it first fills its box (ft/shm/box.h): 1, for good. 0: nobody looks there */
    uint64_t map_at, links_at;   /* nnodes > 1: first[nnodes + 1], rank_at[world], of uint32_t; struct ft_link_words[1 + spread][nnodes]. Else 0 */
    uint64_t checkpoints_at, ranks_at, asleep_at, doorbells_at, used_at /* of streams and channels, bytes: ft_streams_used */, streams_at, stream_bytes, channels_at, channel_bytes, extents_at, outcomes_at, boxes_at;
};

/* A published call: what this rank says unit `unit - 1` is (RULE 9; ft/shm/trail.h). */
struct ft_trail {
    _Alignas(FT_LINE) _Atomic uint64_t unit;   /* first unit of the operation, plus one; written last */
    _Atomic uint64_t sig[4];                   /* struct ft_sig, word by word */
    _Atomic uint64_t site;                     /* where in the program, see ft.h */
};

/* ---- checkpoints: what is said of models, which are in the store (ft/shm/models.h). ft_region_reset makes a new generation of it ---- */

/* One of the two places for a version: of every rank for its own model, of rank 0 for the global one as well. */
struct ft_model_slot {
    _Atomic uint64_t version;   /* 1, 2, ...; 0: none, or it is being written. First and last */
    _Atomic uint64_t unit;      /* of the checkpoint's operation */
    _Atomic uint64_t end;       /* where its record ends in the log */
    _Atomic uint64_t chain;     /* hash of all calls up to it */
    _Atomic uint64_t nglobal, nlocal;
    _Atomic uint64_t global_hash, local_hash;
    _Atomic uint64_t ncarried, carried_hash;  /* what the rank's checkpoint has besides models (ft/carry.h) */
};

enum ft_ask {
    FT_ASK_MARK = 1,   /* note what has been printed, for slot `slot` */
    FT_ASK_JUMP,       /* what is printed from now on follows what was noted for slot `slot` */
    FT_ASK_SNAPSHOT    /* make a snapshot now */
};

/* One per rank. */
struct ft_version_words {
    /* the rank */
    _Alignas(FT_LINE) struct ft_model_slot slot[2];
    struct ft_positions at[2];       /* after the checkpoint in that slot, in all logs but the world's */
    _Alignas(FT_LINE) _Atomic uint64_t consumed;  /* it has finished with, or loaded, the checkpoint of this version: it will never
                                                     load an older one */
    _Atomic uint64_t loads;          /* its first load is this unit, plus one; 0: it has not loaded */
    _Atomic uint64_t asks;           /* number of its last request to the agent, over all incarnations: it stands still until ... */
    _Atomic uint64_t kind, asked;    /* enum ft_ask, slot */
    _Atomic uint64_t doubt;          /* it asks all others whether this unit, less one (0: none), is one more call of ... */
    _Atomic uint64_t doubt_key;      /* ... the bootstrap operation that was this unit, less one */
    struct ft_trail asking;          /* the call that it has made and does not know yet to be this unit or in the bootstrap cache; for people */
    _Alignas(FT_LINE) _Atomic uint64_t store_unit;  /* it has called a function of checkpoints that will be this unit, less one, and is busy
                                                       with models before that, or waits to be, or see store_commits; 0: it is not */
    _Atomic uint64_t store_call, store_count, store_site;  /* which: enum ft_call, count of its signature, place in the program */
    _Atomic uint64_t store_commits;  /* 1: it has called the unit before this one for it, and waits until that is committed */
    _Atomic uint64_t answers;        /* so many calls were answered from the bootstrap cache, over all incarnations; for people */

    /* agent */
    _Alignas(FT_LINE) _Atomic uint64_t answered;  /* ... this is not less */
    _Atomic uint64_t answer;         /* with FT_ASK_SNAPSHOT: 1 if there is one */
};

struct ft_version_head {
    /* agent */
    _Alignas(FT_LINE) _Atomic uint64_t base_version;  /* what the job's programs find when they begin; 0: nothing */
    _Atomic uint64_t base_slot;
    _Atomic uint64_t generation;     /* how often all ranks began again */
    _Atomic uint64_t wanted;         /* the first lazy checkpoint that is not older than this version is to be kept, whatever rank 0
                                        thinks; 0: none */
    _Atomic uint64_t pinned;         /* nobody writes to these slots now: ft_pin_bit */
    _Atomic uint64_t told_unit;      /* several nodes: other nodes have been asked what this unit is, less one, ... */
    _Atomic uint64_t told;           /* ... and it is this (ft/shm/doubt.h) */

    /* rank 0 */
    _Alignas(FT_LINE) _Atomic uint64_t prefix_end;    /* the log up to here, less one, is in the store as well: what is called before
                                                         the first load; 0: it is not */
    _Atomic uint64_t cache_end;      /* the bootstrap cache in the store ends here */
    _Atomic uint64_t cache_results;  /* so many are in it; for people */
    _Atomic uint64_t cache_lost;     /* 1: not all, for there was no memory; for people */
};

/* What a slot is pinned for: it is read, and each reader may read another one. */
enum ft_pin { FT_PIN_FILE, FT_PIN_NEXT_NODE, FT_PINS };

static inline uint64_t ft_pin_bit(enum ft_pin pin, uint32_t slot) { return 1ull << (slot * FT_PINS + pin); }
static inline uint64_t ft_pin_bits(uint32_t slot) { return ft_pin_bit(FT_PIN_FILE, slot) | ft_pin_bit(FT_PIN_NEXT_NODE, slot); }

enum ft_rank_state {
    FT_RANK_ABSENT = 0,     /* has not called MPI_Init */
    FT_RANK_ATTACHED,       /* between MPI_Init and MPI_Finalize */
    FT_RANK_FINALIZED,      /* has finished MPI_Finalize */
    FT_RANK_ENDED           /* has ended the job: exit_code and last_words say why */
};

/* How a rank's snapshots are made and woken (ft/outcome/copies.h). A rank numbers its snapshots from 1 on, over all its
   incarnations. */
struct ft_snap_words {
    /* agent */
    _Alignas(FT_LINE) _Atomic uint64_t want; /* the number of the snapshot to be made at the next call; 0: none. The one word that
                                                a rank looks at without being asked to */
    _Alignas(FT_LINE) _Atomic uint64_t given_up;  /* this snapshot and those before it, as far as they do not stand, are not wanted */
    _Atomic uint64_t waker;                  /* the process of the snapshot that is to make an incarnation: several may stand */
    _Atomic uint64_t wake;                   /* it is to make this incarnation */
    _Atomic uint64_t run;                    /* this incarnation may go on with the program */

    _Atomic uint64_t ended;                  /* `ends` is heard: there is no snapshot any more */

    /* the rank */
    _Alignas(FT_LINE) _Atomic uint64_t refused;                /* this one cannot be made ... */
    _Atomic uint64_t reason;                 /* ... since: enum ft_image_reason */
    struct ft_positions at;                  /* where it stands */
    uint64_t closings;                       /* ... after so many ways back were closed, one that is about to be included */
    bool early;                              /* ... and has not come to main: whoever sees `taken` may do so much later */
    bool first;                              /* ... nor made any call since its recording began */
    _Atomic uint64_t recorder;               /* this process (or its predecessor) records what it does */
    _Atomic uint64_t ends;                   /* it is going to exec, which takes from snapshots what they share with it: all are to
                                                end. A number, over all incarnations */
    _Atomic uint64_t forked;                 /* this one has been begun ... */
    _Atomic uint64_t child;                  /* ... in this process */
    _Atomic uint64_t stood_ns;               /* time it lost to its snapshots, all in all */
    _Atomic uint64_t page_ns;                /* what a page costs that is written for the first time after the last one's fork */
    _Atomic uint64_t still_ns;               /* for them its threads have stood still so long, all in all ... */
    _Atomic uint64_t still_most_ns;          /* ... and at most */
    _Atomic uint64_t threads;                /* so many the last one has */
    char stands[96];                         /* with FT_IMAGE_THREADS: which one could not be stopped, and where it was */
    _Atomic uint64_t faults;                 /* so many pages it has touched for the first time between the last two: no more were copied */

    /* the process that becomes the snapshot, then the snapshot */
    _Alignas(FT_LINE) _Atomic uint64_t pid;
    _Atomic uint64_t taken;                  /* this one waits, in process `pid` */
    _Atomic uint64_t copied;                 /* the last incarnation asked for has been tried */
    _Atomic uint64_t copy;                   /* its process, 0: none could be made */
};

/* ft/shm/await.h. */
struct ft_await_words {
    _Atomic uint64_t what, unit;
    _Atomic uint64_t site, tag, several;  /* of a wait for a message; for people */
};

/* One per rank: what it sleeps on (ft/shm/doorbell.h), in the line that who wakes it reads anyway. */
struct ft_doorbell {
    /* the rank */
    _Alignas(FT_LINE) struct ft_await_words awaits;  /* whom it waits for */
    /* whoever has published what it waits for adds 1: the one word with several writers. It says nothing, so no recovery reads it */
    _Atomic uint32_t rings;
};

/* A rank's messages, as it says itself when it begins to wait for one, and when it leaves: for people. */
struct ft_message_words {
    _Atomic uint64_t kept, kept_bytes, most_kept;  /* that no receive has taken: how many, of so many bytes; how many at once, at most */
    _Atomic uint64_t oldest;                       /* of these: its sender (a rank of this node) in the high half, its tag */
    _Atomic uint64_t receives, requests;           /* posted, without a message; that are open, the one of a call that blocks among them */
    _Atomic uint64_t sent, sent_bytes, received, received_bytes;
};

/* One per rank. Times are CLOCK_MONOTONIC nanoseconds. */
struct ft_rank_block {
    /* agent, before it starts an incarnation */
    _Alignas(FT_LINE) _Atomic uint32_t incarnation;  /* 0, 1, ... */
    _Atomic uint64_t started_ns;

    /* the rank; reset by the agent between incarnations, when nobody else is alive to write */
    _Alignas(FT_LINE) _Atomic uint32_t state;        /* enum ft_rank_state */
    _Atomic uint32_t attached_pid;                   /* of this incarnation, 0 before MPI_Init */
    _Atomic uint32_t rabit_used;                     /* this rank has used the XGBoost engine */
    _Atomic int32_t exit_code;                       /* with FT_RANK_ENDED */
    _Atomic uint64_t live_ns;                        /* first unit of this incarnation not out of the log, of the
                                                        last stream to come there */

    struct ft_snap_words snap;

    _Alignas(FT_LINE) struct ft_message_words messages;

    _Alignas(FT_LINE) char last_words[FT_LAST_WORDS]; /* the rank, before state becomes FT_RANK_ENDED */
};

/* How far one incarnation of a rank is in one stream: nobody needs it but the agent, now and then.
   The rank; made new by the agent between incarnations, when nobody else is alive to write, but for its
   cut. */
struct ft_member {
    _Alignas(FT_LINE) _Atomic uint64_t from;  /* the unit it began with: 0, or its snapshot's */
    _Atomic uint64_t left;                    /* it has returned from all calls that begin below */
    _Atomic uint64_t left_at;                 /* it needs no more what of the log is below; until it
                                                 attaches its cut (agent) */
    _Atomic uint64_t mine;                    /* units that earlier ones had finished with ... */
    _Atomic uint64_t called;                  /* ... and, at least, called: as it found them */
    _Atomic uint64_t next;                    /* a round of the streams that it has come into, from the
                                                 first one on: which comes after this one, plus one; 0:
                                                 it has not come into this one, or only into the first */
    struct ft_trail again;                    /* the last call it made that an earlier one had made */
    _Atomic uint64_t cut_unit, cut;           /* agent: its next incarnation goes on from this unit, and
                                                 from this position of the log (ft/shm/cut.h); 0: from
                                                 its beginning */
};

/* When a rank is in a stream. The rank, over all its incarnations; of the first stream the agent, before
   there are ranks. */
struct ft_stay {
    _Alignas(FT_LINE) _Atomic uint64_t use;   /* it came into this use of the stream, 1, 2, ...; 0: never into any ... */
    _Atomic uint64_t left;                    /* ... and has left this one */
    _Atomic uint64_t first;                   /* where the log was when it came into its first one */
};

/* The counters of one rank in one stream (DESIGN section 3), and the words its duties are judged by.
   Written by the rank only, never lowered; a successor goes on from what it finds. */
struct ft_counters {
    /* units below are: contributed (standard path) / finished with: all this rank owes to slots, log and
       itself. A unit is committed when every rank's `done` is past it. */
    _Alignas(FT_LINE) _Atomic uint64_t contributed;
    _Atomic uint64_t done;
    _Atomic uint64_t done_at;      /* log position of unit `done`: everything below needs this rank no more */
    _Atomic uint64_t want;         /* the log is to have memory up to this position for this rank to go on ... */
    _Atomic uint64_t ahead;        /* ... and better up to this one */
    /* The standard path's operation in progress: its first unit + 1, and the hash of all signatures up to it. In
       this line because everybody reads it anyway. */
    _Atomic uint64_t first, chain;
};

/* Head of a short slot; the contribution follows. */
struct ft_slot {
    _Atomic uint64_t unit;   /* unit + 1, written last */
    uint64_t chain;          /* hash of every signature up to this one */
};

/* Head of a unit in the log; its result follows, at +48 if it is that small that both fit one cache line, else at +64.
   Positions of records follow from each other, so they are known to every rank without being told (RULE 7). */
struct ft_record {
    uint64_t unit;           /* unit + 1 */
    uint64_t site;           /* of the rank that wrote this head */
    struct ft_sig sig;
};

/* The newest units of a channel: unit u is in slot u % FT_CHANNEL_SLOTS until that one's next. One line each, and a cell for the bytes of
   one that has more than go into the line, and no more than go into the cell. A large message is in pieces. The sender. */
enum {
    FT_CHANNEL_SLOTS = 16,
    FT_CHANNEL_INLINE = 16,
    FT_CHANNEL_CELL = 2048,    /* through the caches of both; what is longer goes by the log, whose lines nobody has: from here on that is faster */
    FT_CHANNEL_PIECE = 65536,
    FT_CHANNEL_ACKS = 16384,
    FT_CHANNEL_TABLE = 1 << 16
};
struct ft_message_slot {
    _Alignas(FT_LINE) _Atomic uint64_t unit;  /* message + 1, written last */
    struct ft_sig sig;                         /* as in its record */
    uint64_t site;
    char bytes[FT_CHANNEL_INLINE];             /* all of a message that has no more */
};

struct ft_stream_head {
    _Alignas(FT_LINE) _Atomic uint64_t ready;      /* agent: the log has had memory up to this position; ranks wait for it */
    _Atomic uint64_t floor;                        /* agent: extents below are released, or about to be */
    _Atomic uint64_t spilled;                      /* agent: extents ever written to the spill file; for people */
    _Atomic uint64_t forgotten;                    /* agent: extents released though a cut lay below; for the explorer */
};

/* Offsets inside a stream (ft_region_stream). */
struct ft_stream_layout {
    uint64_t members_at, stays_at, counters_at, trails_at, shorts_at, slots_at, table_at;
    uint64_t partials_at;    /* nnodes > 1: what this node's ranks make together of a unit, [slot_depth] of slot_bytes (RULE 5) */
    uint64_t checks_at;      /* a hash for each unit an operation begins with, [nranks][check_units]: each rank its own; 0: none yet */
    uint64_t bytes;
    uint64_t short_bytes;    /* of one short slot, head included */
};

/* Offsets inside a channel. Members are the sender and the receiver, in that order; of the one from a rank to itself, which has that rank's
   outcomes, the rank alone. */
struct ft_channel_layout {
    uint64_t members_at, counters_at, slots_at;
    uint64_t cells_at;       /* [FT_CHANNEL_SLOTS] of FT_CHANNEL_CELL */
    uint64_t acks_at;        /* which synchronous messages are matched: ft/shm/acks.h. The receiver */
    uint64_t table_at, bytes;
};

/* Fills what follows from the number of ranks and cores. log_limit: bytes, rounded down to extents. */
void ft_params_default(struct ft_params *p, uint32_t nranks, uint32_t cores, uint64_t log_limit);

/* Where memory is little: smaller extents, so that less of it is taken for the log before it is needed. Before all that follow here; of a job on
   one node only (RULE 8). */
void ft_params_small(struct ft_params *p, uint64_t log_limit);

/* A core's own cache holds so many bytes (0: not known): two ranks' segments take turns in about four times as much, so that neither core has the lines
   any more that are written next (docs/internals/sizes.md). Before ft_params_nodes. */
void ft_params_cache(struct ft_params *p, uint64_t bytes);

/* Each rank owns streams, for communicators. Address space, and memory as they are used. */
void ft_params_streams(struct ft_params *p);

/* Each rank can send messages to each. Of a job on one node, of so many ranks that channels can be numbered: else there are none. */
void ft_params_channels(struct ft_params *p);

/* From now on two ranks' allreduces are redundant, up to the size from which chunks win (docs/internals/sizes.md). */
void ft_params_redundant(struct ft_params *p);

/* The ranks' processors share no cache: what they write for each other goes past it (docs/internals/sizes.md). */
void ft_params_far(struct ft_params *p);

/* Ranks first[node] to first[node + 1], in the order of nodes, are this node's: first[nnodes] is the job's size. Sizes become those that all
   nodes have alike, whatever their ranks (RULE 8). Bytes of log and the like as given to ft_params_default. */
void ft_params_nodes(struct ft_params *p, uint32_t nnodes, uint32_t node, uint32_t world);

/* Turns --check-replay on. Its hashes, 8 bytes per rank and unit, take as much memory as the log at most (or 1 GiB, if
   that is more); operations further on are not looked at. */
void ft_params_check_replay(struct ft_params *p, uint64_t log_limit);

/* FT_EINVAL with a line if the numbers cannot work together (log limit too small, no ranks, ...). */
int ft_params_check(const struct ft_params *p, struct ft_error *e);

/* Streams and channels. */
static inline uint32_t ft_params_logs(const struct ft_params *p) { return p->nstreams + p->nchannels; }

/* Where extents may lie in memory: of each stream but the first one may be there in part only, and
   while an operation is under way a few may be there beyond the limit (ft/shm/keeper.c). */
enum { FT_PLACES_EACH = 4, FT_PLACES_CHANNEL = 2 };
static inline uint64_t ft_params_places(const struct ft_params *p)
{
    return p->nextents + (p->nstreams - 1) * (uint64_t)FT_PLACES_EACH + p->nchannels * (uint64_t)FT_PLACES_CHANNEL;
}

void ft_layout_stream(const struct ft_params *p, struct ft_stream_layout *l);
struct ft_channel_layout ft_layout_channel(void);
void ft_layout_header(const struct ft_params *p, struct ft_header *h);  /* everything but magic */

#endif
