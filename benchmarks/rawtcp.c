/* SPDX-License-Identifier: BSD-3-Clause */
/* What two hosts' TCP gives a program that does nothing else, for benchmarks/hosts: no MPI, one connection, both ends awake all the time.

     rawtcp --listen PORT OPTIONS         prints nothing
     rawtcp --to HOST PORT OPTIONS        prints size and microseconds, as the MPI programs do

   For each size: an exchange, in which both ends send so many bytes and receive as many. No allreduce of two ranks on two hosts over one
   connection can be faster, but by chance. --stream: bytes go one way, and a byte back at the end of all; the microseconds of one message.
   --logged PIECE: what comes is added to what was sent, as floats, and the sum is also written to memory that no cache holds, PIECE bytes (lines of 64, at most
   256 MiB) at a time as soon as they are there: no allreduce that keeps a log and sends all of its contribution can be faster (docs/performance.md has another way).
   OPTIONS, the same at both ends: -m SIZE,... -i ITERATIONS,... -x WARMUP,... --stream --logged PIECE --digits N (as many numbers as sizes, or
   the last one is for the rest); --line-file FILE as the MPI programs have it (line.h); -M, --wall and --start are accepted. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE     /* line.h: processors */
#endif
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

#include "bytes.h"
#include "line.h"

enum { MAX_SIZES = 64, PATIENCE_MS = 10000, LOG_BYTES = 256 << 20 };

