/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/start/remote.h"

#include <errno.h>
#include <event2/event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "ft/base/util.h"
#include "launcher/base/timer.h"
#include "launcher/start/remote_words.h"
#include "launcher/wire/shares.h"

enum {
    SAID_LATER = FT_SAID_BYTES,
    READY_MS = 15000 /* for a starter to answer, before its share is taken from it: ssh gives up after 10 seconds */
};

/* What is done for one node. */
struct entry {
    struct ft_remote *r;
    uint32_t node;
    const struct ft_host *host;
    char *text;                 /* the description, as long as nobody has been given it */
    bool waits, up;             /* waits: for its turn */
    bool directly;              /* from here: it could not be started from another host */
    struct entry *by;           /* its share is this one's; NULL: none's */

    pid_t pid;                  /* of what we have started for it; 0: nothing */
    struct ft_child child;
    struct ft_child_config lines;
    bool leads, ready;          /* that is a starter with a share; it has answered */
    struct event *late;

    bool ended;                 /* this is still to be told */
    int status;
    const struct ft_host *from;
    char said[SAID_LATER];      /* its last line */
};

struct ft_remote {
    struct event_base *base;
    struct ft_remote_config config;
    struct ft_remote_words words;
    struct event *turn;         /* something is to be started, or told */
    uint32_t width, starting;   /* have not come up yet; without what is on this host */
    bool tree;
    int nice;                   /* of what is started; the controller may go before others */
    struct entry entries[];
};

#define FOR_ALL(s, r) for (struct entry *s = (r)->entries; (s) < (r)->entries + (r)->config.nnodes; (s)++)

static void set_turn(struct ft_remote *r)
{
    event_active(r->turn, EV_TIMEOUT, 0);
}

static void set_ended(struct entry *s, int status, const struct ft_host *from)
{
    s->ended = true;
    s->status = status;
    s->from = from;
    set_turn(s->r);
}

/* ---- shares ---- */

static void say(struct entry *leader, enum ft_share_kind kind, const struct entry *about)
{
    struct ft_share_word w = {.kind = kind, .node = about->node, .text = kind == FT_SHARE_START ? about->host->name : NULL};
    char *text = ft_share_write(&w);

    if (text)
        ft_child_say(&leader->child, text);
    free(text);
}

static void detail(const struct ft_remote *r, const struct ft_host *host, uint32_t n, const char *what)
{
    char line[512];

    snprintf(line, sizeof line, "%u %s started %s %.300s", n, n == 1 ? "node is" : "nodes are", what, host->name);
    if (r->config.detail)
        r->config.detail(r->config.arg, line);
}

/* The leader does not answer, or has ended. Who was not given to it is started from here; of who was it is not known what has become, so it
   has failed: a start anew is told apart from one that comes late. */
static void take_share(struct entry *leader)
{
    uint32_t n = 0;

    event_del(leader->late);
    FOR_ALL(s, leader->r) {
        if (s->by != leader)
            continue;
        s->by = NULL;
        if (s->up)
            continue;
        n++;
        s->directly = true;
        s->waits = s->text != NULL;
        if (s->waits)
            continue;
        snprintf(s->said, sizeof s->said, "%.300s, which was starting it, has gone", leader->host->name);
        set_ended(s, -1, leader->host);
    }
    if (n)
        detail(leader->r, leader->host, n, "from here, and not from");
    set_turn(leader->r);
}

static void on_late(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    take_share(arg);
}

/* The leader is there: it is given its share, which is nobody if it comes late. */
static void give_share(struct entry *leader)
{
    uint32_t n = 0;

    leader->ready = true;
    event_del(leader->late);
    FOR_ALL(s, leader->r) {
        if (s->by != leader || !s->text)
            continue;
        say(leader, FT_SHARE_START, s);
        ft_child_say(&leader->child, s->text);
        ft_child_wipe(s->text);
        s->text = NULL;
        n++;
    }
    say(leader, FT_SHARE_ALL, leader);
    if (n)
        detail(leader->r, leader->host, n, "from");
}

