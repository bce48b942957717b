/* SPDX-License-Identifier: BSD-3-Clause */
/* sockets.sh: a rank that talks to a peer outside of the job, which checks every byte.

     talk peer DIRECTORY SEED          serves one rank; prints what it got. Its port is in DIRECTORY/port
     talk rank DIRECTORY SEED

   Connections of both kinds (TCP, streams of one host), made by either side, blocking or not. Sizes, calls and who ends first go by the
   seed. All that either side sends is a function of the seed and the connection's number. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

enum { CONNECTIONS = 6, MOST = 120000, CHUNK = 60000 };

static const char *directory;
static uint64_t seed;
static int control = -1;

static void need(bool ok, const char *what)
{
    if (ok)
        return;
    printf("FAILED: %s: %s\n", what, strerror(errno));
    fflush(stdout);
    exit(1);
}

static uint64_t draw(uint64_t *state)
{
    *state += 0x9e3779b97f4a7c15;
    uint64_t x = *state;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

/* What stands at `at` of what `side` sends. */
static unsigned char byte_at(int k, int side, long at)
{
    uint64_t state = seed * 1000 + (uint64_t)k * 2 + (uint64_t)side + (uint64_t)(at / 8) * 0x51ed2701;

    return (unsigned char)(draw(&state) >> (8 * (at % 8)));
}

static void fill(unsigned char *to, int k, int side, long at, long n)
{
    for (long i = 0; i < n; i++)
        to[i] = byte_at(k, side, at + i);
}

static long wrong_in(const unsigned char *from, int k, int side, long at, long n)
{
    long wrong = 0;

    for (long i = 0; i < n; i++)
        wrong += from[i] != byte_at(k, side, at + i);
    return wrong;
}

/* Of a connection, the same on both sides. */
struct plan {
    bool local, rank_listens, blocks, rank_ends_first;
    long of[2];   /* bytes by the rank, by the peer */
};

static struct plan plan_of(int k)
{
    uint64_t state = seed * 77 + (uint64_t)k;
    struct plan p = {.local = draw(&state) % 3 == 0, .rank_listens = draw(&state) & 1, .blocks = draw(&state) & 1, .rank_ends_first = draw(&state) & 1};

    p.of[0] = (long)(draw(&state) % MOST);
    p.of[1] = (long)(draw(&state) % MOST);
    return p;
}

static struct sockaddr *any_of(void *address) { return address; }

static int listen_at(const struct plan *p, const char *who, int k, int *port)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr_un u = {.sun_family = AF_UNIX};
    socklen_t n = sizeof a;
    int fd = socket(p->local ? AF_UNIX : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    *port = k;
    snprintf(u.sun_path, sizeof u.sun_path, "%s/%s.%d", directory, who, k);
    need(fd >= 0 && bind(fd, p->local ? any_of(&u) : any_of(&a), p->local ? sizeof u : sizeof a) == 0 && listen(fd, 4) == 0, "listen");
    if (!p->local) {
        need(getsockname(fd, any_of(&a), &n) == 0, "getsockname");
        *port = ntohs(a.sin_port);
    }
    return fd;
}

static int connect_to(const struct plan *p, const char *who, int port, bool blocks)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons((uint16_t)port)};
    struct sockaddr_un u = {.sun_family = AF_UNIX};
    int fd = socket(p->local ? AF_UNIX : AF_INET, SOCK_STREAM | (blocks ? 0 : SOCK_NONBLOCK), 0), error = 0;
    struct pollfd ready = {fd, POLLOUT, 0};
    socklen_t n = sizeof error;

    snprintf(u.sun_path, sizeof u.sun_path, "%s/%s.%d", directory, who, port);
    if (connect(fd, p->local ? any_of(&u) : any_of(&a), p->local ? sizeof u : sizeof a) == 0)
        return fd;
    need(errno == EINPROGRESS && poll(&ready, 1, -1) == 1, "connect");
    need(getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &n) == 0 && error == 0, "connect in the background");
    return fd;
}

static long send_control(int value)
{
    return write(control, &value, sizeof value);
}

static int receive_control(void)
{
    int value = 0;

    need(recv(control, &value, sizeof value, MSG_WAITALL) == sizeof value, "control");
    return value;
}

/* ---- the peer ---- */

struct half {
    int fd, k;
    struct plan plan;
    long got, wrong;
    bool ended;
};

