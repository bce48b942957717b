/* SPDX-License-Identifier: BSD-3-Clause */
/* What a program is told of its process and of the machine. Its number stays what it was first told; calls that take one translate
   it. What it sets (limits, affinity, priority) is set again in a replay, for that is the new process's state, and compared. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "ft/outcome/children.h"
#include "ft/outcome/process.h"
#include "ft/outcome/real.h"
#include "ft/outcome/record.h"
#include "ft/outcome/signals.h"
#include "ft/outcome/task.h"

enum { SETPGID = 100, KILL = 0, KILLPG, GETPPID, GETPGID, GETSID, GETRUSAGE, GETAFFINITY, GETCPU, LOADAVG, SYSINFO, UNAME, HOSTNAME, SYSCONF, NPROCS, SET,
       GETTID, SIGQUEUE };

/* ---- its number ---- */

static pid_t first, now;  /* what the program was told; what it is. 0: in a child */

static void in_child(void)
{
    ft_recorder.on = ft_recorder.ended = false;
    first = now = 0;
}

bool ft_process_open(void)
{
    first = now = (pid_t)syscall(SYS_getpid);
    return pthread_atfork(NULL, NULL, in_child) == 0;
}

void ft_process_begins(void) { now = (pid_t)syscall(SYS_getpid); }

static pid_t to_kernel(pid_t pid)
{
    if (!first || (pid != first && pid != -first))
        return pid;
    return pid < 0 ? -now : now;
}

pid_t ft_process_rank(void) { return now == (pid_t)syscall(SYS_getpid) ? now : 0; }

pid_t ft_process_to_kernel(pid_t pid) { return to_kernel(pid); }

bool ft_process_is_group(pid_t group) { return group == first || group == now; }

static pid_t to_program(pid_t pid) { return first && pid == now ? first : pid; }

pid_t getpid(void) { return first ? first : (pid_t)syscall(SYS_getpid); }

/* Of main what the process was told; of other threads what they were, the first time. Each keeps that for itself: not all have a place
   where others would find them by it (stand.h). */
pid_t gettid(void)
{
    static _Thread_local pid_t told __attribute__((tls_model("initial-exec")));

    if (ft_thread.number == 0 && ft_thread.mine && first)
        return first;
    if (!ft_recording())
        return to_program((pid_t)syscall(SYS_gettid));
    if (!told) {
        told = (pid_t)FT_CALL_PLAIN(FT_CALL_PROCESS, ft_what(GETTID, 0, 0), syscall(SYS_gettid));
        ft_stand_tell(told);
    }
    return told;
}

/* As the kernel has it: of a thread that was told so, or of a process. */
static pid_t thread_to_kernel(pid_t told)
{
    const struct ft_task *t = told > 0 && first ? ft_stand_told(told) : NULL;

    return t ? atomic_load(&t->tid) : to_kernel(told);
}

/* Of arguments, compared in a replay: one that the program was not told may be another number there. */
static pid_t thread_asked(pid_t told) { return told > 0 && first && ft_stand_told(told) ? -1 : told; }

static bool is_self(pid_t pid) { return first && pid == first; }

static int kill_self(int signal)
{
    if (signal == SIGKILL && ft_recorder_replays() && ft_thread.mine)
        ft_recorder_lost("a replay kills itself, and its predecessor went on after that");
    return ft_real()->kill(now, signal);
}

static _Thread_local union sigval value_for_self;

static int queue_to_self(int signal) { return ft_real()->sigqueue(now, signal, value_for_self); }

/* To itself it is done each time, like all else that it does to itself. */
int kill(pid_t pid, int signal)
{
    if (is_self(pid))
        return ft_signals_to_rank(signal, kill_self);
    if (!ft_recording())
        return ft_real()->kill(to_kernel(pid), signal);
    if (pid == 0 && !ft_recorder_replays())
        ft_children_kill_groups(signal);
    return (int)FT_CALL_PLAIN(FT_CALL_PROCESS, ft_what(KILL, pid, signal), ft_real()->kill(to_kernel(pid), signal));
}

int killpg(pid_t group, int signal)
{
    if (!ft_recording())
        return ft_real()->killpg(to_kernel(group), signal);
    return (int)FT_CALL_PLAIN(FT_CALL_PROCESS, ft_what(KILLPG, group, signal), ft_real()->killpg(to_kernel(group), signal));
}

