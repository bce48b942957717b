/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/control/follow.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ft/base/util.h"
#include "ft/shm/wait.h"
#include "launcher/base/say.h"
#include "launcher/control/reach.h"

enum {
    ANSWER_MS = 10000,                  /* for an agent to answer */
    SUCCESSOR_TRIES = 100, TRY_MS = 50, /* for a successor of a killed agent to appear, ... */
    SUCCESSOR_MS = 5000,                /* ... at most */
    ENDING_MS = 1000,                   /* for the word that the job is over, when the agent is gone */
    PIECE = 4096                        /* what a pipe that polls as writable takes */
};

static const struct ft_say aloud; /* errors, straight to stderr */

static int say_silent(const struct ft_job_entry *job)
{
    ft_say(&aloud, "job %s does not answer; is its ftrun stopped?", job->id);
    return FT_CODE_NO_JOB;
}

/* By the only way from this host. What its node here knows is kept. */
static int say_unreachable(struct ft_follow *f, json_t *known)
{
    json_decref(f->known);
    f->known = known;
    ft_say(&aloud, "job %s: its ftrun, on another host, cannot be reached: %s", f->job->id,
           json_string_value(json_object_get(known, "unreachable")));
    return FT_CODE_NO_JOB;
}

/* Asks once. 0 with f->info, or an error of the link. */
static int ask(struct ft_follow *f, int fd, const char *request)
{
    int err = ft_link_open(&f->link, fd, request);

    json_decref(f->info);
    f->info = NULL;
    if (err == 0) {
        f->link.timeout_ms = ANSWER_MS;
        f->info = ft_link_line(&f->link, &err);
        f->link.timeout_ms = -1;
    }
    if (f->info)
        return 0;
    ft_link_close(&f->link);
    return err;
}

int ft_follow_ask(struct ft_follow *f, const char *request)
{
    struct timespec pause = {.tv_nsec = TRY_MS * 1000000};
    const char *refusal;
    json_t *known;
    int fd, err = FT_LINK_GONE;

    if (f->job->unreachable)
        return say_unreachable(f, json_incref(f->job->info));
    fd = ft_reach(f->job->dir, f->job->name, &known);
    if (fd < 0 && errno == EAGAIN)
        return say_silent(f->job);
    for (int i = 0; i < SUCCESSOR_TRIES && (fd >= 0 || errno == ECONNRESET); i++) { /* the agent may be killed over it */
        err = fd >= 0 ? ask(f, fd, request) : FT_LINK_GONE;
        if (err != FT_LINK_GONE)
            break;
        nanosleep(&pause, NULL);
        fd = ft_reach(f->job->dir, f->job->name, &known);
    }
    if (known)
        return say_unreachable(f, known);
    if (err == FT_LINK_LATE)
        return say_silent(f->job);
    if (err) {
        ft_say(&aloud, "job %s is not there any more", f->job->id);
        return FT_CODE_NO_JOB;
    }
    refusal = json_string_value(json_object_get(f->info, "error"));
    if (!refusal)
        return 0;
    ft_say(&aloud, "job %s: %s", f->job->id, refusal);
    ft_link_close(&f->link);
    return FT_CODE_NO_JOB;
}

/* The agent is gone without a word: another may take its place, and be soon done. Or it cannot be reached, which is said. */
static bool find_successor(struct ft_follow *f, const char *request)
{
    struct timespec pause = {.tv_nsec = TRY_MS * 1000000};
    uint64_t end_ns = ft_clock_ns() + SUCCESSOR_MS * 1000000ull;
    json_t *known = NULL;
    int err;

    json_decref(f->info);
    f->info = NULL;
    for (int i = 0; ft_clock_ns() < end_ns && !f->info; i++) {
        int fd;

        if (i)
            nanosleep(&pause, NULL);
        json_decref(known);
        fd = ft_reach(f->job->dir, f->job->name, &known);
        if (fd < 0)
            continue;
        if (ft_link_open(&f->link, fd, request) == 0) {
            f->link.timeout_ms = ANSWER_MS;
            f->info = ft_link_line(&f->link, &err);
            f->link.timeout_ms = -1;
        }
        if (!f->info)
            ft_link_close(&f->link);
    }
    if (known)
        say_unreachable(f, known);
    return f->info;
}

