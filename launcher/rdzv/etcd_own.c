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

enum { DIR_BYTES = 1024, LINE = 1024 };

struct one {
    struct ft_etcd_own *own;
    char dir[DIR_BYTES];
    pid_t pid;
    int fd;                      /* what its process says */
    struct event *readable;
    char line[LINE];
    size_t n;
    bool serves;
};

struct ft_etcd_own {
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

static void on_said(evutil_socket_t fd, short what, void *arg)
{
    struct one *o = arg;
    ssize_t got = read(fd, o->line + o->n, sizeof o->line - 1 - o->n);
    char *end;

    (void)what;
    if (got <= 0) {
        if (got == 0 || errno != EAGAIN)
            event_del(o->readable);
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

static void become_tender(const struct one *o, const struct ft_rdzv_settings *s, uint32_t self, int out, pid_t parent)
{
    setpgid(0, 0); /* Ctrl-C is for ftrun, which ends it in time */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    if (dup2(out, 3) < 0)
        _exit(1);
    close_range(4, ~0u, 0);
    ft_etcd_tend(s, self, o->dir, 3);
}

static int start(struct ft_etcd_own *own, const struct ft_rdzv_settings *s, uint32_t self, struct event_base *base, struct ft_error *e)
{
    struct one *o = &own->ones[own->n++];
    pid_t parent = getpid();
    int ends[2];

    *o = (struct one){.own = own, .fd = -1};
    if (make_dirs(o, s, self, e) < 0)
        return FT_ESYS;
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
        return ft_err_set(e, FT_ESYS, "--rdzv: no pipe: %s", strerror(errno));
    o->fd = ends[0];
    o->readable = event_new(base, o->fd, EV_READ | EV_PERSIST, on_said, o);
    if (!o->readable || event_add(o->readable, NULL) < 0) {
        close(ends[1]);
        return ft_err_set(e, FT_ENOMEM, "out of memory");
    }
    fflush(NULL);
    o->pid = fork();
    if (o->pid == 0)
        become_tender(o, s, self, ends[1], parent);
    close(ends[1]);
    return o->pid > 0 ? 0 : ft_err_set(e, FT_ESYS, "--rdzv: cannot start a process for etcd: %s", strerror(errno));
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
        own->say = say;
        err = start(own, s, i, base, e);
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
        ft_timer_free(own->ones[i].readable);
        if (own->ones[i].fd >= 0)
            close(own->ones[i].fd);
    }
    free(own);
}