static void *receive_all(void *arg)
{
    struct half *h = arg;
    unsigned char *bytes = malloc(CHUNK);
    uint64_t state = seed + (uint64_t)h->k * 5;
    ssize_t n;

    while ((n = read(h->fd, bytes, 1 + draw(&state) % (CHUNK - 1))) > 0) {
        h->wrong += wrong_in(bytes, h->k, 0, h->got, n);
        h->got += n;
        if (draw(&state) % 8 == 0)
            usleep((useconds_t)(draw(&state) % 800));
    }
    h->ended = n == 0;
    free(bytes);
    return NULL;
}

static void serve(int fd, int k, struct plan plan)
{
    struct half h = {.fd = fd, .k = k, .plan = plan};
    unsigned char *bytes = malloc(CHUNK);
    uint64_t state = seed + (uint64_t)k * 3;
    pthread_t reader;

    pthread_create(&reader, NULL, receive_all, &h);
    if (plan.rank_ends_first) /* then it still gets all */
        pthread_join(reader, NULL);
    for (long at = 0; at < plan.of[1];) {
        long n = draw(&state) % 3 ? 1 + (long)(draw(&state) % CHUNK) : 1 + (long)(draw(&state) % 40);

        n = n > plan.of[1] - at ? plan.of[1] - at : n;
        fill(bytes, k, 1, at, n);
        for (long done = 0; done < n;) {
            ssize_t some = write(fd, bytes + done, (size_t)(n - done));

            need(some > 0, "the peer's write");
            done += some;
        }
        at += n;
        if (draw(&state) % 8 == 0)
            usleep((useconds_t)(draw(&state) % 800));
    }
    shutdown(fd, SHUT_WR);
    if (!plan.rank_ends_first)
        pthread_join(reader, NULL);
    printf("connection %d: got %ld of %ld, %ld wrong, %s\n", k, h.got, plan.of[0], h.wrong, h.ended ? "ended" : "broken");
    fflush(stdout);
    close(fd);
    free(bytes);
}

static int peer(void)
{
    struct plan tcp = {0};
    char name[300];
    int port, l = listen_at(&tcp, "peer", 0, &port);
    FILE *f;

    snprintf(name, sizeof name, "%s/port.new", directory);
    f = fopen(name, "w");
    need(f != NULL, "port");
    fprintf(f, "%d\n", port);
    fclose(f);
    {
        char last[300];

        snprintf(last, sizeof last, "%s/port", directory);
        rename(name, last);
    }
    control = accept(l, NULL, NULL);
    for (int k = 1; k <= CONNECTIONS; k++) {
        struct plan p = plan_of(k);
        int listener, fd;

        if (p.rank_listens) {
            port = receive_control();
            fd = connect_to(&p, "rank", port, true);
        } else {
            listener = listen_at(&p, "peer", k, &port);
            send_control(port);
            fd = accept(listener, NULL, NULL);
            close(listener);
        }
        need(fd >= 0, "connection");
        serve(fd, k, p);
    }
    printf("control: %s\n", read(control, name, 1) == 0 ? "ended" : "not ended");
    return 0;
}

/* ---- the rank ---- */

static unsigned char bytes[CHUNK];
static uint64_t choice;

/* Some of what is to be sent, by one call or another. */
static ssize_t send_some(int fd, int k, long at, long most)
{
    long n = draw(&choice) % 3 ? 1 + (long)(draw(&choice) % CHUNK) : 1 + (long)(draw(&choice) % 40);
    struct iovec pieces[2];
    struct msghdr m = {.msg_iov = pieces, .msg_iovlen = 2};

    n = n > most ? most : n;
    fill(bytes, k, 0, at, n);
    pieces[0] = (struct iovec){bytes, (size_t)n / 3};
    pieces[1] = (struct iovec){bytes + n / 3, (size_t)(n - n / 3)};
    switch (draw(&choice) % 5) {
    case 0: return send(fd, bytes, (size_t)n, MSG_NOSIGNAL);
    case 1: return sendmsg(fd, &m, 0);
    case 2: return writev(fd, pieces, 2);
    case 3: return send(fd, bytes, (size_t)n, 0);
    default: return write(fd, bytes, (size_t)n);
    }
}