struct options {
    const char *host, *port;
    bool listens, stream;
    struct line meeting;
    size_t piece;  /* of --logged, or 0 */
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

/* What is there of a message, and what was made of it. */
struct ends {
    int fd;
    char *mine, *theirs, *result, *log;  /* theirs: a piece if there is a log, else the whole message */
    size_t piece, log_at;
};

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

/* The next n bytes of the result, and of the log: a block that the nearest cache holds at a time. */
static void add_and_log(struct ends *e, size_t at, size_t n)
{
    enum { BLOCK = 16384 };
    if (e->log_at + n > LOG_BYTES) e->log_at = 0;
    for (size_t k, done = 0; done < n; done += k) {
        char *to = e->result + at + done;
        k = smaller(BLOCK, n - done);
        bytes_add((float *)(void *)to, (const float *)(const void *)(e->mine + at + done), (const float *)(const void *)(e->theirs + done), k / sizeof(float));
        bytes_past_and(e->log + e->log_at + done, NULL, to, k);
    }
    e->log_at += (n + BYTES_LINE - 1) / BYTES_LINE * BYTES_LINE;
}

/* out bytes there and in bytes back, in any order. */
static void exchange(struct ends *e, size_t out, size_t in)
{
    size_t sent = 0, received = 0, made = 0;
    while (sent < out || received < in) {
        if (sent < out) {
            ssize_t n = send(e->fd, e->mine + sent, out - sent, MSG_DONTWAIT | MSG_NOSIGNAL);
            if (n < 0 && !again(n)) die("send");
            if (n > 0) sent += (size_t)n;
        }
        if (received < in) {
            size_t wanted = e->piece ? smaller(e->piece, in - made) - (received - made) : in - received;
            ssize_t n = recv(e->fd, e->theirs + received - made, wanted, MSG_DONTWAIT);
            if (n == 0 || (n < 0 && !again(n))) die("recv");
            if (n > 0) received += (size_t)n;
            if (!e->piece || n != (ssize_t)wanted) continue;
            add_and_log(e, made, received - made);
            made = received;
        }
    }
}

static double messages(const struct options *o, struct ends *e, size_t size, int times)
{
    double begin = now_us();
    for (int i = 0; i < times; i++) exchange(e, o->stream && o->listens ? 0 : size, o->stream && !o->listens ? 0 : size);
    if (o->stream) exchange(e, o->listens, !o->listens);
    return (now_us() - begin) / times;
}

static char *memory(size_t bytes)
{
    char *p = aligned_alloc(BYTES_LINE, (bytes + BYTES_LINE) / BYTES_LINE * BYTES_LINE);
    if (!p) die("aligned_alloc");
    return memset(p, 1, bytes);
}

/* What is added must be a number: 1.0, so that 2.0 is the sum. */
static void fill(char *p, size_t bytes)
{
    const float one = 1;
    for (size_t i = 0; i + sizeof one <= bytes; i += sizeof one) memcpy(p + i, &one, sizeof one);
}

static void check(const struct ends *e, size_t size)
{
    for (size_t i = 0; i + sizeof(float) <= size; i += sizeof(float)) {
        float sum;
        memcpy(&sum, e->result + i, sizeof sum);
        if (sum == 2) continue;
        fprintf(stderr, "rawtcp: byte %zu of %zu: the sum is %g instead of 2\n", i, size, (double)sum);
        exit(1);
    }
}

static void measure(struct options *o, int fd, int s, char *log)
{
    size_t size = o->sizes[s];
    struct ends e = {.fd = fd, .mine = memory(size), .theirs = memory(size), .result = memory(size), .log = log, .piece = o->piece};
    fill(e.mine, size);
    if (o->warmup[s]) messages(o, &e, size, o->warmup[s]);
    double line[2] = {0}, us;
    if (o->meeting.path) line[0] = line_ns(&o->meeting, !o->listens, 2);
    us = messages(o, &e, size, o->iterations[s]);
    if (o->meeting.path) line[1] = line_ns(&o->meeting, !o->listens, 2);
    if (o->piece) check(&e, size);
    if (!o->listens) printf("%zu %.*f\n", size, o->digits, us);
    if (!o->listens && o->meeting.path) printf("# Line %zu %.1f %.1f\n", size, line[0], line[1]);
    free(e.mine);
    free(e.theirs);
    free(e.result);
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
        {"logged", required_argument, NULL, 'L'}, {"line-file", required_argument, NULL, 'F'}, {"start", required_argument, NULL, 'M'},
        {"digits", required_argument, NULL, 'd'}, {"wall", no_argument, NULL, 'M'}, {NULL, 0, NULL, 0},
    };
    *o = (struct options){.digits = 2};
    for (int c; (c = getopt_long(argc, argv, "m:i:x:M:", long_options, NULL)) != -1;) {
        switch (c) {
        case 'l': o->listens = true; break;
        case 't': o->host = optarg; break;
        case 's': o->stream = true; break;
        case 'L':
            o->piece = strtoull(optarg, NULL, 10);
            if (!o->piece || o->piece % BYTES_LINE || o->piece > LOG_BYTES) return false;
            break;
        case 'd': o->digits = atoi(optarg); break;
        case 'm': if (!parse_sizes(o, optarg)) return false; break;
        case 'i': if (!parse_counts(o->iterations, 1, optarg)) return false; break;
        case 'x': if (!parse_counts(o->warmup, 0, optarg)) return false; break;
        case 'F':
            if (!line_open(&o->meeting, optarg)) die(optarg);
            break;
        case 'M': break;
        default: return false;
        }
    }
    if (optind + 1 != argc) return false;
    o->port = argv[optind];
    if (o->piece && o->stream) return false;
    return o->listens != !!o->host && o->iterations[0] && o->nsizes;
}

int main(int argc, char **argv)
{
    struct options o;
    if (!parse(&o, argc, argv)) {
        fprintf(stderr, "usage: rawtcp --listen|--to HOST -m SIZE,... -i N,... [-x N,...] [--stream | --logged PIECE] [--digits N] PORT\n");
        return 2;
    }
    char *log = o.piece ? memory(LOG_BYTES) : NULL;
    int fd = connected(&o);
    for (int i = 0; i < o.nsizes; i++) measure(&o, fd, i, log);
    free(log);
    close(fd);
    return 0;
}
