/* SPDX-License-Identifier: BSD-3-Clause */
/* A process that is put back (ft/snap/image.h): its clone is nobody's child but its parent's, and goes on with files, timers and
   signals as they were; and what cannot be put back is told. A plain program: it forks more than Criterion likes. */
#include "config.h"
#include "ft/snap/image.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Seen by all processes; the one mapping that is "the library's own". */
static struct shared {
    _Atomic uint32_t snapshot;   /* pid, once it waits */
    _Atomic uint32_t wake;       /* futex: times it is to make a copy */
    _Atomic uint32_t copy;       /* pid of the last one */
    _Atomic uint32_t further;    /* the first process has gone on after the snapshot */
} *shared;

#define CHECK(what)                                                             \
    do {                                                                        \
        if (!(what)) {                                                          \
            fprintf(stderr, "image.c:%d: not so: %s\n", __LINE__, #what);       \
            _exit(1);                                                           \
        }                                                                       \
    } while (0)

static atomic_int children_seen;
static void on_child(int signal) { (void)signal; atomic_fetch_add(&children_seen, 1); }

static struct ft_image_own own(void) { return (struct ft_image_own){.mapping = shared}; }

static void await(_Atomic uint32_t *word, uint32_t not)
{
    while (atomic_load(word) == not)
        syscall(SYS_futex, word, FUTEX_WAIT, not, NULL, NULL, 0);
}

static void say(_Atomic uint32_t *word, uint32_t value)
{
    atomic_store(word, value);
    syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* ---- the program that is put back ---- */

static void put(int fd, const char *text) { CHECK(write(fd, text, strlen(text)) == (ssize_t)strlen(text)); }

static void be_snapshot(void)
{
    say(&shared->snapshot, (uint32_t)getpid());
    for (uint32_t n = 0;; n++) {
        pid_t pid;

        await(&shared->wake, n);
        pid = ft_image_clone();
        CHECK(pid >= 0);
        if (pid == 0)
            return;
        say(&shared->copy, (uint32_t)pid);
    }
}

/* What the C library thinks of a process that it has not made itself. */
static void check_thread(void)
{
    sigset_t set;

    CHECK(gettid() == getpid());
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    CHECK(sigprocmask(SIG_BLOCK, &set, NULL) == 0);
    CHECK(raise(SIGUSR1) == 0 && pthread_kill(pthread_self(), 0) == 0);
    CHECK(sigtimedwait(&set, NULL, &(struct timespec){.tv_sec = 5}) == SIGUSR1);
}

static void program(void)
{
    static struct ft_image image;
    struct ft_image_own ours = own();
    struct itimerval timer = {.it_value = {.tv_sec = 1000}}, left;
    sigset_t usr2, now;
    char buffer[8];
    bool back = false;
    int out, log, in, status;

    out = open("out", O_WRONLY | O_CREAT | O_EXCL, 0600); /* does not bear being started twice */
    log = open("log", O_WRONLY | O_CREAT | O_APPEND, 0600);
    in = open("in", O_RDONLY);
    CHECK(out >= 0 && log >= 0 && in >= 0);
    signal(SIGCHLD, on_child);
    sigemptyset(&usr2);
    sigaddset(&usr2, SIGUSR2);
    sigprocmask(SIG_BLOCK, &usr2, NULL);
    setitimer(ITIMER_REAL, &timer, NULL);
    put(out, "one ");
    put(log, "one ");
    CHECK(read(in, buffer, 4) == 4);

    CHECK(ft_image_take(&image, &ours) == FT_IMAGE_GOOD);
    if (ft_image_clone() == 0) {
        be_snapshot();
        back = true;
        ft_image_put_back(&image);
        check_thread();
    } else {
        await(&shared->snapshot, 0);
        CHECK(wait(&status) < 0 && errno == ECHILD); /* there is nothing to wait for */
        CHECK(waitpid(-1, &status, WNOHANG | __WALL) < 0 && errno == ECHILD);
        say(&shared->further, 1);
    }
    CHECK(atomic_load(&children_seen) == 0);
    CHECK(getitimer(ITIMER_REAL, &left) == 0 && left.it_value.tv_sec > 500);
    CHECK(sigprocmask(SIG_SETMASK, NULL, &now) == 0 && sigismember(&now, SIGUSR2) == 1);
    CHECK(read(in, buffer, 4) == 4 && !memcmp(buffer, "BBBB", 4));
    put(out, "two ");
    put(log, "two ");
    if (!back)
        for (;;)
            pause(); /* to be killed */
    put(out, "three");
    put(log, "three");
    _exit(42);
}

/* ---- ftrun's part ---- */

static void check_file(const char *path, const char *wanted)
{
    char text[64] = "";
    int fd = open(path, O_RDONLY);

    CHECK(fd >= 0 && read(fd, text, sizeof text - 1) >= 0);
    if (strcmp(text, wanted))
        fprintf(stderr, "%s: \"%s\", not \"%s\"\n", path, text, wanted);
    CHECK(!strcmp(text, wanted));
    close(fd);
}

static void wait_for(pid_t pid, int *status)
{
    CHECK(waitpid(pid, status, 0) == pid); /* so it is a child of ours, though we have not made it */
}

static void test_put_back(const char *dir)
{
    pid_t first, snapshot, copy;
    int status, in;

    CHECK(chdir(dir) == 0);
    in = open("in", O_WRONLY | O_CREAT, 0600);
    put(in, "AAAABBBBCCCC");
    close(in);
    first = fork();
    if (first == 0)
        program();
    await(&shared->further, 0);
    snapshot = (pid_t)atomic_load(&shared->snapshot);
    usleep(100000); /* it writes what will be written again */
    CHECK(kill(first, SIGKILL) == 0);
    wait_for(first, &status);
    CHECK(WIFSIGNALED(status));
    for (uint32_t n = 1; n <= 3; n++) { /* again and again from one snapshot */
        uint32_t before = atomic_load(&shared->copy);

        say(&shared->wake, n);
        await(&shared->copy, before);
        copy = (pid_t)atomic_load(&shared->copy);
        wait_for(copy, &status);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 42);
        check_file("out", "one two three");
        check_file("log", "one two three");
    }
    CHECK(kill(snapshot, SIGKILL) == 0);
    wait_for(snapshot, &status);
}

static void *idle(void *arg)
{
    pause();
    return arg;
}

/* What the look says of a process that has done this to itself. */
static enum ft_image_reason reason_after(const char *what)
{
    static struct ft_image image;
    struct ft_image_own ours = own();
    int ends[2], status;
    pid_t pid = fork();

    if (pid == 0) {
        pthread_t thread;
        timer_t timer;
        pid_t kid = 1;
        enum ft_image_reason reason;

        if (!strcmp(what, "thread"))
            CHECK(pthread_create(&thread, NULL, idle, NULL) == 0);
        else if (!strcmp(what, "child"))
            CHECK((kid = fork()) >= 0);
        else if (!strcmp(what, "pipe"))
            CHECK(pipe(ends) == 0);
        else if (!strcmp(what, "socket"))
            CHECK(socket(AF_UNIX, SOCK_STREAM, 0) >= 0);
        else if (!strcmp(what, "mapping"))
            CHECK(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0) != MAP_FAILED);
        else if (!strcmp(what, "timer"))
            CHECK(timer_create(CLOCK_MONOTONIC, NULL, &timer) == 0);
        if (kid == 0)
            for (;;)
                pause();
        reason = ft_image_take(&image, &ours);
        if (kid > 1)
            kill(kid, SIGKILL);
        _exit(100 + (int)reason);
    }
    wait_for(pid, &status);
    return WIFEXITED(status) ? (enum ft_image_reason)(WEXITSTATUS(status) - 100) : FT_IMAGE_SYSTEM;
}

int main(void)
{
    char dir[] = "/tmp/ft-image-XXXXXX", command[64];
    int status;

    alarm(60); /* not for ever, whatever goes wrong; forks do not inherit it */
    syscall(SYS_close_range, 3, ~0u, 0); /* what we were started with is not to the point */
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(shared != MAP_FAILED && mkdtemp(dir) && prctl(PR_SET_CHILD_SUBREAPER, 1) == 0);
    test_put_back(dir);
    CHECK(reason_after("nothing") == FT_IMAGE_GOOD);
    CHECK(reason_after("thread") == FT_IMAGE_THREADS);
    CHECK(reason_after("child") == FT_IMAGE_CHILDREN);
    CHECK(reason_after("pipe") == FT_IMAGE_DESCRIPTOR);
    CHECK(reason_after("socket") == FT_IMAGE_DESCRIPTOR);
    CHECK(reason_after("mapping") == FT_IMAGE_MAPPING);
    if (access("/proc/self/timers", R_OK) == 0)
        CHECK(reason_after("timer") == FT_IMAGE_TIMERS);
    snprintf(command, sizeof command, "rm -r %s", dir);
    status = system(command);
    puts("a process is put back, and what cannot be is told");
    return status ? 1 : 0;
}
