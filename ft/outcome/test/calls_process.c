/* SPDX-License-Identifier: BSD-3-Clause */
/* The rows of calls.table about the process, terminals, signals, memory and other processes. */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "ft/outcome/test/calls.h"

static char text[1000];

/* ---- the process ---- */

static void do_getpid(void)
{
    pid_t p = getpid(), t = gettid();

    calls_told(&p, sizeof p);
    calls_told(&t, sizeof t);
    SAY(p == t && p == getpid());
}

static volatile sig_atomic_t caught;

static void on_signal(int number) { caught = caught * 10 + (number == SIGUSR1) + 2 * (number == SIGUSR2); }

static void do_kill(void)
{
    caught = 0;
    signal(SIGUSR1, on_signal);
    SAY(kill(getpid(), SIGUSR1));
    SAY(kill(getpid(), 0));
    SAY(sigqueue(getpid(), SIGUSR1, (union sigval){.sival_int = 1}));
    SAY(sigqueue(0x7ffffff0, SIGUSR1, (union sigval){.sival_int = 1}));
    SAY(killpg(0x7ffffff0, SIGUSR1));
    SAY(caught);
    signal(SIGUSR1, SIG_DFL);
}

static void do_getppid(void)
{
    pid_t p[] = {getppid(), getpgrp(), getpgid(0), getsid(0)};

    calls_told(p, sizeof p);
    SAY(p[0] == getppid());
    SAY(p[1] == p[2]);
}

static void do_getrusage(void)
{
    struct rusage r;

    TELL(getrusage(RUSAGE_SELF, &r), r);
}

static void do_affinity(void)
{
    cpu_set_t set;
    int n;

    TELL(sched_getaffinity(0, sizeof set, &set), set);
    n = sched_getcpu();
    calls_told(&n, sizeof n);
    TELL(pthread_getaffinity_np(pthread_self(), sizeof set, &set), set);
}

static void do_uname(void)
{
    struct utsname u;
    struct sysinfo s;
    double load[3];
    char name[100];

    TELL(uname(&u), u);
    SAY(gethostname(name, sizeof name));
    TELL(sysinfo(&s), s);
    TELL(getloadavg(load, 3), load);
}

static void do_sysconf(void)
{
    long n[] = {get_nprocs(), get_nprocs_conf(), get_phys_pages(), get_avphys_pages(), sysconf(_SC_NPROCESSORS_ONLN), sysconf(_SC_AVPHYS_PAGES)};

    calls_told(n, sizeof n);
    SAY(n[0] == n[4]);
}

static void do_setrlimit(void)
{
    struct rlimit r;
    cpu_set_t set;

    SAY(getrlimit(RLIMIT_CORE, &r));
    r.rlim_cur = 0;
    SAY(setrlimit(RLIMIT_CORE, &r));
    SAY(sched_getaffinity(0, sizeof set, &set));
    SAY(sched_setaffinity(0, sizeof set, &set));
    SAY(setpriority(PRIO_PROCESS, 0, 1));
    SAY(getpriority(PRIO_PROCESS, 0));
}

static void do_isatty(void)
{
    struct termios t;
    int fd = calls_file("isatty", "text");

    SAY(isatty(fd));
    SAY(tcgetattr(fd, &t));
    SAY(ttyname(fd) ? 0 : -1);
    SAY(ttyname_r(fd, text, 100));
    close(fd);
}

/* ---- signals ---- */

/* One from outside: of a timer, while it is waited for. It comes every 2 ms, since one that is taken is gone if the rank is killed then. */
static void every(long us) { setitimer(ITIMER_REAL, &(struct itimerval){{0, us}, {0, us}}, NULL); }

static volatile sig_atomic_t alarms;

static void on_alarm(int number) { alarms += number == SIGALRM; }

static void do_signal(void)
{
    struct sigaction was;

    SAY(signal(SIGUSR2, on_signal) == SIG_DFL);
    SAY(sigaction(SIGUSR2, NULL, &was));
    SAY(was.sa_handler == on_signal);
    SAY(sigaction(SIGALRM, &(struct sigaction){.sa_handler = on_alarm}, NULL));
    alarms = 0;
    every(2000);
    while (alarms == 0)
        nanosleep(&(struct timespec){1, 0}, NULL);
    every(0);
    signal(SIGUSR2, SIG_DFL);
}

static void do_mask(void)
{
    sigset_t set, old, pending;

    caught = 0;
    signal(SIGUSR1, on_signal);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    SAY(sigprocmask(SIG_BLOCK, &set, &old));
    SAY(sigismember(&old, SIGUSR1));
    raise(SIGUSR1);
    SAY(caught);
    SAY(sigpending(&pending));
    SAY(sigismember(&pending, SIGUSR1));
    close(calls_file("mask", "text"));
    SAY(pthread_sigmask(SIG_SETMASK, &old, NULL));
    SAY(caught);
    signal(SIGUSR1, SIG_DFL);
}

