/* SPDX-License-Identifier: BSD-3-Clause */
/* killat [-r RANK] [POINT:N VICTIMS]... COMMAND...: runs COMMAND (ftrun), and sends SIGKILL to VICTIMS at the N-th time that
   the point is passed. Points are stops at system calls; each call is two, before it is made and after it.

     agent    the agent, whichever process that is
     front    the process that COMMAND began as, until it is the agent
     rank     RANK, whichever process that is
     take1, take2     RANK makes its first, second snapshot of itself, from the first look at itself to the fork
     born1, born2     the process that becomes its first, second snapshot, until it waits
     noted1, noted2   the agent, from the beginning of take1, take2 until the snapshot is known to it
     disk     a thread of the agent that writes a checkpoint to a file
     early    (once each) a process that comes before the call that made it has come back
     settled  (not a stop) RANK has a new snapshot, every other rank has one, and the agent sleeps again

   and of what follows the first death of RANK from our hand:

     wake     its snapshot
     copy     the copies that its snapshots make of themselves, until a little after they go on with the program
     death    the agent, until the first copy goes on

   VICTIMS, with + between them: self (who is at the point), rank (RANK's process), snap (RANK's last snapshot), ranks, snaps
   (everybody's), agent, front (the process that COMMAND began as).

   Leaves with COMMAND's exit code when every process is gone; 128 + signal; 97: processes are left over, 98: it hangs. What was
   passed how often is printed on descriptor 9, and `killed` for each POINT that was reached. */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum role { UNKNOWN, FRONT, AGENT, STANDBY, THREAD, RANK, SNAPSHOT, OTHER };
enum point { P_AGENT, P_RANK, P_TAKE1, P_TAKE2, P_BORN1, P_BORN2, P_NOTED1, P_NOTED2, P_SETTLED, P_WAKE, P_COPY, P_DEATH, P_DISK, P_EARLY, P_FRONT, NPOINTS };
enum { MOST = 512, PLANS = 8, HANG_S = 240, LEFT_S = 120, GOING_ON = 12 };

static const char *const role_names[] = {"process", "front", "agent", "standby", "thread", "rank", "snapshot", "child"};
static const char *const point_names[] = {"agent", "rank", "take1", "take2", "born1", "born2", "noted1", "noted2", "settled", "wake", "copy",
                                          "death", "disk", "early", "front"};

struct proc {
    pid_t pid;              /* 0: gone */
    enum role role;
    int rank;               /* of RANK, SNAPSHOT; -1: not known yet */
    int number;             /* of a snapshot of its rank */
    int takes;              /* snapshots that this rank has begun to make */
    bool stopped;           /* has come before its parent told of it ... */
    int seconds;            /* ... so long ago */
    bool taking, waits, copy;
    int going_on;           /* a copy: stops since it has its signals back */
    long call;              /* last system call */
};

static struct proc procs[MOST];
static struct {
    enum point point;
    long n;
    const char *victims;
    bool done;
} plans[PLANS];
static int nplans, victim_rank = 1, noting, sleeps;
static long passed[NPOINTS];
static bool disk, fronts; /* threads are looked at, and so is who only stands by */
static bool dead, back; /* RANK, by our hand; its first copy goes on */
static int code = 99;
static pid_t command;
static int left_s = HANG_S; /* until it hangs, or what is there is left over */

static struct proc *find(pid_t pid)
{
    for (int i = 0; i < MOST; i++)
        if (procs[i].pid == pid)
            return &procs[i];
    return NULL;
}

static struct proc *add(pid_t pid)
{
    struct proc *p = find(0);

    if (!p) {
        fprintf(stderr, "killat: too many processes\n");
        exit(99);
    }
    *p = (struct proc){.pid = pid, .rank = -1, .call = -1};
    return p;
}

static void list(const char *what)
{
    for (int i = 0; i < MOST; i++)
        if (procs[i].pid)
            fprintf(stderr, "killat: %s: %s %d, rank %d, number %d%s, in system call %ld\n", what, role_names[procs[i].role],
                    procs[i].pid, procs[i].rank, procs[i].number, procs[i].waits ? ", waits" : "", procs[i].call);
}

static bool is_launcher(const struct proc *p)
{
    return p->role == FRONT || p->role == AGENT || p->role == STANDBY;
}

