/* SPDX-License-Identifier: BSD-3-Clause */
/* All else that a process has: what each round must find as it left it, and what it goes on changing. */
#include <errno.h>
#include <fcntl.h>
#include <fenv.h>
#include <limits.h>
#include <locale.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "rounds.h"

static _Thread_local uint64_t of_thread;
static volatile sig_atomic_t usr1, on_other_stack;
static char *alternative;
enum { ALTERNATIVE = 1 << 16, MAPPED = 1 << 16 };

static void on_usr1(int signal)
{
    char here;
    (void)signal;
    usr1 = usr1 + 1;
    on_other_stack = &here >= alternative && &here < alternative + ALTERNATIVE;
}

static struct {
    char *private, *anonymous;   /* from the C library, and a mapping */
    uint64_t *old, *grown;       /* heap: small and large, and again and again larger */
    size_t size;
    pid_t session;
    bool leads_group;
    cpu_set_t processors;
    pthread_mutex_t again, strict;  /* recursive, and one that checks */
    pthread_rwlock_t written;
} it;

/* Held over all rounds: who has them is known by the thread's number. */
static void take_locks(struct rounds *r)
{
    pthread_mutexattr_t kind;

    pthread_mutexattr_init(&kind);
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&it.again, &kind);
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&it.strict, &kind);
    pthread_rwlock_init(&it.written, NULL);
    MUST(r, pthread_mutex_lock(&it.again) == 0 && pthread_mutex_lock(&it.strict) == 0 && pthread_rwlock_wrlock(&it.written) == 0);
}

static void check_locks(struct rounds *r)
{
    struct sched_param priority;
    cpu_set_t processors;
    int policy;

    MUST(r, pthread_mutex_lock(&it.again) == 0 && pthread_mutex_unlock(&it.again) == 0);
    MUST(r, pthread_mutex_lock(&it.strict) == EDEADLK && pthread_mutex_unlock(&it.strict) == 0 && pthread_mutex_lock(&it.strict) == 0);
    MUST(r, pthread_rwlock_rdlock(&it.written) == EDEADLK && pthread_rwlock_unlock(&it.written) == 0 && pthread_rwlock_wrlock(&it.written) == 0);
    MUST(r, pthread_getschedparam(pthread_self(), &policy, &priority) == 0 && policy == SCHED_OTHER);
    MUST(r, pthread_getaffinity_np(pthread_self(), sizeof processors, &processors) == 0 && CPU_EQUAL(&processors, &it.processors));
    MUST(r, pthread_setaffinity_np(pthread_self(), sizeof processors, &processors) == 0);
}


static void set_up(struct rounds *r)
{
    struct sigaction act = {.sa_handler = on_usr1, .sa_flags = SA_ONSTACK};
    struct rlimit limit = {100, 200};
    stack_t stack = {.ss_size = ALTERNATIVE};
    sigset_t blocked;

    MUST(r, (alternative = malloc(ALTERNATIVE)) && (it.old = calloc(1, sizeof *it.old)));
    stack.ss_sp = alternative;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR2);
    MUST(r, sigaltstack(&stack, NULL) == 0 && sigaction(SIGUSR1, &act, NULL) == 0 && sigprocmask(SIG_BLOCK, &blocked, NULL) == 0);
    MUST(r, signal(SIGHUP, SIG_IGN) != SIG_ERR && raise(SIGUSR2) == 0);
    umask(0027);
    MUST(r, mkdir(rounds_path(r, "cwd"), 0700) == 0 || errno == EEXIST);
    MUST(r, chdir(rounds_path(r, "cwd")) == 0);
    MUST(r, setrlimit(RLIMIT_NOFILE, &limit) == 0 && setpriority(PRIO_PROCESS, 0, 3) == 0);
    MUST(r, fesetround(FE_TOWARDZERO) == 0);
    srandom(42 + (unsigned)r->rank);
    MUST(r, prctl(PR_SET_NAME, "renamed") == 0 && sched_getaffinity(0, sizeof it.processors, &it.processors) == 0);
    it.session = getsid(0);
    it.leads_group = getpgrp() == getpid();

    it.private = calloc(1, MAPPED);
    it.anonymous = mmap(NULL, MAPPED, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    MUST(r, it.private && it.anonymous != MAP_FAILED);
}

static void check_signals(struct rounds *r)
{
    sigset_t mask, pending;
    struct sigaction act;
    sig_atomic_t before = usr1;

    MUST(r, sigprocmask(SIG_SETMASK, NULL, &mask) == 0 && sigismember(&mask, SIGUSR2) == 1 && sigismember(&mask, SIGUSR1) == 0);
    MUST(r, sigpending(&pending) == 0 && sigismember(&pending, SIGUSR2) == 1);
    MUST(r, sigaction(SIGHUP, NULL, &act) == 0 && act.sa_handler == SIG_IGN);
    MUST(r, kill(getpid(), SIGUSR1) == 0 && usr1 == before + 1 && on_other_stack);
    MUST(r, raise(SIGUSR1) == 0 && usr1 == before + 2 && on_other_stack);
    rounds_mix(r, (uint64_t)usr1);
}

static void check_process(struct rounds *r)
{
    struct rlimit limit;
    char cwd[PATH_MAX], name[16];
    cpu_set_t processors;
    mode_t mask = umask(0);

    umask(mask);
    MUST(r, mask == 0027 && getcwd(cwd, sizeof cwd) && strstr(cwd, "/cwd."));
    MUST(r, getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur == 100 && limit.rlim_max == 200);
    MUST(r, getpriority(PRIO_PROCESS, 0) == 3 && prctl(PR_GET_NAME, name) == 0 && !strcmp(name, "renamed"));
    MUST(r, getsid(0) == it.session && (getpgrp() == getpid()) == it.leads_group);
    MUST(r, gettid() == getpid()); /* as it was first told */
    MUST(r, sched_getaffinity(0, sizeof processors, &processors) == 0 && CPU_EQUAL(&processors, &it.processors));
}

static void check_memory(struct rounds *r)
{
    size_t at = (size_t)(rounds_draw(r, 1) % MAPPED);
    char text[32];

    of_thread = of_thread * 31 + r->at;
    it.private[at] = (char)(it.private[at] + 1);
    it.anonymous[at] = (char)(it.anonymous[at] + 3);
    *it.old += (uint64_t)random();
    it.size += 512;
    MUST(r, (it.grown = realloc(it.grown, it.size)));
    memset((char *)it.grown + it.size - 512, (int)(r->at & 0xff), 512);
    rounds_mix(r, of_thread + *it.old + it.grown[rounds_draw(r, 2) % (it.size / 8)]);
    rounds_mix(r, (uint64_t)(it.private[at] + it.anonymous[at]));
    rounds_mix(r, (uint64_t)atoi(getenv("OF_THE_PROGRAM") ? getenv("OF_THE_PROGRAM") : "0"));
    snprintf(text, sizeof text, "%u", r->at);
    MUST(r, setenv("OF_THE_PROGRAM", text, 1) == 0);
    volatile double third = 1.0, three = -3.0;
    third /= three;
    MUST(r, fegetround() == FE_TOWARDZERO);
    rounds_mix(r, (uint64_t)(third * 1e18));
}

int main(int argc, char **argv)
{
    struct rounds r;

    rounds_begin(&r, argc, argv);
    set_up(&r);
    take_locks(&r);
    while (rounds_more(&r)) {
        check_signals(&r);
        check_process(&r);
        check_memory(&r);
        check_locks(&r);
    }
    return rounds_end(&r);
}
