/* SPDX-License-Identifier: BSD-3-Clause */
/* A call is recorded, or its outcome given again (DESIGN-ranks section 0).

   A function that takes the place of one of the C library's reads like this:

     int fsync(int fd)
     {
         struct ft_recorded c;

         if (!ft_recording())
             return ft_real()->fsync(fd);
         if (ft_call_begin(&c, FT_CALL_SYNC, ft_what(fd, 0, 0), 0))
             return (int)ft_call_give(&c);
         return (int)ft_call_end(&c, ft_real()->fsync(fd), 0);
     }

   ft_call_begin is true in a replay: the outcome is in the log, and the kernel is not to be reached. False: the call is to be
   made, and its outcome said. Then `under_way` says that the predecessor was killed in it: whether it was done, in part, or
   not is found out from `record->note`, what there was before it, and from what there is now.

   errno is the program's when ft_call_begin returns false, and what the C library left of it after ft_call_end and
   ft_call_give. Nothing here is called from a signal handler.

   From where ft_call_begin is false to ft_call_end one thread at a time runs (threads.h), so that what is kept here of descriptors
   and files needs no locks of its own. Kinds of calls that wait (FT_CALL_WAITS) let others run meanwhile; so does FT_WAITING. */
#ifndef FT_OUTCOME_RECORD_H
#define FT_OUTCOME_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "ft/outcome/kinds.h"
#include "ft/outcome/log.h"
#include "ft/outcome/threads.h"

struct ft_recorded {
    struct ft_outcome *record;   /* NULL: nobody records this call (the log is full) */
    bool under_way;
    bool held;                   /* other threads wait until it ends */
    int error;
};

/* What the process knows of its recording. */
struct ft_recorder {
    struct ft_outcome_log log;  /* the view of the thread that main runs in */
    bool on;         /* calls are recorded */
    bool ended;      /* they were: a second thread, or a full log, has ended that */
    uintptr_t own, own_bytes;  /* code of ours outside this library, whose calls are not */
    bool switched;   /* the log's end has been reached: the world is as the program believes */
    bool settled;    /* and so are its mappings (images.h) */
    bool told;       /* that a replay wrote other bytes */
    bool time_off;   /* clocks are not recorded (--replay-time off) */
    bool sockets_off; /* nor are sockets that the program opens (--sockets=off) */
    bool one_thread; /* no copy is made of a rank that has more (--snapshot-threads off) */
    bool closes;     /* the copy that is being made closes those before it (ft_recorder_renew), */
    uint64_t renewed; /* and this is how often ways back have been closed then: of the last such copy */
    bool (*cut)(void);  /* a copy is due: makes it. True: this is the next incarnation */
    bool (*others_map)(uint64_t file, bool first);  /* another rank has mapped it; first: then its ways back are closed, too. NULL: nobody knows */
    void (*end_copies)(void);  /* before an exec: none is left when it returns */
    void (*ring)(void);  /* the agent is to look at this rank's words now */
    void (*back)(void);  /* a replay has ended: this incarnation does now what nobody has done before. NULL: nobody wants to know */
    bool (*cut_now)(void);  /* the same, without being asked, and it returns when that copy stands. NULL: cannot be had */
    const _Atomic uint64_t *want;  /* the copy that is wanted ... */
    const uint64_t *answered;      /* ... and the last one that was */
};

extern struct ft_recorder ft_recorder;

/* For a function that asks ft_recording() in the name of those that call it. */
#define FT_CALLED static inline __attribute__((always_inline))

/* Of a call of a thread that nobody has seen begin, which nobody can give again in its turn: recording ends. False. */
bool ft_recorder_other(void);

/* The call that the function was made for is to be recorded, or given. Of each function that takes a place in the C library: who
   called it, matters. */
FT_CALLED bool ft_recording(void)
{
    if (!ft_recorder.on || (uintptr_t)__builtin_return_address(0) - ft_recorder.own < ft_recorder.own_bytes)
        return false;
    return ft_thread.mine ? !ft_thread.inside : ft_recorder_other();
}

/* Between these, calls go to the C library. errno is untouched. */
static inline void ft_inside(void) { ft_thread.inside++; }
static inline void ft_outside(void) { ft_thread.inside--; }

/* This thread's calls are recorded from now on, in this memory. False: they cannot be, ft_recorder_tell has said why. */
bool ft_recorder_start(void *memory, uint64_t bytes);

/* Arguments that are compared: numbers, and a name's or bytes' hash. */
uint64_t ft_what(int64_t a, int64_t b, int64_t c);
uint64_t ft_what_name(const char *name);   /* NULL: 0 */
uint64_t ft_what_bytes(const void *data, size_t n);

bool ft_call_begin(struct ft_recorded *c, enum ft_call_kind kind, uint64_t what, size_t most);

/* The same, of a call that waits in FT_WAITING: as setjmp. A thread that is there when a copy is made returns from here once more in that. What
   the call has done to its variables before it waited is not undone. */
