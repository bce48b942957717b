/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/outcome/threads.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "ft/base/util.h"
#include "ft/outcome/descriptors.h"
#include "ft/outcome/event.h"
#include "ft/outcome/record.h"
#include "ft/outcome/stand.h"
#include "ft/outcome/robust.h"

enum {
    YIELDS = 100,                /* before a thread that waits for another sleeps */
    LOOK_NS = 20000000,
    STILL_SECONDS = 5,           /* seconds in which nothing moves, and hardly anything is computed: no thread ever will */
    STILL_SHARE = 20,            /* hardly: less than one part in so many */
    CLOSES = 16,                 /* with the lock only one closes at a time; by several kills there may be more */
    BUSY_SECONDS = 300           /* something is computed, and no call, no lock comes of it */
};

_Thread_local struct ft_thread ft_thread __attribute__((tls_model("initial-exec")));
bool ft_threads_many;
_Atomic bool ft_threads_replay;
uint32_t ft_threads_life;

static uint32_t threads;         /* the highest number of one */
static _Atomic uint32_t lives[FT_OUTCOME_THREADS]; /* so often a thread with that number has begun, and so often one has ended: odd, it runs */
static uint64_t count;           /* so many events there have been */

/* ---- a replay ---- */

static uint64_t first;           /* events up to this number happened before the copy was made, */
static uint64_t last;            /* and up to this one they are to happen again */
static _Atomic uint64_t happened; /* all up to this one have */
static _Atomic uint64_t *marks;  /* which ones have: bit n - first - 1 */
static int unresolved;           /* calls that were under way, and have not found what was left */
static struct ft_outcome *closes[CLOSES]; /* those of them that close */
static int ncloses;
static uint64_t before[FT_OUTCOME_THREADS];
static _Atomic uint64_t passed[FT_OUTCOME_THREADS];
static _Atomic uint32_t owing;   /* threads that have lock operations left */
static _Atomic uint32_t unmade;  /* threads that are to be made, or to end, again */

static _Atomic uint32_t moved, sleepers;