static bool anybody(bool launchers)
{
    for (int i = 0; i < MOST; i++)
        if (procs[i].pid && (!launchers || is_launcher(&procs[i])))
            return true;
    return false;
}

static void resume(const struct proc *p, int signal)
{
    bool calls = p->role == AGENT || (fronts && p->role == FRONT) || (disk && p->role == THREAD) || p->role == SNAPSHOT ||
        (p->role == RANK && (p->rank == victim_rank || p->rank < 0));

    ptrace(calls ? PTRACE_SYSCALL : PTRACE_CONT, p->pid, NULL, (void *)(long)signal);
}

/* Who has come before its parent told of it waits to be told who it is: for ever, if the parent was killed in the call that made it. */
static void free_orphans(void)
{
    for (int i = 0; i < MOST; i++)
        if (procs[i].pid && procs[i].role == UNKNOWN && procs[i].stopped && procs[i].seconds++ > 0) {
            procs[i].role = OTHER;
            resume(&procs[i], 0);
        }
}

static bool is_victim(const struct proc *p, const struct proc *self, const char *victim, size_t n)
{
    char name[16] = "";

    memcpy(name, victim, n < sizeof name ? n : sizeof name - 1);
    return (!strcmp(name, "self") && p == self) || (!strcmp(name, "rank") && p->role == RANK && p->rank == victim_rank) ||
           (!strcmp(name, "ranks") && p->role == RANK) || (!strcmp(name, "snaps") && p->role == SNAPSHOT) ||
           (!strcmp(name, "snap") && p->role == SNAPSHOT && p->rank == victim_rank) || (!strcmp(name, "agent") && p->role == AGENT) ||
           (!strcmp(name, "front") && p->role == FRONT);
}

/* True: self is among them. */
static bool kill_them(const char *victims, const struct proc *self)
{
    bool one = false;

    for (const char *v = victims; *v; v += strcspn(v, "+"), v += *v == '+')
        for (int i = 0; i < MOST; i++)
            if (procs[i].pid && is_victim(&procs[i], self, v, strcspn(v, "+"))) {
                kill(procs[i].pid, SIGKILL);
                dead |= procs[i].role == RANK && procs[i].rank == victim_rank;
                one |= &procs[i] == self;
            }
    return one;
}

static bool pass(enum point point, const struct proc *p)
{
    bool one = false;

    passed[point]++;
    for (int i = 0; i < nplans; i++)
        if (!plans[i].done && plans[i].point == point && plans[i].n == passed[point]) {
            plans[i].done = true;
            dprintf(9, "killed %s:%ld %s, %s %d in system call %ld\n", point_names[point], plans[i].n, plans[i].victims,
                    role_names[p->role], p->pid, p->call);
            one |= kill_them(plans[i].victims, p);
        }
    return one;
}

static int rank_of(pid_t pid)
{
    char path[40], vars[65536];
    size_t n = 0;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%d/environ", pid);
    file = fopen(path, "re");
    if (file) {
        n = fread(vars, 1, sizeof vars - 1, file);
        fclose(file);
    }
    for (size_t at = 0; at < n; at += strlen(vars + at) + 1) {
        vars[n] = 0;
        if (!strncmp(vars + at, "FTMPI_RANK=", 11))
            return atoi(vars + at + 11);
    }
    return -1;
}

static bool is_thread(pid_t pid, pid_t of)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/%d/task/%d", of, pid);
    return access(path, F_OK) == 0;
}

/* Who it is follows from who made it, and how. */
static void born(const struct proc *parent, pid_t pid, int event)
{
    struct proc *p = find(pid);

    if (!p)
        p = add(pid);
    if (is_thread(pid, parent->pid))
        p->role = THREAD;
    else if (is_launcher(parent))
        p->role = event == PTRACE_EVENT_VFORK ? RANK : parent->role == FRONT && passed[P_AGENT] == 0 ? AGENT : STANDBY;
    else if (parent->role == RANK && event == PTRACE_EVENT_CLONE)
        p->role = SNAPSHOT;
    else if (parent->role == SNAPSHOT)
        p->role = RANK;
    else
        p->role = OTHER;
    if (p->role == SNAPSHOT || parent->role == SNAPSHOT)
        p->rank = parent->rank;
    p->copy = parent->role == SNAPSHOT;
    p->number = p->role == SNAPSHOT ? parent->takes : 0;
    p->takes = parent->role == SNAPSHOT ? parent->number : 0;
    if (p->stopped)
        resume(p, 0);
}

