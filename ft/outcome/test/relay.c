/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads of a rank that pass a baton around: by a connection, a pair of sockets, a pipe, an eventfd. Who has it writes; so all that can be seen has
   one order, without any lock. Beside each runner a thread writes to a file of its own, opened anew all the time: numbers of descriptors are what
   threads race for. Knows of no recorder.
     outcome_relay DIRECTORY ROUNDS */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { RUNNERS = 4, LINES = 12, TIMES = 6, MARK = 4711 };

struct baton {
    uint64_t rounds, hash;
    char more[1000];
};

static struct leg {
    int from, to;    /* the end that gives the baton on, and the one that takes it */
} legs[RUNNERS];

static const char *directory;
static uint64_t rounds;
static int all;
static uint64_t by_event; /* the hash, where only a number can be passed */

static void must(bool good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "%s: %s\n", what, strerror(errno));
    exit(2);
}

static void say(int fd, const char *text) { must(write(fd, text, strlen(text)) == (ssize_t)strlen(text), "write"); }

/* ---- legs ---- */

static void open_connection(struct leg *leg)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t bytes = sizeof at;
    int listener = socket(AF_INET, SOCK_STREAM, 0);

    must(bind(listener, (struct sockaddr *)&at, sizeof at) == 0 && listen(listener, 1) == 0 &&
             getsockname(listener, (struct sockaddr *)&at, &bytes) == 0,
         "listen");
    leg->from = socket(AF_INET, SOCK_STREAM, 0);
    must(connect(leg->from, (struct sockaddr *)&at, sizeof at) == 0, "connect");
    leg->to = accept(listener, NULL, NULL);
    must(leg->to >= 0, "accept");
    close(listener);
}

static void open_legs(void)
{
    int ends[2];

    open_connection(&legs[0]);
    must(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "socketpair");
    legs[1] = (struct leg){ends[0], ends[1]};
    must(pipe(ends) == 0, "pipe");
    legs[2] = (struct leg){ends[1], ends[0]};
    legs[3].from = legs[3].to = eventfd(0, EFD_NONBLOCK);
    must(legs[3].to >= 0, "eventfd");
}

static void give_on(int i, const struct baton *b)
{
    uint64_t number = b->rounds + 1;

    if (i < RUNNERS - 1) {
        must(write(legs[i].from, b, sizeof *b) == sizeof *b, "write");
        return;
    }
    by_event = b->hash;
    must(write(legs[i].from, &number, sizeof number) == sizeof number, "write");
}

static void take_event(int epoll, struct baton *b)
{
    struct epoll_event event;
    uint64_t number;

    while (read(legs[RUNNERS - 1].to, &number, sizeof number) < 0) {
        int n;

        must(errno == EAGAIN, "read");
        n = epoll_wait(epoll, &event, 1, -1);
        must(n >= 0 || errno == EINTR, "epoll_wait");
        must(n <= 0 || *(int *)event.data.ptr == MARK, "what came with the event"); /* an address: in a replay another one, perhaps */
    }
    b->rounds = number - 1;
    b->hash = by_event;
}

static void take(int i, int epoll, struct baton *b)
{
    size_t done = 0;

    if (i == RUNNERS - 1) {
        take_event(epoll, b);
        return;
    }
    while (done < sizeof *b) {
        ssize_t n = i == 1 ? recv(legs[i].to, (char *)b + done, sizeof *b - done, 0) : read(legs[i].to, (char *)b + done, sizeof *b - done);

        must(n > 0, "read");
        done += (size_t)n;
    }
}

/* ---- runners ---- */

static void run(int i, struct baton *b)
{
    char text[200];

    b->hash = (b->hash ^ (uint64_t)i) * 0x9E3779B97F4A7C15 + b->rounds;
    memset(b->more, (int)(b->hash & 0x7f), sizeof b->more);
    snprintf(text, sizeof text, "%d of round %" PRIu64 ": %016" PRIx64 "\n", i, b->rounds, b->hash);
    say(STDOUT_FILENO, text);
    say(all, text);
    if (i == 0)
        b->rounds++;
}

static void *runner(void *arg)
{
    int i = (int)(intptr_t)arg, before = (i + RUNNERS - 1) % RUNNERS, epoll = -1;
    struct baton b = {0};
    int *mark = NULL;

    if (before == RUNNERS - 1) {
        epoll = epoll_create1(0);
        mark = malloc(sizeof *mark);
        *mark = MARK;
        must(epoll_ctl(epoll, EPOLL_CTL_ADD, legs[before].to, &(struct epoll_event){.events = EPOLLIN, .data.ptr = mark}) == 0, "epoll_ctl");
    }
    if (i == 1)
        give_on(0, &b);
    do {
        take(before, epoll, &b);
        run(i, &b);
        if (i != 0 || b.rounds < rounds)
            give_on(i, &b);
    } while (b.rounds + (i != 0) < rounds);
    if (epoll >= 0)
        close(epoll);
    free(mark);
    return NULL;
}

static void *briefly(void *arg)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (char *)arg + now.tv_sec * 0;
}

/* Writes as much as is read back; makes a thread now and then. */
static void *writer(void *arg)
{
    char name[300], line[80], back[80];
    uint64_t sum = 0;

    snprintf(name, sizeof name, "%s/%d", directory, (int)(intptr_t)arg);
    for (int time = 0; time < TIMES; time++) {
        pthread_t thread;
        void *result;
        int fd;

        for (int k = 0; k < LINES; k++) {
            int n = snprintf(line, sizeof line, "%d %d %016" PRIx64 "\n", time, k, sum);

            fd = open(name, O_RDWR | O_CREAT | (time || k ? 0 : O_TRUNC), 0644);
            must(fd >= 0 && lseek(fd, 0, SEEK_END) >= 0, "open");
            must(write(fd, line, (size_t)n) == n && pread(fd, back, (size_t)n, lseek(fd, 0, SEEK_CUR) - n) == n, "write");
            close(fd);
            for (int at = 0; at < n; at++)
                sum = (sum ^ (unsigned char)back[at]) * 0x100000001b3;
        }
        must(pthread_create(&thread, NULL, briefly, arg) == 0 && pthread_join(thread, &result) == 0 && result == arg, "pthread_create");
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t runners[RUNNERS], writers[RUNNERS];
    char name[300];

    if (argc != 3)
        return 2;
    directory = argv[1];
    rounds = strtoull(argv[2], NULL, 10);
    snprintf(name, sizeof name, "%s/all", directory);
    all = open(name, O_WRONLY | O_CREAT | O_APPEND, 0644);
    must(all >= 0, name);
    open_legs();
    for (intptr_t i = 0; i < RUNNERS; i++) {
        must(pthread_create(&runners[i], NULL, runner, (void *)i) == 0, "pthread_create");
        must(pthread_create(&writers[i], NULL, writer, (void *)i) == 0, "pthread_create");
    }
    for (int i = 0; i < RUNNERS; i++) {
        pthread_join(runners[i], NULL);
        pthread_join(writers[i], NULL);
    }
    say(STDOUT_FILENO, "end\n");
    return 0;
}
