/* SPDX-License-Identifier: BSD-3-Clause */
/* An agent for one rank of the tests: starts a program with the recorder preloaded, has copies made, kills the rank and wakes a
   copy, and says at the end what it did.

     outcome_agent [-s SEED] [-k KILLS] [-t MAXUS | -p MAXCALLS] [-c CUTUS] [-m MIB] [-z] [-x POINTS] [-l FILE] [-C STOP] [-i FILE] [-P PEER] PROGRAM [ARGUMENT...]

     -k, -t   kills it so many times, each after a random time of at most MAXUS microseconds
     -k, -p   kills it so many times, each at one of the next MAXCALLS system calls: as it enters it, as it leaves it, or, or in the middle of
              the next write: the kernel is given less to write, and the rank is killed as it leaves that
     -c       has a copy made each CUTUS microseconds (0: none but snapshot zero)
     -m       so much memory for the log
     -z       kills the newest copy before it wakes one: snapshot zero is what is left
     -i       standard input, written to a pipe
     -x       N.K,M.L: kills it there (points.c), and the next incarnation at the next point
     -L       P.N,Q.M: kills it at points of lock operations or of cuts (enum ft_lock_point, ft_cut_point): when it comes to P for the N-th
              time; the next one at Q. Of a cut it may be a copy that comes there. A line says which copy was woken for it: "point 20 copy 4 woken 3"
     -l       a file: all points of the incarnation that is not killed
     -C       the first incarnation has a copy made from this stop on
     -P       a command that runs beside it, with the descriptor of the memory as its last argument

   The line at the end, and the exit code, are the rank's: "code 0 kills 3 named 2 zero 1 cuts 5 torn 0 copies 0 stops 0 locks 0 records 120 log 7680 lost 0". */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ft/outcome/test/agent.h"
#include "ft/shm/wait.h"
#include "ft/shm/word.h"

enum { LIMIT_S = 120 };

uint64_t agent_random(struct agent *a)
{
    a->seed ^= a->seed << 13;
    a->seed ^= a->seed >> 7;
    a->seed ^= a->seed << 17;
    return a->seed * 2685821657736338717ull >> 16;
}

static void die(const char *what)
{
    fprintf(stderr, "outcome_agent: %s: %s\n", what, strerror(errno));
    exit(99);
}

/* ---- the rank's process ---- */

static void become_rank(const struct agent *a, char **argv)
{
    char fds[64], life[40];
    struct f_owner_ex owner = {F_OWNER_PGRP, getpid()};
    int tie, in[2];

    setpgid(0, 0);
    snprintf(life, sizeof life, "/proc/self/fd/%d", a->life[0]);
    tie = open(life, O_RDONLY | O_NONBLOCK);
    if (tie < 0 || fcntl(tie, F_SETOWN_EX, &owner) < 0 || fcntl(tie, F_SETSIG, SIGKILL) < 0 ||
        fcntl(tie, F_SETFL, O_ASYNC | O_NONBLOCK) < 0)
        _exit(98);
    snprintf(fds, sizeof fds, "%d,%d,%d", fcntl(a->memory, F_DUPFD, 100), fcntl(a->bell, F_DUPFD, 101), fcntl(tie, F_DUPFD, 102));
    close(tie);
    setenv(TEST_FDS, fds, 1);
    if (*getenv("FT_TEST_PRELOAD"))
        setenv("LD_PRELOAD", getenv("FT_TEST_PRELOAD"), 1);
    if (a->input) { /* small enough for a pipe */
        char text[65536];
        int file = open(a->input, O_RDONLY | O_CLOEXEC);
        ssize_t n = read(file, text, sizeof text);

        if (pipe(in) < 0 || write(in[1], text, (size_t)n) != n)
            _exit(98);
        close(file);
        close(in[1]);
        dup2(in[0], 0);
        close(in[0]);
    }
    execvp(argv[0], argv);
    _exit(127);
}

