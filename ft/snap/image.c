/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/snap/image.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ft/base/util.h"
#include "ft/snap/mappings.h"

#ifndef PR_GET_TID_ADDRESS
#define PR_GET_TID_ADDRESS 40
#endif

enum { TIMERS = 2 /* of processor time; that of real time is an outcome */ };
enum { WORTH_BYTES = 64 << 10 };  /* two calls, of a few microseconds each; a page that is copied takes as long */

/* A thread that has been joined is in the kernel's list for a moment yet. */
static bool one_thread(void)
{
    struct stat st;

    for (int tries = 0; tries < 4; tries++) {
        if (syscall(SYS_newfstatat, AT_FDCWD, "/proc/self/task", &st, 0) < 0)
            return false;
        if (st.st_nlink == 3) /* ".", "..", and ours */
            return true;
        syscall(SYS_sched_yield);
    }
    return false;
}

/* The first bytes of a file, up to `most`; -1: it cannot be read. */
static ssize_t look_into(const char *path, char *to, size_t most)
{
    int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : (ssize_t)syscall(SYS_read, fd, to, most);

    if (fd >= 0)
        syscall(SYS_close, fd);
    return n;
}

/* Of one thread: one that is not known, or cannot be told. */
static bool has_strange(const char *thread, bool (*knows)(pid_t child))
{
    static char text[4096]; /* room for more than can be known; one thread at a time makes a copy */
    char path[64] = "/proc/self/task/";
    bool strange = false;
    ssize_t n;

    strcpy(path + strlen(path), thread);
    strcpy(path + strlen(path), "/children");
    n = look_into(path, text, sizeof text - 1);
    text[n < 0 ? 0 : n] = 0;
    for (const char *at = text; !strange && *at; at += *at == ' ') {
        const char *from = at;

        strange = !knows((pid_t)ft_number_read(&at, 10)) || at == from;
    }
    return strange || n < 0;
}

/* What getdents64 gives. */
struct entry {
    uint64_t inode;
    int64_t next;
    uint16_t bytes;
    uint8_t type;
    char name[];
};

/* Of all threads: the kernel lists the children of each. */
static bool have_strange(bool (*knows)(pid_t child))
{
    static _Alignas(struct entry) char list[4096];
    int fd = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool strange = fd < 0;
    ssize_t n = 0;

    while (!strange && (n = (ssize_t)syscall(SYS_getdents64, fd, list, sizeof list)) > 0)
        for (ssize_t at = 0; !strange && at < n;) {
            const struct entry *e = (const struct entry *)(const void *)(list + at);

            strange = e->name[0] != '.' && has_strange(e->name, knows);
            at += e->bytes;
        }
    if (fd >= 0)
        syscall(SYS_close, fd);
    return strange || n < 0;
}

/* Also those that have ended and are not waited for yet. */
static bool has_children(bool (*knows)(pid_t child))
{
    siginfo_t info;

    if (syscall(SYS_waitid, P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT | __WALL, NULL) < 0 && errno == ECHILD)
        return false;
    return !knows || have_strange(knows);
}

/* At most `most` + 1; -1: the system does not tell. */
static int timers_up_to(int most)
{
    static char text[8192];
    ssize_t n = look_into("/proc/self/timers", text, sizeof text - 1);
    int found = 0;

    text[n < 0 ? 0 : n] = 0;
    for (const char *at = text; found <= most && (at = strstr(at, "signal: ")) != NULL; at++)
        found++;
    return n < 0 ? -1 : found;
}

enum ft_image_reason ft_image_take(struct ft_image *image, const struct ft_image_own *own)
{
    enum ft_image_reason reason;
    int timers;

    if (!own->stopped && !one_thread())
        return FT_IMAGE_THREADS;
    if (has_children(own->knows))
        return FT_IMAGE_CHILDREN;
    timers = timers_up_to(own->timers);
    if (timers < 0 || timers > own->timers)
        return timers < 0 ? FT_IMAGE_SYSTEM : FT_IMAGE_TIMERS;
    reason = ft_mappings_look(own);
    for (int i = 0; i < TIMERS; i++)
        syscall(SYS_getitimer, ITIMER_VIRTUAL + i, &image->timers[i]);
    return reason;
}

struct ft_image_pages ft_image_leave_out(void *from, size_t bytes)
{
    uintptr_t page = ft_page_bytes(), start = ft_align((uintptr_t)from, page);
    uintptr_t end = ((uintptr_t)from + bytes) & ~(page - 1);
    struct ft_image_pages pages = {(void *)start, end - start}, none = {NULL, 0};

    if (!from || bytes < WORTH_BYTES || end <= start)
        return none;
    if (syscall(SYS_madvise, pages.start, pages.bytes, MADV_WIPEONFORK) == 0)
        return pages;
    ft_image_take_in(&pages); /* it may have been done for a part */
    return none;
}

/* In the child the pages are a mapping of their own from now on (kernels do not merge what has and has not a forked history). */
void ft_image_take_in(const struct ft_image_pages *pages)
{
    while (pages->start && syscall(SYS_madvise, pages->start, pages->bytes, MADV_KEEPONFORK) < 0 && errno == EAGAIN)
        ;
}

/* A periodic timer stands still while its signal is pending: it has no time left then, and goes on with the next period. */
static void start_again(int which, struct itimerval timer)
{
    if (timer.it_value.tv_sec == 0 && timer.it_value.tv_usec == 0)
        timer.it_value = timer.it_interval;
    syscall(SYS_setitimer, which, &timer, NULL);
}

void ft_image_put_back(const struct ft_image *image)
{
    for (int i = 0; i < TIMERS; i++)
        start_again(ITIMER_VIRTUAL + i, image->timers[i]);
}

/* The C library keeps the thread's number where the kernel was told to clear it at its end. A fork writes the child's number there; here
   the old one stays: mutexes of those types that ask who has them, and rwlocks, know their owner by it, and one may be held. What uses it
   for the kernel is ft/outcome/wrap_thread.c's. And the C library has told the kernel where its list of robust mutexes is, which a fork
   forgets. clone rather than clone3, which container runtimes forbid; where that place goes is its fourth or its fifth argument. */
pid_t ft_image_clone(void)
{
    unsigned long flags = CLONE_PARENT | CLONE_FILES;
    void *robust = NULL;
    size_t bytes = 0;
    uint64_t at = 0;
    pid_t pid;

    if (prctl(PR_GET_TID_ADDRESS, &at) == 0 && at)
        flags |= CLONE_CHILD_CLEARTID;
    syscall(SYS_get_robust_list, 0, &robust, &bytes);
    pid = (pid_t)syscall(SYS_clone, flags, NULL, NULL, at, at);
    if (pid == 0 && robust)
        syscall(SYS_set_robust_list, robust, bytes);
    return pid;
}