int sigqueue(pid_t pid, int signal, const union sigval value)
{
    if (!ft_recording())
        return ft_real()->sigqueue(to_kernel(pid), signal, value);
    if (is_self(pid)) {
        value_for_self = value;
        return ft_signals_to_rank(signal, queue_to_self);
    }
    return (int)FT_CALL_PLAIN(FT_CALL_PROCESS, ft_what(SIGQUEUE, pid, signal), ft_real()->sigqueue(to_kernel(pid), signal, value));
}

pid_t getppid(void)
{
    if (!ft_recording())
        return ft_real()->getppid();
    return (pid_t)FT_CALL_PLAIN(FT_CALL_PROCESS, ft_what(GETPPID, 0, 0), ft_real()->getppid());
}

pid_t getpgid(pid_t pid)
{
    if (!ft_recording())
        return ft_real()->getpgid(to_kernel(pid));
    return (pid_t)FT_CALL_PLAIN(FT_CALL_PROCESS, ft_what(GETPGID, pid, 0), to_program(ft_real()->getpgid(to_kernel(pid))));
}

int setpgid(pid_t pid, pid_t group)
{
    if (!ft_recording())
        return ft_real()->setpgid(to_kernel(pid), to_kernel(group));
    return (int)FT_CALL_PLAIN(FT_CALL_PROCESS, ft_what(SETPGID, pid, group), ft_real()->setpgid(to_kernel(pid), to_kernel(group)));
}

pid_t getpgrp(void) { return getpgid(0); }

pid_t getsid(pid_t pid)
{
    if (!ft_recording())
        return ft_real()->getsid(to_kernel(pid));
    return (pid_t)FT_CALL_PLAIN(FT_CALL_PROCESS, ft_what(GETSID, pid, 0), to_program(ft_real()->getsid(to_kernel(pid))));
}

/* ---- what it has used, and where it runs ---- */

int getrusage(__rusage_who_t who, struct rusage *to)
{
    if (!ft_recording())
        return ft_real()->getrusage(who, to);
    return (int)FT_CALL_FILLS(FT_CALL_PROCESS, ft_what(GETRUSAGE, (int)who, 0), to, ft_real()->getrusage(who, to));
}

/* `n` bytes at `to` that are filled in if the result is `good`. */
static long give_bytes(struct ft_recorded *c, void *to)
{
    memcpy(to, ft_call_data(c), ft_call_bytes(c));
    return ft_call_give(c);
}

static long end_bytes(struct ft_recorded *c, long result, bool good, const void *from, size_t n)
{
    if (good && c->record)
        memcpy(ft_call_data(c), from, n);
    return ft_call_end(c, result, good ? n : 0);
}

int sched_getaffinity(pid_t pid, size_t n, cpu_set_t *to)
{
    struct ft_recorded c;
    int result;

    if (!ft_recording() || n > FT_OUTCOME_PIECE)
        return ft_real()->sched_getaffinity(thread_to_kernel(pid), n, to);
    if (ft_call_begin(&c, FT_CALL_PROCESS, ft_what(GETAFFINITY, thread_asked(pid), (int64_t)n), n))
        return (int)give_bytes(&c, to);
    result = ft_real()->sched_getaffinity(thread_to_kernel(pid), n, to);
    return (int)end_bytes(&c, result, result == 0, to, n);
}

/* Of this thread it is the same question. */
int sched_getcpu(void)
{
    if (!ft_recording())
        return ft_real()->sched_getcpu();
    return (int)FT_CALL_PLAIN(FT_CALL_PROCESS, ft_what(GETCPU, 0, 0), ft_real()->sched_getcpu());
}

/* ---- the machine ---- */

int getloadavg(double to[], int n)
{
    struct ft_recorded c;
    int result;
    size_t bytes = n > 0 ? (size_t)n * sizeof *to : 0;

    if (!ft_recording() || n > 3)
        return ft_real()->getloadavg(to, n);
    if (ft_call_begin(&c, FT_CALL_PROCESS, ft_what(LOADAVG, n, 0), bytes))
        return (int)give_bytes(&c, to);
    ft_inside();
    result = ft_real()->getloadavg(to, n);
    ft_outside();
    return (int)end_bytes(&c, result, result > 0, to, bytes);
}

