/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank of streams.sh: pairs of sockets, with itself and with a child; eventfd; epoll, by level and by edge. What it reads is printed.

     events ROUNDS
     events many        descriptors that are in two epolls each, more than can be at a time, and doubles of some */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LINES = 6 };

static void must(int good, const char *what)
{
    if (!good) {
        perror(what);
        exit(1);
    }
}

/* Answers each line until there are no more. */
static void child(int fd, int round)
{
    char line[100], answer[120];
    ssize_t n;

    while ((n = read(fd, line, sizeof line)) > 0)
        for (ssize_t i = 0; i < n; i++)
            if (line[i] == '\n') {
                int bytes = snprintf(answer, sizeof answer, "answer %d\n", round * 100 + line[0]);

                must(write(fd, answer, (size_t)bytes) == bytes, "answer");
            }
    _exit(round % 7);
}

static void with_child(int round)
{
    int s[2], status;
    char text[100];
    pid_t pid;

    must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, s) == 0, "socketpair");
    pid = fork();
    must(pid >= 0, "fork");
    if (pid == 0) {
        close(s[0]);
        child(s[1], round);
    }
    close(s[1]);
    for (int i = 0; i < LINES; i++) {
        size_t done = 0;

        snprintf(text, sizeof text, "%c question\n", 'a' + i);
        must(send(s[0], text, strlen(text), MSG_NOSIGNAL) == (ssize_t)strlen(text), "send");
        do {
            ssize_t n = recv(s[0], text + done, sizeof text - 1 - done, 0);

            must(n > 0, "recv");
            done += (size_t)n;
        } while (text[done - 1] != '\n');
        text[done] = 0;
        printf("%d: %s", round, text);
    }
    must(shutdown(s[0], SHUT_WR) == 0, "shutdown");
    must(read(s[0], text, sizeof text) == 0, "the end");
    close(s[0]);
    must(waitpid(pid, &status, 0) == pid, "waitpid");
    printf("%d: status %x\n", round, (unsigned)status);
}

static void events(int round)
{
    int counter = eventfd(3, EFD_NONBLOCK), epoll = epoll_create1(EPOLL_CLOEXEC), s[2];
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = 7}, found[4];
    uint64_t value = (uint64_t)round + 1;
    char text[10];

    must(counter >= 0 && epoll >= 0 && socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, s) == 0, "descriptors");
    must(epoll_ctl(epoll, EPOLL_CTL_ADD, counter, &event) == 0, "epoll_ctl");
    event = (struct epoll_event){.events = EPOLLIN | EPOLLET, .data.u64 = 8};
    must(epoll_ctl(epoll, EPOLL_CTL_ADD, s[1], &event) == 0, "epoll_ctl");
    printf("again %d\n", epoll_ctl(epoll, EPOLL_CTL_ADD, s[1], &event));
    for (int i = 0; i < 3; i++) {
        int n, sum = 0;

        must(write(counter, &value, sizeof value) == sizeof value && write(s[0], "edge", 4) == 4, "write");
        n = epoll_wait(epoll, found, 4, 1000);
        for (int k = 0; k < n; k++)
            sum += (int)found[k].data.u64;
        must(read(counter, &value, sizeof value) == sizeof value && read(s[1], text, 4) == 4, "read");
        printf("%d events, %d, counted %d, then %d\n", n, sum, (int)value, (int)read(counter, &value, sizeof value));
    }
    must(epoll_ctl(epoll, EPOLL_CTL_DEL, counter, NULL) == 0, "epoll_ctl");
    close(counter);
    close(epoll);
    close(s[0]);
    close(s[1]);
}

/* What the epoll tells of an event. */
static int told(int epoll)
{
    struct epoll_event found = {0};

    must(epoll_wait(epoll, &found, 1, 5000) == 1, "epoll_wait");
    return (int)found.data.u64;
}

enum { BATCHES = 8, EACH = 40 };

/* In two at once, with numbers that none has had before. Closed as long as a double is open, it goes on to be told. */
static void many(void)
{
    for (int batch = 0; batch < BATCHES; batch++) {
        int first = epoll_create1(0), second = epoll_create1(0), fds[EACH], kept;
        uint64_t one = 1;

        for (int i = 0; i < EACH; i++) {
            int fd = eventfd(0, EFD_NONBLOCK);

            fds[i] = fcntl(fd, F_DUPFD, 200 + batch * EACH + i);
            must(first >= 0 && second >= 0 && fds[i] >= 0 && close(fd) == 0, "descriptors");
            for (int k = 0; k < 2; k++) {
                struct epoll_event event = {.events = EPOLLIN, .data.u64 = (uint64_t)(1000 * k + i)};

                must(epoll_ctl(k ? second : first, EPOLL_CTL_ADD, fds[i], &event) == 0, "epoll_ctl");
            }
        }
        must(write(fds[batch], &one, sizeof one) == sizeof one, "write");
        printf("%d: %d and %d", batch, told(first), told(second));
        kept = dup(fds[batch]);
        for (int i = 0; i < EACH; i++)
            close(fds[i]);
        printf(", closed %d and %d\n", told(first), told(second));
        close(kept);
        close(first);
        close(second);
    }
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    if (!strcmp(argv[1], "many"))
        many();
    for (int round = 0; round < atoi(argv[1]); round++) {
        with_child(round);
        events(round);
        fflush(stdout);
    }
    return 0;
}
