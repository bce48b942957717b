/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/remote.h"

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launcher/signals.h"

enum { WORDS_BEFORE = 24 };

/* What was started for one node. */
struct starter {
    struct ft_remote *r;
    uint32_t node;
    pid_t pid;                  /* 0: none */
    bool waits, up;             /* waits: for its turn */
    const struct ft_host *host;
    char *text;                 /* the description, as far as it is not written: from `at` on */
    size_t len, at;
    int in, err;                /* -1: closed */
    struct event *writable, *readable;
    char part[FT_SAID_BYTES], said[FT_SAID_BYTES]; /* a line as it comes; the last whole one */
    size_t npart;
};

struct ft_remote {
    struct event_base *base;
    struct ft_remote_config config;
    char path[PATH_MAX];        /* of ftrun, here or there */
    char own[PATH_MAX];
    char *command;              /* of exec:, cut into words */
    const char **words;         /* for one call; room for all */
    uint32_t starting;          /* have not come up yet */
    int nice;                   /* of what is started; the controller may go before others */
    struct starter starters[];
};

/* ---- what is called ---- */

/* For a shell: in single quotes. */
static void quote(const char *path, char *text, size_t size)
{
    size_t n = 0;

    text[n++] = '\'';
    for (; *path && n + 6 < size; path++) {
        if (*path == '\'') {
            memcpy(text + n, "'\\'", 3);
            n += 3;
        }
        text[n++] = *path;
    }
    text[n++] = '\'';
    text[n] = 0;
}

/* ssh never asks anybody anything, and knows in 10 seconds that a host is not there. */
static size_t ssh_words(const char **w)
{
    static const char *const words[] = {"ssh", "-x", "-a", "-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10", "-o", "ServerAliveInterval=15"};

    memcpy(w, words, sizeof words);
    return sizeof words / sizeof words[0];
}

static size_t exec_words(struct ft_remote *r, const char **w)
{
    size_t n = 0;

    strcpy(r->command, strchr(r->config.options->launcher, ':') + 1);
    for (char *save = NULL, *word = strtok_r(r->command, " \t", &save); word; word = strtok_r(NULL, " \t", &save))
        w[n++] = word;
    return n;
}

/* quoted: room for a path in quotes. */
static void make_words(struct ft_remote *r, const struct ft_host *host, char quoted[2 * PATH_MAX])
{
    const struct ft_options *o = r->config.options;
    bool directly = host->here && !o->launcher, ssh = !o->launcher || !strcmp(o->launcher, "ssh");
    size_t n = directly ? 0 : ssh ? ssh_words(r->words) : exec_words(r, r->words);

    for (size_t i = 0; !directly && i < o->nlaunch_args; i++)
        r->words[n++] = o->launch_args[i];
    if (!directly)
        r->words[n++] = host->name;
    if (ssh && !directly) {
        strcpy(quoted, "exec ");
        quote(r->path, quoted + 5, 2 * PATH_MAX - 5);
        r->words[n++] = quoted;
    } else {
        r->words[n++] = directly ? r->own : r->path;
    }
    r->words[n++] = "--node";
    r->words[n] = NULL;
}

/* ---- running it ---- */

static void close_pipes(struct starter *s)
{
    if (s->writable)
        event_free(s->writable);
    if (s->readable)
        event_free(s->readable);
    if (s->in >= 0)
        close(s->in);
    if (s->err >= 0)
        close(s->err);
    s->writable = s->readable = NULL;
    s->in = s->err = -1;
}

static void forget_text(struct starter *s)
{
    if (s->text)
        explicit_bzero(s->text, s->len); /* the job's secret */
    free(s->text);
    s->text = NULL;
}

/* A line of stderr is whole, or as long as fits. */
static void take_line(struct starter *s)
{
    while (s->npart && (unsigned char)s->part[s->npart - 1] <= ' ')
        s->npart--; /* ssh ends its lines with a carriage return, too */
    s->part[s->npart] = 0;
    s->npart = 0;
    for (char *c = s->part; *c; c++)
        if ((unsigned char)*c < ' ')
            *c = ' ';
    if (!*s->part)
        return;
    strcpy(s->said, s->part);
    if (s->up)
        s->r->config.line(s->r->config.arg, s->node, s->said);
}

