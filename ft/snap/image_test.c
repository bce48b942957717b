/* SPDX-License-Identifier: BSD-3-Clause */
/* A process that is put back (ft/snap/image.h): its clone is nobody's child but its parent's, shares its descriptors, and goes on with
   timers and signals as they were; and what cannot be put back is told. A plain program: it forks more than Criterion likes. */
#include "config.h"
#include "ft/snap/image.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ft/snap/forget_queries.h"

#undef syscall /* image.c's come here */
long syscall(long number, ...);
long ft_syscall(long number, ...);

/* Seen by all processes; the one mapping that is "the library's own". */
static struct shared {
    _Atomic uint32_t snapshot;   /* pid, once it waits */
    _Atomic uint32_t wake;       /* futex: times it is to make a copy */
    _Atomic uint32_t copy;       /* pid of the last one */
    _Atomic uint32_t further;    /* the first process has written all that will be written again */
    char more[8192];
} *shared;

static int models;      /* a descriptor: mappings of it are not copied by a fork; 0: none */
static int report = 2;  /* where what is wrong is told, whatever a test does with 2 */

#define CHECK(what)                                                             \
    do {                                                                        \
        if (!(what)) {                                                          \
            dprintf(report, "image.c:%d: not so: %s\n", __LINE__, #what);       \
            _exit(1);                                                           \
        }                                                                       \
    } while (0)

static atomic_int children_seen;
static void on_child(int signal) { (void)signal; atomic_fetch_add(&children_seen, 1); }

/* What the library would say is its own. */
static struct ft_image_own own(void)
{
    return (struct ft_image_own){.mapping = {shared, sizeof *shared}, .not_copied = models};
}

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
    sigset_t all;

    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
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
    bool back = false;
    int fd, status;

    fd = open("file", O_RDWR | O_CREAT, 0600);
    CHECK(fd >= 0 && flock(fd, LOCK_EX) == 0);
    signal(SIGCHLD, on_child);
    sigemptyset(&usr2);
    sigaddset(&usr2, SIGUSR2);
    sigprocmask(SIG_BLOCK, &usr2, NULL);
    setitimer(ITIMER_PROF, &timer, NULL);
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
    }
    CHECK(atomic_load(&children_seen) == 0);
    CHECK(getitimer(ITIMER_PROF, &left) == 0 && left.it_value.tv_sec > 500);
    CHECK(sigprocmask(SIG_SETMASK, NULL, &now) == 0 && sigismember(&now, SIGUSR2) == 1);
    if (!back) {
        CHECK(dup2(fd, 300) == 300);
        put(300, "first ");
        say(&shared->further, 1);
        for (;;)
            pause(); /* to be killed */
    }
    put(300, "back "); /* the table is one */
    _exit(42);
}

/* ---- ftrun's part ---- */

static void check_file(const char *path, const char *wanted)
{
    char text[64] = "";
    int fd = open(path, O_RDONLY);

    CHECK(fd >= 0 && read(fd, text, sizeof text - 1) >= 0);
    if (strcmp(text, wanted))
        dprintf(report, "%s: \"%s\", not \"%s\"\n", path, text, wanted);
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
    int status, other;

    CHECK(chdir(dir) == 0);
    first = fork();
    if (first == 0)
        program();
    await(&shared->further, 0);
    snapshot = (pid_t)atomic_load(&shared->snapshot);
    CHECK(kill(first, SIGKILL) == 0);
    wait_for(first, &status);
    CHECK(WIFSIGNALED(status));
    other = open("file", O_RDWR);
    CHECK(other >= 0 && flock(other, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK); /* nothing was closed */
    for (uint32_t n = 1; n <= 3; n++) { /* again and again from one snapshot */
        uint32_t before = atomic_load(&shared->copy);

        say(&shared->wake, n);
        await(&shared->copy, before);
        copy = (pid_t)atomic_load(&shared->copy);
        wait_for(copy, &status);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 42);
    }
    check_file("file", "first back back back ");
    CHECK(kill(snapshot, SIGKILL) == 0);
    wait_for(snapshot, &status);
    CHECK(flock(other, LOCK_EX | LOCK_NB) == 0);
    close(other);
}

static void *idle(void *arg)
{
    pause();
    return arg;
}

/* As on a kernel without CONFIG_CHECKPOINT_RESTORE. */
static bool no_timers;

long ft_syscall(long number, ...)
{
    long args[6];
    va_list list;

    va_start(list, number);
    for (int i = 0; i < 6; i++)
        args[i] = va_arg(list, long);
    va_end(list);
    if (no_timers && number == SYS_openat && !strcmp((const char *)args[1], "/proc/self/timers")) {
        errno = ENOENT;
        return -1;
    }
    return syscall(number, args[0], args[1], args[2], args[3], args[4], args[5]);
}

