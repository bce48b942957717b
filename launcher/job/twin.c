/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/job/twin.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ft/base/util.h"
#include "launcher/base/pass.h"
#include "launcher/base/shared.h"
#include "launcher/base/signals.h"

enum { PATIENCE_MS = 100 /* for a standby that does not take what it is sent */, PROBED = 1024 };

struct ft_twin {
    pid_t front;            /* the process that the user started */
    pid_t other;            /* 0: dead */
    bool parent;            /* of the other */
    int socket;             /* to the other, -1: none */
    uint32_t nranks;
    int *durable;           /* descriptors that stay */
    size_t ndurable;
    bool (*late)(void *arg);/* NULL: it never is */
    void *late_arg;
    int late_ms;

    /* Signals that the standby passes on are numbered. */
    uint64_t npassed, passed[FT_SIGNALS];   /* passed[s]: the last SIGNAL s; 0: none, or undone by a later one */
    uint64_t given;                         /* agent: the last one that it was given */
    _Atomic uint64_t *taken;                /* in shared memory: the last one that is done with */
    struct ft_ends ends[];
};

/* SOCK_SEQPACKET: each message whole, with its descriptors. */
enum kind { ENDS, CLOSE_IN, FINISHED, SIGNAL };

struct message {
    enum kind kind;
    uint32_t rank, incarnation;
    bool has[FT_ENDS];      /* ENDS: which descriptors come along */
    int code;               /* FINISHED */
    int signal;             /* SIGNAL */
    uint64_t number;
};

static int add_durable(struct ft_twin *t, int fd)
{
    int *list = realloc(t->durable, (t->ndurable + 1) * sizeof *list);

    if (!list)
        return -1;
    t->durable = list;
    list[t->ndurable++] = fd;
    return 0;
}

static int find_durable(struct ft_twin *t)
{
    DIR *dir = opendir("/proc/self/fd");
    struct dirent *entry;

    for (int fd = 0; !dir && fd < PROBED; fd++)
        if (fcntl(fd, F_GETFD) >= 0 && add_durable(t, fd) < 0)
            return -1;
    while (dir && (entry = readdir(dir)))
        if (entry->d_name[0] != '.' && atoi(entry->d_name) != dirfd(dir) && add_durable(t, atoi(entry->d_name)) < 0)
            return -1;
    if (dir)
        closedir(dir);
    return 0;
}

int ft_twin_new(struct ft_twin **out, uint32_t nranks, struct ft_error *e)
{
    struct ft_twin *t = calloc(1, sizeof *t + nranks * sizeof t->ends[0]);

    if (t)
        t->socket = -1;  /* before ft_twin_free, which closes it */
    if (!t || !(t->taken = ft_shared_new(sizeof *t->taken)) || find_durable(t) < 0) {
        ft_twin_free(t);
        return ft_err_set(e, FT_ENOMEM, "out of memory");
    }
    t->front = getpid();
    t->nranks = nranks;
    for (uint32_t r = 0; r < nranks; r++)
        t->ends[r] = (struct ft_ends){0, {-1, -1, -1, -1}};
    *out = t;
    return 0;
}

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static int compare(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static void close_between(int above, int below)
{
    if (above + 1 < below && syscall(SYS_close_range, above + 1, below - 1, 0) < 0)
        for (int fd = above + 1; fd < below && fd < PROBED; fd++)  /* kernels before 5.9 */
            close(fd);
}

/* A new standby keeps what is durable, the ranks' ends and what it talks to its twin by: a copy of anything else would keep it
   open when the agent closes it. */
static void close_others(const struct ft_twin *t)
{
    size_t n = 0, room = t->ndurable + 1 + t->nranks * FT_ENDS;
    int *keep = malloc(room * sizeof *keep), last = -1;

    FT_INVARIANT(keep, "there is memory for a list of descriptors");
    for (size_t i = 0; i < t->ndurable; i++)
        keep[n++] = t->durable[i];
    keep[n++] = t->socket;
    for (uint32_t r = 0; r < t->nranks; r++)
        for (int i = 0; i < FT_ENDS; i++)
            if (t->ends[r].fd[i] >= 0)
                keep[n++] = t->ends[r].fd[i];
    qsort(keep, n, sizeof *keep, compare);
    for (size_t i = 0; i < n; i++) {
        close_between(last, keep[i]);
        last = keep[i];
    }
    if (syscall(SYS_close_range, last + 1, ~0u, 0) < 0)
        close_between(last, PROBED);
    free(keep);
}

static void become_child(struct ft_twin *t, pid_t parent)
{
    t->other = parent;
    t->parent = false;
}

int ft_twin_fork(struct ft_twin *t, enum ft_twin_role role, struct ft_error *e)
{
    pid_t self = getpid(), pid;
    int sockets[2];

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) < 0)
        return ft_err_set(e, FT_ESYS, "no socket for a second process of ftrun: %s", strerror(errno));
    t->npassed = t->given = 0;
    memset(t->passed, 0, sizeof t->passed);
    atomic_store(t->taken, 0);
    pid = fork();
    if (pid < 0) {
        ft_err_set(e, FT_ESYS, "no second process of ftrun: %s", strerror(errno));
        close(sockets[0]);
        close(sockets[1]);
        return FT_ESYS;
    }
    t->socket = sockets[pid == 0];
    close(sockets[pid != 0]);
    if (pid) {
        t->other = pid;
        t->parent = true;
        return role;
    }
    become_child(t, self);
    if (role == FT_TWIN_STANDBY)
        return FT_TWIN_AGENT;
    close_others(t);
    return FT_TWIN_STANDBY;
}

