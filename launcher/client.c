/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/client.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "ft/base/util.h"
#include "launcher/jobs.h"
#include "launcher/link.h"
#include "launcher/options.h"
#include "launcher/say.h"
#include "launcher/show.h"

enum {
    ANSWER_MS = 10000,                  /* for an agent to answer */
    SUCCESSOR_TRIES = 100, TRY_MS = 50, /* for a successor of a killed agent to appear */
    ENDING_MS = 1000,                   /* for the word that the job is over, when the agent is gone */
    GONE_MS = 10000,                    /* for processes to end when their job is over */
    PIECE = 4096                        /* what a pipe that polls as writable takes */
};

struct client {
    const struct ft_job_entry *job;
    struct ft_link link;
    json_t *info;
    struct ft_link ending;              /* attach: hears of the end, however much output is on its way before it; fd -1: not open */
};

static const struct ft_say aloud; /* errors, straight to stderr */

static int say_silent(const struct ft_job_entry *job)
{
    ft_say(&aloud, "job %s does not answer; is its ftrun stopped?", job->id);
    return FT_CODE_NO_JOB;
}

/* Asks, and takes the info or status that every answer begins with. 0 or an exit code, with a line. */
static int ask(struct client *cl, const char *request)
{
    int fd = ft_rundir_connect(cl->job->dir, cl->job->name), err = FT_LINK_GONE;
    const char *refusal;

    if (fd < 0 && errno == EAGAIN)
        return say_silent(cl->job);
    if (fd >= 0) {
        json_decref(cl->info);
        cl->info = NULL;
        if (ft_link_open(&cl->link, fd, request) == 0) {
            cl->link.timeout_ms = ANSWER_MS;
            cl->info = ft_link_line(&cl->link, &err);
            cl->link.timeout_ms = -1;
        }
        refusal = json_string_value(json_object_get(cl->info, "error"));
        if (refusal)
            ft_say(&aloud, "job %s: %s", cl->job->id, refusal);
        if (cl->info && !refusal)
            return 0;
        ft_link_close(&cl->link);
        if (refusal)
            return FT_CODE_NO_JOB;
    }
    if (err == FT_LINK_LATE)
        return say_silent(cl->job);
    ft_say(&aloud, "job %s is not there any more", cl->job->id);
    return FT_CODE_NO_JOB;
}

/* The agent is gone without a word: another may take its place. */
static bool find_successor(struct client *cl, const char *request)
{
    struct timespec pause = {.tv_nsec = TRY_MS * 1000000};
    int err;

    json_decref(cl->info);
    cl->info = NULL;
    for (int i = 0; i < SUCCESSOR_TRIES && !cl->info; i++) {
        int fd;

        nanosleep(&pause, NULL);
        fd = ft_rundir_connect(cl->job->dir, cl->job->name);
        if (fd < 0)
            continue;
        if (ft_link_open(&cl->link, fd, request) == 0)
            cl->info = ft_link_line(&cl->link, &err);
        if (!cl->info)
            ft_link_close(&cl->link);
    }
    return cl->info;
}

static void close_ending(struct client *cl)
{
    if (cl->ending.fd >= 0)
        ft_link_close(&cl->ending);
    cl->ending.fd = -1;
}

static void open_ending(struct client *cl)
{
    int fd = ft_rundir_connect(cl->job->dir, cl->job->name);

    close_ending(cl);
    if (fd >= 0 && ft_link_open(&cl->ending, fd, "wait") < 0)
        close_ending(cl);
    cl->ending.timeout_ms = ENDING_MS;
}