/* Many, whose lines are long: they are read in pieces, and no piece ends where a line does. */
static void map_names(void)
{
    int dir = open(".", O_RDONLY | O_DIRECTORY), file, next;

    for (int deep = 0; deep < 12; deep++) {
        char one[251];

        memset(one, 'a' + deep, sizeof one - 1);
        one[sizeof one - 1] = 0;
        CHECK(mkdirat(dir, one, 0700) == 0 || errno == EEXIST);
        next = openat(dir, one, O_RDONLY | O_DIRECTORY);
        CHECK(next >= 0);
        close(dir);
        dir = next;
    }
    file = openat(dir, "file", O_RDWR | O_CREAT, 0600);
    CHECK(file >= 0 && ftruncate(file, 4096) == 0);
    for (int i = 0; i < 64; i++)
        CHECK(mmap(NULL, 4096, PROT_READ, i % 2 ? MAP_SHARED : MAP_PRIVATE, file, 0) != MAP_FAILED);
    close(file);
    close(dir);
}

/* What a program may do to itself, by name. */
static void do_to_myself(const char *what)
{
    pthread_t thread;
    timer_t timer;

    if (!strcmp(what, "thread"))
        CHECK(pthread_create(&thread, NULL, idle, NULL) == 0);
    else if (!strcmp(what, "mapping"))
        CHECK(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0) != MAP_FAILED);
    else if (!strcmp(what, "models"))
        CHECK(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, models, 4096) != MAP_FAILED);
    else if (!strcmp(what, "names"))
        map_names();
    else if (!strcmp(what, "mapping among names")) {
        map_names();
        do_to_myself("mapping");
        map_names();
    }
    else if (!strcmp(what, "part of our mapping"))
        CHECK(madvise((char *)shared + 4096, 4096, MADV_DONTFORK) == 0);
    else if (!strcmp(what, "timer") || !strcmp(what, "our timer"))
        CHECK(timer_create(CLOCK_MONOTONIC, NULL, &timer) == 0);
    else
        CHECK(!strcmp(what, "nothing"));
}

static _Atomic uint32_t kid_of_other;

static void *has_child(void *arg)
{
    pid_t kid = fork();

    CHECK(kid >= 0);
    if (kid == 0)
        for (;;)
            pause();
    say(&kid_of_other, (uint32_t)kid);
    for (;;)
        pause();
    return arg;
}

static bool knows_it(pid_t child) { return (uint32_t)child == kid_of_other; }
static bool knows_none(pid_t child) { return child == 0; }

/* What the look says of a process, told by how it ends; a child of it goes with it (1: there is none). */
__attribute__((noreturn)) static void tell_reason(const struct ft_image_own *ours, pid_t kid)
{
    static struct ft_image image;
    enum ft_image_reason reason = ft_image_take(&image, ours);

    if (kid > 1)
        kill(kid, SIGKILL);
    _exit(100 + (int)reason);
}

static enum ft_image_reason reason_told(pid_t pid)
{
    int status;

    wait_for(pid, &status);
    return WIFEXITED(status) ? (enum ft_image_reason)(WEXITSTATUS(status) - 100) : FT_IMAGE_SYSTEM;
}

/* All threads are said to stand. Children are listed by the thread that has made them. */
static enum ft_image_reason reason_with_child_of_other(bool (*knows)(pid_t child))
{
    struct ft_image_own ours = own();
    pid_t pid = fork();

    if (pid == 0) {
        pthread_t thread;

        CHECK(pthread_create(&thread, NULL, has_child, NULL) == 0);
        await(&kid_of_other, 0);
        ours.stopped = true;
        ours.knows = knows;
        tell_reason(&ours, (pid_t)kid_of_other);
    }
    return reason_told(pid);
}

/* Of one that has done this to itself. */
static enum ft_image_reason reason_after(const char *what)
{
    struct ft_image_own ours = own();
    pid_t pid = fork();

    ours.timers = !strcmp(what, "our timer");
    if (pid == 0) {
        bool child = !strcmp(what, "child"), ended = !strcmp(what, "ended child");
        pid_t kid = child || ended ? fork() : 1;

        CHECK(kid >= 0);
        if (kid == 0 && ended)
            _exit(0);
        if (kid == 0)
            for (;;)
                pause();
        if (ended)
            CHECK(waitid(P_PID, (id_t)kid, &(siginfo_t){0}, WEXITED | WNOWAIT) == 0);
        if (!child && !ended)
            do_to_myself(what);
        tell_reason(&ours, kid);
    }
    return reason_told(pid);
}