/* sigprocmask(SIG_SETMASK) with nearly everything: how ft_snapshots_take begins. */
static bool sets_mask(const struct proc *p, const struct __ptrace_syscall_info *info, bool full)
{
    long mask;

    if (info->entry.nr != SYS_rt_sigprocmask || info->entry.args[0] != SIG_SETMASK || !info->entry.args[1])
        return false;
    errno = 0;
    mask = ptrace(PTRACE_PEEKDATA, p->pid, (void *)(uintptr_t)info->entry.args[1], NULL);
    return errno == 0 && full == (__builtin_popcountl((unsigned long)mask) > 50);
}

static void begin_or_end_take(struct proc *p, const struct __ptrace_syscall_info *info)
{
    if (sets_mask(p, info, true)) {
        p->taking = true;
        p->takes++;
        if (p->rank == victim_rank)
            noting = p->takes;
    } else if (sets_mask(p, info, false)) {
        p->taking = false;
        if (p->copy && !p->going_on)
            p->going_on = 1;
    }
}

static bool at_rank(struct proc *p)
{
    bool one = false;

    if (p->rank != victim_rank)
        return false;
    one = pass(P_RANK, p);
    if (p->taking && p->takes <= 2)
        one |= pass(p->takes == 1 ? P_TAKE1 : P_TAKE2, p);
    if (p->copy && dead && p->going_on < GOING_ON)
        one |= pass(P_COPY, p);
    if (p->going_on && p->going_on++ == GOING_ON)
        back = true;
    return one;
}

static bool at_snapshot(struct proc *p)
{
    bool one = false;

    if (p->rank != victim_rank)
        return false;
    if (!p->waits && p->number <= 2)
        one = pass(p->number == 1 ? P_BORN1 : P_BORN2, p);
    else if (dead)
        one = pass(P_WAKE, p);
    return one;
}

static bool all_have_snapshots(void)
{
    for (int i = 0; i < MOST; i++) {
        bool one = false;

        if (!procs[i].pid || procs[i].role != RANK)
            continue;
        for (int j = 0; j < MOST; j++)
            one |= procs[j].pid && procs[j].role == SNAPSHOT && procs[j].rank == procs[i].rank && procs[j].waits;
        if (!one)
            return false;
    }
    return true;
}

/* It sleeps twice until it has heard of a snapshot that waits: whatever woke it first may have been something else. */
static bool at_agent(struct proc *p, bool entry)
{
    bool one = pass(P_AGENT, p);

    if (noting && noting <= 2)
        one |= pass(noting == 1 ? P_NOTED1 : P_NOTED2, p);
    if (dead && !back)
        one |= pass(P_DEATH, p);
    if (sleeps && entry && (p->call == SYS_epoll_pwait || p->call == SYS_epoll_wait) && --sleeps == 0) {
        noting = 0;
        if (all_have_snapshots())
            one |= pass(P_SETTLED, p);
        else
            sleeps = 1;
    }
    return one;
}

static bool at_thread(const struct proc *p)
{
    static const long calls[] = {SYS_unlinkat, SYS_openat, SYS_fallocate, SYS_pwrite64, SYS_fsync, SYS_renameat, SYS_renameat2, SYS_getdents64};

    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        if (p->call == calls[i])
            return pass(P_DISK, p);
    return false;
}

/* True: it has been killed. */
static bool at_call(struct proc *p)
{
    struct __ptrace_syscall_info info;
    bool entry = ptrace(PTRACE_GET_SYSCALL_INFO, p->pid, (void *)sizeof info, &info) > 0 && info.op == PTRACE_SYSCALL_INFO_ENTRY;

    if (entry)
        p->call = (long)info.entry.nr;
    if (p->role == RANK && p->rank < 0)
        p->rank = rank_of(p->pid);
    if (p->role == RANK && entry)
        begin_or_end_take(p, &info);
    if (p->role == SNAPSHOT && entry && p->call == SYS_futex && !p->waits) {
        p->waits = true;
        if (p->rank == victim_rank)
            sleeps = 2;
    }
    if (p->role == THREAD)
        return at_thread(p);
    if (p->role == FRONT)
        return pass(P_FRONT, p);
    return p->role == RANK ? at_rank(p) : p->role == SNAPSHOT ? at_snapshot(p) : p->role == AGENT ? at_agent(p, entry) : false;
}