/* What a starter says of itself or its share. */
static void take_word(struct entry *leader, const char *line)
{
    struct ft_remote *r = leader->r;
    struct ft_share_word w;
    struct ft_error e;
    struct entry *s;

    if (ft_share_read(&w, line, strlen(line), &e) == 0 && w.node < r->config.nnodes) {
        s = &r->entries[w.node];
        if (w.kind == FT_SHARE_READY && s == leader && !leader->ready) {
            give_share(leader);
        } else if (w.kind == FT_SHARE_LINE && (s == leader || s->by == leader)) {
            r->config.line(r->config.arg, s->node, w.text);
        } else if (w.kind == FT_SHARE_ENDED && (s == leader || (s->by == leader && !s->text))) {
            snprintf(s->said, sizeof s->said, "%s", w.text);
            s->directly |= !s->up;
            s->by = NULL;
            set_ended(s, w.status, s == leader ? NULL : leader->host);
        }
    }
    ft_share_free(&w);
}

/* What srun says after the reason, its own or the agent's: that the step is aborted, and the agent's exit code. */
static bool says_no_more(const struct entry *s, const char *line)
{
    if (!*s->said || strncmp(line, "srun: ", 6))
        return false;
    return strncmp(line, "srun: error: ", 13) || strstr(line, ": task 0: Exited with exit code ");
}

static void on_line(void *arg, int stream, char *line)
{
    struct entry *s = arg;

    if (stream == 1) {
        take_word(s, line);
        return;
    }
    if (says_no_more(s, line))
        return;
    snprintf(s->said, sizeof s->said, "%s", line);
    if (s->up)
        s->r->config.line(s->r->config.arg, s->node, s->said);
}

/* ---- starting ---- */

static bool is_here(const struct entry *s)
{
    return s->node == s->r->config.own || (s->host->here && !s->r->config.options->launcher);
}

/* What a starter is told first: what it needs for any node, and the one of its host. NULL: no memory. */
static char *words_for_leader(const struct entry *s)
{
    const struct ft_remote *r = s->r;
    const struct ft_options *o = r->config.options;
    struct ft_share_word begin = {.kind = FT_SHARE_BEGIN, .node = s->node, .launcher = (char *)ft_options_launcher(o),
                                  .path = (char *)r->words.path, .nnodes = r->config.nnodes, .width = r->width,
                                  .start_ms = (uint32_t)ft_min(o->start_ms, UINT32_MAX / 2)};
    struct ft_share_word own = {.kind = FT_SHARE_START, .node = s->node, .text = s->host->name};
    char *first, *second = ft_share_write(&own), *all = NULL;

    begin.args = calloc(o->nlaunch_args + 1, sizeof *begin.args);
    for (size_t i = 0; begin.args && i < o->nlaunch_args; i++)
        begin.args[i] = (char *)o->launch_args[i];
    first = begin.args ? ft_share_write(&begin) : NULL;
    if (first && second && asprintf(&all, "%s%s%s", first, second, s->text) < 0)
        all = NULL;
    free(begin.args);
    free(first);
    free(second);
    return all;
}

static void set_pid(struct entry *s, pid_t pid)
{
    s->pid = pid;
    if (s->r->config.pids)
        s->r->config.pids[s->node] = pid;
}

static void launch(struct entry *s)
{
    struct ft_remote *r = s->r;
    char *text = s->leads ? words_for_leader(s) : s->text;

    s->waits = false;
    s->lines = (struct ft_child_config){.base = r->base, .signals = r->config.signals, .nice = r->nice, .line = on_line, .arg = s,
                                        .env = is_here(s) ? NULL : ft_remote_words_env(&r->words)};
    set_pid(s, text ? ft_child_start(&s->child, &s->lines, ft_remote_words_make(&r->words, s->host, s->leads ? "--starter" : "--node", is_here(s)),
                                     text, s->leads)
                    : -1);
    if (text != s->text)
        ft_child_wipe(text);
    ft_child_wipe(s->text);
    s->text = NULL;
    if (s->pid > 0) {
        r->starting += !is_here(s);
        if (s->leads)
            ft_timer_set(s->late, ft_min(READY_MS, r->config.options->start_ms / 3));
        return;
    }
    snprintf(s->said, sizeof s->said, "cannot start a process: %s", strerror(text ? errno : ENOMEM));
    set_pid(s, 0);
    ft_child_close(&s->child);
    if (s->leads)
        take_share(s);
    s->leads = false;
    set_ended(s, -1, NULL);
}