/* ---- what is left out of a fork ---- */

enum { LEFT_PAGES = 64, LEFT_BYTES = LEFT_PAGES * 4096 };

/* How many of the bytes at `at` a child has, if n of them are there. */
static int child_has(const char *at, int n)
{
    int status, has = 0;
    pid_t pid = fork();

    CHECK(pid >= 0);
    if (pid == 0) {
        for (int i = 0; i < n; i++)
            has += at[i * 4096] == 1;
        _exit(has);
    }
    CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* Whole pages of private memory, until they are taken in again. Memory of a file, in which a fork has no zeros, never; and nothing stays
   left out where a part could not be. */
static void test_left_out(void)
{
    char *at = mmap(NULL, LEFT_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct ft_image_pages pages;
    int fd = memfd_create("file", MFD_CLOEXEC);

    CHECK(at != MAP_FAILED && fd >= 0 && ftruncate(fd, LEFT_BYTES) == 0);
    memset(at, 1, LEFT_BYTES);
    pages = ft_image_leave_out(at + 1, LEFT_BYTES - 2);
    CHECK(pages.start == at + 4096 && pages.bytes == LEFT_BYTES - 2 * 4096);
    CHECK(child_has(at, LEFT_PAGES) == 2 && at[4096] == 1);
    ft_image_take_in(&pages);
    CHECK(child_has(at, LEFT_PAGES) == LEFT_PAGES);
    CHECK(!ft_image_leave_out(NULL, LEFT_BYTES).start && !ft_image_leave_out(at, 8).start);
    CHECK(mmap(at + LEFT_BYTES / 2, LEFT_BYTES / 2, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, fd, 0) != MAP_FAILED);
    CHECK(!ft_image_leave_out(at, LEFT_BYTES).start);
    CHECK(child_has(at, LEFT_PAGES) == LEFT_PAGES / 2);
    munmap(at, LEFT_BYTES);
    close(fd);
}

static void test_mappings(void)
{
    CHECK(reason_after("mapping") == FT_IMAGE_MAPPING);
    CHECK(reason_after("part of our mapping") == FT_IMAGE_GOOD);
    CHECK(reason_after("models") == FT_IMAGE_GOOD);
    CHECK(reason_after("names") == FT_IMAGE_GOOD);
    CHECK(reason_after("mapping among names") == FT_IMAGE_MAPPING);
}

int main(void)
{
    char dir[] = "/tmp/ft-image-XXXXXX", command[64];
    int status;

    alarm(60); /* not for ever, whatever goes wrong; forks do not inherit it */
    syscall(SYS_close_range, 3, ~0u, 0); /* what we were started with is not to the point */
    status = open("/dev/null", O_RDWR);
    report = fcntl(2, F_DUPFD, 100);
    CHECK(status >= 0 && report >= 0 && dup2(status, 0) == 0 && dup2(status, 1) == 1 && dup2(status, 2) == 2 && close(status) == 0);
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(shared != MAP_FAILED && mkdtemp(dir) && prctl(PR_SET_CHILD_SUBREAPER, 1) == 0);
    test_put_back(dir);
    test_left_out();
    CHECK(reason_after("nothing") == FT_IMAGE_GOOD);
    CHECK(reason_after("thread") == FT_IMAGE_THREADS);
    CHECK(reason_after("child") == FT_IMAGE_CHILDREN);
    CHECK(reason_after("ended child") == FT_IMAGE_CHILDREN);
    CHECK(reason_with_child_of_other(knows_it) == FT_IMAGE_GOOD);
    CHECK(reason_with_child_of_other(knows_none) == FT_IMAGE_CHILDREN);
    CHECK(reason_after("mapping") == FT_IMAGE_MAPPING);
    models = memfd_create("models", MFD_CLOEXEC);
    CHECK(models > 0);
    test_mappings();
    if (access("/proc/self/timers", R_OK) == 0)
        CHECK(reason_after("timer") == FT_IMAGE_TIMERS && reason_after("our timer") == FT_IMAGE_GOOD);
    no_timers = true; /* then there may be some: they were lost without a word */
    CHECK(reason_after("nothing") == FT_IMAGE_SYSTEM);
    no_timers = false;
    if (ft_forget_queries())
        test_mappings();
    snprintf(command, sizeof command, "rm -r %s", dir);
    status = system(command);
    dprintf(report, "a process is put back, and what cannot be is told\n");
    return status ? 1 : 0;
}
