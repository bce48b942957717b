/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/rdzv/etcd_own.h"

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launcher/base/say.h"
#include "launcher/base/timer.h"
#include "launcher/rdzv/etcd_peers.h"
#include "launcher/rdzv/etcd_tend.h"
#include "launcher/rdzv/here.h"

enum { DIR_BYTES = 1024, LINE = 1024, AGAIN_MS = 1000 };

struct one {
    struct ft_etcd_own *own;
    uint32_t self;               /* which endpoint */
    char dir[DIR_BYTES];
    pid_t pid;                   /* 0: it has ended */
    int fd;                      /* what its process says; -1: closed */
    struct event *readable, *again;
    char line[LINE];
    size_t n;
    bool serves;
};

struct ft_etcd_own {
    const struct ft_rdzv_settings *settings;
    struct event_base *base;
    const struct ft_say *say;
    uint32_t n;
    struct one ones[FT_ETCD_MEMBERS];
};

/* ---- what they say ---- */

static void hear(struct one *o, const char *line)
{
    if (strcmp(line, FT_ETCD_SERVES) == 0)
        o->serves = true;
    else
        ft_say_notice(o->own->say, "%s", line);
}

static void hang_up(struct one *o)
{
    ft_timer_free(o->readable);
    o->readable = NULL;
    if (o->fd >= 0)
        close(o->fd);
    o->fd = -1;
    o->n = 0;
    o->serves = false;
}

/* Only its end closes the pipe. */
static void ended(struct one *o)
{
    hang_up(o);
    if (o->pid)
        waitpid(o->pid, NULL, 0);
    o->pid = 0;
    ft_say_notice(o->own->say, "--rdzv: the process of ftrun that tends etcd has ended; another one is started");
    ft_timer_set(o->again, AGAIN_MS);
}

static void on_said(evutil_socket_t fd, short what, void *arg)
{
    struct one *o = arg;
    ssize_t got = read(fd, o->line + o->n, sizeof o->line - 1 - o->n);
    char *end;

    (void)what;
    if (got <= 0) {
        if (got == 0 || (errno != EAGAIN && errno != EINTR))
            ended(o);
        return;
    }
    o->n += (size_t)got;
    o->line[o->n] = 0;
    while ((end = strchr(o->line, '\n'))) {
        *end = 0;
        hear(o, o->line);
        o->n -= (size_t)(end + 1 - o->line);
        memmove(o->line, end + 1, o->n + 1);
    }
    if (o->n == sizeof o->line - 1)
        o->n = 0;
}

/* ---- their beginning ---- */

static bool is_installed(void)
{
    const char *path = getenv("PATH");
    char file[4096];

    for (const char *at = path ? path : "/usr/local/bin:/usr/bin:/bin"; *at; at += strcspn(at, ":"), at += *at == ':') {
        snprintf(file, sizeof file, "%.*s/etcd", (int)strcspn(at, ":"), at);
        if (access(file, X_OK) == 0)
            return true;
    }
    return false;
}

/* Of this user and no other, whoever may write into the directory above. */
static int make_dir(const char *dir, struct ft_error *e)
{
    struct stat st;

    if ((mkdir(dir, 0700) < 0 && errno != EEXIST) || lstat(dir, &st) < 0)
        return ft_err_set(e, FT_ESYS, "--rdzv: cannot make the directory %s for etcd: %s", dir, strerror(errno));
    if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 077))
        return ft_err_set(e, FT_ESYS, "--rdzv: %s, where etcd would have its data, is not a directory of this user alone; move it away",
                          dir);
    return 0;
}

static int make_dirs(struct one *o, const struct ft_rdzv_settings *s, uint32_t self, struct ft_error *e)
{
    const char *tmp = getenv("TMPDIR");
    char above[DIR_BYTES / 2];

    snprintf(above, sizeof above, "%s/ftmpi-etcd-%u", tmp && *tmp ? tmp : "/tmp", (unsigned)geteuid());
    snprintf(o->dir, sizeof o->dir, "%s/%s-%u", above, s->job, s->endpoints[self].port);
    return make_dir(above, e) < 0 ? FT_ESYS : make_dir(o->dir, e);
}

