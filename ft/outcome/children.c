/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/outcome/children.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "ft/outcome/descriptors.h"
#include "ft/outcome/images.h"
#include "ft/outcome/mask.h"
#include "ft/outcome/process.h"
#include "ft/outcome/record.h"
#include "ft/outcome/signals.h"

enum {
    MOST = FT_OUTCOME_CHILDREN,
    CLAIMS = 511,
    REVOKED = -1,
    LOOK_MS = 50,       /* children that stop or go on are not seen by their descriptors */
    STATUS_MS = 5000    /* so long the agent may take to tell how one has ended */
};

struct child {
    pid_t pid;
    bool own;      /* this process's: the kernel has it as that. Else an orphan */
    bool told;     /* the program has had SIGCHLD of it */
    int pidfd;     /* -1: none yet */
    pid_t group;   /* its process group, as last seen */
};

static struct child children[MOST];
static int nchildren;
static uint32_t incarnation;

/* Of each fork, for so many forks: its number in the upper half; in the lower one the child that has claimed it, or REVOKED. */
static struct {
    _Atomic uint64_t last;   /* number that was offered */
    _Atomic uint64_t claim[CLAIMS];
} *forks;
static uint64_t offered;     /* what the word is until then; 0: no fork is under way */

static struct ft_outcome_words *words(void) { return ft_recorder.log.words; }