static void move(void)
{
    atomic_fetch_add(&moved, 1);
    if (atomic_load(&sleepers))
        syscall(SYS_futex, &moved, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

/* ---- standing still ---- */

static uint64_t clock_of(clockid_t clock)
{
    struct timespec t;

    syscall(SYS_clock_gettime, clock, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

struct watch {
    uint32_t moved;
    uint64_t since, computed;    /* ns */
};

static void begin_watch(struct watch *w)
{
    w->moved = atomic_load(&moved);
    w->since = clock_of(CLOCK_MONOTONIC);
    w->computed = clock_of(CLOCK_PROCESS_CPUTIME_ID);
}

/* Judged by what the process computes: a thread may compute for long before its next call. */
static void look_whether_still(struct watch *w)
{
    uint64_t time, computed;

    if (w->moved != atomic_load(&moved)) {
        begin_watch(w);
        return;
    }
    time = clock_of(CLOCK_MONOTONIC) - w->since;
    computed = clock_of(CLOCK_PROCESS_CPUTIME_ID) - w->computed;
    if (time > STILL_SECONDS * 1000000000ull && computed < time / STILL_SHARE)
        ft_recorder_lost("in a replay all threads waited for each other (is there a lock that is made of atomics?)");
    if (time > BUSY_SECONDS * 1000000000ull)
        ft_recorder_lost("in a replay threads waited for one that has made no call for %d s", BUSY_SECONDS);
}

static void wait_until(bool (*is_so)(uint64_t a, uint64_t b), uint64_t a, uint64_t b)
{
    struct timespec most = {.tv_nsec = LOOK_NS};
    struct watch watch;
    int error = errno;

    for (int i = 0; !is_so(a, b); i++) {
        uint32_t seen = atomic_load(&moved);

        if (i < YIELDS) {
            syscall(SYS_sched_yield);
            continue;
        }
        if (i == YIELDS)
            begin_watch(&watch);
        atomic_fetch_add(&sleepers, 1);
        if (!is_so(a, b))
            syscall(SYS_futex, &moved, FUTEX_WAIT_PRIVATE, seen, &most, NULL, 0);
        atomic_fetch_sub(&sleepers, 1);
        look_whether_still(&watch);
    }
    errno = error;
}

/* ---- threads ---- */

void ft_threads_open(void)
{
    ft_thread.mine = true;
    ft_thread.log = &ft_recorder.log;
    ft_stand_open();
    ft_robust_begin();
}

int64_t ft_threads_new(void)
{
    uint32_t n = 1;

    while (n < FT_OUTCOME_THREADS && atomic_load(&lives[n]) % 2)
        n++;
    return n < FT_OUTCOME_THREADS ? (int64_t)atomic_load(&lives[n]) * FT_OUTCOME_THREADS + n : -1;
}

static bool is_its_turn(uint64_t number, uint64_t so_many) { return atomic_load(&lives[number]) == so_many; }

uint32_t ft_threads_occupy(int64_t life)
{
    uint32_t n = (uint32_t)(life % FT_OUTCOME_THREADS);

    wait_until(is_its_turn, n, (uint64_t)life / FT_OUTCOME_THREADS);
    threads = (uint32_t)ft_max(threads, n);
    atomic_fetch_add(&lives[n], 1);
    return n;
}

void ft_threads_end(void)
{
    ft_thread.mine = false;
    atomic_fetch_add(&lives[ft_thread.number], 1);
    move();
}

/* Its creator's view may be of before a copy was made, and of a process before this one. */
void ft_threads_begin(uint32_t number, const struct ft_outcome_log *log, struct ft_task *task)
{
    static _Thread_local struct ft_outcome_log view __attribute__((tls_model("initial-exec")));

    if (number == FT_THREADS_NONE)
        return;
    view = *log;
    view.thread = (uint16_t)number;
    view.from = ft_recorder.log.from;
    view.at = ft_max(view.at, view.from);
    view.end = ft_recorder.log.end;
    view.owed = FT_OUTCOME_NOWHERE;
    view.mapped = UINT64_MAX;
    ft_thread = (struct ft_thread){.mine = true, .number = number, .log = &view, .busy = ft_thread.busy, .task = task};
    ft_thread.locks = atomic_load(atomic_load(&ft_threads_replay) ? &passed[number] : ft_threads_published(number));
    ft_stand_begin(&ft_thread);
    ft_thread.replays = atomic_load(&ft_threads_replay);
}

/* ---- what there is to be given ---- */

static bool has_no_order(const struct ft_outcome *o) { return o->kind == FT_CALL_LOCK || o->kind == FT_CALL_THREAD; }

static uint64_t begun(const struct ft_outcome *o) { return first + (uint32_t)(o->begun - (uint32_t)first); }

/* Before the copy was made. */
static bool was_begun(const struct ft_outcome *o) { return (int32_t)(o->begun - (uint32_t)first) <= 0; }

static void set_mark(uint64_t number)
{
    uint64_t n = number - first - 1;

    atomic_fetch_or(&marks[n / 64], 1ull << n % 64);
}

/* Whoever marks the next one goes on for all that are marked already. */
static void go_past_marked(void)
{
    uint64_t at;

    for (at = atomic_load(&happened); at < last; at = atomic_load(&happened)) {
        if (!(atomic_load(&marks[(at - first) / 64]) >> (at - first) % 64 & 1))
            break;
        atomic_compare_exchange_strong(&happened, &at, at + 1);
    }
    move();
}

static void mark(uint64_t number)
{
    set_mark(number);
    go_past_marked();
}

static void make_marks(uint64_t n)
{
    static size_t bytes;
    long at;

    if (bytes)
        syscall(SYS_munmap, marks, bytes);
    bytes = ft_align(n / 8 + 1, 4096);
    at = syscall(SYS_mmap, NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at < 0 && at > -4096)
        ft_recorder_lost("there is no memory for a replay of %llu event%s", (unsigned long long)n, ft_plural(n));
    marks = (void *)at;
}

/* A reading of a clock: nobody else waits for it. */
static void see_reading(struct ft_outcome *o)
{
    if (!was_begun(o)) {
        count = ft_max(count, begun(o));
        set_mark(begun(o));
    }
    if (o->state == FT_OUTCOME_DONE) {
        count = ft_max(count, o->number);
        set_mark(o->number);
    }
}

/* Each record has two, also those of calls that were under way when the copy was made. */
static uint64_t most_events(void)
{
    uint64_t bytes = atomic_load(&ft_recorder.log.words->tail) - ft_recorder.log.from;

    return 2 * (bytes / sizeof(struct ft_outcome) + FT_OUTCOME_THREADS);
}

static void see(struct ft_outcome *o)
{
    if (o->kind == FT_CALL_LOCK && o->what >= atomic_load(ft_threads_published(o->thread)))
        o->kind = FT_CALL_PAD; /* it never was: nobody can have seen it */
    else if (o->kind == FT_CALL_THREAD && o->state != FT_OUTCOME_DONE)
        o->kind = FT_CALL_PAD; /* nor has it begun */
    if (o->kind == FT_CALL_CLOCK)
        see_reading(o);
    if (o->kind == FT_CALL_PAD || o->kind == FT_CALL_CLOCK)
        return;
    if (o->kind == FT_CALL_THREAD) {
        atomic_fetch_add(&unmade, 1);
        if (o->result > 0)
            threads = (uint32_t)ft_max(threads, (uint64_t)o->result % FT_OUTCOME_THREADS);
    }
    if (has_no_order(o))
        return;
    if (!was_begun(o))
        count = ft_max(count, begun(o));
    if (o->state == FT_OUTCOME_DONE)
        count = ft_max(count, o->number);
    else
        unresolved++;
    if (o->state != FT_OUTCOME_DONE && o->kind == FT_CALL_CLOSE && ncloses < CLOSES)
        closes[ncloses++] = o;
}

void ft_threads_resume(void)
{
    uint32_t owed = 0;

    ft_threads_life++;
    first = count;
    atomic_store(&happened, first);
    unresolved = ncloses = 0;
    atomic_store(&unmade, 0);
    make_marks(most_events());
    ft_outcome_log_resume(ft_thread.log, see);
    ft_stand_follow(see);
    last = count;
    go_past_marked();
    for (uint32_t i = 0; i <= threads; i++) {
        before[i] = atomic_load(ft_threads_published(i));
        owed += before[i] > atomic_load(&passed[i]);
    }
    atomic_store(&owing, owed);
    ft_thread.replays = true;
    ft_thread.resolves = false;
    atomic_store(&ft_threads_replay, true);
}

uint32_t ft_threads_stand(uint64_t copy)
{
    uint32_t n;

    ft_outcome_log_stand(ft_thread.log, false);
    n = ft_stand_note(copy);
    for (uint32_t i = 0; i <= threads; i++)
        atomic_store(&passed[i], atomic_load(ft_threads_published(i)));
    return n;
}

uint64_t ft_threads_stood(void) { return ft_recorder.log.from; }

static bool all_are_given(uint64_t a, uint64_t b)
{
    (void)a, (void)b;
    return atomic_load(&happened) >= last && atomic_load(&owing) == 0 && atomic_load(&unmade) == 0;
}

void ft_threads_made(void)
{
    atomic_fetch_sub(&unmade, 1);
    move();
}

static void end_replay(void)
{
    ft_threads_lock();
    if (atomic_load(&ft_threads_replay)) {
        ft_event_settle();
        for (int i = 0; i < ncloses; i++)
            ft_close_settle(closes[i]);
        if (ft_recorder.back)
            ft_recorder.back();
    }
    atomic_store(&ft_threads_replay, false);
    ft_threads_unlock();
}

void ft_threads_all_given(void)
{
    if (!atomic_load(&ft_threads_replay))
        return;
    wait_until(all_are_given, 0, 0);
    end_replay();
}

static bool has_more(void) { return ft_log_next() || ft_thread.locks < before[ft_thread.number]; }

static bool is_given_more(void)
{
    if (has_more())
        return true;
    if (ft_thread.giving)
        return ft_thread.giving < last || atomic_load(&owing) || atomic_load(&unmade);
    ft_threads_all_given();
    ft_thread.replays = false;
    return false;
}

static bool have_all_ended(void)
{
    if (ft_thread.replays && (has_more() || !all_are_given(0, 0)))
        return false;
    if (atomic_load(&ft_threads_replay))
        end_replay();
    ft_thread.replays = false;
    return true;
}

/* Not stopped between what it finds and what it makes of that: in a copy there is more again, and it would wait as one who has had all. */
#define WHOLE(look)                        \
    __extension__({                        \
        uint32_t life_;                    \
        bool found_;                       \
                                           \
        do {                               \
            life_ = ft_threads_life;       \
            ft_busy();                     \
            found_ = (look);               \
            ft_idle();                     \
        } while (life_ != ft_threads_life);\
        found_;                            \
    })

bool ft_threads_replays(void) { return WHOLE(is_given_more()); }

bool ft_threads_ended(void) { return WHOLE(have_all_ended()); }

void ft_threads_arrived(const struct ft_outcome *o)
{
    if (!has_no_order(o) && !was_begun(o))
        mark(begun(o));
}

static bool is_turn(uint64_t number, uint64_t b)
{
    (void)b;
    return atomic_load(&happened) + 1 >= number;
}

void ft_threads_await_turn(uint64_t number)
{
    if (number)
        wait_until(is_turn, number, 0);
    ft_thread.giving = number;
}

void ft_threads_given(uint64_t number)
{
    ft_thread.giving = 0;
    if (number)
        mark(number);
}

uint64_t ft_threads_number(void) { return ++count; }

/* A number without a record would be waited for by every replay. */
struct ft_outcome *ft_threads_record(enum ft_call_kind kind, uint64_t what, uint32_t most)
{
    struct ft_outcome *o = ft_outcome_begin(ft_thread.log, (uint16_t)kind, what, most, count + 1);

    count += o != NULL;
    return o;
}

void ft_threads_resolved(void)
{
    if (!ft_thread.resolves)
        return;
    ft_thread.resolves = false;
    ft_threads_lock();
    if (--unresolved == 0)
        ft_descriptors_sweep();
    ft_threads_unlock();
}

bool ft_threads_all_resolved(void) { return unresolved == 0; }

bool ft_threads_resolves_last(void) { return unresolved == (int)ft_thread.resolves; }

/* ---- lock operations ---- */

/* Threads with neighbouring numbers write to different lines of the cache. */
_Atomic uint64_t *ft_threads_published(uint32_t thread)
{
    enum { LINES = FT_OUTCOME_THREADS / 8 };

    return &ft_recorder.log.words->locks[thread % LINES * 8 + thread / LINES];
}

uint64_t ft_threads_before(uint32_t thread) { return before[thread]; }

void ft_threads_passed(void)
{
    uint32_t n = ft_thread.number;

    atomic_store(&passed[n], ft_thread.locks);
    if (ft_thread.locks == before[n])
        atomic_fetch_sub(&owing, 1);
    move();
}

static bool has_passed(uint64_t thread, uint64_t so_many) { return atomic_load(&passed[thread]) > so_many; }

void ft_threads_await(uint32_t thread, uint64_t so_many) { wait_until(has_passed, thread, so_many); }

/* All have been given all: what this thread has not looked at since was others', and may have been released. */
struct ft_outcome *ft_log_next(void)
{
    if (!atomic_load(&ft_threads_replay))
        ft_thread.log->at = ft_max(ft_thread.log->at, ft_thread.log->end);
    return ft_outcome_next(ft_thread.log);
}

void ft_log_take(struct ft_outcome *o) { ft_outcome_pass(ft_thread.log, o); }

struct ft_outcome *ft_log_put(uint16_t kind, uint64_t what, int64_t result, int error)
{
    struct ft_outcome *o = NULL;

    ft_threads_lock();
    if (ft_recorder.on)
        o = ft_outcome_begin(ft_thread.log, kind, what, 0, 0);
    if (o) {
        o->result = result;
        o->error = error;
        ft_outcome_done(ft_thread.log, o, 0, 0);
    }
    ft_threads_unlock();
    return o;
}