/* The job's agent is gone. Its exit code if it told it here; else -1. */
static int told_ending(struct client *cl)
{
    int code = -1, err;
    json_t *line;

    while (code < 0 && cl->ending.fd >= 0 && (line = ft_link_line(&cl->ending, &err))) {
        if (json_object_get(line, "end"))
            code = (int)json_integer_value(json_object_get(line, "end"));
        json_decref(line);
    }
    if (code >= 0)
        ft_say(&aloud, "job %s is over; the end of its output is left out here: it was not read in time", cl->job->id);
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
static int take(struct client *cl, int *code)
{
    int err = 0, result = 0;
    json_t *line = ft_link_line(&cl->link, &err), *end = json_object_get(line, "end");

    if (!line)
        return err;
    if (end) {
        *code = (int)json_integer_value(end);
        result = 1;
    } else if (json_object_get(line, "dropped")) {
        ft_say(&aloud, "%lld bytes of the output of job %s are left out here: they came faster than they were read",
               (long long)json_integer_value(json_object_get(line, "dropped")), cl->job->id);
    } else if (json_object_get(line, "bytes")) {
        result = copy(&cl->link, json_integer_value(json_object_get(line, "stream")) ? 2 : 1,
                      (size_t)json_integer_value(json_object_get(line, "bytes")));
    }
    json_decref(line);
    return result;
}

/* Until the job is over, across deaths of its agent. Its exit code; -1: it is not known; -2: interrupted. */
static int follow(struct client *cl, const char *request)
{
    int interrupt = cl->link.interrupt, code = -1, err;

    for (;;) {
        err = take(cl, &code);
        if (err == 0)
            continue;
        ft_link_close(&cl->link);
        if (err == 1)
            return code;
        if (err == FT_LINK_INTERRUPTED)
            return -2;
        code = told_ending(cl);
        if (code >= 0 || !find_successor(cl, request))
            return code;
        cl->link.interrupt = interrupt;
        if (strcmp(request, "attach"))
            continue;
        open_ending(cl);
        ft_say(&aloud, "job %s has a new agent (pid %lld); output between the two may be missing here", cl->job->id,
               (long long)json_integer_value(json_object_get(cl->info, "agent_pid")));
    }
}

static int end_unknown(const struct client *cl)
{
    ft_say(&aloud, "job %s is gone, and nobody is left to tell its exit code: were all its processes killed?", cl->job->id);
    return FT_CODE_JOB;
}

static int list(const struct ft_jobs *jobs)
{
    if (jobs->n)
        ft_show_jobs(stdout, jobs, NULL);
    else
        ft_say(&aloud, "no job of this user is running on this host");
    return 0;
}

static int status(struct client *cl, bool json)
{
    int code = ask(cl, "status");

    if (code)
        return code;
    if (json) {
        json_dumpf(cl->info, stdout, JSON_INDENT(1));
        putchar('\n');
    } else {
        ft_show_status(stdout, cl->info);
    }
    ft_link_close(&cl->link);
    return 0;
}

static void await_process(const json_t *pid)
{
    int fd = (int)syscall(SYS_pidfd_open, (pid_t)json_integer_value(pid), 0);
    struct pollfd p = {.fd = fd, .events = POLLIN};

    if (fd < 0)
        return;
    poll(&p, 1, GONE_MS);
    close(fd);
}

static int stop(struct client *cl)
{
    int code = ask(cl, "stop");

    if (code)
        return code;
    follow(cl, "wait");
    await_process(json_object_get(cl->info, "agent_pid"));
    await_process(json_object_get(cl->info, "standby_pid"));
    return 0;
}

static int wait_for(struct client *cl)
{
    int code = ask(cl, "wait");

    if (code)
        return code;
    code = follow(cl, "wait");
    return code < 0 ? end_unknown(cl) : code;
}

static int attach(struct client *cl)
{
    int code = ask(cl, "attach");
    sigset_t set;

    if (code)
        return code;
    open_ending(cl);
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigprocmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);
    cl->link.interrupt = signalfd(-1, &set, SFD_CLOEXEC);
    code = follow(cl, "attach");
    close_ending(cl);
    if (code == -2) {
        ft_say(&aloud, "detached from job %s; it goes on (ftrun attach %s, ftrun stop %s)", cl->job->id, cl->job->id, cl->job->id);
        return 128 + SIGINT;
    }
    return code < 0 ? end_unknown(cl) : code;
}