pid_t ft_twin_pid(const struct ft_twin *t) { return t->other; }
bool ft_twin_front(const struct ft_twin *t) { return t->front == getpid(); }
bool ft_twin_leads(const struct ft_twin *t) { return t->parent || !t->other; }
int ft_twin_fd(const struct ft_twin *t) { return t->socket; }
struct ft_ends *ft_twin_ends(struct ft_twin *t, uint32_t rank) { return &t->ends[rank]; }

/* The other one's end of the socket is closed, so it is dead, or as good as. Returns its wait status, or -1. */
static int bury(struct ft_twin *t)
{
    int status = -1;

    close_fd(&t->socket);
    if (t->parent)
        while (waitpid(t->other, &status, 0) < 0 && errno == EINTR)
            ;
    else
        while (getppid() == t->other) /* its children are another's as soon as it is dead, and not before */
            poll(NULL, 0, 1);
    t->other = 0;
    return status;
}

static bool send_message(struct ft_twin *t, const struct message *m, const int *fds, size_t nfds)
{
    struct pollfd p = {.fd = t->socket, .events = POLLOUT};

    for (int tries = 0; t->socket >= 0 && tries < 3; tries++) {
        if (ft_pass_descriptors(t->socket, m, sizeof *m, fds, nfds, MSG_DONTWAIT) == 0)
            return true;
        if (errno != EAGAIN && errno != ETOOMANYREFS)
            return false;  /* it is dead: whoever watches the socket will see */
        poll(&p, 1, PATIENCE_MS);
    }
    return false;
}

/* 1: *m, and its descriptors in fds (-1 for none). 0: nothing there. -1: the other one is gone. */
static int receive_message(struct ft_twin *t, struct message *m, int fds[FT_ENDS], int flags)
{
    ssize_t n = ft_take_descriptors(t->socket, m, sizeof *m, fds, FT_ENDS, flags);

    if (n < 0 && errno == EAGAIN)
        return 0;
    return n == (ssize_t)sizeof *m ? 1 : -1;
}

static void take_ends(struct ft_twin *t, const struct message *m, const int fds[FT_ENDS])
{
    struct ft_ends *ends = &t->ends[m->rank];
    int next = 0;

    for (int i = 0; i < FT_ENDS; i++) {
        if (m->has[i] || m->incarnation != ends->incarnation)
            close_fd(&ends->fd[i]);
        if (m->has[i])
            ends->fd[i] = fds[next++];
    }
    ends->incarnation = m->incarnation;
}

