/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/control/client.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "launcher/base/nearest.h"
#include "launcher/base/pidfd.h"
#include "launcher/base/say.h"
#include "launcher/control/follow.h"
#include "launcher/control/jobs.h"
#include "launcher/control/show.h"
#include "launcher/control/started.h"
#include "launcher/control/table.h"
#include "launcher/options/options.h"

enum { GONE_MS = 10000 /* for processes to end when their job is over */, WATCH_S = 1 };

static const struct ft_say aloud; /* errors, straight to stderr */

static int end_unknown(const struct ft_follow *f)
{
    if (f->known)
        return FT_CODE_NO_JOB;
    ft_say(&aloud, "job %s is gone, and its exit code is not known: were all its processes killed?", f->job->id);
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

/* The top of it, if the screen is to be all there is of it. */
static void show(const json_t *status, bool screen, void (*print)(FILE *to, const json_t *status, size_t columns))
{
    size_t columns, lines, n = 0;
    char *text = NULL, *at;
    FILE *to = open_memstream(&text, &(size_t){0});

    if (!to)
        return;
    ft_table_terminal(STDOUT_FILENO, &columns, &lines);
    print(to, status, columns);
    fclose(to);
    for (at = text; screen && lines > 2 && *at && n < lines - 2; n++)
        at += strcspn(at, "\n") + 1;
    if (n && *at) {
        n = 0;
        for (const char *c = at; *c; c++)
            n += *c == '\n';
        *at = 0;
        printf("\033[H\033[2J%s(%zu more lines)\n", text, n);
    } else {
        printf("%s%s", screen ? "\033[H\033[2J" : "", text);
    }
    free(text);
}

static int status(struct ft_follow *f, bool json, bool screen)
{
    int code = ft_follow_ask(f, "status");

    if (code && f->known && !json)
        show(f->known, screen, ft_show_known);
    if (code)
        return code;
    if (json) {
        json_dumpf(f->info, stdout, JSON_INDENT(1));
        putchar('\n');
    } else {
        show(f->info, screen, ft_show_status);
    }
    ft_link_close(&f->link);
    return 0;
}

static bool is_over(const struct ft_job_entry *job)
{
    int fd = ft_rundir_connect(job->dir, job->name);

    if (fd >= 0)
        close(fd);
    return fd < 0 && errno != EAGAIN;
}

/* Until the job is over, or Ctrl-C. */
static int watch(struct ft_follow *f, bool json)
{
    const struct ft_job_entry *job = f->job;
    bool screen = isatty(STDOUT_FILENO) && !json;
    int code = status(f, json, screen);

    while (code == 0 && fflush(stdout) == 0) {
        nanosleep(&(struct timespec){.tv_sec = WATCH_S}, NULL);
        ft_follow_end(f);
        ft_follow_begin(f, job);
        if (is_over(job))
            return 0;
        code = status(f, json, screen);
    }
    return code;
}

static int stop(struct ft_follow *f)
{
    int code = ft_follow_ask(f, "stop");

    if (code)
        return code;
    code = ft_follow_to_end(f, "wait", -1);
    if (code < 0 && f->known)
        return FT_CODE_NO_JOB;
    if (f->job->by_node)
        return 0; /* it is on another host; what was here is gone before it */
    ft_pidfd_await((pid_t)json_integer_value(json_object_get(f->info, "agent_pid")), GONE_MS);
    ft_pidfd_await((pid_t)json_integer_value(json_object_get(f->info, "standby_pid")), GONE_MS);
    return 0;
}

static int wait_for(struct ft_follow *f)
{
    int code = ft_follow_ask(f, "wait");

    if (code)
        return code;
    code = ft_follow_to_end(f, "wait", -1);
    return code < 0 ? end_unknown(f) : code;
}

static int attach(struct ft_follow *f)
{
    int code = ft_follow_ask(f, "attach");
    sigset_t set;

    if (code)
        return code;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigprocmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);
    code = ft_follow_to_end(f, "attach", signalfd(-1, &set, SFD_CLOEXEC));
    if (code == FT_FOLLOW_INTERRUPTED) {
        ft_say(&aloud, "detached from job %s; it goes on (ftrun attach %s, ftrun stop %s)", f->job->id, f->job->id, f->job->id);
        return 128 + SIGINT;
    }
    return code < 0 ? end_unknown(f) : code;
}

enum command { LIST, STATUS, STOP, WAIT, ATTACH };

