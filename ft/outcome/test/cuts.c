/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank whose threads stand in all kinds of places when a copy is made: in the middle of a computation, in an OpenMP team, in read, poll,
   a sleep, accept, a wait for a condition, a semaphore. Each round main gives all of them something to do, and prints what has come of it.
   Each thread has a state of its own that the kernel keeps (name, mask, processors, policy, alternative stack) or the processor (how it
   rounds), and looks at it again and again: a difference is told, and ends the program. Knows of no recorder.
     outcome_cuts ROUNDS */
#include <arpa/inet.h>
#include <errno.h>
#include <fenv.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { READER, POLLER, SLEEPER, WAITER, TAKER, ACCEPTER, WORKERS, SPINNER = WORKERS, THREADS, STACK = 16384, TEAM = 2, CELLS = 64 };

static uint64_t hash[WORKERS];
static uint64_t rounds;
static sem_t all_done, posted;
static int pipe_ends[2], pair[2], listener;
static struct sockaddr_in address;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static uint64_t round_of_waiter;
static _Atomic bool over;
static pthread_mutex_t owned[2];  /* by the first two threads, while they wait: of kinds that know their owner */

/* No function of the C library. */
static long bare(long number, long a, long b, long c)
{
    long result;

    __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
    return result;
}

/* A thread that has lost its state may say so in a replay, which has no call for that. */
static void need(bool good, const char *what)
{
    char text[200];
    int error = errno;

    if (good)
        return;
    bare(SYS_write, 2, (long)text, snprintf(text, sizeof text, "outcome_cuts: %s: %s\n", what, strerrorname_np(error)));
    bare(SYS_exit_group, 3, 0, 0);
}

/* ---- a thread's state ---- */

extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned __rseq_size __attribute__((weak));

/* The kernel says there which processor it is on; not to one that has not registered it. It may be moved in between. */
static bool is_registered(void)
{
    const volatile uint32_t *area;
    unsigned processor = 0;
    bool same = false;

    if (!&__rseq_size || !__rseq_size)
        return true;
    area = (const volatile uint32_t *)(const void *)((const char *)__builtin_thread_pointer() + __rseq_offset);
    for (int i = 0; i < 100 && !same; i++)
        same = bare(SYS_getcpu, (long)&processor, 0, 0) == 0 && area[1] == processor;
    return same;
}

struct state {
    int of;
    char name[16], stack[STACK];
    cpu_set_t processors;
    int policy, rounding;
    sigset_t mask;
};

static __thread struct state state;
static cpu_set_t all_processors;
static const int roundings[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO, FE_TONEAREST};

static int policy_now(void) { return (int)bare(SYS_sched_getscheduler, 0, 0, 0); }

static void begin(int of)
{
    int n = 0;

    state.of = of;
    snprintf(state.name, sizeof state.name, "cuts-%d", of);
    bare(SYS_prctl, 15 /* PR_SET_NAME */, (long)state.name, 0);
    CPU_ZERO(&state.processors);
    for (int i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &all_processors) && n++ % 2 == of % 2)
            CPU_SET(i, &state.processors);
    if (CPU_COUNT(&state.processors) == 0)
        state.processors = all_processors;
    bare(SYS_sched_setaffinity, 0, sizeof state.processors, (long)&state.processors);
    bare(SYS_sched_setscheduler, 0, of % 2 ? SCHED_BATCH : SCHED_OTHER, (long)&(struct sched_param){0});
    state.policy = policy_now();
    state.rounding = roundings[of % 4];
    fesetround(state.rounding);
    sigemptyset(&state.mask);
    sigaddset(&state.mask, SIGRTMIN + 4 + of);
    pthread_sigmask(SIG_SETMASK, &state.mask, NULL);
    need(sigaltstack(&(stack_t){.ss_sp = state.stack, .ss_size = STACK}, NULL) == 0, "sigaltstack");
}

static int processors_rounding(void)
{
    unsigned mxcsr;
    unsigned short x87;

    __asm__ volatile("stmxcsr %0\n fnstcw %1" : "=m"(mxcsr), "=m"(x87));
    return (mxcsr >> 3 & 0xc00) == (x87 & 0xc00u) ? (int)(x87 & 0xc00) : -1;
}