static void pass_signals(struct ft_twin *t, struct ft_signals *signals)
{
    struct message m = {.kind = SIGNAL};

    while ((m.signal = ft_signals_next(signals))) {
        if (m.signal == SIGCHLD || !(ft_twin_leads(t) || ft_signals_end(m.signal)))
            continue;
        m.number = t->npassed + 1;
        if (!send_message(t, &m, NULL, 0)) {
            ft_signals_put_back(signals, m.signal); /* the agent is slow, or dead */
            return;
        }
        t->passed[m.signal] = ++t->npassed;
        if (m.signal == SIGTSTP || m.signal == SIGCONT)
            t->passed[m.signal == SIGCONT ? SIGTSTP : SIGCONT] = 0;
        if (m.signal == SIGTSTP)
            kill(getpid(), SIGSTOP); /* as the user's shell wants it, which waits for this process */
    }
}

/* What the agent has died over is for its successor. */
static void take_back(struct ft_twin *t, struct ft_signals *signals)
{
    for (int s = 1; s < FT_SIGNALS; s++)
        if (t->passed[s] > atomic_load(t->taken))
            ft_signals_put_back(signals, s);
}

void ft_twin_watch(struct ft_twin *t, bool (*late)(void *arg), void *arg, int ms)
{
    t->late = late;
    t->late_arg = arg;
    t->late_ms = ms;
}

/* Our child, whose number is its own until we wait for it; or our parent, as long as it is that. */
static void kill_other(const struct ft_twin *t)
{
    if (t->parent || getppid() == t->other)
        kill(t->other, SIGKILL);
}

bool ft_twin_stand_by(struct ft_twin *t, struct ft_signals *signals, int *code, int *how)
{
    struct pollfd p[2] = {{.fd = t->socket, .events = POLLIN}, {.fd = signals->fd, .events = POLLIN}};
    struct message m;
    int fds[FT_ENDS], got;

    for (;;) {
        int ready = poll(p, 2, t->late ? t->late_ms : -1);

        if (t->late && t->late(t->late_arg))
            kill_other(t); /* its end of the socket tells */
        if (ready <= 0)
            continue;
        got = 0;
        while (p[0].revents && (got = receive_message(t, &m, fds, MSG_DONTWAIT)) > 0) {
            if (m.kind == ENDS) {
                take_ends(t, &m, fds);
            } else if (m.kind == CLOSE_IN) {
                close_fd(&t->ends[m.rank].fd[FT_END_IN]);
            } else if (m.kind == FINISHED) {
                *code = m.code;
                bury(t);
                return true;
            }
        }
        if (got < 0) {
            *how = bury(t);
            take_back(t, signals);
            return false;
        }
        if (p[1].revents)
            pass_signals(t, signals);
    }
}

int ft_twin_receive(struct ft_twin *t, int *signal)
{
    struct message m;
    int fds[FT_ENDS], got;

    atomic_store(t->taken, t->given);
    got = t->socket < 0 ? 0 : receive_message(t, &m, fds, MSG_DONTWAIT);
    if (got < 0)
        bury(t);
    if (got <= 0)
        return got;
    t->given = m.number;
    *signal = m.signal;
    return got;
}

void ft_twin_send(struct ft_twin *t, uint32_t rank, const struct ft_ends *ends)
{
    struct message m = {.kind = ENDS, .rank = rank, .incarnation = ends->incarnation};
    int fds[FT_ENDS];
    size_t n = 0;

    for (int i = 0; i < FT_ENDS; i++)
        if (ends->fd[i] >= 0) {
            m.has[i] = true;
            fds[n++] = ends->fd[i];
        }
    send_message(t, &m, fds, n);
}

void ft_twin_send_eof(struct ft_twin *t, uint32_t rank)
{
    send_message(t, &(struct message){.kind = CLOSE_IN, .rank = rank}, NULL, 0);
}

void ft_twin_note(struct ft_twin *t, uint32_t rank, const struct ft_ends *ends)
{
    t->ends[rank] = *ends;
}

void ft_twin_finish(struct ft_twin *t, int code)
{
    if (t->socket < 0)
        return;
    if (t->parent)
        kill_other(t); /* nothing is lost: it only waits */
    else
        send_message(t, &(struct message){.kind = FINISHED, .code = code}, NULL, 0);
    if (t->parent)
        bury(t);
}

void ft_twin_free(struct ft_twin *t)
{
    if (!t)
        return;
    close_fd(&t->socket);
    ft_shared_free(t->taken, sizeof *t->taken);
    free(t->durable);
    free(t);
}
