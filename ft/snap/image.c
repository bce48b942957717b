/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/snap/image.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ft/base/util.h"

#ifndef PR_GET_TID_ADDRESS
#define PR_GET_TID_ADDRESS 40
#endif

enum { WORTH_BYTES = 64 << 10 };  /* two calls, of a few microseconds each; a page that is copied takes as long */

/* A thread that has been joined is in the kernel's list for a moment yet. */
static bool one_thread(void)
{
    struct stat st;

    for (int tries = 0; tries < 4; tries++) {
        if (stat("/proc/self/task", &st) < 0)
            return false;
        if (st.st_nlink == 3) /* ".", "..", and ours */
            return true;
        sched_yield();
    }
    return false;
}

/* The first byte of a file, or 0 if it is empty; -1: it cannot be read. */
static int first_byte(const char *path)
{
    char c = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, &c, 1);

    if (fd >= 0)
        close(fd);
    return n < 0 ? -1 : n == 0 ? 0 : (unsigned char)c;
}

/* Also those that have ended and are not waited for yet. */
static bool has_children(void)
{
    siginfo_t info;

    return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT | __WALL) == 0 || errno != ECHILD;
}

/* dev as /proc/self/maps has it. */
static bool is_file(const struct stat *st, unsigned major_dev, unsigned minor_dev, unsigned long inode)
{
    return inode && st->st_ino == inode && major(st->st_dev) == major_dev && minor(st->st_dev) == minor_dev;
}

/* Memory that others see, but ours: what was written there since cannot be taken back. */
static enum ft_image_reason look_at_mappings(const struct ft_image_own *own)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    enum ft_image_reason reason = maps ? FT_IMAGE_GOOD : FT_IMAGE_SYSTEM;
    unsigned long from, inode;
    unsigned of_major, of_minor;
    char line[512], mode[8];
    struct stat ours = { 0 };

    if (own->not_copied && fstat(own->not_copied, &ours) != 0)
        ours.st_ino = 0;
    while (reason == FT_IMAGE_GOOD && fgets(line, sizeof line, maps)) {
        if (sscanf(line, "%lx-%*x %7s %*x %x:%x %lu", &from, mode, &of_major, &of_minor, &inode) == 5 && mode[1] == 'w' && mode[3] == 's' &&
            from - (uintptr_t)own->mapping.start >= own->mapping.bytes && !is_file(&ours, of_major, of_minor, inode))
            reason = FT_IMAGE_MAPPING;
        while (!strchr(line, '\n') && fgets(line, sizeof line, maps)) /* the rest of a long line */
            ;
    }
    if (maps)
        fclose(maps);
    return reason;
}

enum ft_image_reason ft_image_take(struct ft_image *image, const struct ft_image_own *own)
{
    enum ft_image_reason reason;

    if (!one_thread())
        return FT_IMAGE_THREADS;
    if (has_children())
        return FT_IMAGE_CHILDREN;
    if (first_byte("/proc/self/timers") > 0) /* kernels that cannot tell have no such file */
        return FT_IMAGE_TIMERS;
    reason = ft_files_take(&image->files, own);
    if (reason == FT_IMAGE_GOOD)
        reason = look_at_mappings(own);
    for (int i = 0; i < 3; i++)
        getitimer((__itimer_which_t)i, &image->timers[i]);
    sigprocmask(SIG_SETMASK, NULL, &image->mask);
    return reason;
}

struct ft_image_pages ft_image_leave_out(void *from, size_t bytes)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), start = ft_align((uintptr_t)from, page);
    uintptr_t end = ((uintptr_t)from + bytes) & ~(page - 1);
    struct ft_image_pages pages = {(void *)start, end - start}, none = {NULL, 0};

    if (!from || bytes < WORTH_BYTES || end <= start)
        return none;
    if (madvise(pages.start, pages.bytes, MADV_WIPEONFORK) == 0)
        return pages;
    ft_image_take_in(&pages); /* it may have been done for a part */
    return none;
}

/* In the child the pages are a mapping of their own from now on (kernels do not merge what has and has not a forked history). */
void ft_image_take_in(const struct ft_image_pages *pages)
{
    while (pages->start && madvise(pages->start, pages->bytes, MADV_KEEPONFORK) < 0 && errno == EAGAIN)
        ;
}

/* A periodic timer stands still while its signal is pending: it has no time left then, and goes on with the next period. */
static void start_again(int which, struct itimerval timer)
{
    if (timer.it_value.tv_sec == 0 && timer.it_value.tv_usec == 0)
        timer.it_value = timer.it_interval;
    setitimer((__itimer_which_t)which, &timer, NULL);
}

void ft_image_put_back(const struct ft_image *image)
{
    ft_files_put_back(&image->files);
    for (int i = 0; i < 3; i++)
        start_again(i, image->timers[i]);
    sigprocmask(SIG_SETMASK, &image->mask, NULL);
}

/* The C library keeps the thread's number where the kernel was told to clear it at its end; a fork has the kernel
   write the child's number there. And it has told the kernel where its list of robust mutexes is, which a fork forgets.
   clone rather than clone3, which container runtimes forbid; where the child's number goes is its fourth or its fifth argument. */
pid_t ft_image_clone(void)
{
    unsigned long flags = CLONE_PARENT;
    void *robust = NULL;
    size_t bytes = 0;
    uint64_t at = 0;
    pid_t pid;

    if (prctl(PR_GET_TID_ADDRESS, &at) == 0 && at)
        flags |= CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID;
    syscall(SYS_get_robust_list, 0, &robust, &bytes);
    pid = (pid_t)syscall(SYS_clone, flags, NULL, NULL, at, at);
    if (pid == 0 && robust)
        syscall(SYS_set_robust_list, robust, bytes);
    return pid;
}
