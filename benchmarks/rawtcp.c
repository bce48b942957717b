/* SPDX-License-Identifier: BSD-3-Clause */
/* What two hosts' TCP gives a program that does nothing else, for benchmarks/hosts: no MPI, one connection, both ends awake all the time.

     rawtcp --listen PORT OPTIONS         prints nothing
     rawtcp --to HOST PORT OPTIONS        prints size and microseconds, as the MPI programs do

   For each size: an exchange, in which both ends send so many bytes and receive as many. No allreduce of two ranks on two hosts over one
   connection can be faster, but by chance. --stream: bytes go one way, and a byte back at the end of all; the microseconds of one message.
   OPTIONS, the same at both ends: -m SIZE,... -i ITERATIONS,... -x WARMUP,... --stream --digits N (as many numbers as sizes, or the last one
   is for the rest); -M and --wall are accepted. */
#include <errno.h>
#include <getopt.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { MAX_SIZES = 64, PATIENCE_MS = 10000 };

struct options {
    const char *host, *port;
    bool listens, stream;
    size_t sizes[MAX_SIZES];
    int nsizes, iterations[MAX_SIZES], warmup[MAX_SIZES], digits;
};

static double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static void die(const char *what)
{
    perror(what);
    exit(1);
}

/* ---- the connection ---- */

/* BBR paces what is sent by a timer, and is no measure of what a connection can carry between neighbours: then the first other one there is. */
static void without_bbr(int fd)
{
    static const char *const others[] = {"cubic", "reno"};
    char name[16] = "";
    socklen_t length = sizeof name - 1;
    if (getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, &length) || strncmp(name, "bbr", 3)) return;
    for (int i = 0; i < 2; i++)
        if (!setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, others[i], (socklen_t)strlen(others[i]))) return;
}

static int connect_once(const struct options *o, const struct addrinfo *a)
{
    int fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0), yes = 1;
    if (fd < 0) die("socket");
    without_bbr(fd);
    if (!o->listens) {
        if (!connect(fd, a->ai_addr, a->ai_addrlen)) return fd;
        close(fd);
        return -1;
    }
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(fd, a->ai_addr, a->ai_addrlen) || listen(fd, 1)) die("bind");
    alarm(PATIENCE_MS / 1000);
    int other = accept(fd, NULL, NULL);
    if (other < 0) die("accept");
    alarm(0);
    close(fd);
    return other;
}

/* The two are started at the same time, in any order. */
static int connected(const struct options *o)
{
    struct addrinfo *a, hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM, .ai_flags = o->listens ? AI_PASSIVE : 0};
    int err = getaddrinfo(o->host, o->port, &hints, &a), fd = -1, yes = 1;
    if (err) {
        fprintf(stderr, "rawtcp: %s\n", gai_strerror(err));
        exit(1);
    }
    for (int i = 0; fd < 0 && i < PATIENCE_MS / 10; i++) {
        fd = connect_once(o, a);
        if (fd < 0) usleep(10000);
    }
    if (fd < 0) die("connect");
    freeaddrinfo(a);
    if (setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes)) die("TCP_NODELAY");
    return fd;
}

/* ---- what is timed ---- */

static bool again(ssize_t n)
{
    return n < 0 && (errno == EAGAIN || errno == EINTR);
}

/* out bytes there and in bytes back, in any order. */
static void exchange(int fd, char *send_buffer, size_t out, char *recv_buffer, size_t in)
{
    size_t sent = 0, received = 0;
    while (sent < out || received < in) {
        if (sent < out) {
            ssize_t n = send(fd, send_buffer + sent, out - sent, MSG_DONTWAIT | MSG_NOSIGNAL);
            if (n < 0 && !again(n)) die("send");
            if (n > 0) sent += (size_t)n;
        }
        if (received < in) {
            ssize_t n = recv(fd, recv_buffer + received, in - received, MSG_DONTWAIT);
            if (n == 0 || (n < 0 && !again(n))) die("recv");
            if (n > 0) received += (size_t)n;
        }
    }
}

static double messages(const struct options *o, int fd, char *buffers, size_t size, int times)
{
    double begin = now_us();
    for (int i = 0; i < times; i++)
        exchange(fd, buffers, o->stream && o->listens ? 0 : size, buffers + size, o->stream && !o->listens ? 0 : size);
    if (o->stream) exchange(fd, buffers, o->listens, buffers + size, !o->listens);
    return (now_us() - begin) / times;
}

static void measure(const struct options *o, int fd, int s)
{
    size_t size = o->sizes[s];
    char *buffers = calloc(2, size + 1);
    if (!buffers) die("calloc");
    memset(buffers, 1, 2 * size + 2);
    if (o->warmup[s]) messages(o, fd, buffers, size, o->warmup[s]);
    double us = messages(o, fd, buffers, size, o->iterations[s]);
    if (!o->listens) printf("%zu %.*f\n", size, o->digits, us);
    free(buffers);
}

/* ---- command line ---- */

static bool parse_sizes(struct options *o, char *text)
{
    for (char *part = strtok(text, ","); part; part = strtok(NULL, ",")) {
        if (o->nsizes == MAX_SIZES) return false;
        o->sizes[o->nsizes] = strtoull(part, NULL, 10);
        if (!o->sizes[o->nsizes++]) return false;
    }
    return o->nsizes > 0;
}

static bool parse_counts(int counts[MAX_SIZES], int least, char *text)
{
    int n = 0;
    for (char *part = strtok(text, ","); part && n < MAX_SIZES; part = strtok(NULL, ",")) {
        counts[n] = atoi(part);
        if (counts[n++] < least) return false;
    }
    for (int i = n; n && i < MAX_SIZES; i++) counts[i] = counts[n - 1];
    return n > 0;
}

static bool parse(struct options *o, int argc, char **argv)
{
    static const struct option long_options[] = {
        {"listen", no_argument, NULL, 'l'}, {"to", required_argument, NULL, 't'}, {"stream", no_argument, NULL, 's'},
        {"digits", required_argument, NULL, 'd'}, {"wall", no_argument, NULL, 'M'}, {NULL, 0, NULL, 0},
    };
    *o = (struct options){.digits = 2};
    for (int c; (c = getopt_long(argc, argv, "m:i:x:M:", long_options, NULL)) != -1;) {
        switch (c) {
        case 'l': o->listens = true; break;
        case 't': o->host = optarg; break;
        case 's': o->stream = true; break;
        case 'd': o->digits = atoi(optarg); break;
        case 'm': if (!parse_sizes(o, optarg)) return false; break;
        case 'i': if (!parse_counts(o->iterations, 1, optarg)) return false; break;
        case 'x': if (!parse_counts(o->warmup, 0, optarg)) return false; break;
        case 'M': break;
        default: return false;
        }
    }
    if (optind + 1 != argc) return false;
    o->port = argv[optind];
    return o->listens != !!o->host && o->iterations[0] && o->nsizes;
}

int main(int argc, char **argv)
{
    struct options o;
    if (!parse(&o, argc, argv)) {
        fprintf(stderr, "usage: rawtcp --listen|--to HOST -m SIZE,... -i N,... [-x N,...] [--stream] [--digits N] PORT\n");
        return 2;
    }
    int fd = connected(&o);
    for (int i = 0; i < o.nsizes; i++) measure(&o, fd, i);
    close(fd);
    return 0;
}
