/* SPDX-License-Identifier: BSD-3-Clause */
/* Each event is told once, in whole lines and in order: to a reader that is slow, on a disk that is full for a while, and by
   processes that are killed at any moment, each succeeded by another one. */
#include "config.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "launcher/events/outlet.h"
#include "launcher/events/told.h"

enum { MANY = 20000, SOME = 200, EACH = 3000, ROOM = 64 << 20, BEFORE = 8 << 20, PATIENCE_MS = 20000 };

static char path[64];
static struct ft_outlet *outlet;
static struct ft_told *told;
static struct ft_error e;

static void pause_ms(int ms)
{
    nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
}

static void open_told(const char *prefix)
{
    char where[80];

    snprintf(where, sizeof where, "%s%s", prefix, path);
    cr_assert_eq(ft_outlet_new(&outlet, where, &e), 0, "%s", e.text);
    told = ft_told_new(1, outlet);
    cr_assert_not_null(told);
}

static void name_path(void)
{
    snprintf(path, sizeof path, "/tmp/ftmpi-told.%d", getpid());
    unlink(path);
    signal(SIGXFSZ, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
}

static void close_told(void)
{
    ft_told_free(told);
    ft_outlet_free(outlet);
    unlink(path);
}

static int listen_there(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    strcpy(address.sun_path, path);
    cr_assert_eq(bind(fd, (const struct sockaddr *)&address, sizeof address), 0);
    cr_assert_eq(listen(fd, 1), 0);
    return fd;
}

/* The next: its number is what the word says. */
static void tell_one(void)
{
    uint64_t n = ft_told_word(told, 0) + 1;

    ft_told_line(told, json_pack("{sI ss}", "n", (json_int_t)n, "text", "as long as a line of some event may be, with a host and more"),
                 &(struct ft_told_change){0, n}, 1);
}

/* All that comes until the end. */
struct reader {
    int fd;
    char *bytes;
    size_t len;
};

static void *read_all(void *arg)
{
    struct reader *r = arg;
    ssize_t n;

    while ((n = read(r->fd, r->bytes + r->len, ROOM - r->len)) > 0)
        r->len += (size_t)n;
    return NULL;
}

/* Whole lines; what was left out is said. Returns the last number. */
static uint64_t check_lines(const char *text, size_t len, uint64_t *dropped)
{
    const char *end;
    uint64_t seq = 0;

    *dropped = 0;
    for (; len; len -= (size_t)(end + 1 - text), text = end + 1) {
        json_t *line;

        end = memchr(text, '\n', len);
        cr_assert_not_null(end, "the last line is cut: %.*s", (int)len, text);
        line = json_loadb(text, (size_t)(end - text), 0, NULL);
        cr_assert_not_null(line, "no line: %.*s", (int)(end - text), text);
        *dropped += (uint64_t)json_integer_value(json_object_get(line, "dropped"));
        seq += 1 + (uint64_t)json_integer_value(json_object_get(line, "dropped"));
        cr_assert_eq((uint64_t)json_integer_value(json_object_get(line, "seq")), seq, "after %llu: %.*s", (unsigned long long)seq - 1,
                     (int)(end - text), text);
        cr_assert_eq((uint64_t)json_integer_value(json_object_get(line, "n")), seq);
        json_decref(line);
    }
    return seq;
}

Test(told, who_does_not_read_misses_some_and_is_told)
{
    struct reader r = {.bytes = malloc(ROOM)};
    uint64_t dropped, last;
    pthread_t thread;
    int listener;

    name_path();
    listener = listen_there();
    open_told("unix:");
    r.fd = accept(listener, NULL, NULL);
    cr_assert_eq(ft_told_run(told), 0);
    for (int i = 0; i < MANY; i++)
        tell_one();
    cr_assert_gt(ft_told_dropped(told), 0, "nothing was left out");
    pthread_create(&thread, NULL, read_all, &r);
    for (int i = 0; i < PATIENCE_MS && !ft_told_written(told); i++)
        pause_ms(1);
    tell_one();
    cr_assert_eq(ft_told_dropped(told), 0);
    ft_outlet_stop(outlet);
    cr_expect(ft_told_written(told));
    close_told();
    pthread_join(thread, NULL);
    last = check_lines(r.bytes, r.len, &dropped);
    cr_expect_eq(last, MANY + 1);
    cr_expect_gt(dropped, 0);
    cr_expect_geq(r.len, FT_TOLD_KEPT, "what was kept");
}

Test(told, who_never_reads_is_not_waited_for)
{
    struct timespec begin, end;

    name_path();
    int listener = listen_there();

    open_told("unix:");
    cr_assert_eq(ft_told_run(told), 0);
    for (int i = 0; i < MANY; i++)
        tell_one();
    clock_gettime(CLOCK_MONOTONIC, &begin);
    ft_outlet_stop(outlet);
    clock_gettime(CLOCK_MONOTONIC, &end);
    cr_expect_lt(end.tv_sec - begin.tv_sec, 4);
    cr_expect_not(ft_told_written(told));
    close_told();
    close(listener);
}

Test(told, who_has_gone_is_told_of_once)
{
    bool gone = false;
    int error = 0, listener;

    name_path();
    listener = listen_there();
    open_told("unix:");
    close(listener);
    cr_assert_eq(ft_told_run(told), 0);
    for (int i = 0; i < PATIENCE_MS && !error; i++) {
        tell_one();
        pause_ms(1);
        error = ft_outlet_trouble(outlet, &gone);
    }
    cr_expect(gone && (error == EPIPE || error == ECONNRESET), "%d", error);
    for (int i = 0; i < MANY; i++)
        tell_one();
    cr_expect_eq(ft_outlet_trouble(outlet, &gone), 0);
    ft_outlet_stop(outlet);
    close_told();
}

static size_t read_file(char **text)
{
    int fd = open(path, O_RDONLY);
    ssize_t n;

    *text = malloc(ROOM);
    n = read(fd, *text, ROOM);
    close(fd);
    cr_assert_geq(n, 0);
    return (size_t)n;
}

/* The limit is of the memory in which lines wait, too: that is far below it, and the file is not. */
Test(told, a_full_disk_that_has_room_again)
{
    struct rlimit small = {BEFORE, RLIM_INFINITY}, large = {RLIM_INFINITY, RLIM_INFINITY};
    uint64_t dropped;
    bool gone = true;
    int error = 0;
    size_t len;
    char *text;

    name_path();
    open_told("");
    cr_assert_eq(truncate(path, BEFORE), 0);
    setrlimit(RLIMIT_FSIZE, &small);
    cr_assert_eq(ft_told_run(told), 0);
    for (int i = 0; i < SOME; i++)
        tell_one();
    for (int i = 0; i < PATIENCE_MS && !error; i++) {
        pause_ms(1);
        error = ft_outlet_trouble(outlet, &gone);
    }
    cr_expect(error == EFBIG && !gone, "%d", error);
    cr_expect_not(ft_told_written(told));
    cr_expect_eq(ft_told_dropped(told), 0);
    setrlimit(RLIMIT_FSIZE, &large);
    for (int i = 0; i < PATIENCE_MS && !ft_told_written(told); i++)
        pause_ms(1);
    ft_outlet_stop(outlet);
    len = read_file(&text);
    cr_assert_gt(len, BEFORE);
    cr_expect_eq(check_lines(text + BEFORE, len - BEFORE, &dropped), SOME);
    close_told();
}

static void tell_until_killed(void)
{
    ft_told_forget(told);
    if (ft_told_run(told) < 0)
        _exit(1);
    while (ft_told_word(told, 0) < EACH)
        tell_one();
    ft_outlet_stop(outlet);
    _exit(ft_told_written(told) ? 0 : 2);
}

/* Processes one after the other, until one is not killed. */
static void succeed_each_other(void)
{
    unsigned kills = 0, seed = 1;
    int status = -1;

    while (!WIFEXITED(status)) {
        pid_t pid = fork();

        if (pid == 0)
            tell_until_killed();
        if (kills < 60) {
            nanosleep(&(struct timespec){.tv_nsec = rand_r(&seed) % 1500000}, NULL);
            kill(pid, SIGKILL);
            kills++;
        }
        waitpid(pid, &status, 0);
    }
    cr_assert_eq(WEXITSTATUS(status), 0);
    cr_expect_gt(kills, 1, "nobody was killed");
}

Test(told, to_a_file_by_processes_that_are_killed)
{
    uint64_t dropped;
    char *text;
    size_t len;

    name_path();
    open_told("");
    succeed_each_other();
    len = read_file(&text);
    cr_expect_eq(check_lines(text, len, &dropped), EACH);
    cr_expect_eq(dropped, 0);
    close_told();
}

Test(told, to_a_socket_by_processes_that_are_killed)
{
    struct reader r = {.bytes = malloc(ROOM)};
    uint64_t dropped;
    pthread_t thread;
    int listener;

    name_path();
    listener = listen_there();
    open_told("unix:");
    r.fd = accept(listener, NULL, NULL);
    pthread_create(&thread, NULL, read_all, &r);
    succeed_each_other();
    close_told();
    pthread_join(thread, NULL);
    cr_expect_eq(check_lines(r.bytes, r.len, &dropped), EACH);
    cr_expect_eq(dropped, 0);
}
