/* SPDX-License-Identifier: BSD-3-Clause */
/* The log of a rank's outcomes (DESIGN-ranks section 0): what each call by which it acted on the world, or was told by it,
   came to. It is memory that outlives the rank, in extents that are used again. Nothing here calls the system but for ft_outcome_orphan.

     position   a byte's place in all that the log ever held: 64 bits, never used again
     extent     FT_OUTCOME_EXTENT positions; it lies in one of the slots of the memory

   One process at a time writes: the rank; of its threads one at a time (record.c's lock). It can be killed between any two stores; its
   successor finds each record either not there, begun or done.

   An extent is needed by a copy that may be woken if it does not end before the copy's position, or if a call is under way in the copy
   whose record lies in it: that one may have begun long before. The agent says up to where all is released, and which copy is the oldest;
   the rank notes at each cut what the copy needs before that (`needed_by`). A slot is used again when neither holds it.

   A record belongs to a thread. That it was begun and that it was done are events; all of a rank's have numbers, in one order. */
#ifndef FT_OUTCOME_LOG_H
#define FT_OUTCOME_LOG_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

enum {
    FT_OUTCOME_EXTENT = 1 << 20,
    FT_OUTCOME_PIECE = 256 << 10, /* of a call's bytes that one record holds */
    FT_OUTCOME_SLOTS = 4096,      /* at most: 4 GiB */
    FT_OUTCOME_DESCRIPTORS = 4096, /* followed: with lower numbers */
    FT_OUTCOME_FILES = 8192,
    FT_OUTCOME_CHILDREN = 256,    /* followed at a time */
    FT_OUTCOME_STRAYS = 64,
    FT_OUTCOME_MAPPED = 32,
    FT_OUTCOME_THREADS = 4096,    /* numbers of threads of one rank: the first is 0 */
    FT_OUTCOME_WHY = 240
};

#define FT_OUTCOME_TAKEN UINT32_MAX
#define FT_OUTCOME_NOWHERE UINT64_MAX

/* A child of the rank. Once the rank has been killed it is the agent's, which waits for it in its successor's place. */
struct ft_outcome_child {
    _Atomic int32_t pid;    /* 0: none */
    _Atomic uint32_t told;  /* this incarnation of the rank, + 1, is sent SIGCHLD of it; twice that, + 1 if the agent does it */
    _Atomic uint32_t ended; /* the agent has waited for it ... */
    int32_t status;         /* ... as waitpid gives it */
    struct rusage usage;
};

/* At the beginning of the memory. */
struct ft_outcome_words {
    /* the rank */
    _Atomic uint64_t tail;       /* the position after the last record that is begun */
    _Atomic uint64_t writes;     /* so many calls that write this incarnation has made through the library. The kernel counts them, too:
                                    if those are more, some went past it */
    _Atomic uint64_t children;   /* this incarnation has had some: the kernel adds their calls to its own when it waits for them */
    _Atomic uint64_t done;       /* so many records are done, over all incarnations: progress */
    _Atomic uint64_t closings;   /* so often the ways back that there were have been closed: a copy that was made before the last
                                    time cannot be woken ... */
    char why[FT_OUTCOME_WHY];    /* ... because of this */
    _Atomic uint64_t renewed;    /* what `closings` will be when the last copy that closes those before it has done so */
    _Atomic uint64_t ended;      /* with that recording has ended */
    _Atomic uint64_t differs;    /* so many replays have differed from what is recorded */
    char how[FT_OUTCOME_WHY];    /* the last one, like this */
    _Atomic uint64_t tells;      /* so many times there was something to tell the user ... */
    char told[FT_OUTCOME_WHY];   /* ... lastly this */
    _Atomic uint64_t once;       /* it has done what a start from the beginning would do otherwise (once.h) ... */
    char once_why[FT_OUTCOME_WHY]; /* ... this */
    _Atomic uint64_t connected;  /* it has been connected with another process, past this host as far as is known */
    _Atomic uint8_t once_of[FT_OUTCOME_DESCRIPTORS]; /* what it may do with each: enum ft_once */
    _Atomic uint64_t files[FT_OUTCOME_FILES];        /* which it has opened, and what for */
    _Atomic uint64_t by_itself;  /* the signal that it is sending itself; 0: none */
    _Atomic uint64_t signals;    /* bit n - 1: signal n has come, and is in no record yet */
    _Atomic uint64_t mapped[FT_OUTCOME_MAPPED]; /* files that it has mapped shared: no other rank may have, if that is to be followed */
    struct ft_outcome_child child[FT_OUTCOME_CHILDREN]; /* the rank says which there are */
    _Atomic uint64_t locks[FT_OUTCOME_THREADS];  /* so many lock operations has each thread published (lock.h) */
    _Atomic uint32_t extent_in[FT_OUTCOME_SLOTS]; /* the extent (its number + 1) that lies in each slot; 0: none; or FT_OUTCOME_TAKEN: the
                                                     agent has it */
    _Atomic uint32_t needed_by[FT_OUTCOME_SLOTS]; /* the number of the newest copy in which a call is under way whose record lies there. While
                                                     there is no copy the agent says it, of the next one */