static bool goes_directly(const struct entry *s)
{
    return s->directly || !s->r->tree || is_here(s);
}

/* Those that wait for somebody's share, in k shares of nearly the same size, one after the other. */
static void launch_shares(struct ft_remote *r, uint32_t n, uint32_t k)
{
    struct entry *leader = NULL;
    uint32_t share = 0, left = 0; /* number of the share; how many of it are to come */

    FOR_ALL(s, r) {
        if (!s->waits || goes_directly(s))
            continue;
        if (left) {
            s->waits = false;
            s->by = leader;
        } else {
            if (leader)
                launch(leader);
            left = n / k + (share++ < n % k);
            leader = s;
            s->leads = left > 1;
        }
        left--;
    }
    launch(leader);
}

static void launch_next(struct ft_remote *r)
{
    uint32_t n = 0;

    FOR_ALL(s, r) {
        if (s->waits && goes_directly(s) && (is_here(s) || r->starting < r->width))
            launch(s);
        n += s->waits && !goes_directly(s);
    }
    if (n && r->starting < r->width)
        launch_shares(r, n, ft_min(n, r->width - r->starting));
}

/* What is told may start another, or end any. */
static void tell_ended(struct ft_remote *r)
{
    char said[SAID_LATER];

    FOR_ALL(s, r) {
        if (!s->ended)
            continue;
        s->ended = false;
        strcpy(said, s->said);
        r->config.ended(r->config.arg, s->node, s->status, said, s->from);
    }
}

static void on_turn(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    tell_ended(arg);
    launch_next(arg);
}

void ft_remote_start(struct ft_remote *r, uint32_t node, const struct ft_host *host, char *text)
{
    struct entry *s = &r->entries[node];
    size_t len = strlen(text);
    char *line = realloc(text, len + 2);

    ft_remote_end(r, node);
    s->host = host;
    s->said[0] = 0;
    s->text = line ? line : text;
    s->waits = line != NULL;
    if (line) {
        strcpy(line + len, "\n");
        set_turn(r);
        return;
    }
    ft_child_wipe(text);
    s->text = NULL;
    snprintf(s->said, sizeof s->said, "out of memory");
    set_ended(s, -1, NULL);
}

/* ---- what becomes of them ---- */

static void no_longer_starting(struct entry *s)
{
    if (s->pid && !s->up)
        s->r->starting -= !is_here(s);
}

void ft_remote_adopt(struct ft_remote *r, uint32_t node, bool up)
{
    struct entry *s = &r->entries[node];
    pid_t pid = r->config.pids[node];

    if (pid <= 0 || waitpid(pid, NULL, WNOHANG) != 0)
        return; /* nothing, dead, or nobody's whom we may wait for */
    s->child = FT_CHILD_NONE;
    set_pid(s, pid);
    s->up = up;
    if (up)
        return;
    kill(pid, SIGTERM);
    kill(-pid, SIGTERM);
    set_pid(s, 0);
}

void ft_remote_up(struct ft_remote *r, uint32_t node)
{
    struct entry *s = &r->entries[node];

    if (s->up || (!s->pid && !s->by))
        return;
    if (s->leads || s->by)
        say(s->by ? s->by : s, FT_SHARE_UP, s);
    no_longer_starting(s);
    s->up = true;
    set_turn(r);
}

static void close_child(struct entry *s)
{
    set_pid(s, 0);
    ft_child_close(&s->child);
    if (s->leads)
        take_share(s);
    s->leads = s->ready = false;
}

/* Who has not come up is asked: it ends what it may have started. Else nothing is to be waited for; an agent's ranks are dead already. A
   starter is always asked, for the sake of its share, and its agent's. */