int sysinfo(struct sysinfo *to)
{
    if (!ft_recording())
        return ft_real()->sysinfo(to);
    return (int)FT_CALL_FILLS(FT_CALL_PROCESS, ft_what(SYSINFO, 0, 0), to, ft_real()->sysinfo(to));
}

int uname(struct utsname *to)
{
    if (!ft_recording())
        return ft_real()->uname(to);
    return (int)FT_CALL_FILLS(FT_CALL_PROCESS, ft_what(UNAME, 0, 0), to, ft_real()->uname(to));
}

int gethostname(char *to, size_t n)
{
    struct ft_recorded c;
    int result;

    if (!ft_recording() || n > FT_OUTCOME_PIECE)
        return ft_real()->gethostname(to, n);
    if (ft_call_begin(&c, FT_CALL_PROCESS, ft_what(HOSTNAME, (int64_t)n, 0), n))
        return (int)give_bytes(&c, to);
    result = ft_real()->gethostname(to, n);
    return (int)end_bytes(&c, result, result == 0, to, result == 0 ? strnlen(to, n - 1) + 1 : 0);
}

int __gethostname_chk(char *to, size_t n, size_t room);

int __gethostname_chk(char *to, size_t n, size_t room)
{
    (void)room;
    return gethostname(to, n);
}

/* A number that the C library looks up in files, past all names. */
static long look_up(long (*real)(int), int name)
{
    long result;

    ft_inside();
    result = real(name);
    ft_outside();
    return result;
}

long sysconf(int name)
{
    bool varies = name == _SC_NPROCESSORS_ONLN || name == _SC_NPROCESSORS_CONF || name == _SC_PHYS_PAGES || name == _SC_AVPHYS_PAGES;

    if (!varies || !ft_recording())
        return ft_real()->sysconf(name);
    return FT_CALL_PLAIN(FT_CALL_PROCESS, ft_what(SYSCONF, name, 0), look_up(ft_real()->sysconf, name));
}

int get_nprocs(void) { return (int)sysconf(_SC_NPROCESSORS_ONLN); }
int get_nprocs_conf(void) { return (int)sysconf(_SC_NPROCESSORS_CONF); }
long get_phys_pages(void) { return sysconf(_SC_PHYS_PAGES); }
long get_avphys_pages(void) { return sysconf(_SC_AVPHYS_PAGES); }

/* ---- what it sets ---- */

/* Done in a replay, too. */
static int set_again(struct ft_recorded *c, int result, const char *name)
{
    if (result != (int)c->record->result)
        ft_recorder_lost("%s had another result than before", name);
    return (int)ft_call_give(c);
}

#define SET_ALSO_IN_REPLAY(name, what, call)                                                        \
    __extension__({                                                                                 \
        struct ft_recorded c_;                                                                      \
        ft_call_begin(&c_, FT_CALL_PROCESS, what, 0) ? set_again(&c_, (call), name)                 \
                                                     : (int)ft_call_end(&c_, (call), 0);            \
    })

int setrlimit64(__rlimit_resource_t which, const struct rlimit64 *to)
{
    if (!ft_recording())
        return ft_real()->setrlimit64(which, to);
    return SET_ALSO_IN_REPLAY("setrlimit", ft_what(SET, (int)which, (int64_t)ft_what_bytes(to, sizeof *to)),
                              ft_real()->setrlimit64(which, to));
}

int setrlimit(__rlimit_resource_t which, const struct rlimit *to)
{
    return setrlimit64(which, (const struct rlimit64 *)(const void *)to);
}

int sched_setaffinity(pid_t pid, size_t n, const cpu_set_t *to)
{
    if (!ft_recording())
        return ft_real()->sched_setaffinity(thread_to_kernel(pid), n, to);
    return SET_ALSO_IN_REPLAY("sched_setaffinity", ft_what(SET, thread_asked(pid), (int64_t)ft_what_bytes(to, n)),
                              ft_real()->sched_setaffinity(thread_to_kernel(pid), n, to));
}

int setpriority(__priority_which_t which, id_t who, int to)
{
    if (!ft_recording())
        return ft_real()->setpriority(which, (id_t)thread_to_kernel((pid_t)who), to);
    return SET_ALSO_IN_REPLAY("setpriority", ft_what(SET, (int64_t)who << 8 | (int)which, to),
                              ft_real()->setpriority(which, (id_t)thread_to_kernel((pid_t)who), to));
}