static void start(struct agent *a, char **argv)
{
    char memory[16], command[1024];

    atomic_store(&a->shared->block.snap.want, a->number = ++a->numbers); /* snapshot zero */
    atomic_store(&a->shared->begins, a->points.used ? TEST_HELD : TEST_FREE);
    a->rank = fork();
    if (a->rank == 0)
        become_rank(a, argv);
    a->pidfd = (int)syscall(SYS_pidfd_open, a->rank, 0);
    if (a->points.used)
        points_arm(a);
    if (!a->peer)
        return;
    a->peer_pid = fork();
    if (a->peer_pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        snprintf(memory, sizeof memory, "%d", fcntl(a->memory, F_DUPFD, 100));
        snprintf(command, sizeof command, "exec %s %s", a->peer, memory);
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
}

/* ---- copies ---- */

static void end_copy(struct slot *s)
{
    if (s->pid)
        kill(s->pid, SIGKILL);
    if (s->pid)
        waitpid(s->pid, NULL, __WALL);
    s->pid = 0;
}

static bool has_died(pid_t pid)
{
    int status;

    return pid && waitpid(pid, &status, WNOHANG | __WALL) == pid;
}

static void wake_copy(struct agent *a);

/* Copies that were killed, also before they stood, or when they were to wake up. */
static void look_for_dead_copies(struct agent *a)
{
    struct ft_snap_words *w = &a->shared->block.snap;

    for (int i = 0; i < SLOTS; i++) {
        pid_t pid = a->slots[i].pid;

        if (!has_died(pid))
            continue;
        a->copies++;
        a->slots[i].pid = 0;
        if (a->waking && (pid_t)ft_look(&w->waker) == pid && ft_look(&w->copied) != atomic_load(&a->shared->block.incarnation)) {
            --*a->back;
            wake_copy(a);
        }
    }
    if (a->number && ft_look(&w->forked) == a->number && ft_look(&w->taken) != a->number && has_died((pid_t)ft_look(&w->child))) {
        a->copies++;
        ft_announce(&w->want, 0);
        a->number = 0;
    }
}

static void look_for_taken(struct agent *a)
{
    struct ft_snap_words *w = &a->shared->block.snap;
    struct slot made = {(pid_t)ft_look(&w->pid), w->at.outcomes.end, w->closings, a->number};

    if (!a->number || ft_look(&w->taken) != a->number)
        return;
    if (a->number == 1) {
        a->slots[ZERO] = made;
    } else {
        struct slot old = a->slots[NAMED];

        a->slots[NAMED] = made;
        end_copy(&old);
        a->cuts++;
    }
    a->cut_ns = ft_clock_ns() + (uint64_t)a->cut_us * 1000; /* on a busy machine, too, it does more than make copies */
    atomic_store(&a->shared->stands, a->number);
    a->number = 0;
    if (a->slots[NAMED].pid && !a->slots[ZERO].pid)
        ft_outcome_log_hold(a->words, a->slots[NAMED].number, a->slots[NAMED].outcome);
}

/* Zero goes when a newer copy stands and half of the log is full. */
static void end_zero(struct agent *a)
{
    if (a->slots[NAMED].pid && a->slots[ZERO].pid && !a->only_zero && atomic_load(&a->words->tail) > (uint64_t)a->mib << 19) {
        end_copy(&a->slots[ZERO]);
        ft_outcome_log_hold(a->words, a->slots[NAMED].number, a->slots[NAMED].outcome);
    }
}

void agent_ask(struct agent *a)
{
    a->number = ++a->numbers;
    atomic_store(&a->shared->block.snap.pid, 0);
    ft_publish(&a->shared->block.snap.want, a->number);
}

static void ask_for_copy(struct agent *a, uint64_t now)
{
    uint64_t asked = atomic_load(&a->shared->asked);

    if (a->number && ft_look(&a->shared->block.snap.refused) == a->number)
        a->number = 0; /* a thread stood in the way: that may be over */
    if (a->number || a->waking || ((!a->cut_us || now < a->cut_ns) && asked == a->asked))
        return;
    a->asked = asked;
    agent_ask(a);
}

static void wake(struct agent *a)
{
    struct ft_snap_words *w = &a->shared->block.snap;

    if (a->number && ft_look(&w->taken) == a->number)
        look_for_taken(a);
    if (a->number) { /* it was being made: one that has been begun sees that it is given up */
        pid_t half = (pid_t)ft_look(&w->pid);

        if (!half && ft_look(&w->forked) == a->number)
            half = (pid_t)ft_look(&w->child);
        ft_note(&w->want, 0);
        ft_announce(&w->given_up, a->number);
        if (half && half != a->slots[ZERO].pid && half != a->slots[NAMED].pid)
            end_copy(&(struct slot){.pid = half});
        a->number = 0;
    }
    ft_announce(&w->want, 0); /* an older copy than that has another number as its last one: it would make this one again */
    look_for_dead_copies(a);
    wake_copy(a);
}

static void wake_copy(struct agent *a)
{
    struct ft_snap_words *w = &a->shared->block.snap;
    uint64_t closings = atomic_load(&a->words->closings);
    struct slot *s = &a->slots[NAMED];

    if (a->only_zero && s->pid && a->slots[ZERO].closings >= closings)
        end_copy(s);
    if (!s->pid || s->closings < closings)
        s = &a->slots[ZERO];
    if (!s->pid || s->closings < closings) {
        printf("closed: %s\n", a->words->why);
        exit(96);
    }
    a->back = s == &a->slots[ZERO] ? &a->zero : &a->named;
    ++*a->back;
    a->woken = s->number;
    a->waking = true;
    atomic_fetch_add(&a->shared->block.incarnation, 1);
    ft_note(&w->waker, (uint64_t)s->pid);
    ft_publish(&w->wake, atomic_load(&a->shared->block.incarnation));
    ft_wake(&w->wake);
}

/* By itself, at a point of a lock operation or of a cut; or by us. */
static void was_killed(struct agent *a)
{
    a->killed += a->lock_kills;
    a->dead = a->rank;
    wake(a);
}

static void look_for_copy(struct agent *a)
{
    struct ft_snap_words *w = &a->shared->block.snap;

    if (!a->waking || ft_look(&w->copied) != atomic_load(&a->shared->block.incarnation))
        return;
    a->waking = false;
    a->rank = (pid_t)ft_look(&w->copy);
    if (!a->rank)
        die("the copy cannot fork");
    a->pidfd = (int)syscall(SYS_pidfd_open, a->rank, 0);
    if (a->pidfd < 0) { /* it died before it was known, and look_for_orphans has waited for it */
        agent_say_point(a);
        was_killed(a);
        return;
    }
    if (a->points.used)
        points_arm(a);
    else
        kills_arm(a);
    agent_say_point(a);
    ft_publish(&w->run, atomic_load(&a->shared->block.incarnation));
    ft_wake(&w->run);
}

void agent_kill(struct agent *a)
{
    a->killed++;
    a->kill_ns = UINT64_MAX;
    kill(a->rank, SIGKILL);
}

/* ---- all of it ---- */

static uint64_t count_locks(const struct agent *a)
{
    uint64_t all = 0;

    for (uint32_t i = 0; i < FT_OUTCOME_THREADS; i++)
        all += atomic_load(&a->words->locks[i]);
    return all;
}

static int finish(struct agent *a, int status)
{
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);

    for (int i = 0; i < SLOTS; i++)
        end_copy(&a->slots[i]);
    if (a->number && ft_look(&a->shared->block.snap.taken) == a->number)
        kill((pid_t)ft_look(&a->shared->block.snap.pid), SIGKILL);
    if (a->peer_pid) {
        kill(a->peer_pid, SIGKILL);
        waitpid(a->peer_pid, NULL, 0);
    }
    fprintf(stderr, "code %d kills %ld named %ld zero %ld cuts %ld torn %ld copies %ld stops %ld locks %llu records %llu log %llu lost %llu%s%s\n", code, a->killed, a->named, a->zero,
            a->cuts, a->torn, a->copies, a->points.stop, (unsigned long long)count_locks(a), (unsigned long long)atomic_load(&a->words->done), (unsigned long long)atomic_load(&a->words->tail),
            (unsigned long long)atomic_load(&a->words->differs), a->words->how[0] ? ": " : a->words->told[0] ? " told: " : "",
            a->words->how[0] ? a->words->how : a->words->told);
    return code;
}

