/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/rdzv/etcd_tend.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "launcher/rdzv/etcd_peers.h"

enum {
    FIRST_MS = 100, LAST_MS = 5000,   /* until it is started again */
    SOON_MS = 5000,                   /* it has ended so soon after its start: something is wrong with it */
    DOUBTS = 3,                       /* so often: with its disk */
    END_MS = 3000, LOG_BYTES = 4 << 20, PATH = 4096, WORD = 2048
};

struct tending {
    const struct ft_rdzv_settings *s;
    uint32_t self;
    const char *dir;
    int out;
    pid_t pid;                        /* 0: it does not run */
    unsigned wait_ms, soon;           /* how often it has ended soon, one after the other */
    bool told_later;
};

static void say(const struct tending *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(const struct tending *t, const char *format, ...)
{
    char line[1024];
    va_list args;
    int n;

    va_start(args, format);
    n = vsnprintf(line, sizeof line - 1, format, args);
    va_end(args);
    n = n < (int)sizeof line - 1 ? n : (int)sizeof line - 2;
    line[n++] = '\n';
    if (write(t->out, line, (size_t)n) < 0)
        raise(SIGTERM); /* nobody is there */
}

static const char *path_of(const struct tending *t, const char *name, char path[PATH])
{
    snprintf(path, PATH, "%s/%s", t->dir, name);
    return path;
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *at)
{
    (void)st;
    (void)flag;
    (void)at;
    return remove(path);
}

static void remove_tree(const char *path) { nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS); }

/* ---- one life of etcd ---- */

static uint64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_BOOTTIME, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* All addresses, by both families where there are both. */
static const char *anywhere(void)
{
    int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return "0.0.0.0";
    close(fd);
    return "[::]";
}

static void all_members(const struct tending *t, char *text, size_t size)
{
    char url[FT_RDZV_TEXT + 32];
    size_t n = 0;

    for (uint32_t i = 0; i < t->s->n; i++)
        n += (size_t)snprintf(text + n, size - n, "%se%u=%s", i ? "," : "", i + 1, ft_etcd_url(&t->s->endpoints[i], true, url, sizeof url));
}

/* Whoever has set these meant another etcd. */
static void forget_environment(void)
{
    extern char **environ;

    for (char **e = environ; *e;) {
        char name[128];
        size_t n = strcspn(*e, "=");

        if (strncmp(*e, "ETCD_", 5) != 0 || strncmp(*e, "ETCD_UNSUPPORTED_ARCH", n) == 0 || n >= sizeof name) {
            e++;
            continue;
        }
        memcpy(name, *e, n);
        name[n] = 0;
        unsetenv(name);
    }
}

static void become_etcd(const struct tending *t, bool joins, pid_t parent)
{
    const struct ft_rdzv_endpoint *p = &t->s->endpoints[t->self];
    char name[16], data[PATH], log[PATH], clients[64], peers[64], client[FT_RDZV_TEXT + 32], peer[FT_RDZV_TEXT + 32], all[WORD];
    const char *words[] = {"etcd", "--name", name, "--data-dir", data, "--listen-client-urls", clients, "--advertise-client-urls", client,
                           "--listen-peer-urls", peers, "--initial-advertise-peer-urls", peer, "--initial-cluster", all,
                           "--initial-cluster-token", t->s->job, "--initial-cluster-state", joins ? "existing" : "new", NULL};
    struct stat st;
    sigset_t none;
    int fd;

    snprintf(name, sizeof name, "e%u", t->self + 1);
    snprintf(clients, sizeof clients, "http://%s:%u", anywhere(), p->port);
    snprintf(peers, sizeof peers, "http://%s:%u", anywhere(), p->port + 1);
    ft_etcd_url(p, false, client, sizeof client);
    ft_etcd_url(p, true, peer, sizeof peer);
    all_members(t, all, sizeof all);
    path_of(t, "data", data);
    fd = open(path_of(t, "log", log), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fd < 0 || dup2(fd, 1) < 0 || dup2(fd, 2) < 0)
        _exit(126);
    if (fstat(fd, &st) == 0 && st.st_size > LOG_BYTES && ftruncate(fd, 0) < 0)
        _exit(126);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(126);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    forget_environment();
    execvp("etcd", (char **)words);
    _exit(127);
}

static bool start(struct tending *t, bool joins)
{
    pid_t parent = getpid();

    t->pid = fork();
    if (t->pid == 0)
        become_etcd(t, joins, parent);
    if (t->pid > 0)
        return true;
    t->pid = 0;
    say(t, "--rdzv: cannot start etcd: %s; it is tried again", strerror(errno));
    return false;
}