/* What each is called, and what people type who know it from elsewhere: the system's programs of these names are not started as ranks. */
static const struct word {
    const char *text;
    enum command command;
    bool watch;
} words[] = {
    {"list", LIST, false}, {"status", STATUS, false}, {"stop", STOP, false}, {"wait", WAIT, false}, {"attach", ATTACH, false},
    {"ps", LIST, false}, {"kill", STOP, false}, {"top", STATUS, true},
};

enum { NWORDS = sizeof words / sizeof words[0], NEAR = 2 };

static const struct word *find(const char *text)
{
    for (int i = 0; text && i < NWORDS; i++)
        if (!strcmp(text, words[i].text))
            return &words[i];
    return NULL;
}

bool ft_client_is_command(const char *word)
{
    return find(word) != NULL;
}

const char *ft_client_nearest(const char *word)
{
    size_t least = NEAR + 1;
    const char *nearest = NULL;

    for (int i = 0; i < NWORDS; i++) {
        size_t far = ft_nearest_distance(word, strlen(word), words[i].text, strlen(words[i].text));

        if (far < least && far * 2 < strlen(word)) {
            least = far;
            nearest = words[i].text;
        }
    }
    return nearest;
}

struct request {
    enum command command;
    const char *job;
    bool json, watch, help;
};

static int read_arguments(struct request *r, char **argv)
{
    const struct word *word = find(argv[0]);

    r->command = word->command;
    r->watch = word->watch;
    for (int i = 1; argv[i]; i++) {
        if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
            r->help = true;
        } else if (!strcmp(argv[i], "--json") && r->command == STATUS) {
            r->json = true;
        } else if (!strcmp(argv[i], "--watch") && r->command == STATUS) {
            r->watch = true;
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

void ft_client_help(void)
{
    puts("Usage: ftrun list\n"
         "       ftrun status [--watch] [--json] [JOB]\n"
         "       ftrun stop | wait | attach [JOB]\n"
         "What the user's running jobs on this host are, and what they are at; a job on\n"
         "several hosts, on each of them.\n\n"
         "  list     the jobs: id, pid of ftrun, ranks, how long, command\n"
         "  status   what each rank is in, for how long, and whom it waits for; log,\n"
         "           memory, last checkpoint; --watch: every second; --json: all there is\n"
         "  stop     as SIGTERM to ftrun; waits until the job is gone\n"
         "  wait     waits for the job's end and exits with its code\n"
         "  attach   shows the job's output from now on; Ctrl-C leaves it running\n\n"
         "ps is list, kill is stop, top is status --watch.\n"
         "JOB: an id, the beginning of one, a --job-name, or the pid of an ftrun of\n"
         "it, on that one's host; not needed if one job runs.\n"
         "Exit code 3: no such job, several, or it cannot be reached.");
}

static void tell_no_choice(const struct ft_jobs *jobs, const char *word, size_t matching)
{
    char url[FT_STARTED_TEXT];

    if (!matching && word && ft_started_url(atoi(word), url)) {
        ft_say(&aloud, "process %s is an ftrun of the job at %s, of which nothing runs here: it is a spare, or waits for the others", word,
               url);
    } else if (matching) {
        ft_say(&aloud, word ? "several jobs have a name or an id that begins with %s; which one?" : "several jobs are running; which one?", word);
        ft_show_jobs(stderr, jobs, word);
    } else if (word) {
        ft_say(&aloud, "no job %s of this user is running on this host%s", word, jobs->n ? " (ftrun list shows those that are)" : "");
    } else {
        ft_say(&aloud, "no job of this user is running on this host");
    }
}

static int serve(const struct request *r, const struct ft_jobs *jobs)
{
    struct ft_follow *f;
    const struct ft_job_entry *job;
    size_t matching;
    int code;

    if (jobs->refused[0])
        ft_say(&aloud, "%s", jobs->refused);
    if (r->command == LIST)
        return jobs->refused[0] && !jobs->n ? FT_CODE_NO_JOB : list(jobs);
    job = ft_jobs_pick(jobs, r->job, &matching);
    if (!job) {
        tell_no_choice(jobs, r->job, matching);
        return FT_CODE_NO_JOB;
    }
    f = malloc(sizeof *f);
    if (!f)
        return FT_CODE_JOB;
    ft_follow_begin(f, job);
    switch (r->command) {
    case STATUS: code = r->watch ? watch(f, r->json) : status(f, r->json, false); break;
    case STOP: code = stop(f); break;
    case WAIT: code = wait_for(f); break;
    default: code = attach(f); break;
    }
    ft_follow_end(f);
    free(f);
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
        ft_client_help();
        return 0;
    }
    ft_jobs_find(&jobs, r.job, r.command == LIST);
    code = serve(&r, &jobs);
    ft_jobs_free(&jobs);
    return code;
}