/* A replay that differs is a defect here. */
static void stop_if_lost(struct agent *a, int status)
{
    if (atomic_load(&a->words->differs))
        exit(finish(a, status));
}

static bool tell_named(struct agent *a, pid_t pid, int status, const struct rusage *usage)
{
    return ft_outcome_orphan(a->words, pid, status, usage, a->waking ? 0 : a->rank, atomic_load(&a->shared->block.incarnation));
}

/* Children of a rank that was killed. */
static void look_for_orphans(struct agent *a)
{
    siginfo_t info;
    struct rusage usage;
    char path[64], text[4096];
    int list = -1, pid;
    ssize_t n;

    snprintf(path, sizeof path, "/proc/self/task/%d/children", getpid());
    list = open(path, O_RDONLY | O_CLOEXEC);
    n = read(list, text, sizeof text - 1);
    close(list);
    text[n < 0 ? 0 : n] = 0;
    for (char *at = text, *end; (pid = (int)strtol(at, &end, 10)); at = end) {
        if (pid == a->rank || pid == a->peer_pid || pid == a->slots[ZERO].pid || pid == a->slots[NAMED].pid ||
            pid == (pid_t)ft_look(&a->shared->block.snap.pid) || pid == (pid_t)ft_look(&a->shared->block.snap.child) ||
            pid == (pid_t)ft_look(&a->shared->block.snap.copy))
            continue;
        info.si_pid = 0;
        if (syscall(SYS_waitid, P_PID, pid, &info, WEXITED | WNOHANG | WNOWAIT, &usage) < 0 || !info.si_pid)
            continue;
        int status = info.si_code == CLD_EXITED ? (info.si_status & 0xff) << 8 : info.si_status;

        if (!tell_named(a, pid, status, &usage)) {
            ft_outcome_stray(a->words, pid, status, &usage);
            tell_named(a, pid, status, &usage); /* as ft_orphans_ended */
        }
        waitpid(pid, NULL, WNOHANG);
    }
}