static bool same_mask(const sigset_t *now)
{
    for (int s = 1; s < SIGRTMAX; s++)
        if (sigismember(now, s) != sigismember(&state.mask, s))
            return false;
    return true;
}

static void look(const char *where)
{
    char name[16] = "", text[80];
    cpu_set_t processors;
    sigset_t mask;
    stack_t stack = {0};
    const char *what = NULL;

    CPU_ZERO(&processors);
    bare(SYS_prctl, 16 /* PR_GET_NAME */, (long)name, 0);
    bare(SYS_sched_getaffinity, 0, sizeof processors, (long)&processors);
    bare(SYS_sigaltstack, 0, (long)&stack, 0);
    pthread_sigmask(SIG_BLOCK, NULL, &mask);
    if (strcmp(name, state.name) != 0)
        what = "its name";
    else if (!CPU_EQUAL(&processors, &state.processors))
        what = "its processors";
    else if (policy_now() != state.policy)
        what = "its policy";
    else if (processors_rounding() != state.rounding)
        what = "its rounding";
    else if (!same_mask(&mask))
        what = "its mask";
    else if (stack.ss_sp != state.stack || stack.ss_size != STACK)
        what = "its alternative stack";
    else if (!is_registered())
        what = "its restartable sequence";
    snprintf(text, sizeof text, "thread %d, %s: %s is another one", state.of, where, what ? what : "");
    need(!what, text);
}

/* ---- threads ---- */

static void give(int of, uint64_t value)
{
    hash[of] = (hash[of] ^ value) * 0x9e3779b97f4a7c15u + (uint64_t)of;
    sem_post(&all_done);
}

/* Its record has more room than it needs in the end. */
static void *reader(void *arg)
{
    uint64_t values[500];

    begin(READER);
    for (uint64_t i = 0; i < rounds; i++) {
        need(pthread_mutex_lock(&owned[0]) == 0, "a mutex that checks its owner");
        errno = 1000;
        need(read(pipe_ends[0], values, sizeof values) == sizeof values[0] && errno == 1000, "read");
        look("after read");
        need(pthread_mutex_lock(&owned[0]) == EDEADLK && pthread_mutex_unlock(&owned[0]) == 0, "the owner of a mutex that checks it");
        give(READER, values[0]);
    }
    return arg;
}

static void *poller(void *arg)
{
    uint64_t value;

    begin(POLLER);
    for (uint64_t i = 0; i < rounds; i++) {
        struct pollfd p = {.fd = pair[1], .events = POLLIN};

        need(pthread_mutex_lock(&owned[1]) == 0, "a recursive mutex");
        errno = 1001;
        need(poll(&p, 1, -1) == 1 && errno == 1001 && recv(pair[1], &value, sizeof value, 0) == sizeof value, "poll");
        look("after poll");
        need(pthread_mutex_lock(&owned[1]) == 0 && pthread_mutex_unlock(&owned[1]) == 0 && pthread_mutex_unlock(&owned[1]) == 0,
             "the owner of a recursive mutex");
        give(POLLER, value);
    }
    return arg;
}

static void *sleeper(void *arg)
{
    begin(SLEEPER);
    for (uint64_t i = 0; i < rounds; i++) {
        struct timespec rest = {0};

        need(nanosleep(&(struct timespec){.tv_nsec = 2000000}, &rest) == 0, "nanosleep");
        look("after a sleep");
        hash[SLEEPER] += i;
    }
    return arg;
}

static void *waiter(void *arg)
{
    begin(WAITER);
    for (uint64_t i = 0; i < rounds; i++) {
        pthread_mutex_lock(&mutex);
        while (round_of_waiter <= i)
            pthread_cond_wait(&condition, &mutex);
        pthread_mutex_unlock(&mutex);
        look("after a wait for a condition");
        give(WAITER, i);
    }
    return arg;
}

static void *taker(void *arg)
{
    begin(TAKER);
    for (uint64_t i = 0; i < rounds; i++) {
        need(sem_wait(&posted) == 0, "sem_wait");
        look("after a wait for a semaphore");
        give(TAKER, i);
    }
    return arg;
}

static void *accepter(void *arg)
{
    uint64_t value;

    begin(ACCEPTER);
    for (uint64_t i = 0; i < rounds; i++) {
        int fd = accept(listener, NULL, NULL);

        need(fd >= 0 && recv(fd, &value, sizeof value, MSG_WAITALL) == sizeof value, "accept");
        close(fd);
        look("after accept");
        give(ACCEPTER, value);
    }
    return arg;
}