enum command { LIST, STATUS, STOP, WAIT, ATTACH, NCOMMANDS };
static const char *const words[NCOMMANDS] = {"list", "status", "stop", "wait", "attach"};

bool ft_client_is_command(const char *word)
{
    for (int i = 0; word && i < NCOMMANDS; i++)
        if (!strcmp(word, words[i]))
            return true;
    return false;
}

struct request {
    enum command command;
    const char *job;
    bool json, help;
};

static int read_arguments(struct request *r, char **argv)
{
    while (strcmp(words[r->command], argv[0]))
        r->command++;
    for (int i = 1; argv[i]; i++) {
        if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
            r->help = true;
        } else if (!strcmp(argv[i], "--json") && r->command == STATUS) {
            r->json = true;
        } else if (argv[i][0] == '-') {
            ft_say(&aloud, "%s: unknown option %s (to run a program called %s: ftrun ./%s or ftrun -n N %s)", argv[0], argv[i], argv[0],
                   argv[0], argv[0]);
            return FT_CODE_USAGE;
        } else if (r->job || r->command == LIST) {
            ft_say(&aloud, "%s: \"%s\" is one word too many", argv[0], argv[i]);
            return FT_CODE_USAGE;
        } else {
            r->job = argv[i];
        }
    }
    return 0;
}

static void help(void)
{
    puts("Usage: ftrun list | status [--json] [JOB] | stop [JOB] | wait [JOB] | attach [JOB]\n"
         "What the user's running jobs on this host are, and what they are at.\n\n"
         "  list     the jobs: id, pid of ftrun, ranks, how long, command\n"
         "  status   what each rank is in, for how long, and whom it waits for\n"
         "  stop     as SIGTERM to ftrun; waits until the job is gone\n"
         "  wait     waits for the job's end and exits with its code\n"
         "  attach   shows the job's output from now on; Ctrl-C leaves it running\n\n"
         "JOB: an id, the beginning of one, a --job-name, or the pid of an ftrun; not needed if one job runs.\n"
         "Exit code 3: no such job, several, or it cannot be reached.");
}

static void tell_no_choice(const struct ft_jobs *jobs, const char *word, size_t matching)
{
    if (matching) {
        ft_say(&aloud, word ? "several jobs are called %s or begin so; which?" : "several jobs are running; which?", word);
        ft_show_jobs(stderr, jobs, word);
    } else if (word) {
        ft_say(&aloud, "no job %s of this user is running on this host%s", word, jobs->n ? " (ftrun list shows those that are)" : "");
    } else {
        ft_say(&aloud, "no job of this user is running on this host");
    }
}

static int serve(const struct request *r, const struct ft_jobs *jobs)
{
    struct client *cl;
    size_t matching;
    int code = FT_CODE_JOB;

    if (jobs->refused[0])
        ft_say(&aloud, "%s", jobs->refused);
    if (r->command == LIST)
        return jobs->refused[0] && !jobs->n ? FT_CODE_NO_JOB : list(jobs);
    cl = calloc(1, sizeof *cl);
    if (!cl)
        return code;
    cl->ending.fd = -1;
    cl->job = ft_jobs_pick(jobs, r->job, &matching);
    if (!cl->job) {
        tell_no_choice(jobs, r->job, matching);
        code = FT_CODE_NO_JOB;
    } else {
        switch (r->command) {
        case STATUS: code = status(cl, r->json); break;
        case STOP: code = stop(cl); break;
        case WAIT: code = wait_for(cl); break;
        default: code = attach(cl); break;
        }
    }
    json_decref(cl->info);
    free(cl);
    return code;
}

int ft_client_run(char **argv)
{
    struct request r = {0};
    struct ft_jobs jobs;
    int code = read_arguments(&r, argv);

    if (code)
        return code;
    if (r.help) {
        help();
        return 0;
    }
    ft_jobs_find(&jobs, r.command == LIST);
    code = serve(&r, &jobs);
    ft_jobs_free(&jobs);
    return code;
}