void agent_look(struct agent *a)
{
    if (a->killed)
        look_for_orphans(a);
    look_for_taken(a);
    look_for_dead_copies(a);
    look_for_copy(a);
    end_zero(a);
}

/* The rank has stopped or ended. One that is traced all the time stops whenever there is something to do: it is waited for, but not
   forever. */
static bool has_changed(struct agent *a, int *status)
{
    return waitpid(a->rank, status, (a->points.used && !a->killed ? 0 : WNOHANG) | __WALL) == a->rank;
}

static void on_alarm(int number) { (void)number; }

static int run(struct agent *a)
{
    struct pollfd p = {.fd = a->bell, .events = POLLIN};
    bool armed = false;
    uint64_t rung;
    sigset_t child;

    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child, NULL);
    for (;;) {
        uint64_t now = ft_clock_ns();
        int status;

        if (poll(&p, 1, 0) > 0 && read(a->bell, &rung, sizeof rung) < 0)
            die("bell");
        agent_look(a);
        if (!armed && !a->points.used && a->slots[ZERO].pid) {
            armed = true;
            kills_arm(a);
        }
        ask_for_copy(a, now);
        if (now > a->kill_ns && !a->waking)
            agent_kill(a);
        if (now - a->start_ns > LIMIT_S * 1000000000ull) {
            agent_tell_hang(a);
            for (int i = 0; i < SLOTS; i++)
                end_copy(&a->slots[i]);
            kill(a->rank, SIGKILL);
            return 97;
        }
        if (!a->waking && has_changed(a, &status)) {
            if (WIFSTOPPED(status)) {
                if (a->points.used)
                    points_stop(a, status);
                else
                    kills_stop(a, status);
                continue;
            }
            close(a->pidfd);
            if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL)
                return finish(a, status);
            stop_if_lost(a, status);
            was_killed(a);
        }
        sigtimedwait(&child, NULL, &(struct timespec){.tv_nsec = 50000}); /* what is in shared memory gives no signal */
    }
}

int main(int argc, char **argv)
{
    struct agent a = {.seed = 1, .mib = 64};
    const char *lock_kills = NULL;
    uint64_t bytes;
    int option, code;

    while ((option = getopt(argc, argv, "+s:k:t:p:c:m:zi:P:x:l:L:C:")) != -1) {
        switch (option) {
        case 's': a.seed = strtoull(optarg, NULL, 10); break;
        case 'k': a.kills = atol(optarg); break;
        case 't': a.max_us = atol(optarg); break;
        case 'p': a.max_calls = atol(optarg); break;
        case 'c': a.cut_us = atol(optarg); break;
        case 'm': a.mib = atol(optarg); break;
        case 'z': a.only_zero = true; break;
        case 'i': a.input = optarg; break;
        case 'P': a.peer = optarg; break;
        case 'x':
            if (!points_read(&a.points, optarg))
                return 2;
            a.points.used = true;
            break;
        case 'l':
            a.points.list = fopen(optarg, "we");
            a.points.used = true;
            if (!a.points.list)
                die(optarg);
            break;
        case 'L': lock_kills = optarg; break;
        case 'C': a.points.copy_at = atol(optarg); break;
        default: return 2;
        }
    }
    if (optind == argc || !getenv("FT_TEST_PRELOAD"))
        return 2;
    a.seed = a.seed * 1299709 + 1;
    for (int i = 0; i < 8; i++)
        agent_random(&a);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    bytes = LOG_AT + ((uint64_t)a.mib << 20) + (1 << 20);
    a.memory = memfd_create("outcomes", MFD_CLOEXEC);
    if (a.memory < 0 || ftruncate(a.memory, (off_t)bytes) < 0)
        die("memory");
    a.shared = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, a.memory, 0);
    if (a.shared == MAP_FAILED)
        die("memory");
    a.shared->bytes = bytes;
    a.lock_kills = lock_kills != NULL;
    if (lock_kills && !agent_read_lock_kills(&a, lock_kills))
        return 2;
    a.words = (struct ft_outcome_words *)(void *)((char *)a.shared + LOG_AT);
    a.bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (a.bell < 0 || pipe2(a.life, O_CLOEXEC) < 0)
        die("descriptors");
    sigaction(SIGALRM, &(struct sigaction){.sa_handler = on_alarm}, NULL);
    if (a.points.used)
        setitimer(ITIMER_REAL, &(struct itimerval){{1, 0}, {1, 0}}, NULL);
    a.start_ns = ft_clock_ns();
    a.kill_ns = UINT64_MAX;
    start(&a, argv + optind);
    code = run(&a);
    return code;
}