static void take(struct starter *s, const char *data, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (data[i] == '\n' || s->npart == sizeof s->part - 1)
            take_line(s);
        if (data[i] != '\n')
            s->part[s->npart++] = data[i];
    }
}

static void drain(struct starter *s)
{
    char data[4096];
    ssize_t n;

    while (s->err >= 0 && (n = read(s->err, data, sizeof data)) > 0)
        take(s, data, (size_t)n);
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
    struct starter *s = arg;
    char data[4096];
    ssize_t n = read(fd, data, sizeof data);

    (void)what;
    if (n > 0)
        take(s, data, (size_t)n);
    else if (n == 0 || (errno != EAGAIN && errno != EINTR))
        event_del(s->readable);
}

static void on_writable(evutil_socket_t fd, short what, void *arg)
{
    struct starter *s = arg;
    ssize_t n = write(fd, s->text + s->at, s->len - s->at);

    (void)what;
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    s->at += n > 0 ? (size_t)n : 0;
    if (n >= 0 && s->at < s->len)
        return;
    forget_text(s); /* all of it is there, or nobody reads: its end will tell */
    event_free(s->writable);
    s->writable = NULL;
    close(s->in);
    s->in = -1;
}

static void run_child(const struct ft_remote *r, int in, int err)
{
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

    setsid(); /* the terminal's signals are for ftrun; and nobody is asked for a password */
    dup2(in, 0);
    dup2(null, 1);
    dup2(err, 2);
    setpriority(PRIO_PROCESS, 0, r->nice);
    ft_signals_give_back(r->config.signals);
    execvp(r->words[0], (char **)r->words);
    dprintf(2, "%s: %s\n", r->words[0], strerror(errno));
    _exit(127);
}

static int watch(struct starter *s, int in, int err)
{
    s->in = in;
    s->err = err;
    fcntl(in, F_SETFL, O_NONBLOCK);
    fcntl(err, F_SETFL, O_NONBLOCK);
    s->writable = event_new(s->r->base, in, EV_WRITE | EV_PERSIST, on_writable, s);
    s->readable = event_new(s->r->base, err, EV_READ | EV_PERSIST, on_readable, s);
    if (!s->writable || !s->readable || event_add(s->writable, NULL) < 0 || event_add(s->readable, NULL) < 0)
        return -1;
    return 0;
}

static int launch(struct starter *s)
{
    int in[2] = {-1, -1}, err[2] = {-1, -1};
    char quoted[2 * PATH_MAX];

    if (pipe2(in, O_CLOEXEC) < 0 || pipe2(err, O_CLOEXEC) < 0)
        goto failed;
    make_words(s->r, s->host, quoted);
    fflush(NULL);
    s->pid = fork();
    if (s->pid < 0)
        goto failed;
    if (s->pid == 0)
        run_child(s->r, in[0], err[1]);
    s->r->starting++;
    close(in[0]);
    close(err[1]);
    return watch(s, in[1], err[0]);

failed:
    for (int i = 0; i < 2; i++) {
        if (in[i] >= 0)
            close(in[i]);
        if (err[i] >= 0)
            close(err[i]);
    }
    s->pid = 0;
    return -1;
}

static void tell_ended(struct starter *s, int status)
{
    char said[FT_SAID_BYTES];

    strcpy(said, s->said);
    s->r->config.ended(s->r->config.arg, s->node, status, said); /* may start another */
}

/* Those that wait have their turn. */
static void launch_next(struct ft_remote *r)
{
    for (uint32_t i = 0; i < r->config.nnodes && r->starting < FT_STARTERS; i++) {
        struct starter *s = &r->starters[i];

        if (!s->waits)
            continue;
        s->waits = false;
        if (launch(s) == 0)
            continue;
        snprintf(s->said, sizeof s->said, "cannot start a process: %s", strerror(errno));
        ft_remote_end(r, i);
        tell_ended(s, -1);
    }
}