bool ft_call_begin_wait(struct ft_recorded *c, enum ft_call_kind kind, uint64_t what, size_t most)
    __attribute__((returns_twice, visibility("hidden")));
long ft_call_give(struct ft_recorded *c);
long ft_call_end(struct ft_recorded *c, long result, size_t bytes);

/* The same for calls whose result is a new descriptor. */
int ft_call_give_fd(struct ft_recorded *c);
int ft_call_end_fd(struct ft_recorded *c, int fd);

/* Where a call's data go, `most` bytes of them, and where they are: after ft_call_begin. NULL: nobody records. */
static inline void *ft_call_data(const struct ft_recorded *c) { return c->record ? ft_outcome_data(c->record) : NULL; }
static inline size_t ft_call_bytes(const struct ft_recorded *c) { return c->record->bytes; }

/* What there is before the call, said before it is made. */
static inline void ft_call_note(struct ft_recorded *c, int64_t first, int64_t second)
{
    if (!c->record)
        return;
    c->record->note[0] = first;
    c->record->note[1] = second;
    atomic_signal_fence(memory_order_release); /* whoever is killed here has noted all, or nothing */
    c->record->step = 1;
}

/* The predecessor was killed in this call, and had noted what there was. */
static inline bool ft_call_noted(const struct ft_recorded *c) { return c->under_way && c->record->step; }

/* Of a call that waits for so long: how long it is to wait. Under way, that is what is left until the end that was noted. In ms, below 0: for ever;
   and by a time, which may be NULL, or be nonsense that the kernel is to see: *room is used. errno is untouched. */
int ft_call_rest_ms(struct ft_recorded *c, int ms);
const struct timespec *ft_call_rest(struct ft_recorded *c, const struct timespec *time, struct timespec *room);

/* A call whose outcome is its result alone, and which may be made again if it was under way. */
#define FT_CALL_PLAIN(kind, what, call)                                                             \
    __extension__({                                                                                 \
        struct ft_recorded c_;                                                                          \
        ft_call_begin(&c_, kind, what, 0) ? ft_call_give(&c_) : ft_call_end(&c_, (call), 0);        \
    })

/* ... and that waits in a system call. */
#define FT_CALL_WAITING(kind, what, call)                                                           \
    __extension__({                                                                                 \
        struct ft_recorded c_;                                                                          \
        ft_call_begin_wait(&c_, kind, what, 0) ? ft_call_give(&c_) : ft_call_end(&c_, FT_WAITING(call), 0); \
    })

/* ... and for one that fills in *to on success (0). */
#define FT_CALL_FILLS(kind, what, to, call)                                                         \
    __extension__({                                                                                 \
        struct ft_recorded c_;                                                                          \
        ft_call_begin(&c_, kind, what, sizeof *(to)) ? ft_call_give_struct(&c_, to, sizeof *(to))   \
                                                     : ft_call_end_struct(&c_, (call), to, sizeof *(to)); \
    })
long ft_call_give_struct(struct ft_recorded *c, void *to, size_t bytes);
long ft_call_end_struct(struct ft_recorded *c, long result, const void *from, size_t bytes);

/* This thread is given records again. False: it has reached the log's end, and so have all others; it has waited for them. */
static inline bool ft_recorder_replays(void) { return __builtin_expect(ft_thread.replays, 0) && ft_recorder.on && ft_threads_replays(); }

/* Where the log stands for this thread: positions before it are of what has been. */
uint64_t ft_recorder_position(void);

/* Before anybody outside sees what this process does (a message): if the log has ended, the world is put where the program
   believes it is. Every live call does it by itself. */
void ft_recorder_live(void);

/* What the program does from here on cannot be followed from before: copies that there are cannot be woken any more. One line for
   the user: what, which file, what to do. */
void ft_recorder_close(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same just before such a call. No copy is made between the two: it would be one of before, and open. */
#define FT_CLOSED(call, ...)                      \
    __extension__({                               \
        ft_busy();                                \
        ft_recorder_close(__VA_ARGS__);           \
        __auto_type closed_result_ = (call);      \
        ft_idle();                                \
        closed_result_;                           \
    })

/* The same, and recording ends: the rank goes on without. */
void ft_recorder_end(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The log is full, and nothing of it can be given back. */
void ft_recorder_full(void);

/* As ft_recorder_close, but a new copy is made first, if one can be had: killed in between, the rank would have none. Between the first of
   these and one of the others, with the lock, is what that copy is to have. False: this is a replay. After each it may be another process. */
bool ft_recorder_may_renew(void);
void ft_recorder_renew(const char *why);
void ft_recorder_renew_not(void);

/* One line for the user, once in each replay. */
void ft_recorder_tell(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* This is the next incarnation: it is given what its predecessor did since the copy. */
void ft_recorder_resume(void);

/* In a replay: the kind of this thread's next record. */
enum ft_call_kind ft_recorder_next(void);

/* This is a replay, and it has come to something that cannot be told. The process ends; an older copy may be tried. */
void ft_recorder_lost(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

#endif
