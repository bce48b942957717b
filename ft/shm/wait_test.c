/* SPDX-License-Identifier: BSD-3-Clause */
/* Who sleeps is rung by who publishes what it waits for (ft/shm/doorbell.h), and by nobody else; whoever makes the barriers: of
   20,000 times that two processes meet, each asleep or about to be when the other one comes, none
   waits until its sleep is over. (That a barrier were missing would hardly be seen here: without
   any, none of 300,000 was lost, with 40 stores to cold memory before each publication. Why there
   is none missing is in docs/internals/waiting.md. That the order of steps is right the explorer finds, ft/test/explore.c;
   several words: ft/test/doorbell.c.) */
#include "ft/shm/wait.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROUNDS = 20000, LOST_NS = 60000000 };

static struct shared {
    _Alignas(FT_LINE) _Atomic uint64_t word[2][FT_LINE / 8];
    _Alignas(FT_LINE) _Atomic uint64_t published_ns[2];
    _Alignas(FT_LINE) _Atomic uint8_t asleep[8];
    struct ft_doorbell doorbell[8];
    _Alignas(FT_LINE) _Atomic uint64_t lost[2];
} *shared;

/* Whatever the compiler thinks of a loop that does nothing. */
static void linger(unsigned turns)
{
    for (unsigned i = 0; i < turns; i++)
        atomic_signal_fence(memory_order_seq_cst);
}

/* It slept as long as it may, the word was there long before, and nobody had rung. */
static bool is_lost(const struct ft_patience *p, const struct ft_wait *w, uint64_t round)
{
    return ft_look(&shared->word[1 - p->self][0]) >= round && atomic_load(&shared->doorbell[p->self].rings) == w->heard &&
           ft_clock_ns() - atomic_load(&shared->published_ns[1 - p->self]) > LOST_NS;
}

static void meet(const struct ft_patience *p)
{
    _Atomic uint64_t *mine = &shared->word[p->self][0], *theirs = &shared->word[1 - p->self][0];
    unsigned seed = p->self;

    for (uint64_t round = 1; round <= ROUNDS; round++) {
        struct ft_wait w;

        linger((unsigned)rand_r(&seed) % 4096);
        atomic_store(&shared->published_ns[p->self], ft_clock_ns());
        ft_wait_announce(p, FT_AWAIT_SHOWN, 0, mine, round);
        w = ft_wait_for(p, &(struct ft_await){ .kind = FT_AWAIT_SHOWN, .rank = 1 - p->self, .unit = round - 1 });
        w.since_ns = 1; /* for long: then a sleep is as long as any, 128 ms */
        while (ft_look(theirs) < round)
            if (ft_wait_turn_within(&w, p, UINT64_MAX) && is_lost(p, &w, round))
                atomic_store(&shared->lost[p->self], shared->lost[p->self] + 1);
        ft_wait_over(&w, p);
    }
}

static void both_meet(bool registers)
{
    struct ft_patience p = { .sleeps = true };
    int status;
    pid_t child;

    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    cr_assert_neq(shared, MAP_FAILED);
    p.doorbells = (struct ft_doorbells){ .asleep = shared->asleep, .nasleep = 8, .of = shared->doorbell };
    child = fork();
    cr_assert_geq(child, 0);
    p.self = child == 0;
    ft_wait_begin(&p, registers); /* the child again, as a woken snapshot does */
    cr_assert(p.unfenced == registers && !p.loud);
    meet(&p);
    if (child == 0)
        _exit(0);
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert_eq(status, 0);
    cr_assert_eq(shared->lost[0], 0);
    cr_assert_eq(shared->lost[1], 0);
    munmap(shared, sizeof *shared);
}

Test(wait, publishers_that_fence_wake_sleepers, .timeout = 120) { both_meet(false); }

Test(wait, sleepers_that_fence_for_publishers_are_woken, .timeout = 120)
{
    if (!ft_wait_can_register())
        cr_skip_test("no membarrier(2) here");
    both_meet(true);
}

/* As a container's filter may. False: it cannot be had. */
static bool forbid_membarrier(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof code / sizeof *code, code};

    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/* ---- one process: who is rung ---- */

static _Alignas(8) _Atomic uint8_t asleep[16];
static struct ft_doorbell doorbell[16];

static struct ft_patience rank(uint32_t self)
{
    return (struct ft_patience){ .sleeps = true, .self = self, .doorbells = { .asleep = asleep, .nasleep = 16, .of = doorbell } };
}

/* Its flag is up, and it is about to sleep. */
static struct ft_wait about_to_sleep(const struct ft_patience *p, const struct ft_await *a)
{
    struct ft_wait w = ft_wait_for(p, a);

    cr_assert_not(ft_wait_turn_within(&w, p, 1000000));
    cr_assert(w.due && asleep[p->self] == FT_ASLEEP);
    return w;
}

/* How often rank 9 is rung when rank r publishes this. */
static uint32_t rings(uint32_t r, enum ft_await_kind kind, uint32_t stream, uint64_t below)
{
    struct ft_patience p = rank(r);
    uint32_t before = atomic_load(&doorbell[9].rings);
    _Atomic uint64_t word = 0;

    ft_wait_announce(&p, kind, stream, &word, below);
    cr_assert_eq(word, below);
    return atomic_load(&doorbell[9].rings) - before;
}