void ft_remote_start(struct ft_remote *r, uint32_t node, const struct ft_host *host, char *text)
{
    struct starter *s = &r->starters[node];

    ft_remote_end(r, node);
    s->host = host;
    s->len = strlen(text);
    s->at = 0;
    s->text = text;
    s->text[s->len++] = '\n'; /* in place of its end */
    s->said[0] = 0;
    s->npart = 0;
    s->waits = true;
    launch_next(r);
}

static void no_longer_starting(struct starter *s)
{
    if (s->pid && !s->up)
        s->r->starting--;
}

void ft_remote_up(struct ft_remote *r, uint32_t node)
{
    struct starter *s = &r->starters[node];

    if (s->up || !s->pid)
        return;
    no_longer_starting(s);
    s->up = true;
    launch_next(r);
}

/* Who has not come up is asked: it ends what it may have started. Else nothing is to be waited for; an agent's ranks are dead already. */
void ft_remote_end(struct ft_remote *r, uint32_t node)
{
    struct starter *s = &r->starters[node];

    no_longer_starting(s);
    if (s->pid)
        kill(s->pid, s->up ? SIGKILL : SIGTERM);
    s->pid = 0; /* reaped by the way */
    s->waits = s->up = false;
    close_pipes(s);
    forget_text(s);
}

static void reaped(struct ft_remote *r, pid_t pid, int status)
{
    for (uint32_t i = 0; i < r->config.nnodes; i++) {
        struct starter *s = &r->starters[i];

        if (s->pid != pid)
            continue;
        drain(s);
        if (s->npart)
            take_line(s);
        no_longer_starting(s);
        s->pid = 0;
        s->up = false;
        close_pipes(s);
        forget_text(s);
        tell_ended(s, status);
        return;
    }
}

void ft_remote_reap(struct ft_remote *r)
{
    int status;
    pid_t pid;

    while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
        reaped(r, pid, status);
    launch_next(r);
}

bool ft_remote_busy(const struct ft_remote *r)
{
    for (uint32_t i = 0; i < r->config.nnodes; i++)
        if (r->starters[i].pid)
            return true;
    return false;
}

const char *ft_remote_how(int status, const char *said, char *text, size_t size)
{
    if (status == -1)
        snprintf(text, size, "%s", said);
    else if (WIFSIGNALED(status))
        snprintf(text, size, "killed by signal %d%s%s", WTERMSIG(status), *said ? ": " : "", said);
    else
        snprintf(text, size, "%s%sexit code %d%s", said, *said ? " (" : "", WEXITSTATUS(status), *said ? ")" : "");
    return text;
}

struct ft_remote *ft_remote_new(struct event_base *base, const struct ft_remote_config *config, struct ft_error *e)
{
    const struct ft_options *o = config->options;
    const char *command = o->launcher ? o->launcher : "";
    struct ft_remote *r = calloc(1, sizeof *r + config->nnodes * sizeof r->starters[0]);
    ssize_t n;

    if (!r)
        goto no_memory;
    r->base = base;
    r->config = *config;
    r->nice = getpriority(PRIO_PROCESS, 0);
    for (uint32_t i = 0; i < config->nnodes; i++)
        r->starters[i] = (struct starter){.r = r, .node = i, .in = -1, .err = -1};
    r->command = malloc(strlen(command) + 1);
    r->words = calloc(WORDS_BEFORE + o->nlaunch_args + strlen(command), sizeof *r->words);
    if (!r->command || !r->words)
        goto no_memory;
    n = readlink("/proc/self/exe", r->own, sizeof r->own - 1);
    if (n < 0) {
        ft_err_set(e, FT_ESYS, "cannot find out where ftrun is: %s", strerror(errno));
        ft_remote_free(r);
        return NULL;
    }
    r->own[n] = 0;
    snprintf(r->path, sizeof r->path, o->prefix ? "%s/bin/ftrun" : "%s", o->prefix ? o->prefix : r->own);
    return r;

no_memory:
    ft_err_set(e, FT_ENOMEM, "out of memory");
    ft_remote_free(r);
    return NULL;
}

void ft_remote_free(struct ft_remote *r)
{
    if (!r)
        return;
    for (uint32_t i = 0; i < r->config.nnodes; i++)
        if (r->starters[i].r)
            ft_remote_end(r, i);
    free(r->words);
    free(r->command);
    free(r);
}
