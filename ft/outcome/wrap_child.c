/* SPDX-License-Identifier: BSD-3-Clause */
/* Children are made once, and waited for once. A wait finds first, notes what it has found, and takes it then: under way it is taken if it
   was noted. A fork that was under way is done if a child has claimed it. */
#include "ft/outcome/real.h"

#include <errno.h>
#include <sched.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "ft/outcome/child.h"
#include "ft/outcome/children.h"
#include "ft/outcome/descriptors.h"
#include "ft/outcome/images.h"
#include "ft/outcome/record.h"

enum { FORK, SPAWN };

/* ---- making one ---- */

/* note[0]: the number of its claim; note[1]: so many strays there were. */
static pid_t do_fork(pid_t (*make)(void))
{
    struct ft_recorded c;
    pid_t pid = 0;

    if (ft_call_begin(&c, FT_CALL_FORK, ft_what(FORK, 0, 0), 0)) {
        ft_descriptors_share_all();
        if (c.record->result > 0)
            ft_children_add((pid_t)c.record->result, false);
        return (pid_t)ft_call_give(&c);
    }
    if (ft_call_noted(&c)) /* first: the log's end forgets whom it does not know */
        pid = ft_children_claimed((uint32_t)c.record->note[0], (uint64_t)c.record->note[1]);
    ft_recorder_live(); /* or the child would have the mask, and what was left, of a replay */
    ft_descriptors_share_all();
    atomic_store(&ft_recorder.log.words->children, 1);
    if (!pid) {
        ft_images_unfollow_all("it has made a child, which may have a file mapped as it has");
        ft_call_note(&c, ft_children_offer(), (int64_t)atomic_load(&ft_recorder.log.words->strays));
        errno = c.error;
        pid = make();
        if (pid == 0)
            return 0;
        if (pid > 0)
            ft_children_add(pid, true);
        ft_children_offered(pid);
    }
    return (pid_t)ft_call_end(&c, pid, 0);
}

static pid_t fork_bare(void)
{
    pid_t pid = ft_real()->_Fork();

    if (pid == 0)
        ft_in_child();
    return pid;
}

static pid_t fork_recorded(void) { return do_fork(ft_real()->fork); }

pid_t fork(void) { return ft_fork_handled(ft_recording() ? fork_recorded : ft_real()->fork); }

/* In a child of a true vfork our own words would be the parent's. No handlers of pthread_atfork, as with a true one: OpenBLAS's ends its threads. */
pid_t vfork(void) { return ft_recording() ? do_fork(fork_bare) : fork_bare(); }

pid_t _Fork(void) { return ft_recording() ? do_fork(fork_bare) : fork_bare(); }

typedef int spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes,
                  char *const argv[], char *const envp[]);

/* What the child does before its exec nobody can add to: it claims nothing. note[0]: its number. */
static int do_spawn(spawn *make, pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
                    const posix_spawnattr_t *attributes, char *const argv[], char *const envp[])
{
    struct ft_recorded c;
    pid_t child = 0;
    int result;

    if (ft_call_begin(&c, FT_CALL_FORK, ft_what(SPAWN, 0, 0), 0)) {
        result = (int)c.record->result;
        child = (pid_t)c.record->note[0];
        if (result == 0)
            ft_children_add(child, false);
        ft_descriptors_share_all();
        ft_call_give(&c);
    } else {
        if (ft_call_noted(&c))
            ft_recorder_lost("it was killed while it started %s by posix_spawn, and whether that runs cannot be told", path);
        ft_recorder_live();
        ft_descriptors_share_all();
        atomic_store(&ft_recorder.log.words->children, 1);
        ft_images_unfollow_all("it has made a child, which may have a file mapped as it has");
        ft_call_note(&c, 0, 0);
        errno = c.error;
        result = make(&child, path, actions, attributes, argv, envp);
        if (result == 0)
            ft_children_add(child, true);
        if (c.record)
            c.record->note[0] = child;
        ft_call_end(&c, result, 0);
    }
    if (pid && result == 0)
        *pid = child;
    return result;
}

