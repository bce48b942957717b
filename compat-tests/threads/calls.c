/* SPDX-License-Identifier: BSD-3-Clause */
/* Scenes of torture: threads that wait in the kernel. What is read is what was written, in order. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "compat-tests/threads/torture.h"

enum { PIECES = 24, PIECE = 20000 };

/* ---- streams: one thread writes, another reads ---- */

struct stream {
    int from, to;       /* -1: what is accepted by, connected to `listens` */
    int listens;
    struct sockaddr_in address;
    bool is_socket;
};

static void fill(unsigned char *piece, size_t n, uint64_t *state)
{
    for (size_t i = 0; i < n; i++)
        piece[i] = (unsigned char)(torture_random(state) >> 8);
}

static void write_stream(struct actor *a, struct stream *s)
{
    unsigned char *piece = malloc(PIECE);
    uint64_t state = 11, sizes = 13;

    if (s->listens >= 0) {
        s->to = socket(AF_INET, SOCK_STREAM, 0);
        must(s->to >= 0 && connect(s->to, (struct sockaddr *)&s->address, sizeof s->address) == 0);
    }
    for (int i = 0; i < PIECES; i++) {
        size_t n = 1 + (size_t)torture_below(&sizes, torture_below(&sizes, 3) ? 200 : PIECE), done = 0;

        fill(piece, n, &state);
        while (done < n) { /* a blocking write does all of it, or the test of an undisturbed run says so */
            ssize_t wrote = s->is_socket ? send(s->to, piece + done, n - done, 0) : write(s->to, piece + done, n - done);

            must(wrote > 0);
            done += (size_t)wrote;
        }
        torture_breathe(a);
    }
    must(close(s->to) == 0);
    free(piece);
}

static void await(struct actor *a, int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    fd_set set;

    switch (torture_below(&a->chance, 5)) {
    case 0: must(poll(&p, 1, -1) == 1); break;
    case 1:
        while (poll(&p, 1, 1 + torture_below(&a->chance, 3)) == 0)
            ;
        break;
    case 2:
        FD_ZERO(&set);
        FD_SET(fd, &set);
        must(select(fd + 1, &set, NULL, NULL, NULL) == 1);
        break;
    default: break;
    }
}

static void read_stream(struct actor *a, struct stream *s)
{
    unsigned char *piece = malloc(PIECE);
    uint64_t state = 11, total = 0;
    ssize_t n;

    if (s->listens >= 0) {
        s->from = accept(s->listens, NULL, NULL);
        must(s->from >= 0);
    }
    for (;;) {
        size_t most = 1 + (size_t)torture_below(&a->chance, PIECE);

        await(a, s->from);
        n = s->is_socket ? recv(s->from, piece, most, torture_once_in(&a->chance, 3) ? MSG_WAITALL : 0) : read(s->from, piece, most);
        must(n >= 0);
        for (ssize_t i = 0; i < n; i++)
            must(piece[i] == (unsigned char)(torture_random(&state) >> 8));
        total += (uint64_t)n;
        if (n == 0)
            break;
        torture_breathe(a);
    }
    must(close(s->from) == 0);
    free(piece);
    a->hash = total;
}

static void *play_stream(void *arg)
{
    struct actor *a = arg;
    struct stream *s = (struct stream *)a->scene + a->index / 2;

    (a->index % 2 ? read_stream : write_stream)(a, s);
    return NULL;
}

static void play_streams(struct party *p, void (*make)(struct stream *s))
{
    struct stream streams[ACTORS / 2];
    int n = 1 + torture_below(&p->chance, ACTORS / 2);

    for (int i = 0; i < n; i++) {
        streams[i] = (struct stream){.listens = -1};
        make(&streams[i]);
    }
    torture_act(p, 2 * n, play_stream, streams);
    for (int i = 0; i < n; i++)
        if (streams[i].listens >= 0)
            must(close(streams[i].listens) == 0);
}

static void make_pipe(struct stream *s)
{
    int ends[2];

    must(pipe2(ends, O_CLOEXEC) == 0);
    s->from = ends[0];
    s->to = ends[1];
}

static void make_pair(struct stream *s)
{
    int ends[2];

    must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
    s->from = ends[0];
    s->to = ends[1];
    s->is_socket = true;
}