static void become_tender(const struct one *o, int out, pid_t parent)
{
    setpgid(0, 0); /* Ctrl-C is for ftrun, which ends it in time */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent || dup2(out, 3) < 0)
        _exit(1);
    close_range(4, ~0u, 0);
    ft_etcd_tend(o->own->settings, o->self, o->dir, 3);
}

static int start(struct one *o, struct ft_error *e)
{
    pid_t parent = getpid();
    int ends[2];

    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
        return ft_err_set(e, FT_ESYS, "--rdzv: no pipe: %s", strerror(errno));
    o->fd = ends[0];
    o->readable = event_new(o->own->base, o->fd, EV_READ | EV_PERSIST, on_said, o);
    fflush(NULL);
    o->pid = o->readable && event_add(o->readable, NULL) == 0 ? fork() : -1;
    if (o->pid == 0)
        become_tender(o, ends[1], parent);
    close(ends[1]);
    if (o->pid > 0)
        return 0;
    o->pid = 0;
    hang_up(o);
    return ft_err_set(e, FT_ESYS, "--rdzv: cannot start a process for etcd: %s", strerror(errno));
}

static void on_again(evutil_socket_t fd, short what, void *arg)
{
    struct one *o = arg;
    struct ft_error e;

    (void)fd;
    (void)what;
    if (start(o, &e) < 0)
        ft_timer_set(o->again, AGAIN_MS);
}

static int begin(struct ft_etcd_own *own, uint32_t self, struct ft_error *e)
{
    struct one *o = &own->ones[own->n++];

    *o = (struct one){.own = own, .self = self, .fd = -1};
    o->again = evtimer_new(own->base, on_again, o);
    if (!o->again)
        return ft_err_set(e, FT_ENOMEM, "out of memory");
    return make_dirs(o, own->settings, self, e) < 0 ? FT_ESYS : start(o, e);
}

int ft_etcd_own_new(struct ft_etcd_own **out, const struct ft_rdzv_settings *s, struct event_base *base, const struct ft_say *say,
                    struct ft_error *e)
{
    struct ft_etcd_own *own = NULL;
    int err = 0;

    *out = NULL;
    for (uint32_t i = 0; s->etcds && i < s->n && err == 0; i++) {
        if (!ft_rdzv_is_here(s->endpoints[i].host))
            continue;
        if (!own && !is_installed())
            return ft_err_set(e, FT_EINVAL,
                              "--rdzv: etcd-embedded:// needs etcd on %s, which is not installed: apt-get install etcd-server",
                              s->endpoints[i].host);
        if (!own && !(own = calloc(1, sizeof *own)))
            return ft_err_set(e, FT_ENOMEM, "out of memory");
        own->settings = s;
        own->base = base;
        own->say = say;
        err = begin(own, i, e);
    }
    if (err < 0)
        ft_etcd_own_free(own);
    else
        *out = own;
    return err;
}

bool ft_etcd_own_serves(const struct ft_etcd_own *own)
{
    bool serves = false;

    for (uint32_t i = 0; own && i < own->n; i++)
        serves |= own->ones[i].serves;
    return serves;
}

static struct one *find(const struct ft_etcd_own *own, pid_t pid)
{
    for (uint32_t i = 0; own && pid > 0 && i < own->n; i++)
        if (own->ones[i].pid == pid)
            return (struct one *)&own->ones[i];
    return NULL;
}

bool ft_etcd_own_has(const struct ft_etcd_own *own, pid_t pid) { return find(own, pid); }

void ft_etcd_own_reaped(struct ft_etcd_own *own, pid_t pid)
{
    struct one *o = find(own, pid);

    if (o)
        o->pid = 0;
}

void ft_etcd_own_free(struct ft_etcd_own *own)
{
    if (!own)
        return;
    for (uint32_t i = 0; i < own->n; i++)
        if (own->ones[i].pid > 0)
            kill(own->ones[i].pid, SIGTERM);
    for (uint32_t i = 0; i < own->n; i++) {
        if (own->ones[i].pid > 0)
            waitpid(own->ones[i].pid, NULL, 0);
        hang_up(&own->ones[i]);
        ft_timer_free(own->ones[i].again);
    }
    free(own);
}
