/* SPDX-License-Identifier: BSD-3-Clause */
/* Who sleeps on a word is woken by who publishes it (ft/shm/wait.h), whoever makes the barriers: of
   20,000 times that two processes meet, each asleep or about to be when the other one comes, none
   waits until its sleep is over. (That a barrier were missing would hardly be seen here: without
   any, none of 300,000 was lost, with 40 stores to cold memory before each publication. Why there
   is none missing is in docs/internals/waiting.md.) */
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

enum { ROUNDS = 20000, LOST_NS = 500000000 };

static struct shared {
    _Alignas(FT_LINE) _Atomic uint64_t word[2][FT_LINE / 8];
    _Alignas(FT_LINE) _Atomic uint8_t asleep[8];
    _Alignas(FT_LINE) _Atomic uint64_t lost[2];
} *shared;

/* Whatever the compiler thinks of a loop that does nothing. */
static void linger(unsigned turns)
{
    for (unsigned i = 0; i < turns; i++)
        atomic_signal_fence(memory_order_seq_cst);
}

static void meet(const struct ft_patience *p)
{
    _Atomic uint64_t *mine = &shared->word[p->self][0], *theirs = &shared->word[1 - p->self][0];
    unsigned seed = p->self;
    uint64_t seen;

    for (uint64_t round = 1; round <= ROUNDS; round++) {
        uint64_t began;

        linger((unsigned)rand_r(&seed) % 4096);
        ft_wait_announce(p, mine, round);
        while ((seen = ft_look(theirs)) < round) {
            began = ft_clock_ns();
            ft_wait_sleep(p, theirs, seen, LOST_NS);
            if (ft_clock_ns() - began >= LOST_NS)
                atomic_store(&shared->lost[p->self], shared->lost[p->self] + 1);
        }
    }
}

static void both_meet(bool registers)
{
    struct ft_patience p = { .sleeps = true, .nasleep = 8 };
    int status;
    pid_t child;

    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    cr_assert_neq(shared, MAP_FAILED);
    p.asleep = shared->asleep;
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

/* The others do not fence what they publish, and it cannot make their barriers: it was woken only when its sleep was over, if its flag was not seen. Now
   nobody has to see it go up. */
Test(wait, who_may_not_make_barriers_is_always_woken)
{
    _Alignas(8) _Atomic uint8_t asleep[8] = {0};
    struct ft_patience p = { .sleeps = true, .nasleep = 8, .self = 3, .asleep = asleep };
    _Atomic uint64_t word = 1;

    if (!ft_wait_can_register() || !forbid_membarrier())
        cr_skip_test("no membarrier(2) here, or no filter");
    cr_assert(!ft_wait_can_register());
    ft_wait_begin(&p, true);
    cr_assert(!p.unfenced && p.loud && asleep[3] == 1);
    ft_wait_sleep(&p, &word, 1, 1000000);
    cr_assert_eq(asleep[3], 1);
    ft_wait_begin(&p, false); /* nobody can, so all fence */
    cr_assert(!p.unfenced && !p.loud && asleep[3] == 0);
    ft_wait_sleep(&p, &word, 1, 1000000);
    cr_assert_eq(asleep[3], 0);
}