static void do_raise(void)
{
    caught = 0;
    signal(SIGUSR2, on_signal);
    SAY(raise(SIGUSR2));
    SAY(pthread_kill(pthread_self(), SIGUSR2));
    SAY(pthread_sigqueue(pthread_self(), SIGUSR2, (union sigval){.sival_int = 1}));
    SAY(tgkill(getpid(), gettid(), SIGUSR2));
    SAY(syscall(SYS_tgkill, getpid(), gettid(), SIGUSR2));
    SAY(tgkill(getpid(), 0x7ffffff0, 0));
    SAY(caught);
    signal(SIGUSR2, SIG_DFL);
}

static void do_pause(void)
{
    sigset_t set, old;

    signal(SIGALRM, on_alarm);
    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    sigprocmask(SIG_BLOCK, &set, &old);
    every(2000);
    SAY(sigsuspend(&old));
    sigprocmask(SIG_SETMASK, &old, NULL);
    SAY(pause());
    every(0);
}

static void do_named(void)
{
    sem_t *s = sem_open("/ftmpi-named", O_CREAT | O_EXCL, 0600, 2);

    SAY(s != SEM_FAILED);
    SAY(sem_open("/ftmpi-named", O_CREAT | O_EXCL, 0600, 2) == SEM_FAILED);
    SAY(sem_unlink("/ftmpi-named"));
    SAY(sem_unlink("/ftmpi-named"));
    SAY(sem_trywait(s));
    SAY(sem_post(s));
    SAY(sem_close(s));
}

static void do_self(void)
{
    siginfo_t info;
    sigset_t set, old, none;

    caught = 0;
    signal(SIGUSR1, on_signal);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGUSR2);
    sigprocmask(SIG_BLOCK, &set, &old);
    SAY(kill(getpid(), SIGUSR2));
    SAY(sigwaitinfo(&set, &info));
    SAY(info.si_pid == getpid());
    SAY(kill(getpid(), SIGUSR1));
    none = old;
    SAY(sigsuspend(&none));
    SAY(caught);
    SAY(sigpending(&none));
    SAY(sigismember(&none, SIGUSR1) + sigismember(&none, SIGUSR2));
    sigprocmask(SIG_SETMASK, &old, NULL);
    signal(SIGUSR1, SIG_DFL);
}

static void do_sigwait(void)
{
    sigset_t set, old;
    int number = 0;

    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    sigprocmask(SIG_BLOCK, &set, &old);
    every(2000);
    SAY(sigwait(&set, &number));
    SAY(number);
    SAY(sigwaitinfo(&set, NULL));
    SAY(sigtimedwait(&set, NULL, &(struct timespec){5, 0}));
    every(0);
    signal(SIGALRM, SIG_IGN); /* one more may have come */
    sigprocmask(SIG_SETMASK, &old, NULL);
}

static void do_setitimer(void)
{
    struct itimerval was;

    SAY(alarm(1000));
    SAY(setitimer(ITIMER_REAL, &(struct itimerval){{0, 0}, {2000, 0}}, &was));
    SAY(was.it_value.tv_sec > 900);
    SAY(alarm(0) > 1900);
}

static void do_thread(void)
{
    struct sched_param parameters = {.sched_priority = 9};
    cpu_set_t set;
    int policy = -1;

    SAY(pthread_getaffinity_np(pthread_self(), sizeof set, &set));
    SAY(pthread_setaffinity_np(pthread_self(), sizeof set, &set));
    SAY(pthread_getschedparam(pthread_self(), &policy, &parameters));
    SAY(policy);
    SAY(pthread_setschedparam(pthread_self(), policy, &parameters));
    SAY(getsid(0) > 0);
}

static sem_t posted;

static void post(int number)
{
    (void)number;
    sem_post(&posted);
}

/* The handler posts when the wait has been interrupted. */
static void do_semaphore(void)
{
    signal(SIGALRM, post);
    SAY(sem_init(&posted, 0, 1));
    SAY(sem_wait(&posted));
    every(20000); /* on a busy machine, too, it has to wait */
    for (int i = 0; i < 4; i++)
        SAY(sem_wait(&posted));
    every(0);
}

/* ---- other processes, memory, and what closes the ways back ---- */

/* A child adds a line to a file, so that one that is made twice is seen, and ends. */
static pid_t child_of(const char *name, int code)
{
    pid_t child = fork();

    if (child == 0) {
        int fd = open(name, O_WRONLY | O_CREAT | O_APPEND, 0600);

        _exit(write(fd, "child\n", 6) == 6 ? code : 99);
    }
    return child;
}

