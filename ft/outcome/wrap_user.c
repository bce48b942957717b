/* SPDX-License-Identifier: BSD-3-Clause */
/* Whose a process is: done again in a replay, and not asked about. To the kernel each thread is somebody's of its own; the C library tells all of them, by the
   numbers that they had first. Those that were put back have other ones (stand.h), and are told here. */
#include "ft/outcome/real.h"

#include <grp.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ft/outcome/record.h"
#include "ft/outcome/stand.h"

/* result: the C library's function's, which has done it for this thread. One that may not what this one might: as the C library does. */
static int all(int result, long call, long a, long b, long c)
{
    if (result == 0 && ft_recorder.on && ft_threads_many && ft_threads_life && !ft_stand_all(call, a, b, c))
        abort();
    return result;
}

int setuid(uid_t user) { return all(ft_real()->setuid(user), SYS_setuid, user, 0, 0); }
int seteuid(uid_t user) { return all(ft_real()->seteuid(user), SYS_setresuid, -1, user, -1); }
int setreuid(uid_t user, uid_t effective) { return all(ft_real()->setreuid(user, effective), SYS_setreuid, user, effective, 0); }
int setresuid(uid_t user, uid_t effective, uid_t saved)
{
    return all(ft_real()->setresuid(user, effective, saved), SYS_setresuid, user, effective, saved);
}

int setgid(gid_t group) { return all(ft_real()->setgid(group), SYS_setgid, group, 0, 0); }
int setegid(gid_t group) { return all(ft_real()->setegid(group), SYS_setresgid, -1, group, -1); }
int setregid(gid_t group, gid_t effective) { return all(ft_real()->setregid(group, effective), SYS_setregid, group, effective, 0); }
int setresgid(gid_t group, gid_t effective, gid_t saved)
{
    return all(ft_real()->setresgid(group, effective, saved), SYS_setresgid, group, effective, saved);
}

int setgroups(size_t n, const gid_t *groups) { return all(ft_real()->setgroups(n, groups), SYS_setgroups, (long)n, (long)groups, 0); }

int initgroups(const char *user, gid_t group)
{
    static gid_t groups[65536]; /* the kernel's most */
    int result = ft_real()->initgroups(user, group);
    int n = result == 0 ? getgroups(65536, groups) : -1;

    return n < 0 ? result : all(0, SYS_setgroups, n, (long)groups, 0);
}