    /* the agent */
    _Atomic uint64_t oldest;     /* the number of the oldest copy that may be woken, or one that has none before it */
    _Atomic uint64_t started;    /* the rank has been: until then all is zero */
    _Atomic uint64_t released;   /* nothing before this position is needed by any copy, but what `needed_by` says */
    _Atomic uint64_t strays;     /* so many orphans that no rank had named have ended ... */
    struct ft_outcome_child stray[FT_OUTCOME_STRAYS]; /* ... the last of them: number n is in n % FT_OUTCOME_STRAYS */
};

enum ft_outcome_state { FT_OUTCOME_NONE, FT_OUTCOME_BEGUN, FT_OUTCOME_DONE };

/* A record; `bytes` bytes of data follow, and the next one after `room`. */
struct ft_outcome {
    _Atomic uint16_t state;
    uint16_t kind;      /* enum ft_call_kind */
    uint16_t thread;    /* whose it is: 0, the one that main runs in */
    uint16_t step;      /* how far a call of several steps is: its row's business */
    uint32_t bytes;
    uint32_t room;
    int32_t error;      /* errno afterwards, also after success */
    uint32_t begun;     /* the number of the event that it was begun: its lower half */
    uint64_t number;    /* and of the event that it was done. 0: in no order with those of other threads */
    int64_t result;
    uint64_t what;      /* its arguments, hashed */
    int64_t note[2];    /* of before the call: what tells later whether it was done */
};

/* A thread's view of the log. */
struct ft_outcome_log {
    struct ft_outcome_words *words;
    char *slots;
    uint32_t nslots;
    uint16_t thread;     /* whose records it gives and makes */
    uint64_t at;         /* this process's position: before `end` it is given records again */
    uint64_t end;        /* the tail, when this process began */
    uint64_t last;       /* where the last record that this thread was given, or has begun, begins */
    uint64_t from;       /* where the rank stood at its last copy: a replay begins there, and the tail does not go back behind it */
    uint64_t owed;       /* the call that this thread stood in then, to be given first of all: its record lies before; FT_OUTCOME_NOWHERE: none */
    uint64_t mapped;     /* the extent looked up last, */
    char *where;         /* and where it lies */
};

/* Rank: at the end of what is there, in memory of `bytes`, which were zero at the beginning. */
void ft_outcome_log_open(struct ft_outcome_log *log, void *memory, uint64_t bytes);

/* Agent: takes a slot that nobody needs, for its memory to be given back: the first one from *slot on, which is set; also one that a
   predecessor of the agent had taken. NULL: there is none. Given back it is empty, as if it had never been used. */
char *ft_outcome_log_take(const struct ft_outcome_log *log, uint32_t *slot);
void ft_outcome_log_give(const struct ft_outcome_log *log, uint32_t slot);

/* Rank, at a cut, before the copy is made: in copy `number` a call is under way whose record lies at that position. No memory, no lock. */
void ft_outcome_log_need(const struct ft_outcome_log *log, uint64_t position, uint64_t number);

