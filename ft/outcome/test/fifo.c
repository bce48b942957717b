/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank of streams.sh: what a pipe does beside giving bytes. Named ones, in the directory given; and standard output, if that is a pipe.

     fifo DIRECTORY ROUNDS */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { TOKENS = 200, LARGE = 150000 };

static char name[300], bytes[LARGE];

static void need(int ok, const char *what)
{
    if (!ok) {
        printf("FAILED: %s: %s\n", what, strerror(errno));
        exit(1);
    }
}

static char at(int round, int i) { return (char)(i % 64 == 63 ? '\n' : ' ' + (i / 64 * 7 + i + round) % 90); }

static void check(int round, const char *text, int n)
{
    for (int i = 0; i < n; i++)
        need(text[i] == at(round, i), "bytes of a pipe");
}

/* More of them than a pipe has buffers; all are read at once, and then there are none. */
static void tokens(int fd, int round)
{
    char text[TOKENS + 1];

    for (int i = 0; i < TOKENS; i++) {
        text[0] = at(round, i);
        need(write(fd, text, 1) == 1, "write of a token");
    }
    need(read(fd, text, sizeof text) == TOKENS, "read of all tokens");
    check(round, text, TOKENS);
    need(read(fd, text, sizeof text) == -1 && errno == EAGAIN, "read of nothing");
}

/* Until it is full, part of the last one, and read back. */
static void fill(int fd, int round)
{
    long written = 0, got = 0;
    char text[5000];
    ssize_t n;

    for (int i = 0; i < LARGE; i++)
        bytes[i] = at(round, i);
    while ((n = write(fd, bytes, LARGE)) == LARGE)
        written += n;
    written += n > 0 ? n : 0;
    need(n > 0 || errno == EAGAIN, "write to a full pipe");
    need(write(fd, bytes, 4096) == -1 && errno == EAGAIN, "one more to a full pipe");
    while ((n = read(fd, text, sizeof text)) > 0) {
        for (int i = 0; i < n; i++)
            need(text[i] == at(round, (int)((got + i) % LARGE)), "what was in a full pipe");
        got += n;
    }
    need(got == written && got >= 65536, "as much is read as was written");
}

static void pieces(int fd, int round)
{
    char a[100], b[200], text[300];
    struct iovec both[2] = {{a, sizeof a}, {b, sizeof b}};

    for (int i = 0; i < 300; i++)
        *(i < 100 ? a + i : b + i - 100) = at(round, i);
    need(writev(fd, both, 2) == 300 && read(fd, text, 50) == 50 && read(fd, text + 50, 1000 - 750) == 250, "pieces");
    check(round, text, 300);
}

static void ends(int round)
{
    int in = open(name, O_RDONLY | O_NONBLOCK), out = open(name, O_WRONLY);
    char text[8];

    need(in >= 0 && out >= 0 && write(out, "abc", 3) == 3, "one-way pipe");
    close(out);
    need(read(in, text, 2) == 2 && read(in, text, 8) == 1 && read(in, text, 8) == 0, "end of a pipe");
    out = open(name, O_WRONLY);
    close(in);
    need(write(out, "abc", 3) == -1 && errno == EPIPE, "write that nobody can read");
    close(out);
    printf("round %d: descriptors %d and %d\n", round, in, out);
}

int main(int argc, char **argv)
{
    int rounds = argc > 2 ? atoi(argv[2]) : 4, fd;

    signal(SIGPIPE, SIG_IGN);
    snprintf(name, sizeof name, "%s/fifo", argc > 1 ? argv[1] : ".");
    for (int round = 0; round < rounds; round++) {
        need(mkfifo(name, 0600) == 0, "mkfifo");
        fd = open(name, O_RDWR | O_NONBLOCK);
        need(fd >= 0, "open");
        tokens(fd, round);
        fill(fd, round);
        pieces(fd, round);
        close(fd);
        ends(round);
        need(unlink(name) == 0, "unlink");
        fflush(stdout);
        need(write(1, bytes, LARGE) == LARGE, "large write");
    }
    return 0;
}
