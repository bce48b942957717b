/* SPDX-License-Identifier: BSD-3-Clause */
/* Orphans of a dead rank: none of them lives when ft_reap_signal has found none (RULE 15). */
#include <criterion/criterion.h>

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launcher/base/procstat.h"
#include "launcher/base/reap.h"

enum { DEEP = 4, ROUNDS = 100, LOOKS = 100, MUCH = 64 << 20 };

/* Each in a session of its own, and the child of the one before; they say that they are there. */
static void descend(int fd)
{
    pid_t pid;

    for (int depth = 0; depth <= DEEP; depth++) {
        if (depth && fork() != 0)
            break;
        setsid();
    }
    pid = getpid();
    if (write(fd, &pid, sizeof pid) != sizeof pid)
        _exit(1);
    for (;;)
        pause();
}

/* Who is listed and dies before it is looked at leaves children that are not in the list: nobody was found, and somebody lived. Seen in
   trees.sh at a load of 70: a rank's successor met its predecessor's children. */
Test(reap, children_of_one_who_dies_while_he_is_looked_for_are_found)
{
    const pid_t none = 0;
    struct ft_leaders leaders = {.pids = &none, .n = 1, .job = "none"};
    struct ft_procstat stat;
    pid_t pids[DEEP + 1], one, lives;
    int fds[2];

    cr_assert_eq(pipe(fds), 0);
    cr_assert_eq(ft_reap_adopt(), 0);
    for (int round = 0; round < ROUNDS; round++) {
        if (fork() == 0)
            descend(fds[1]);
        for (int i = 0; i <= DEEP; i++)
            cr_assert_eq(read(fds[0], &pids[i], sizeof pids[i]), (ssize_t)sizeof pids[i]);
        while (ft_reap_signal(&leaders, 0, 0, SIGKILL, &one))
            ;
        lives = 0;
        for (int i = 0; i <= DEEP; i++)
            if (ft_procstat_read(pids[i], &stat) && stat.state != 'Z') {
                lives = pids[i];
                kill(pids[i], SIGKILL);
            }
        cr_assert_not(lives, "round %d: %d lives", round, lives);
    }
}

/* A child of rank 0, in a session of its own, that takes long to die; its child, in another, is not ours before. */
static void have_much(int fd)
{
    struct ft_procstat stat;
    pid_t pids[2] = {getpid()};
    char *much = malloc(MUCH);

    setsid();
    if (!much || !ft_procstat_read(getpid(), &stat) || !stat.environment)
        _exit(1);
    memset(much, 1, MUCH);
    strcpy((char *)stat.environment, "FTMPI_RANK=0"); /* where /proc shows it; setenv would not be seen there */
    pids[1] = fork();
    if (pids[1] == 0)
        setsid();
    else if (write(fd, pids, sizeof pids) != sizeof pids)
        _exit(1);
    for (;;)
        pause();
}

/* Who is dying has no memory, and so no environment, any more; Linux 6.18 refuses to open it. It was taken for somebody else's process and nobody
   was found, while its children lived. Seen in trees.sh with jitter. */
Test(reap, who_takes_long_to_die_is_ours_until_it_is_dead)
{
    const pid_t none = 0;
    struct ft_leaders leaders = {.pids = &none, .n = 1, .job = "none"};
    struct ft_procstat stat;
    pid_t pids[2], one;
    int fds[2], live;

    cr_assert_eq(pipe(fds), 0);
    cr_assert_eq(ft_reap_adopt(), 0);
    for (int round = 0; round < ROUNDS / 10; round++) {
        if (fork() == 0)
            have_much(fds[1]);
        cr_assert_eq(read(fds[0], pids, sizeof pids), (ssize_t)sizeof pids);
        while (ft_reap_signal(&leaders, 0, -1, SIGKILL, &one))
            ;
        live = 0;
        for (int i = 0; i < 2; i++) {
            live += ft_procstat_read(pids[i], &stat);
            kill(pids[i], SIGKILL);
        }
        cr_assert_eq(live, 0, "round %d: %d live", round, live);
    }
}

/* In exec all day long, with the job's id in its environment, and nobody's child that we know. Its pid, once it is in the first one: until then
   the kernel shows our environment for it. */
static pid_t start_stranger(void)
{
    int fds[2];
    pid_t pid;
    char end;

    cr_assert_eq(pipe2(fds, O_CLOEXEC), 0);
    if (fork() == 0) {
        pid = fork();
        if (pid != 0)
            _exit(write(fds[1], &pid, sizeof pid) != sizeof pid);
        setenv("FTMPI_JOB", "stranger", 1);
        setenv("FTMPI_RANK", "5", 1);
        execl("/bin/sh", "exec sh -c \"$0\" \"$0\"", "-c", "exec sh -c \"$0\" \"$0\"", "exec sh -c \"$0\" \"$0\"", (char *)NULL);
        _exit(127);
    }
    wait(NULL);
    cr_assert_eq(read(fds[0], &pid, sizeof pid), (ssize_t)sizeof pid);
    close(fds[1]);
    cr_assert_eq(read(fds[0], &end, 1), 0); /* exec has closed it */
    close(fds[0]);
    return pid;
}

/* Who is in exec has no environment for a moment: it was taken for somebody else's process, and lived. */
Test(reap, a_stranger_in_exec_may_be_ours)
{
    const pid_t none = 0;
    struct ft_leaders leaders = {.pids = &none, .n = 1, .job = "stranger", .strangers = true};
    pid_t pid = start_stranger(), one;
    int missed = 0;

    for (int look = 0; look < LOOKS; look++)
        missed += ft_reap_signal(&leaders, 0, 0, 0, &one) == 0;
    kill(pid, SIGKILL);
    cr_assert_eq(missed, 0, "%d of %d looks did not see it", missed, LOOKS);
}

/* Several nodes of a job are on one host, and all have its id: each looks for its own ranks' processes only. */
Test(reap, a_stranger_of_another_node_is_left_alone)
{
    const pid_t none = 0;
    const uint32_t theirs = 4, ours = 5;
    struct ft_leaders leaders = {.pids = &none, .n = 1, .job = "stranger", .ranks = &theirs, .strangers = true};
    pid_t pid = start_stranger(), one;
    int apart = 0, missed = 0;

    for (int look = 0; look < LOOKS; look++)
        apart += ft_reap_signal(&leaders, 0, 0, SIGKILL, &one) == 0; /* who is in exec may be ours for a moment */
    leaders.ranks = &ours;
    for (int look = 0; look < LOOKS; look++)
        missed += ft_reap_signal(&leaders, 0, 0, 0, &one) == 0;
    cr_expect(kill(pid, SIGKILL) == 0, "it was killed");
    cr_expect_gt(apart, 0, "it was taken for one of ours each time");
    cr_expect_eq(missed, 0, "%d of %d looks did not see it", missed, LOOKS);
}