int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes,
                char *const argv[], char *const envp[])
{
    if (!ft_recording())
        return ft_real()->posix_spawn(pid, path, actions, attributes, argv, envp);
    return do_spawn(ft_real()->posix_spawn, pid, path, actions, attributes, argv, envp);
}

int posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes,
                 char *const argv[], char *const envp[])
{
    if (!ft_recording())
        return ft_real()->posix_spawnp(pid, file, actions, attributes, argv, envp);
    return do_spawn(ft_real()->posix_spawnp, pid, file, actions, attributes, argv, envp);
}

/* ---- waiting for one ---- */

/* options: waitid's. */
static int do_wait(idtype_t type, id_t id, int options, struct ft_waited *w)
{
    struct ft_recorded c;
    int result;

    if (ft_call_begin_wait(&c, FT_CALL_WAIT, ft_what((int)type, (int64_t)id, options), sizeof *w)) {
        if (ft_call_bytes(&c) == sizeof *w)
            memcpy(w, ft_call_data(&c), sizeof *w);
        else
            *w = (struct ft_waited){.info = {.si_signo = 0}};
        if (c.record->note[0] && !(options & WNOWAIT))
            ft_children_remove(w->info.si_pid);
        return (int)ft_call_give(&c);
    }
    if (ft_call_noted(&c)) {
        memcpy(w, ft_call_data(&c), sizeof *w);
        ft_children_found(w);
        result = 0;
    } else {
        errno = c.error;
        result = ft_children_wait(type, id, options, w);
        if (c.record)
            memcpy(ft_call_data(&c), w, sizeof *w);
    }
    if (result == 0 && w->info.si_pid) {
        int code = w->info.si_code;

        ft_call_note(&c, code == CLD_EXITED || code == CLD_KILLED || code == CLD_DUMPED, 0);
        if (!(options & WNOWAIT))
            ft_children_take(w);
    }
    return (int)ft_call_end(&c, result, result == 0 ? sizeof *w : 0);
}

int waitid(idtype_t type, id_t id, siginfo_t *info, int options)
{
    struct ft_waited w;
    int result;

    if (!ft_recording() || (type != P_ALL && type != P_PID && type != P_PGID))
        return ft_real()->waitid(type, id, info, options);
    result = do_wait(type, id, options, &w);
    if (result == 0 && info)
        *info = w.info;
    return result;
}

static int status_of(const siginfo_t *info)
{
    switch (info->si_code) {
    case CLD_EXITED: return (info->si_status & 0xff) << 8;
    case CLD_KILLED: return info->si_status;
    case CLD_DUMPED: return info->si_status | 0x80;
    case CLD_CONTINUED: return 0xffff;
    default: return info->si_status << 8 | 0x7f;
    }
}

static pid_t do_wait4(pid_t pid, int *status, int options, struct rusage *used)
{
    idtype_t type = pid == -1 ? P_ALL : pid > 0 ? P_PID : P_PGID;
    id_t id = pid == -1 ? 0 : (id_t)(pid > 0 ? pid : -pid);
    struct ft_waited w;

    if (options & ~(WNOHANG | WUNTRACED | WCONTINUED | __WNOTHREAD | __WALL | (int)__WCLONE)) {
        errno = EINVAL;
        return -1;
    }
    if (do_wait(type, id, options | WEXITED, &w) < 0)
        return -1;
    if (w.info.si_pid && status)
        *status = status_of(&w.info);
    if (w.info.si_pid && used)
        *used = w.usage;
    return w.info.si_pid;
}

pid_t wait4(pid_t pid, int *status, int options, struct rusage *used)
{
    return ft_recording() ? do_wait4(pid, status, options, used) : ft_real()->wait4(pid, status, options, used);
}

pid_t wait3(int *status, int options, struct rusage *used)
{
    return ft_recording() ? do_wait4(-1, status, options, used) : ft_real()->wait3(status, options, used);
}

pid_t waitpid(pid_t pid, int *status, int options)
{
    return ft_recording() ? do_wait4(pid, status, options, NULL) : ft_real()->waitpid(pid, status, options);
}

pid_t wait(int *status) { return ft_recording() ? do_wait4(-1, status, 0, NULL) : ft_real()->wait(status); }
