/* SPDX-License-Identifier: BSD-3-Clause */
/* The rows of calls.table about streams, pipes, time and chance. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "ft/outcome/test/calls.h"

static char text[70000];

/* ---- streams ---- */

static void do_streams(void)
{
    FILE *f = fopen("stream", "w+");
    long n;

    for (int i = 0; i < 300; i++)
        fprintf(f, "line %d of a stream\n", i);
    fseek(f, 100, SEEK_SET);
    fputs("<changed>", f);
    SAY(ftell(f));
    rewind(f);
    n = (long)fread(text, 1, sizeof text, f);
    calls_say_bytes("fread", text, n);
    SAY(fclose(f));
}

static void do_fopen(void)
{
    FILE *f;

    for (int i = 0; i < 2; i++) {
        f = fopen("fopen", "a+");
        fprintf(f, "opened for the %d. time, which is appended\n", i + 1);
        SAY(fclose(f));
    }
    f = fopen("fopen", "r+e");
    SAY(fileno(f));
    calls_say(fgets(text, 100, f), 0);
    fclose(f);
    SAY(fopen("none", "r") ? 0 : -1);
    SAY(fopen("fopen", "wx") ? 0 : -1);
}

static void do_fdopen(void)
{
    int fd = calls_file("fdopen", "text");
    FILE *f = fdopen(fd, "a");

    fputs(" and more", f);
    SAY(fcntl(fd, F_GETFL));
    SAY(fclose(f));
    SAY(fdopen(fd, "r") ? 0 : -1);
}

static void do_freopen(void)
{
    FILE *f = fopen("freopen1", "w");

    fputs("one", f);
    f = freopen("freopen2", "w", f);
    SAY(fileno(f));
    fputs("two", f);
    SAY(fclose(f));
    SAY(freopen("freopen3", "w", stdin) == stdin);
    SAY(write(0, "is standard input", 17));
}

static void do_tmpfile(void)
{
    FILE *f = tmpfile();

    SAY(fileno(f));
    fputs("a file without a name", f);
    rewind(f);
    calls_say(fgets(text, 100, f), 0);
    SAY(fclose(f));
}

static void do_dprintf(void)
{
    int fd = calls_file("dprintf", "");

    SAY(dprintf(fd, "%d times %s", 3, "text"));
    SAY(dprintf(-1, "text"));
    close(fd);
}

static void do_perror(void)
{
    int kept = dup(2), fd = calls_file("perror", "");

    dup2(fd, 2);
    errno = ENOENT;
    perror("what happened");
    psignal(SIGUSR1, "a signal");
    dup2(kept, 2);
    close(kept);
    close(fd);
}

/* ---- pipes ---- */

static void do_pipe(void)
{
    int a[2], b[2];

    SAY(pipe(a));
    SAY(pipe2(b, O_CLOEXEC | O_NONBLOCK));
    SAY(a[0] * 1000000 + a[1] * 10000 + b[0] * 100 + b[1]);
    SAY(read(b[0], text, 1));
    SAY(write(a[1], "abc", 3));
    SAY(read(a[0], text, 10));
    for (int i = 0; i < 2; i++) {
        close(a[i]);
        close(b[i]);
    }
}

static void fill_pipe(int fd)
{
    char bytes[5000];

    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)(' ' + i % 90);
    SAY(write(fd, "a line\n", 7));
    SAY(write(fd, bytes, sizeof bytes));
    SAY(write(fd, "the end\n", 8));
}

static void do_read_pipe(void)
{
    int p[2];

    SAY(pipe(p));
    fill_pipe(p[1]);
    SAY(read(p[0], text, 3));
    SAY(read(p[0], text + 3, 3000));
    close(p[1]);
    SAY(read(p[0], text + 3003, 6000));
    SAY(read(p[0], text, 1));
    calls_say_bytes("read", text, 5015);
    close(p[0]);
}

static void do_write_pipe(void)
{
    int p[2], fd;

    SAY(mkfifo("fifo", 0600));
    fd = open("fifo", O_RDWR | O_NONBLOCK);
    fill_pipe(fd);
    SAY(read(fd, text, sizeof text));
    calls_say_bytes("read", text, 5015);
    close(fd);
    signal(SIGPIPE, SIG_IGN);
    SAY(pipe(p));
    close(p[0]);
    SAY(write(p[1], "nobody", 6));
    signal(SIGPIPE, SIG_DFL);
    close(p[1]);
}

