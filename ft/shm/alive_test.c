/* SPDX-License-Identifier: BSD-3-Clause */
/* A process is seen to be alive (ft/shm/alive.h) until it ends, lets go or becomes another program, and not a moment longer: it is not when the kernel has told its parent of it,
   which is before its number is another one's. */
#include "ft/shm/alive.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ft/shm/word.h"

static struct shared {
    struct ft_alive alive;
    _Atomic uint64_t began, go;
} *shared;

static void set_up(void)
{
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    cr_assert_neq(shared, MAP_FAILED);
    ft_alive_init(&shared->alive);
}

static void tear_down(void) { munmap(shared, sizeof *shared); }

TestSuite(alive, .init = set_up, .fini = tear_down, .timeout = 60);

enum end { KILLED, LETS_GO, EXECUTES };

/* A process that begins as `who`, says so, and ends like that when it may. */
static pid_t begin(uint64_t who, enum end end)
{
    pid_t child = fork();

    cr_assert_geq(child, 0);
    if (child) {
        while (ft_look(&shared->began) != who)
            usleep(100);
        return child;
    }
    ft_publish(&shared->began, ft_alive_begin(&shared->alive, who) ? who : UINT64_MAX);
    while (ft_look(&shared->go) != who)
        usleep(100);
    if (end == EXECUTES)
        execl("/bin/sleep", "sleep", "60", (char *)NULL);
    if (end == LETS_GO && ft_alive_end(&shared->alive))
        ft_publish(&shared->go, 0);
    for (;;)
        pause();
}

static void reap(pid_t child)
{
    kill(child, SIGKILL);
    cr_assert_eq(waitpid(child, NULL, 0), child);
}

Test(alive, nobody)
{
    cr_expect(!ft_alive_is(&shared->alive, 0));
    cr_expect(!ft_alive_is(&shared->alive, 1));
}

Test(alive, until_it_is_killed)
{
    for (uint64_t who = 1; who <= 20; who++) {
        pid_t child = begin(who, KILLED);
        siginfo_t info;

        cr_assert(ft_alive_is(&shared->alive, who));
        cr_assert(!ft_alive_is(&shared->alive, who - 1));
        cr_assert(!ft_alive_begin(&shared->alive, 99)); /* and whoever tries is not taken for it, nor is it for him */
        ft_note(&shared->alive.who, who);
        kill(child, SIGKILL);
        cr_assert_eq(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
        cr_assert(!ft_alive_is(&shared->alive, who), "%llu", (unsigned long long)who);
        reap(child);
        cr_assert(!ft_alive_is(&shared->alive, who));
    }
}

Test(alive, until_it_lets_go)
{
    pid_t child = begin(7, LETS_GO);

    cr_assert(ft_alive_is(&shared->alive, 7));
    ft_publish(&shared->go, 7);
    while (ft_look(&shared->go))
        usleep(100);
    cr_expect(!ft_alive_is(&shared->alive, 7));
    cr_expect(ft_alive_begin(&shared->alive, 8));
    cr_expect(ft_alive_end(&shared->alive));
    cr_expect(!ft_alive_end(&shared->alive));
    reap(child);
}

Test(alive, until_it_is_another_program)
{
    pid_t child = begin(3, EXECUTES);

    ft_publish(&shared->go, 3);
    while (ft_alive_is(&shared->alive, 3))
        usleep(100);
    cr_expect_eq(kill(child, 0), 0);
    reap(child);
}

/* Cloned past the C library, which then takes it for its parent: whatever it holds nobody would take from it. */
Test(alive, not_if_the_kernel_does_not_know)
{
    pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
    int status;

    cr_assert_geq(child, 0);
    if (child == 0)
        _exit(ft_alive_begin(&shared->alive, 4));
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_expect_eq(status, 0);
    cr_expect(ft_alive_begin(&shared->alive, 5));
    cr_expect(ft_alive_end(&shared->alive));
}

static void *end_it(void *ended)
{
    *(bool *)ended = ft_alive_end(&shared->alive);
    return NULL;
}

/* Its memory must stay then. */
Test(alive, no_other_thread_lets_go)
{
    bool ended = true;
    pthread_t other;

    cr_assert(ft_alive_begin(&shared->alive, 5));
    cr_assert_eq(pthread_create(&other, NULL, end_it, &ended), 0);
    pthread_join(other, NULL);
    cr_expect(!ended);
    cr_expect(ft_alive_is(&shared->alive, 5));
    cr_expect(ft_alive_end(&shared->alive));
}

/* A copy that has the memory, too, is not what it is a copy of. */
Test(alive, not_by_its_copy)
{
    pid_t child;

    cr_assert(ft_alive_begin(&shared->alive, 5));
    cr_assert(ft_alive_end(&shared->alive));
    child = fork();
    cr_assert_geq(child, 0);
    if (child == 0)
        for (;;)
            pause();
    cr_expect(ft_alive_begin(&shared->alive, 5));
    cr_expect(!ft_alive_begin(&shared->alive, 6));
    cr_expect(ft_alive_end(&shared->alive));
    cr_expect(!ft_alive_is(&shared->alive, 5));
    reap(child);
}