Test(wait, a_sleeper_is_rung_for_what_it_waits_for)
{
    struct ft_patience p = rank(9), other = rank(1);
    struct ft_wait w, others;

    cr_assert_eq(rings(3, FT_AWAIT_DONE, 2, 8), 0, "nobody sleeps");
    others = about_to_sleep(&other, &(struct ft_await){ .kind = FT_AWAIT_SHOWN, .rank = 2 });
    w = about_to_sleep(&p, &(struct ft_await){ .kind = FT_AWAIT_DONE, .stream = 2, .rank = 3, .all = true, .unit = 7 });
    cr_assert_eq(rings(3, FT_AWAIT_DONE, 2, 8), 1);
    cr_assert_eq(rings(3, FT_AWAIT_DONE, 2, 9), 1, "no less for that it has been rung before");
    cr_assert_eq(rings(3, FT_AWAIT_DONE, 2, 7), 0, "the unit before");
    cr_assert_eq(rings(3, FT_AWAIT_DONE, 1, 8), 0, "another stream");
    cr_assert_eq(rings(3, FT_AWAIT_CONTRIBUTED, 2, 8), 0, "another thing");
    cr_assert_eq(rings(4, FT_AWAIT_DONE, 2, 8), 0, "another rank");
    cr_assert(ft_wait_turn_within(&w, &p, UINT64_MAX), "it has been rung, so it does not sleep");
    cr_assert_eq(asleep[9], FT_AWAKE);
    cr_assert_eq(rings(3, FT_AWAIT_DONE, 2, 8), 0, "it is awake");
    ft_wait_over(&others, &other);
    cr_assert_eq(asleep[1], FT_AWAKE);
    cr_assert_eq(atomic_load(&doorbell[1].rings), 0);
}

Test(wait, who_waits_for_anything_is_rung_for_everything)
{
    struct ft_patience p = rank(9);
    struct ft_wait w = about_to_sleep(&p, &(struct ft_await){ .kind = FT_AWAIT_ASKED, .anything = true, .unit = 7 });

    cr_assert_eq(rings(3, FT_AWAIT_DONE, 2, 8), 1);
    cr_assert_eq(rings(4, FT_AWAIT_SHOWN, 0, 1), 1);
    ft_wait_over(&w, &p);
    cr_assert(!w.due && asleep[9] == FT_AWAKE);
}

/* Between its last look and its saying so somebody may have published it, who went by what was said before. */
Test(wait, who_waits_for_something_else_looks_once_more_before_it_sleeps)
{
    struct ft_patience p = rank(9);
    struct ft_await a = { .kind = FT_AWAIT_DONE, .rank = 3, .unit = 7 };
    struct ft_wait w = about_to_sleep(&p, &a);

    ft_wait_goes_on(&w, &p, &a);
    cr_assert(w.due && asleep[9] == FT_ASLEEP);
    a.unit = 8;
    ft_wait_goes_on(&w, &p, &a);
    cr_assert(!w.due && asleep[9] == FT_AWAKE);
    cr_assert_eq(ft_await_read(&doorbell[9].awaits).unit, 8);
}

Test(wait, agent_and_keeper_ring)
{
    struct ft_patience p;
    struct ft_region region;
    struct ft_params params;
    struct ft_error e;
    struct ft_wait w;

    ft_params_default(&params, 10, 2, 64u << 20);
    cr_assert_eq(ft_region_create(&region, &params, &e), 0, "%s", e.text);
    p = (struct ft_patience){ .sleeps = true, .self = 9, .doorbells = ft_doorbells_of(&region) };
    w = ft_wait_for_agent(&p);
    ft_wait_turn(&w, &p);
    ft_doorbells_tell_rank(&region, 8);
    cr_assert_eq(atomic_load(&ft_region_doorbell(&region, 9)->rings), 0);
    ft_doorbells_tell_rank(&region, 9);
    cr_assert_eq(atomic_load(&ft_region_doorbell(&region, 9)->rings), 1);
    ft_wait_over(&w, &p);
    w = ft_wait_for(&p, &(struct ft_await){ .kind = FT_AWAIT_MEMORY, .unit = 5 });
    ft_wait_turn(&w, &p);
    ft_doorbells_tell(&region, &(struct ft_announced){ .kind = FT_AWAIT_MEMORY, .below = 5 });
    cr_assert_eq(atomic_load(&ft_region_doorbell(&region, 9)->rings), 1);
    ft_doorbells_tell(&region, &(struct ft_announced){ .kind = FT_AWAIT_MEMORY, .below = 6 });
    cr_assert_eq(atomic_load(&ft_region_doorbell(&region, 9)->rings), 2);
    cr_assert(ft_wait_turn_within(&w, &p, UINT64_MAX));
    ft_region_close(&region);
}

/* The others do not fence what they publish, and it cannot make their barriers: it was woken only when its sleep was over, if its flag was not seen. Now
   nobody has to see it go up, nor what it says. */
Test(wait, who_may_not_make_barriers_is_always_rung)
{
    struct ft_patience p = rank(9);
    struct ft_wait w;

    if (!ft_wait_can_register() || !forbid_membarrier())
        cr_skip_test("no membarrier(2) here, or no filter");
    cr_assert(!ft_wait_can_register());
    ft_wait_begin(&p, true);
    cr_assert(!p.unfenced && p.loud && asleep[9] == FT_LOUD);
    cr_assert_eq(rings(4, FT_AWAIT_SHOWN, 0, 1), 1, "whatever it waits for");
    w = ft_wait_for_agent(&p);
    cr_assert_not(ft_wait_turn_within(&w, &p, 1000000));
    cr_assert(ft_wait_turn_within(&w, &p, 1000000));
    cr_assert_eq(asleep[9], FT_LOUD);
    ft_wait_begin(&p, false); /* nobody can, so all fence */
    cr_assert(!p.unfenced && !p.loud && asleep[9] == FT_AWAKE);
    cr_assert_not(ft_wait_turn_within(&w, &p, 1000000));
    cr_assert(ft_wait_turn_within(&w, &p, 1000000));
    cr_assert_eq(asleep[9], FT_AWAKE);
}