static void at_stop(struct proc *p, int status)
{
    int event = status >> 16, signal = WSTOPSIG(status);
    unsigned long child = 0;

    p->stopped = true;
    if (p->role == UNKNOWN) {
        pass(P_EARLY, p);
        return;
    }
    if (event == PTRACE_EVENT_STOP) {
        if (signal == SIGTRAP)
            resume(p, 0);
        else
            ptrace(PTRACE_LISTEN, p->pid, NULL, NULL);
    } else if (event) {
        if (event != PTRACE_EVENT_EXEC && ptrace(PTRACE_GETEVENTMSG, p->pid, NULL, &child) == 0)
            born(p, (pid_t)child, event);
        resume(p, 0);
    } else if (signal == (SIGTRAP | 0x80)) {
        if (!at_call(p))
            resume(p, 0);
    } else {
        resume(p, signal);
    }
}

/* A standby becomes the agent: the front one first. */
static void at_end(struct proc *p, int status)
{
    bool launcher = is_launcher(p), agent = p->role == AGENT, front = p->pid == command;
    static bool told;

    p->pid = 0;
    if (!launcher)
        return;
    if (front || !told)
        code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    told |= front && !WIFSIGNALED(status);
    for (int i = 0; agent && i < MOST; i++)
        if (procs[i].pid && (procs[i].role == FRONT || procs[i].role == STANDBY)) {
            procs[i].role = AGENT;
            break;
        }
    if (!anybody(true))
        left_s = LEFT_S;
}

static void on_alarm(int signal)
{
    (void)signal; /* each second waitpid returns */
}

static void start(char **argv)
{
    long options = PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE | PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL;
    struct sigaction action = {.sa_handler = on_alarm};
    struct itimerval second = {.it_interval = {.tv_sec = 1}, .it_value = {.tv_sec = 1}};
    pid_t pid = fork();

    if (pid == 0) {
        raise(SIGSTOP);
        execv(argv[0], argv);
        _exit(127);
    }
    waitpid(pid, NULL, WUNTRACED);
    if (ptrace(PTRACE_SEIZE, pid, NULL, (void *)options) < 0) {
        kill(pid, SIGKILL);
        perror("killat: ptrace");
        exit(77);
    }
    kill(pid, SIGCONT);
    add(pid)->role = FRONT;
    command = pid;
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &second, NULL);
}

static char **read_plans(char **argv)
{
    char *colon;

    if (argv[1] && argv[2] && !strcmp(argv[1], "-r")) {
        victim_rank = atoi(argv[2]);
        argv += 2;
    }
    for (argv++; argv[0] && argv[1] && argv[2] && (colon = strchr(argv[0], ':')) && nplans < PLANS; argv += 2, nplans++) {
        *colon = 0;
        for (plans[nplans].point = 0; plans[nplans].point < NPOINTS && strcmp(point_names[plans[nplans].point], argv[0]) != 0;)
            plans[nplans].point++;
        disk |= plans[nplans].point == P_DISK;
        fronts |= plans[nplans].point == P_FRONT;
        plans[nplans].n = atol(colon + 1);
        plans[nplans].victims = argv[1];
    }
    return argv;
}

int main(int argc, char **argv)
{
    int status;
    pid_t pid;

    (void)argc;
    start(read_plans(argv));
    while (anybody(false)) {
        struct proc *p;

        pid = waitpid(-1, &status, __WALL);
        if (pid < 0 && errno == EINTR) {
            free_orphans();
            if (left_s-- > 0)
                continue;
            list(anybody(true) ? "hangs" : "is left over");
            return anybody(true) ? 98 : 97;
        }
        if (pid < 0)
            break;
        p = find(pid);
        if (!p)
            p = add(pid);
        if (WIFSTOPPED(status))
            at_stop(p, status);
        else
            at_end(p, status);
    }
    for (int i = 0; i < NPOINTS; i++)
        dprintf(9, "%s %ld\n", point_names[i], passed[i]);
    return code;
}