static void do_poll(void)
{
    fd_set *small;
    char *page;
    struct pollfd p[2] = {{.events = POLLIN}, {.events = POLLOUT}};
    struct timeval none = {0, 0};
    fd_set set;
    int pair[2];

    SAY(pipe(pair));
    p[0].fd = pair[0];
    p[1].fd = pair[1];
    SAY(poll(p, 2, 0));
    SAY(write(pair[1], "x", 1));
    SAY(ppoll(p, 2, &(struct timespec){0, 1000}, NULL));
    SAY(p[0].revents * 100 + p[1].revents);
    FD_ZERO(&set);
    FD_SET(pair[0], &set);
    SAY(select(pair[0] + 1, &set, NULL, NULL, &none));
    SAY(pselect(pair[0] + 1, &set, NULL, NULL, &(struct timespec){0, 0}, NULL));
    page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); /* a set is as long as it has to be */
    mprotect(page + 4096, 4096, PROT_NONE);
    small = (fd_set *)(void *)(page + 4096 - 8);
    *(uint64_t *)(void *)small = 1ull << pair[0];
    SAY(select(pair[0] + 1, small, NULL, NULL, &none));
    SAY(*(uint64_t *)(void *)small == 1ull << pair[0]);
    munmap(page, 8192);
    close(pair[0]);
    close(pair[1]);
}

/* ---- time, chance ---- */

static void do_clock(void)
{
    struct timespec t, u;
    struct timeval v;
    time_t s;
    clock_t c;

    TELL(clock_gettime(CLOCK_REALTIME, &t), t);
    TELL(clock_gettime(CLOCK_MONOTONIC, &u), u);
    TELL(gettimeofday(&v, NULL), v);
    s = time(NULL);
    calls_told(&s, sizeof s);
    TELL(timespec_get(&t, TIME_UTC), t);
    c = clock();
    calls_told(&c, sizeof c);
    SAY(u.tv_sec >= 0);
}

static void do_sleep(void)
{
    SAY(nanosleep(&(struct timespec){0, 300000}, NULL));
    SAY(clock_nanosleep(CLOCK_MONOTONIC, 0, &(struct timespec){0, 300000}, NULL));
    SAY(usleep(200));
    SAY(sleep(0));
    SAY(thrd_sleep(&(struct timespec){0, 100000}, NULL));
}

static void do_random(void)
{
    unsigned char b[24];
    uint32_t n;

    TELL(getrandom(b, sizeof b, 0), b);
    TELL(getentropy(b, sizeof b), b);
    n = arc4random();
    calls_told(&n, sizeof n);
    n = arc4random_uniform(1000);
    calls_told(&n, sizeof n);
    arc4random_buf(b, sizeof b);
    calls_told(b, sizeof b);
}

/* ---- events ---- */

static void do_eventfd(void)
{
    uint64_t value = 5;
    int fd;

    SAY(fd = eventfd(3, EFD_NONBLOCK));
    SAY(write(fd, &value, sizeof value));
    SAY(read(fd, &value, sizeof value));
    SAY(value);
    SAY(read(fd, &value, sizeof value));
    SAY(close(fd));
    SAY(fd = eventfd(2, EFD_SEMAPHORE));
    SAY(read(fd, &value, sizeof value));
    SAY(value);
    SAY(read(fd, &value, sizeof value));
    SAY(close(fd));
}

static void do_epoll(void)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.u64 = 11}, found[2] = {{0}};
    int s[2], epoll;

    SAY(epoll = epoll_create1(0));
    SAY(pipe(s));
    SAY(epoll_ctl(epoll, EPOLL_CTL_ADD, s[0], &event));
    SAY(epoll_ctl(epoll, EPOLL_CTL_ADD, s[0], &event));
    SAY(write(s[1], "edge", 4));
    SAY(epoll_wait(epoll, found, 2, 1000));
    SAY(found[0].data.u64);
    SAY(read(s[0], text, 4));
    event.data.u64 = 12;
    SAY(epoll_ctl(epoll, EPOLL_CTL_MOD, s[0], &event));
    SAY(write(s[1], "more", 4));
    SAY(epoll_pwait(epoll, found, 2, 1000, NULL));
    SAY(found[0].data.u64);
    SAY(epoll_ctl(epoll, EPOLL_CTL_DEL, s[0], NULL));
    SAY(epoll_ctl(epoll, EPOLL_CTL_DEL, s[0], NULL));
    close(s[0]);
    close(s[1]);
    SAY(close(epoll));
}

const struct calls_row calls_of_streams[] = {
    {"streams", do_streams, 0}, {"fopen", do_fopen, 0}, {"fdopen", do_fdopen, 0}, {"freopen", do_freopen, 0}, {"tmpfile", do_tmpfile, 0},
    {"dprintf", do_dprintf, 0}, {"perror", do_perror, 0}, {"read of a pipe", do_read_pipe, 0}, {"write to a pipe", do_write_pipe, 0},
    {"pipe", do_pipe, 0}, {"poll", do_poll, 0}, {"clock_gettime", do_clock, 0}, {"nanosleep", do_sleep, 0}, {"getrandom", do_random, 0},
    {"eventfd", do_eventfd, 0}, {"epoll", do_epoll, 0},
    {NULL, NULL, 0},
};
