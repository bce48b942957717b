/* SPDX-License-Identifier: BSD-3-Clause */
/* Of unnoticed: calls that move much, slowly, or wait for somebody: they do all of it. */
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "compat-tests/threads/unnoticed.h"

enum { MUCH = 1 << 20, LITTLE = 20000, ALL = 200000 };

static void pause_a_little(void) { must(nanosleep(&(struct timespec){.tv_nsec = 300000}, NULL) == 0); }

static void make_tcp(int ends[2])
{
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int listens = socket(AF_INET, SOCK_STREAM, 0);
    socklen_t n = sizeof name;

    must(listens >= 0 && bind(listens, (struct sockaddr *)&name, n) == 0 && listen(listens, 1) == 0);
    must(getsockname(listens, (struct sockaddr *)&name, &n) == 0);
    ends[1] = socket(AF_INET, SOCK_STREAM, 0);
    must(ends[1] >= 0 && connect(ends[1], (struct sockaddr *)&name, n) == 0);
    ends[0] = accept(listens, NULL, NULL);
    must(ends[0] >= 0 && close(listens) == 0);
}

static void close_both(const int ends[2]) { must(close(ends[0]) == 0 && close(ends[1]) == 0); }

/* ---- writes of 1 MiB to who reads slowly ---- */

static void *read_slowly(void *arg)
{
    char *piece = malloc(LITTLE);
    int fd = *(int *)arg;
    size_t total = 0;
    ssize_t n;

    while (total < MUCH && (n = read(fd, piece, LITTLE)) > 0) {
        for (ssize_t i = 0; i < n; i++)
            must(piece[i] == (char)((total + (size_t)i) * 7 >> 3));
        total += (size_t)n;
        pause_a_little();
    }
    must(total == MUCH);
    free(piece);
    return NULL;
}

static void write_much(int ends[2], int how)
{
    char *much = malloc(MUCH);
    struct iovec pieces[2] = {{much, MUCH / 2}, {much + MUCH / 2, MUCH / 2}};

    for (size_t i = 0; i < MUCH; i++)
        much[i] = (char)(i * 7 >> 3);
    unnoticed_help(read_slowly, &ends[0]);
    must((how == 0 ? write(ends[1], much, MUCH) : how == 1 ? send(ends[1], much, MUCH, 0) : writev(ends[1], pieces, 2)) == MUCH);
    unnoticed_helped();
    close_both(ends);
    free(much);
}

static void pipe_write(void)
{
    int ends[2];

    must(pipe(ends) == 0);
    write_much(ends, 0);
}

static void pipe_writev(void)
{
    int ends[2];

    must(pipe(ends) == 0);
    write_much(ends, 2);
}

static void unix_send(void)
{
    int ends[2];

    must(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    write_much(ends, 1);
}

static void tcp_send(void)
{
    int ends[2], few = 16384;

    make_tcp(ends);
    must(setsockopt(ends[1], SOL_SOCKET, SO_SNDBUF, &few, sizeof few) == 0);
    write_much(ends, 1);
}

static void tcp_write(void)
{
    int ends[2];

    make_tcp(ends);
    write_much(ends, 0);
}

/* ---- receives ---- */

static void *send_slowly(void *arg)
{
    char piece[ALL / 20] = "";

    for (int i = 0; i < 20; i++) {
        must(send(*(int *)arg, piece, sizeof piece, 0) == sizeof piece);
        pause_a_little();
    }
    return NULL;
}

static void receive_all(int ends[2])
{
    char *all = malloc(ALL);

    unnoticed_help(send_slowly, &ends[1]);
    must(recv(ends[0], all, ALL, MSG_WAITALL) == ALL);
    unnoticed_helped();
    free(all);
    close_both(ends);
}

static void tcp_all(void)
{
    int ends[2];

    make_tcp(ends);
    receive_all(ends);
}

static void unix_all(void)
{
    int ends[2];

    must(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    receive_all(ends);
}

/* The kernel counts these in ticks. */
static void receive_nothing(int ends[2])
{
    struct timeval limit = {.tv_usec = SHORT_MS * 1000};
    uint64_t begin;
    char c;

    must(setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0);
    begin = unnoticed_begin();
    must(recv(ends[0], &c, 1, 0) < 0 && errno == EAGAIN);
    unnoticed_ended(begin, SHORT_MS, 10);
    close_both(ends);
}

static void tcp_limit(void)
{
    int ends[2];

    make_tcp(ends);
    receive_nothing(ends);
}

static void unix_limit(void)
{
    int ends[2];

    must(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    receive_nothing(ends);
}

/* ---- who comes late ---- */

static void *connect_late(void *arg)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    char c;

    must(nanosleep(&(struct timespec){.tv_nsec = SHORT_MS * MS}, NULL) == 0);
    must(fd >= 0 && connect(fd, arg, sizeof(struct sockaddr_in)) == 0 && read(fd, &c, 1) == 0 && close(fd) == 0);
    return NULL;
}

static void accepts(void)
{
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int listens = socket(AF_INET, SOCK_STREAM, 0), fd;
    socklen_t n = sizeof name;

    must(listens >= 0 && bind(listens, (struct sockaddr *)&name, n) == 0 && listen(listens, 1) == 0);
    must(getsockname(listens, (struct sockaddr *)&name, &n) == 0);
    unnoticed_help(connect_late, &name);
    fd = accept(listens, NULL, NULL);
    must(fd >= 0);
    pause_a_little();
    must(close(fd) == 0);
    unnoticed_helped();
    must(close(listens) == 0);
}

static void *write_late(void *arg)
{
    uint64_t one = 1;

    must(nanosleep(&(struct timespec){.tv_nsec = SHORT_MS * MS}, NULL) == 0 && write(*(int *)arg, &one, sizeof one) == sizeof one);
    return NULL;
}

static void read_late(void)
{
    char eight[8];
    int ends[2];

    must(pipe(ends) == 0);
    unnoticed_help(write_late, &ends[1]);
    must(read(ends[0], eight, sizeof eight) == sizeof eight);
    unnoticed_helped();
    close_both(ends);
}

static void epoll_late(void)
{
    int bell = eventfd(0, EFD_CLOEXEC), epoll = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event e = {.events = EPOLLIN, .data.u64 = 9};
    uint64_t got = 0;

    must(bell >= 0 && epoll >= 0 && epoll_ctl(epoll, EPOLL_CTL_ADD, bell, &e) == 0);
    unnoticed_help(write_late, &bell);
    must(epoll_wait(epoll, &e, 1, -1) == 1 && e.data.u64 == 9 && read(bell, &got, sizeof got) == sizeof got && got == 1);
    unnoticed_helped();
    must(close(bell) == 0 && close(epoll) == 0);
}

static void child(void)
{
    pid_t pid = fork();
    int status;

    if (pid == 0) {
        nanosleep(&(struct timespec){.tv_nsec = SHORT_MS * MS}, NULL);
        _exit(7);
    }
    must(pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

const struct kind unnoticed_streams[] = {
    {"pipe write", pipe_write}, {"pipe writev", pipe_writev}, {"unix send", unix_send}, {"tcp send", tcp_send}, {"tcp write", tcp_write}, {"tcp all", tcp_all},
    {"unix all", unix_all}, {"tcp limit", tcp_limit}, {"unix limit", unix_limit}, {"accept", accepts}, {"read", read_late}, {"epoll late", epoll_late}, {0}};
const struct kind unnoticed_children[] = {{"waitpid", child}, {0}};