static void do_fork(void)
{
    int status = -1;
    pid_t child;

    SAY(calls_file("fork1", "before") >= 0);
    child = child_of("fork", 7);
    TELL(child > 0, child);
    SAY(waitpid(child, &status, 0) == child);
    SAY(status);
    SAY(calls_file("fork2", "after") >= 0);
}

static void do_wait(void)
{
    siginfo_t info;
    struct rusage used;
    int status = -1;
    pid_t child;

    SAY(waitpid(-1, NULL, 0));
    child = child_of("wait", 5);
    SAY(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT));
    SAY(info.si_status);
    SAY(wait4(child, &status, 0, &used) == child);
    SAY(status);
    child = child_of("wait", 6);
    while (waitpid(child, &status, WNOHANG) == 0)
        sched_yield();
    SAY(status);
    SAY(wait(NULL));
}

static void do_spawn(void)
{
    char *const argv[] = {"sh", "-c", "echo spawned >>spawned; exit 4", NULL};
    int status = -1;
    pid_t child;

    SAY(posix_spawn(&child, "/bin/sh", NULL, NULL, argv, environ));
    SAY(waitpid(child, &status, 0) == child);
    SAY(status);
    SAY(posix_spawn(&child, "/nothing", NULL, NULL, argv, environ));
}

static void do_system(void)
{
    FILE *f;

    SAY(system("echo one >>system; exit 3"));
    f = popen("echo two >>system; echo read this", "r");
    SAY(f && fgets(text, sizeof text, f));
    calls_say_bytes("read", text, 9);
    SAY(pclose(f));
    SAY(system(NULL));
}

static int in_clone(void *arg)
{
    (void)arg;
    return 9;
}

static void do_clone(void)
{
    static _Alignas(16) char stack[65536];
    int status = -1;
    pid_t child;

    SAY(calls_file("clone1", "before") >= 0);
    child = clone(in_clone, stack + sizeof stack, SIGCHLD, NULL);
    SAY(waitpid(child, &status, 0) == child);
    SAY(status);
    SAY(calls_file("clone", "after") >= 0);
}

static void do_syscall(void)
{
    int fd = calls_file("syscall", "text");

    SAY(syscall(SYS_getuid) == getuid());
    SAY(syscall(SYS_write, fd, "new", 3));
    SAY(lseek(fd, 0, SEEK_END));
    close(fd);
}

static void do_mmap(void)
{
    int fd = open("../input", O_RDONLY);
    char *p = mmap(NULL, 100000, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);

    close(fd);
    calls_say_bytes("mapped", p, 100000);
    p[0] = 'x';
    close(calls_file("mmap", "text"));
    calls_say_bytes("changed", p, 100);
    SAY(munmap(p, 100000));
    fd = calls_file("mmap", "other text");
    p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    p[0]++;
    calls_say_bytes("private", p, 20);
    SAY(munmap(p, 4096));
    p = mmap(NULL, 10, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    SAY(munmap(p, 10));
    close(fd);
}

/* A copy is made in each mmap, and what a store makes of the file depends on what was there. */
static void do_stores(void)
{
    int fd = calls_file("stores", "0123456789");
    unsigned char *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    for (int i = 0; i < 5; i++) {
        p[i] = (unsigned char)(p[i] * 3 + p[i + 1]);
        SAY(pread(fd, text, 10, 0));
        calls_say_bytes("stored", text, 10);
    }
    SAY(msync(p, 4096, MS_ASYNC));
    p[6]++;
    SAY(munmap(p, 4096));
    SAY(lseek(fd, 0, SEEK_END));
    close(fd);
}

const struct calls_row calls_of_process[] = {
    {"getpid", do_getpid, 0}, {"kill", do_kill, 0}, {"getppid", do_getppid, 0}, {"getrusage", do_getrusage, 0},
    {"sched_getaffinity", do_affinity, 0}, {"uname", do_uname, 0}, {"sysconf", do_sysconf, 0}, {"setrlimit", do_setrlimit, 0},
    {"isatty", do_isatty, 0}, {"a signal", do_signal, 0}, {"sigprocmask", do_mask, 0}, {"raise", do_raise, 0}, {"pause", do_pause, 0},
    {"sigwait", do_sigwait, 0}, {"sem_open", do_named, 0}, {"own signals", do_self, 0},
    {"setitimer", do_setitimer, 0}, {"this thread", do_thread, 0}, {"sem_wait", do_semaphore, 0}, {"mmap", do_mmap, 0}, {"stores", do_stores, true},
    {"fork", do_fork, 0}, {"wait", do_wait, 0}, {"posix_spawn", do_spawn, 0}, {"system", do_system, 0}, {"clone", do_clone, true},
    {"syscall", do_syscall, true}, {NULL, NULL, 0},
};