static void close_ending(struct ft_follow *f)
{
    if (f->ending.fd >= 0)
        ft_link_close(&f->ending);
    f->ending.fd = -1;
}

static void open_ending(struct ft_follow *f)
{
    json_t *known;
    int fd = ft_reach(f->job->dir, f->job->name, &known);

    json_decref(known);
    close_ending(f);
    if (fd >= 0 && ft_link_open(&f->ending, fd, "wait") < 0)
        close_ending(f);
    f->ending.timeout_ms = ENDING_MS;
}

/* The job's agent is gone. Its exit code if it told it here. */
static int told_ending(struct ft_follow *f)
{
    int code = FT_FOLLOW_UNKNOWN, err;
    json_t *line;

    while (code < 0 && f->ending.fd >= 0 && (line = ft_link_line(&f->ending, &err))) {
        if (json_object_get(line, "end"))
            code = (int)json_integer_value(json_object_get(line, "end"));
        json_decref(line);
    }
    if (code >= 0)
        ft_say(&aloud, "job %s is over; the end of its output is left out here: it was not read in time", f->job->id);
    return code;
}

static bool write_all(int fd, const char *bytes, size_t len, int interrupt)
{
    while (len) {
        struct pollfd p[2] = {{.fd = fd, .events = POLLOUT}, {.fd = interrupt, .events = POLLIN}};
        ssize_t n;

        if (poll(p, 2, -1) > 0 && p[1].revents)
            return false;
        n = write(fd, bytes, ft_min(len, PIECE));
        if (n < 0 && errno != EINTR && errno != EAGAIN)
            return true; /* nobody reads it: as if it had been */
        if (n > 0) {
            bytes += n;
            len -= (size_t)n;
        }
    }
    return true;
}

/* n bytes of output. 0 or an error of the link. */
static int copy(struct ft_link *l, int fd, size_t n)
{
    while (n) {
        const char *bytes;
        int got = ft_link_bytes(l, n, &bytes);

        if (got < 0)
            return got;
        if (!write_all(fd, bytes, (size_t)got, l->interrupt))
            return FT_LINK_INTERRUPTED;
        n -= (size_t)got;
    }
    return 0;
}

/* Takes one message. 0 to go on, an error of the link, or 1 with the job's exit code. */
static int take(struct ft_follow *f, int *code)
{
    int err = 0, result = 0;
    json_t *line = ft_link_line(&f->link, &err), *end = json_object_get(line, "end");

    if (!line)
        return err;
    if (end) {
        *code = (int)json_integer_value(end);
        result = 1;
    } else if (json_object_get(line, "dropped")) {
        ft_say(&aloud, "the output of job %s came faster than it was read: %lld byte%s left out here", f->job->id,
               (long long)json_integer_value(json_object_get(line, "dropped")),
               ft_plural((uint64_t)json_integer_value(json_object_get(line, "dropped"))));
    } else if (json_object_get(line, "bytes")) {
        result = copy(&f->link, json_integer_value(json_object_get(line, "stream")) ? 2 : 1,
                      (size_t)json_integer_value(json_object_get(line, "bytes")));
    }
    json_decref(line);
    return result;
}

int ft_follow_to_end(struct ft_follow *f, const char *request, int interrupt)
{
    bool attach = !strcmp(request, "attach");
    int code = FT_FOLLOW_UNKNOWN, err;

    if (attach)
        open_ending(f);
    for (;;) {
        f->link.interrupt = interrupt;
        err = take(f, &code);
        if (err == 0)
            continue;
        ft_link_close(&f->link);
        if (err == 1)
            return code;
        if (err == FT_LINK_INTERRUPTED)
            return FT_FOLLOW_INTERRUPTED;
        code = told_ending(f);
        if (code >= 0 || !find_successor(f, request))
            return code;
        if (!attach)
            continue;
        open_ending(f);
        ft_say(&aloud, "job %s goes on in another process of ftrun (pid %lld); output between the two may be missing here", f->job->id,
               (long long)json_integer_value(json_object_get(f->info, "agent_pid")));
    }
}

void ft_follow_begin(struct ft_follow *f, const struct ft_job_entry *job)
{
    memset(f, 0, sizeof *f);
    f->job = job;
    f->ending.fd = -1;
}

void ft_follow_end(struct ft_follow *f)
{
    close_ending(f);
    json_decref(f->info);
    json_decref(f->known);
}