bool ft_children_open(struct ft_image_own *own)
{
    void *page = mmap(NULL, sizeof *forks, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (page == MAP_FAILED)
        return false;
    forks = page;
    own->also.start = page;
    own->also.bytes = sizeof *forks;
    own->knows = ft_children_knows;
    own->shares = ft_images_knows;
    return true;
}

/* ---- which there are ---- */

static struct child *find(pid_t pid)
{
    for (int i = 0; i < nchildren; i++)
        if (children[i].pid == pid)
            return &children[i];
    return NULL;
}

bool ft_children_knows(pid_t pid) { return find(pid); }

bool ft_children_some(void) { return nchildren > 0; }

bool ft_children_any(void)
{
    for (int i = 0; i < MOST; i++)
        if (atomic_load_explicit(&words()->child[i].pid, memory_order_relaxed))
            return true;
    return false;
}

static void name(pid_t pid)
{
    struct ft_outcome_child *c = ft_outcome_child(words(), pid);

    if (!c)
        c = ft_outcome_child(words(), 0);
    if (!c)
        return; /* full of another incarnation's, which the log's end forgets */
    atomic_store(&c->ended, 0);
    atomic_store(&c->pid, pid);
}

/* In a replay the words are the predecessor's. */
static bool may_name(void) { return !ft_recorder_replays(); }

/* Those that the kernel did not keep for anybody. */
static void forget_gone(void)
{
    for (int i = nchildren - 1; i >= 0; i--)
        if (children[i].own && syscall(SYS_kill, children[i].pid, 0) < 0)
            ft_children_remove(children[i].pid);
}

void ft_children_add(pid_t pid, bool own)
{
    if (nchildren == MOST)
        forget_gone();
    if (nchildren == MOST) {
        ft_recorder_close("it has more than %d children", MOST);
        return;
    }
    children[nchildren++] = (struct child){pid, own, false, -1, (pid_t)syscall(SYS_getpgid, pid)};
    if (may_name() && (own || !ft_outcome_child(words(), pid)))
        name(pid);
}

void ft_children_remove(pid_t pid)
{
    struct ft_outcome_child *c = may_name() ? ft_outcome_child(words(), pid) : NULL;
    struct child *child = find(pid);

    if (c)
        atomic_store(&c->pid, 0);
    if (!child)
        return;
    if (child->pidfd >= 0)
        ft_descriptors_disown(child->pidfd);
    *child = children[--nchildren];
}

void ft_children_begin(uint32_t now)
{
    incarnation = now;
    for (int i = 0; i < nchildren; i++) {
        children[i].own = false;
        children[i].pidfd = -1; /* if the copy has one, it is swept away with what else the dead process had open */
    }
}

/* ---- SIGCHLD ---- */

static siginfo_t signal_of(const struct ft_outcome_child *c)
{
    siginfo_t info = {.si_signo = SIGCHLD, .si_code = WIFEXITED(c->status) ? CLD_EXITED : WCOREDUMP(c->status) ? CLD_DUMPED : CLD_KILLED};

    info.si_pid = c->pid;
    info.si_uid = (uid_t)syscall(SYS_getuid);
    info.si_status = WIFEXITED(c->status) ? WEXITSTATUS(c->status) : WTERMSIG(c->status);
    return info;
}

static void send_signal(struct ft_outcome_child *c)
{
    siginfo_t info = signal_of(c);

    if (ft_mask_is_held())
        ft_signals_left_out(SIGCHLD); /* that is of this, or of one that has ended before: the kernel sends one signal of both */
    if (!ft_outcome_tells(c, incarnation, false))
        return;
    syscall(SYS_rt_sigqueueinfo, (pid_t)syscall(SYS_getpid), SIGCHLD, &info);
}

void ft_children_signal(siginfo_t *info)
{
    const struct ft_outcome_child *c = info->si_code == SI_QUEUE ? ft_outcome_child(words(), info->si_pid) : NULL;

    if (c && find(info->si_pid))
        *info = signal_of(c);
}

static bool is_end(int code) { return code == CLD_EXITED || code == CLD_KILLED || code == CLD_DUMPED; }

void ft_children_signalled(const siginfo_t *info)
{
    struct child *child = is_end(info->si_code) ? find(info->si_pid) : NULL;

    if (child)
        child->told = true;
}

void ft_children_tell(void)
{
    for (int i = 0; i < nchildren; i++) {
        struct ft_outcome_child *c = children[i].own || children[i].told ? NULL : ft_outcome_child(words(), children[i].pid);

        if (c && atomic_load_explicit(&c->ended, memory_order_acquire))
            send_signal(c);
    }
}

void ft_children_live(void)
{
    ft_children_tell();
    for (int i = 0; i < MOST; i++)
        if (!find(atomic_load(&words()->child[i].pid)))
            atomic_store(&words()->child[i].pid, 0);
    for (int i = 0; i < nchildren; i++)
        if (!ft_outcome_child(words(), children[i].pid))
            name(children[i].pid);
}

void ft_children_kill_groups(int signal)
{
    pid_t last = 0;

    for (int i = 0; i < nchildren; i++) {
        pid_t group = children[i].own ? 0 : (pid_t)syscall(SYS_getpgid, children[i].pid);

        if (group <= 0 || group == last || group == children[i].pid || group == (pid_t)syscall(SYS_getpgid, 0))
            continue;
        last = group;
        syscall(SYS_kill, -group, signal);
    }
}

/* ---- a fork ---- */

static _Atomic uint64_t *claim_of(uint64_t number) { return &forks->claim[number % CLAIMS]; }

/* Not a word of a fork that was taken back, as long as there are others: its child may not have looked yet. */
uint32_t ft_children_offer(void)
{
    uint32_t number;
    int tried = 0;

    do
        number = (uint32_t)atomic_fetch_add(&forks->last, 1) + 1;
    while ((int32_t)atomic_load(claim_of(number)) == REVOKED && ++tried < CLAIMS);
    offered = (uint64_t)number << 32;
    atomic_store(claim_of(number), offered);
    return number;
}

/* Its parent lives, and claims in its place: the child may run late. */
void ft_children_offered(pid_t pid)
{
    uint64_t seen = offered;

    if (pid > 0)
        atomic_compare_exchange_strong(claim_of(offered >> 32), &seen, offered | (uint32_t)pid);
    offered = 0;
}

bool ft_children_offers(void) { return offered; }

/* A word that is another fork's by now was not taken back: its parent has gone on. */
void ft_children_claim(void)
{
    uint64_t seen = offered, pid = (uint32_t)syscall(SYS_getpid);

    if (offered && !atomic_compare_exchange_strong(claim_of(offered >> 32), &seen, offered | pid) && seen == (offered | (uint32_t)REVOKED))
        syscall(SYS_exit_group, 0); /* the rank was killed before it heard of this process, and its successor makes another one */
    offered = 0;
}

/* It may have ended before anybody named it. */
static void look_at_strays(struct ft_outcome_child *c, uint64_t from)
{
    uint64_t strays = atomic_load(&words()->strays);

    for (uint64_t n = strays - from > FT_OUTCOME_STRAYS ? strays - FT_OUTCOME_STRAYS : from; n < strays; n++) {
        const struct ft_outcome_child *s = &words()->stray[n % FT_OUTCOME_STRAYS];

        if (s->pid == c->pid) {
            c->status = s->status;
            c->usage = s->usage;
            atomic_store(&c->ended, 1);
            send_signal(c);
            return;
        }
    }
}

static void look_for_stray(pid_t pid, uint64_t from)
{
    struct ft_outcome_child *c = ft_outcome_child(words(), pid);

    /* The agent notes an orphan's end, and then it waits for it. */
    for (int i = 0; c && i < STATUS_MS && !atomic_load(&c->ended); i++) {
        bool gone = syscall(SYS_kill, pid, 0) < 0;

        look_at_strays(c, from);
        if (!gone || atomic_load(&c->ended))
            return; /* from now on the agent finds it named */
        syscall(SYS_nanosleep, &(struct timespec){.tv_nsec = 1000000}, NULL);
    }
}

pid_t ft_children_claimed(uint32_t number, uint64_t strays)
{
    uint64_t seen = (uint64_t)number << 32;
    pid_t pid;

    if (atomic_compare_exchange_strong(claim_of(number), &seen, seen | (uint32_t)REVOKED) || seen >> 32 != number || (int32_t)seen == REVOKED)
        return 0;
    pid = (pid_t)(uint32_t)seen;
    ft_children_add(pid, false);
    look_for_stray(pid, strays);
    return pid;
}

/* ---- waiting ---- */

static bool is_meant(struct child *c, idtype_t type, id_t id)
{
    pid_t group;

    switch (type) {
    case P_ALL: return true;
    case P_PID: return c->pid == (pid_t)id;
    case P_PGID:
        group = (pid_t)syscall(SYS_getpgid, c->pid);
        c->group = group > 0 ? group : c->group; /* gone: as it was */
        if (c->group <= 0) /* it was gone when a replay came to it: the rank's, as most are */
            return !id || ft_process_is_group((pid_t)id);
        return id ? c->group == (pid_t)id : ft_process_is_group(c->group);
    default: return false;
    }
}

static int by_kernel(idtype_t type, id_t id, int options, struct ft_waited *w)
{
    id_t kernels = type == P_PGID ? (id_t)ft_process_to_kernel((pid_t)id) : id;

    return (int)FT_WAITING(syscall(SYS_waitid, type, kernels, &w->info, options | WNOWAIT, &w->usage));
}

/* Nobody is to wait for them: the kernel would not keep them. */
static bool are_ignored(void)
{
    struct {
        void *handler;
        unsigned long flags;
        void *restorer;
        uint64_t mask;
    } kernel = {.flags = 0};

    syscall(SYS_rt_sigaction, SIGCHLD, NULL, &kernel, sizeof kernel.mask);
    return kernel.handler == (void *)SIG_IGN || kernel.flags & SA_NOCLDWAIT;
}

static bool orphan_ended(pid_t pid, struct ft_waited *w)
{
    const struct ft_outcome_child *c = ft_outcome_child(words(), pid);

    if (!c || !atomic_load_explicit(&c->ended, memory_order_acquire))
        return false;
    w->info = signal_of(c);
    w->usage = c->usage;
    return true;
}

/* The process is gone: the agent waits for it, and says what it came to. Whom nobody is to wait for is forgotten. */
static void await_status(pid_t pid)
{
    struct ft_waited w;

    if (are_ignored()) {
        ft_children_remove(pid);
        return;
    }
    for (int i = 0; !orphan_ended(pid, &w); i++) {
        if (i == STATUS_MS)
            ft_recorder_lost("its child process %d has ended, and how is not known: ftrun was killed, too", pid);
        syscall(SYS_nanosleep, &(struct timespec){.tv_nsec = 1000000}, NULL);
    }
}

static int descriptor_of(struct child *c)
{
    int fd;

    if (c->pidfd < 0) {
        fd = (int)syscall(SYS_pidfd_open, c->pid, 0);
        c->pidfd = fd < 0 ? -1 : ft_descriptors_own(fd);
    }
    return c->pidfd;
}

/* Where there are no such descriptors (before Linux 5.3), or none is left. */
static int block_without(void)
{
    FT_WAITING(syscall(SYS_nanosleep, &(struct timespec){.tv_nsec = 1000000}, NULL));
    if (!ft_signals_wait || ft_signals_restart_calls())
        return 0;
    errno = EINTR;
    return -1;
}

/* Until one of those that are meant has ended. -1, EINTR: a signal came. */
static int block(idtype_t type, id_t id, int options)
{
    struct pollfd p[MOST];
    struct timespec most = {.tv_nsec = LOOK_MS * 1000000};
    bool timed = options & (WSTOPPED | WCONTINUED);
    nfds_t n = 0;
    int result;

    for (int i = 0; i < nchildren; i++) {
        if (!is_meant(&children[i], type, id))
            continue;
        p[n] = (struct pollfd){.fd = descriptor_of(&children[i]), .events = POLLIN};
        if (p[n].fd < 0 && errno == ESRCH && !children[i].own)
            await_status(children[i].pid);
        if (p[n].fd < 0)
            return block_without();
        n++;
    }
    result = (int)FT_WAITING(syscall(SYS_ppoll, p, n, timed ? &most : NULL, NULL, 0));
    if (result < 0)
        return ft_signals_restart_calls() ? 0 : -1;
    for (nfds_t i = 0; i < n; i++)
        for (int k = 0; p[i].revents && k < nchildren; k++)
            if (children[k].pidfd == p[i].fd && !children[k].own)
                await_status(children[k].pid);
    return 0;
}

static bool has_orphans(idtype_t type, id_t id)
{
    for (int i = 0; i < nchildren; i++)
        if (!children[i].own && is_meant(&children[i], type, id))
            return true;
    return false;
}

/* One look at all that are meant. 1: found; 0: nothing yet; -1: there is none, or it failed. */
static int look(idtype_t type, id_t id, int options, struct ft_waited *w)
{
    bool ignored = are_ignored();

    for (int i = nchildren - 1; i >= 0; i--)
        if (children[i].told && !children[i].own)
            await_status(children[i].pid); /* the agent says it just after the signal */
    for (int i = 0; i < nchildren && options & WEXITED; i++) {
        if (children[i].own || !is_meant(&children[i], type, id) || !orphan_ended(children[i].pid, w))
            continue;
        if (!ignored)
            return 1;
        ft_children_remove(children[i--].pid);
    }
    w->info.si_pid = 0;
    if (by_kernel(type, id, options | WNOHANG, w) < 0)
        return errno == ECHILD && has_orphans(type, id) ? 0 : -1;
    return w->info.si_pid ? 1 : 0;
}

int ft_children_wait(idtype_t type, id_t id, int options, struct ft_waited *w)
{
    *w = (struct ft_waited){.info = {.si_signo = 0}};
    if (!has_orphans(type, id))
        return by_kernel(type, id, options, w);
    for (;;) {
        int found = look(type, id, options, w);

        if (found)
            return found < 0 ? -1 : 0;
        w->info.si_pid = 0;
        if (options & WNOHANG)
            return 0;
        if (block(type, id, options) < 0)
            return -1;
    }
}

/* The agent says how it ended, and then waits for it. What is gone without that, the predecessor has taken. */
void ft_children_found(const struct ft_waited *w)
{
    const struct child *child = find(w->info.si_pid);
    const struct ft_outcome_child *c = child && !child->own && is_end(w->info.si_code) ? ft_outcome_child(words(), child->pid) : NULL;

    for (int i = 0; c && i < STATUS_MS; i++) {
        bool gone = syscall(SYS_kill, child->pid, 0) < 0; /* first */

        if (gone || atomic_load_explicit(&c->ended, memory_order_acquire))
            break;
        syscall(SYS_nanosleep, &(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    if (c)
        ft_children_tell();
}

void ft_children_take(const struct ft_waited *w)
{
    pid_t pid = w->info.si_pid;
    int code = w->info.si_code, error = errno;
    struct child *c = find(pid);
    bool ended = is_end(code);

    if (!c || c->own)
        syscall(SYS_waitid, P_PID, pid, NULL, (ended ? WEXITED : code == CLD_CONTINUED ? WCONTINUED : WSTOPPED) | WNOHANG, NULL);
    if (ended)
        ft_children_remove(pid);
    errno = error;
}