/* To the next processor alone. */
static void move(void)
{
    static int at;

    do
        at = (at + 1) % CPU_SETSIZE;
    while (!CPU_ISSET(at, &all_processors));
    CPU_ZERO(&state.processors);
    CPU_SET(at, &state.processors);
    bare(SYS_sched_setaffinity, 0, sizeof state.processors, (long)&state.processors);
}

/* No calls that anybody could see: the signal of a cut comes anywhere. */
static void *spinner(void *arg)
{
    volatile uint64_t x = 1;

    begin(SPINNER);
    while (!atomic_load(&over)) {
        errno = 1006;
        for (int i = 0; i < 20000; i++)
            x = x * 6364136223846793005u + 1;
        need(errno == 1006, "errno of a thread that computes");
        look("in a computation");
        move();
    }
    return arg;
}

/* ---- main ---- */

static void open_all(void)
{
    const int types[] = {PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_RECURSIVE};
    socklen_t bytes = sizeof address;

    bare(SYS_sched_getaffinity, 0, sizeof all_processors, (long)&all_processors);
    for (int i = 0; i < 2; i++) {
        pthread_mutexattr_t type;

        pthread_mutexattr_init(&type);
        pthread_mutexattr_settype(&type, types[i]);
        pthread_mutex_init(&owned[i], &type);
    }
    address = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    listener = socket(AF_INET, SOCK_STREAM, 0);
    need(pipe(pipe_ends) == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0 && sem_init(&all_done, 0, 0) == 0 &&
             sem_init(&posted, 0, 0) == 0 && bind(listener, (struct sockaddr *)&address, sizeof address) == 0 && listen(listener, 4) == 0 &&
             getsockname(listener, (struct sockaddr *)&address, &bytes) == 0,
         "what the threads wait for");
}

static double team(uint64_t n)
{
    static double cells[CELLS];
    double sum = 0;

#pragma omp parallel for num_threads(TEAM) schedule(static)
    for (int i = 0; i < CELLS; i++)
        for (int k = 1; k < 200; k++)
            cells[i] += 1.0 / (double)((uint64_t)i * 1000 + (uint64_t)k + n);
    for (int i = 0; i < CELLS; i++)
        sum += cells[i];
    return sum;
}

static void drive(uint64_t n)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    need(write(pipe_ends[1], &n, sizeof n) == sizeof n && send(pair[0], &n, sizeof n, 0) == sizeof n, "write");
    pthread_mutex_lock(&mutex);
    round_of_waiter++;
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&mutex);
    sem_post(&posted);
    need(connect(fd, (struct sockaddr *)&address, sizeof address) == 0 && send(fd, &n, sizeof n, 0) == sizeof n, "connect");
    close(fd);
}

int main(int argc, char **argv)
{
    void *(*const bodies[THREADS])(void *) = {reader, poller, sleeper, waiter, taker, accepter, spinner};
    pthread_t threads[THREADS];
    char text[300];
    int bytes;

    if (argc != 2)
        return 2;
    rounds = strtoull(argv[1], NULL, 10);
    open_all();
    for (int i = 0; i < THREADS; i++)
        need(pthread_create(&threads[i], NULL, bodies[i], NULL) == 0, "pthread_create");
    for (uint64_t n = 0; n < rounds; n++) {
        double sum;
        int at;

        drive(n);
        sum = team(n);
        for (int i = 0; i < WORKERS - 1; i++) /* but the one that sleeps */
            need(sem_wait(&all_done) == 0, "sem_wait");
        at = snprintf(text, sizeof text, "%" PRIu64 " %.17g", n, sum);
        for (int i = 0; i < WORKERS; i++)
            at += snprintf(text + at, sizeof text - (size_t)at, " %08" PRIx64, i == SLEEPER ? 0 : hash[i] >> 32);
        at += snprintf(text + at, sizeof text - (size_t)at, "\n");
        need(write(1, text, (size_t)at) == at, "output");
    }
    atomic_store(&over, true);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    bytes = snprintf(text, sizeof text, "end, slept %" PRIu64 "\n", hash[SLEEPER]);
    need(write(1, text, (size_t)bytes) == bytes, "output");
    return 0;
}