/* Agent: no copy before that one, which stands at that position, may be woken any more. */
void ft_outcome_log_hold(struct ft_outcome_words *words, uint64_t number, uint64_t position);

/* Agent: there is no copy, and none is being made; `next` will be its number. The rank, which has been given all, needs nothing before that
   position, which is an extent before the tail or more, but the records of calls that are under way. May be called again. */
void ft_outcome_log_alone(const struct ft_outcome_log *log, uint64_t next, uint64_t position);

/* Of its slots, those that have an extent. */
uint32_t ft_outcome_log_slots(const struct ft_outcome_log *log);

/* Agent: the rank starts from the beginning, without any copy; `next` will be the next one's number. Nothing of what there is will be needed. */
void ft_outcome_log_restart(void *memory, uint64_t next);

/* What there is of child `pid` of the rank; NULL: it has none such. */
struct ft_outcome_child *ft_outcome_child(struct ft_outcome_words *words, pid_t pid);

/* Agent: that orphan has ended. The incarnation of the rank that lives as process `rank` is sent SIGCHLD first (0: none does): who sees the
   end has had the signal. False: the rank has not named it. */
bool ft_outcome_orphan(struct ft_outcome_words *words, pid_t pid, int status, const struct rusage *usage, pid_t rank, uint32_t incarnation);

/* SIGCHLD of it is to be sent to that incarnation by who gets true: the agent, or the rank itself. An agent gets it again: the one before
   may have died before it sent it. */
bool ft_outcome_tells(struct ft_outcome_child *child, uint32_t incarnation, bool agent);

/* Agent: an orphan has ended that no rank has named; one of them may have been killed before it could. */
void ft_outcome_stray(struct ft_outcome_words *words, pid_t pid, int status, const struct rusage *usage);

/* The ways back that there are are closed, because of this; also a copy that is good for when `closings` will be `renewed`. */
void ft_outcome_close(struct ft_outcome_words *words, const char *why);

/* Rank: a copy is made that closes those before it. Before it is there: what `closings` is when that is done. After that: so it is. */
uint64_t ft_outcome_renews(struct ft_outcome_words *words);
void ft_outcome_renewed(struct ft_outcome_words *words, const char *why, uint64_t closings);

/* A copy is made now. A thread that stands in a call has its record in that: begun last; or is still owed that of the copy before. */
void ft_outcome_log_stand(struct ft_outcome_log *log, bool in_call);

/* Rank, in a process that has just been made of a copy: up to the tail all is to be given again. Makes a half-made record whole. Tells each
   record there is to `see`. */
void ft_outcome_log_resume(struct ft_outcome_log *log, void (*see)(struct ft_outcome *o));

/* For the view of another thread, then. */
void ft_outcome_log_follow(struct ft_outcome_log *log);

/* The record of the call that this thread stood in. NULL: it stood in none. */
struct ft_outcome *ft_outcome_owed(struct ft_outcome_log *log);

/* This thread's next record before `end`. It stays where it is. NULL: there is none. */
struct ft_outcome *ft_outcome_next(struct ft_outcome_log *log);

/* That is done, and given: past it. */
void ft_outcome_pass(struct ft_outcome_log *log, const struct ft_outcome *o);

/* At the tail: a new record with room for `most` bytes, begun, which is event `number`. NULL: the memory is full of what is not released. */
struct ft_outcome *ft_outcome_begin(struct ft_outcome_log *log, uint16_t kind, uint64_t what, uint32_t most, uint64_t number);

/* The record that ft_outcome_next has found begun, with room for `most` bytes once more: as many as it had if it is not the last one. */
void ft_outcome_again(struct ft_outcome_log *log, struct ft_outcome *o, uint32_t most);

/* It is done, which is event `number`, with so many bytes: not more than were asked for. */
void ft_outcome_done(struct ft_outcome_log *log, struct ft_outcome *o, uint32_t bytes, uint64_t number);

static inline void *ft_outcome_data(struct ft_outcome *o) { return o + 1; }

#endif