void ft_remote_end(struct ft_remote *r, uint32_t node)
{
    struct entry *s = &r->entries[node];

    if (s->by && !s->text) {
        say(s->by, FT_SHARE_END, s);
        s->directly |= !s->up;
    }
    no_longer_starting(s);
    if (s->pid) {
        kill(s->pid, s->up && !s->leads ? SIGKILL : SIGTERM);
        if (!s->up) /* what a command of the user's has started, too: it leads a session (child.c) */
            kill(-s->pid, SIGTERM);
        close_child(s); /* reaped by the way */
    }
    s->by = NULL;
    s->waits = s->up = s->ended = false;
    ft_child_wipe(s->text);
    s->text = NULL;
    set_turn(r);
}

void ft_remote_end_unstarted(struct ft_remote *r)
{
    FOR_ALL(s, r)
        if (!s->up)
            ft_remote_end(r, s->node);
}

static void reaped(struct ft_remote *r, pid_t pid, int status)
{
    FOR_ALL(s, r) {
        if (s->pid != pid)
            continue;
        ft_child_drain(&s->child);
        no_longer_starting(s);
        close_child(s);
        s->up = false;
        if (!s->ended) /* else it was a starter, which has said before what became of its own */
            set_ended(s, status, NULL);
        return;
    }
}

void ft_remote_reap(struct ft_remote *r)
{
    int status;
    pid_t pid;

    while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
        reaped(r, pid, status);
    tell_ended(r);
    set_turn(r);
}

bool ft_remote_busy(const struct ft_remote *r)
{
    for (uint32_t i = 0; i < r->config.nnodes; i++)
        if (r->entries[i].pid || r->entries[i].waits || r->entries[i].ended)
            return true;
    return false;
}

const char *ft_remote_how(int status, const char *said, char *text, size_t size)
{
    if (status == -1)
        snprintf(text, size, "%s", said);
    else if (WIFSIGNALED(status))
        snprintf(text, size, "killed by signal %d%s%s", WTERMSIG(status), *said ? ": " : "", said);
    else if (!*said && !WEXITSTATUS(status))
        snprintf(text, size, "ended with exit code 0, without an answer of ftrun's there");
    else
        snprintf(text, size, "%s%sexit code %d%s", said, *said ? " (" : "", WEXITSTATUS(status), *said ? ")" : "");
    return text;
}

/* A command of the user's may be here only, where somebody has written it: it is used elsewhere if that is asked for. */
static void choose_width(struct ft_remote *r, const struct ft_options *o)
{
    bool ssh = !strcmp(ft_options_launcher(o), "ssh");

    r->tree = o->launch_tree == FT_TREE_AUTO ? ssh : o->launch_tree > 0;
    r->width = o->launch_tree == FT_TREE_AUTO || !r->tree ? FT_TREE_WIDTH : (uint32_t)o->launch_tree;
}

struct ft_remote *ft_remote_new(struct event_base *base, const struct ft_remote_config *config, struct ft_error *e)
{
    struct ft_remote *r = calloc(1, sizeof *r + config->nnodes * sizeof r->entries[0]);

    if (!r) {
        ft_err_set(e, FT_ENOMEM, "out of memory");
        return NULL;
    }
    r->base = base;
    r->config = *config;
    r->nice = getpriority(PRIO_PROCESS, 0);
    choose_width(r, config->options);
    if (ft_remote_words_open(&r->words, config->options, config->path, e) < 0)
        goto failed;
    r->turn = evtimer_new(base, on_turn, r);
    ft_err_set(e, FT_ENOMEM, "out of memory");
    for (uint32_t i = 0; i < config->nnodes; i++) {
        struct entry *s = &r->entries[i];

        *s = (struct entry){.r = r, .node = i, .late = evtimer_new(base, on_late, s)};
        if (!s->late || !r->turn)
            goto failed;
    }
    return r;

failed:
    ft_remote_free(r);
    return NULL;
}

void ft_remote_free(struct ft_remote *r)
{
    if (!r)
        return;
    for (uint32_t i = 0; i < r->config.nnodes && r->entries[i].r && r->turn; i++)
        ft_remote_end(r, i);
    for (uint32_t i = 0; i < r->config.nnodes; i++)
        ft_timer_free(r->entries[i].late);
    ft_timer_free(r->turn);
    ft_remote_words_close(&r->words);
    free(r);
}