static void make_tcp(struct stream *s)
{
    socklen_t n = sizeof s->address;

    s->is_socket = true;
    s->address = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    s->listens = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    must(s->listens >= 0 && bind(s->listens, (struct sockaddr *)&s->address, n) == 0 && listen(s->listens, 1) == 0);
    must(getsockname(s->listens, (struct sockaddr *)&s->address, &n) == 0);
}

static void play_pipe(struct party *p) { play_streams(p, make_pipe); }
static void play_pair(struct party *p) { play_streams(p, make_pair); }
static void play_tcp(struct party *p) { play_streams(p, make_tcp); }

/* ---- events ---- */

struct bells {
    int counted, epoll, many;   /* eventfd: a semaphore; epoll */
};

static void *play_bell(void *arg)
{
    struct actor *a = arg;
    struct bells *b = a->scene;
    uint64_t one = 1, got;
    struct epoll_event e;

    for (int i = 0; i < PIECES; i++) {
        if (a->index % 2 == 0) {
            must(write(b->counted, &one, sizeof one) == sizeof one);
        } else {
            if (torture_once_in(&a->chance, 2))
                must(epoll_wait(b->epoll, &e, 1, torture_once_in(&a->chance, 2) ? 2 : 60000) >= 0);
            must(read(b->counted, &got, sizeof got) == sizeof got && got == 1);
        }
        torture_breathe(a);
    }
    return NULL;
}

static void play_bells(struct party *p)
{
    struct epoll_event e = {.events = EPOLLIN};
    struct bells b = {.counted = eventfd(0, EFD_SEMAPHORE | EFD_CLOEXEC), .epoll = epoll_create1(EPOLL_CLOEXEC)};

    must(b.counted >= 0 && b.epoll >= 0 && epoll_ctl(b.epoll, EPOLL_CTL_ADD, b.counted, &e) == 0);
    torture_act(p, 2 + 2 * torture_below(&p->chance, 2), play_bell, &b);
    must(epoll_wait(b.epoll, &e, 1, 0) == 0);
    close(b.epoll);
    close(b.counted);
}

/* ---- futexes, by hand: a baton ---- */

static void *play_futex(void *arg)
{
    struct actor *a = arg;
    _Atomic uint32_t *word = a->scene;

    for (uint32_t i = 0; i < PIECES * 2; i++) {
        uint32_t mine = i * (uint32_t)a->of + (uint32_t)a->index, seen;

        while ((seen = atomic_load(word)) != mine)
            must(syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0) == 0 || errno == EAGAIN || errno == EINTR);
        torture_compute(&a->chance, 3000);
        atomic_store(word, mine + 1);
        must(syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, ACTORS, NULL, NULL, 0) >= 0);
    }
    return NULL;
}

static void play_futexes(struct party *p)
{
    _Atomic uint32_t word = 0;

    torture_act(p, 2 + torture_below(&p->chance, 2), play_futex, &word);
    p->hash = torture_mix(p->hash, atomic_load(&word));
}

/* ---- sleeps ---- */

static void *play_sleeper(void *arg)
{
    struct actor *a = arg;
    struct timespec until;
    int ms;

    for (int i = 0; i < PIECES / 2; i++) {
        ms = 1 + torture_below(&a->chance, 4);
        until = torture_in(CLOCK_MONOTONIC, ms * 1000000l);
        switch (torture_below(&a->chance, 5)) {
        case 0: must(nanosleep(&(struct timespec){.tv_nsec = ms * 1000000l}, NULL) == 0); break;
        case 1: must(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == 0); break;
        case 2: must(clock_nanosleep(CLOCK_REALTIME, 0, &(struct timespec){.tv_nsec = ms * 1000000l}, NULL) == 0); break;
        case 3: must(poll(NULL, 0, ms) == 0); break;
        default: must(usleep((useconds_t)ms * 1000) == 0); break;
        }
        must(torture_is_past(CLOCK_MONOTONIC, &until));
        a->hash++;
    }
    return NULL;
}

static void play_sleepers(struct party *p) { torture_act(p, 2 + torture_below(&p->chance, 4), play_sleeper, NULL); }

const struct scene torture_calls[] = {{"pipe", play_pipe}, {"pair", play_pair}, {"tcp", play_tcp}, {"bells", play_bells},
                                      {"futex", play_futexes}, {"sleep", play_sleepers}, {0}};