/* ---- all of them ---- */

static void end(struct tending *t)
{
    uint64_t until = now_ms() + END_MS;

    if (t->pid) {
        kill(t->pid, SIGTERM);
        while (waitpid(t->pid, NULL, WNOHANG) == 0 && now_ms() < until)
            nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
        if (now_ms() >= until)
            kill(t->pid, SIGKILL), waitpid(t->pid, NULL, 0);
    }
    remove_tree(t->dir);
    _exit(0);
}

/* A while, or until etcd has ended. Told to stop, it does. */
static void await(struct tending *t, uint64_t ms)
{
    struct timespec wait = {.tv_sec = (time_t)(ms / 1000), .tv_nsec = (long)(ms % 1000) * 1000000};
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGCHLD);
    if ((ms == UINT64_MAX ? sigwaitinfo(&set, NULL) : sigtimedwait(&set, NULL, &wait)) == SIGTERM)
        end(t);
}

static bool has_data(const struct tending *t)
{
    char path[PATH];

    return access(path_of(t, "data/member", path), F_OK) == 0;
}

/* It ends again and again, and the others work without it: what it has on disk is not theirs. */
static void doubt(struct tending *t)
{
    char path[PATH];

    if (t->soon < DOUBTS || !has_data(t) || !ft_etcd_others_work(t->s, t->self))
        return;
    say(t, "--rdzv: etcd cannot go on with what it had on disk; it joins the others anew");
    remove_tree(path_of(t, "data", path));
    t->soon = 0;
}

static enum ft_etcd_part decide(struct tending *t)
{
    char why[FT_ETCD_WHY];
    enum ft_etcd_part part = has_data(t) ? FT_ETCD_NEW : ft_etcd_part_of(t->s, t->self, why);

    if (part == FT_ETCD_LATER && !t->told_later) {
        say(t, "--rdzv: etcd cannot join the others: %s; it is tried again until they have a majority", why);
        t->told_later = true;
    } else if (part == FT_ETCD_JOINS) {
        say(t, "--rdzv: etcd takes the place of one that is lost");
    }
    return part;
}

static void tell_end(const struct tending *t, int status)
{
    char log[PATH];

    if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
        say(t, "--rdzv: etcd-embedded:// needs etcd, which cannot be started any more: apt-get install etcd-server");
    else if (WIFSIGNALED(status))
        say(t, "--rdzv: etcd was killed by signal %d (SIG%s); it is started again", WTERMSIG(status), sigabbrev_np(WTERMSIG(status)));
    else if (t->soon < DOUBTS)
        say(t, "--rdzv: etcd has ended with code %d; it is started again (what it says is in %s)", WEXITSTATUS(status), path_of(t, "log",
            log));
}

static void one_life(struct tending *t, bool joins)
{
    uint64_t began = now_ms();
    int status = 0;

    if (!start(t, joins))
        return;
    while (waitpid(t->pid, &status, WNOHANG) == 0)
        await(t, UINT64_MAX);
    t->pid = 0;
    t->soon = now_ms() - began < SOON_MS ? t->soon + 1 : 0;
    if (!t->soon)
        t->wait_ms = FIRST_MS;
    tell_end(t, status);
}

/* Who had it may have ended well, and taken the directory along. */
static bool is_there(int fd, const char *path)
{
    struct stat ours, its;

    return fstat(fd, &ours) == 0 && stat(path, &its) == 0 && ours.st_dev == its.st_dev && ours.st_ino == its.st_ino;
}

/* One process of this host tends it; the others wait for its end. */
static void lock(struct tending *t)
{
    char path[PATH];
    int fd;

    for (;;) {
        fd = open(path_of(t, "lock", path), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 && is_there(fd, path))
            return;
        if (fd >= 0)
            close(fd);
        mkdir(t->dir, 0700);
        await(t, FIRST_MS);
    }
}

void ft_etcd_tend(const struct ft_rdzv_settings *s, uint32_t self, const char *dir, int out)
{
    struct tending t = {.s = s, .self = self, .dir = dir, .out = out, .wait_ms = FIRST_MS};
    enum ft_etcd_part part;
    sigset_t all;

    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    lock(&t);
    if (write(out, FT_ETCD_SERVES "\n", sizeof FT_ETCD_SERVES) < 0)
        raise(SIGTERM);
    for (;;) {
        doubt(&t);
        part = decide(&t);
        if (part != FT_ETCD_LATER)
            one_life(&t, part == FT_ETCD_JOINS);
        await(&t, t.wait_ms);
        t.wait_ms = t.wait_ms < LAST_MS / 2 ? 2 * t.wait_ms : LAST_MS;
    }
}