static ssize_t receive_some(int fd, int k, long at, bool tcp)
{
    long n = draw(&choice) % 3 ? 1 + (long)(draw(&choice) % CHUNK) : 1 + (long)(draw(&choice) % 40);
    struct iovec pieces[2] = {{bytes, (size_t)n}, {bytes, 0}};
    struct msghdr m = {.msg_iov = pieces, .msg_iovlen = 2};
    ssize_t got;

    switch (draw(&choice) % 5) {
    case 0: got = recv(fd, bytes, (size_t)n, 0); break;
    case 1: got = recvmsg(fd, &m, 0); break;
    case 2: got = readv(fd, pieces, 2); break;
    case 3:
        if (tcp && recv(fd, bytes, (size_t)n, MSG_PEEK) > 0)
            need(bytes[0] == byte_at(k, 1, at), "what is peeked at");
        got = recv(fd, bytes, (size_t)n, 0);
        break;
    default: got = read(fd, bytes, (size_t)n);
    }
    return got;
}

static short ready(int fd, short events)
{
    struct epoll_event e = {.events = (uint32_t)events}, found;
    struct pollfd p = {fd, events, 0};
    fd_set in, out;
    int epoll, n;

    switch (draw(&choice) % 3) {
    case 0:
        need(poll(&p, 1, -1) == 1, "poll");
        return p.revents;
    case 1:
        FD_ZERO(&in);
        FD_ZERO(&out);
        FD_SET(fd, &in);
        if (events & POLLOUT)
            FD_SET(fd, &out);
        need(select(fd + 1, &in, &out, NULL, NULL) > 0, "select");
        return (short)((FD_ISSET(fd, &in) ? POLLIN : 0) | (FD_ISSET(fd, &out) ? POLLOUT : 0));
    default:
        epoll = epoll_create1(EPOLL_CLOEXEC);
        need(epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &e) == 0, "epoll_ctl");
        do
            n = epoll_wait(epoll, &found, 1, -1);
        while (n == 0);
        close(epoll);
        return (short)found.events;
    }
}

static void talk(int fd, int k, const struct plan *p)
{
    long put = 0, got = 0, wrong = 0;
    bool shut = false, ended = false;
    int one = 1;

    if (!p->local)
        setsockopt(fd, IPPROTO_TCP, 1 /* TCP_NODELAY */, &one, sizeof one);
    while (!ended || !shut) {
        short now;
        ssize_t n;

        if (!shut && put == p->of[0]) {
            need(shutdown(fd, SHUT_WR) == 0, "shutdown");
            shut = true;
            continue;
        }
        now = ready(fd, (short)(shut ? POLLIN : ended ? POLLOUT : POLLIN | POLLOUT));
        if (now & POLLOUT && !shut && (ended || p->rank_ends_first || draw(&choice) & 1)) {
            if (p->blocks && !p->rank_ends_first) { /* else both wait for each other */
                struct pollfd idle = {fd, POLLIN, 0};

                if (!ended && poll(&idle, 1, 0) == 1)
                    now |= POLLIN;
            }
            n = send_some(fd, k, put, p->blocks && !p->rank_ends_first ? (p->of[0] - put > 2000 ? 2000 : p->of[0] - put) : p->of[0] - put);
            need(n > 0 || errno == EAGAIN, "send");
            put += n > 0 ? n : 0;
        }
        if (now & POLLIN && !ended) {
            n = receive_some(fd, k, got, !p->local);
            need(n >= 0 || errno == EAGAIN, "receive");
            ended = n == 0;
            wrong += n > 0 ? wrong_in(bytes, k, 1, got, n) : 0;
            got += n > 0 ? n : 0;
        }
    }
    printf("connection %d: put %ld, got %ld of %ld, %ld wrong\n", k, put, got, p->of[1], wrong);
    fflush(stdout);
    close(fd);
}

static int rank_of_peer(void)
{
    struct plan tcp = {0};
    char name[300], text[20] = "";
    int port, fd;

    snprintf(name, sizeof name, "%s/port", directory);
    fd = open(name, O_RDONLY);
    need(read(fd, text, sizeof text - 1) > 0, "the peer's port");
    close(fd);
    choice = seed;
    control = connect_to(&tcp, "peer", atoi(text), true);
    for (int k = 1; k <= CONNECTIONS; k++) {
        struct plan p = plan_of(k);
        int listener;

        if (p.rank_listens) {
            listener = listen_at(&p, "rank", k, &port);
            need(send_control(port) == sizeof port, "send of a port");
            fd = accept4(listener, NULL, NULL, p.blocks ? 0 : SOCK_NONBLOCK);
            close(listener);
        } else {
            fd = connect_to(&p, "peer", receive_control(), p.blocks);
        }
        need(fd >= 0, "connection");
        talk(fd, k, &p);
    }
    printf("end\n");
    return 0;
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    directory = argv[2];
    seed = (uint64_t)atoll(argv[3]);
    return strcmp(argv[1], "peer") == 0 ? peer() : rank_of_peer();
}
