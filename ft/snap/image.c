/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/snap/image.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef PR_GET_TID_ADDRESS
#define PR_GET_TID_ADDRESS 40
#endif

static bool one_thread(void)
{
    struct stat st;

    return stat("/proc/self/task", &st) == 0 && st.st_nlink == 3; /* ".", "..", and ours */
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

static bool has_children(void)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    return first_byte(path) != 0;
}

static bool is_own(const struct ft_image_own *own, int fd)
{
    for (int i = 0; i < own->nfds; i++)
        if (own->fds[i] == fd)
            return true;
    return fd <= 2; /* ftrun's pipes: it knows how much went through them */
}

static enum ft_image_reason take_file(struct ft_image *image, int fd)
{
    struct ft_image_file *file = &image->files[image->nfiles];
    int flags = fcntl(fd, F_GETFL);
    struct stat st;

    if (flags < 0 || fstat(fd, &st) < 0)
        return FT_IMAGE_SYSTEM;
    if (S_ISCHR(st.st_mode))
        return FT_IMAGE_GOOD; /* /dev/null and its like */
    if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
        return FT_IMAGE_DESCRIPTOR;
    if (image->nfiles == FT_IMAGE_FILES)
        return FT_IMAGE_DESCRIPTOR;
    *file = (struct ft_image_file){.fd = fd, .append = S_ISREG(st.st_mode) && flags & O_APPEND && (flags & O_ACCMODE) != O_RDONLY,
                                   .device = st.st_dev, .inode = st.st_ino, .at = lseek(fd, 0, SEEK_CUR), .size = st.st_size};
    image->nfiles += file->at >= 0;
    return FT_IMAGE_GOOD;
}

static enum ft_image_reason take_files(struct ft_image *image, const struct ft_image_own *own)
{
    DIR *dir = opendir("/proc/self/fd");
    enum ft_image_reason reason = dir ? FT_IMAGE_GOOD : FT_IMAGE_SYSTEM;
    struct dirent *entry;

    image->nfiles = 0;
    while (reason == FT_IMAGE_GOOD && (entry = readdir(dir))) {
        int fd = atoi(entry->d_name);

        if (entry->d_name[0] != '.' && fd != dirfd(dir) && !is_own(own, fd))
            reason = take_file(image, fd);
    }
    if (dir)
        closedir(dir);
    return reason;
}

/* Memory that others see, but ours: what was written there since cannot be taken back. */
static enum ft_image_reason look_at_mappings(const struct ft_image_own *own)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    enum ft_image_reason reason = maps ? FT_IMAGE_GOOD : FT_IMAGE_SYSTEM;
    unsigned long from;
    char line[512], mode[8];

    while (reason == FT_IMAGE_GOOD && fgets(line, sizeof line, maps)) {
        if (sscanf(line, "%lx-%*x %7s", &from, mode) == 2 && mode[1] == 'w' && mode[3] == 's' && (const void *)from != own->mapping)
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
    reason = take_files(image, own);
    if (reason == FT_IMAGE_GOOD)
        reason = look_at_mappings(own);
    for (int i = 0; i < 3; i++)
        getitimer((__itimer_which_t)i, &image->timers[i]);
    sigprocmask(SIG_SETMASK, NULL, &image->mask);
    return reason;
}

static void put_back_file(const struct ft_image_file *file)
{
    struct stat st;

    if (fstat(file->fd, &st) < 0 || st.st_dev != file->device || st.st_ino != file->inode)
        return;
    if (file->append && st.st_size > file->size && ftruncate(file->fd, file->size) < 0)
        return;
    lseek(file->fd, file->at, SEEK_SET);
}

void ft_image_put_back(const struct ft_image *image)
{
    for (int i = 0; i < image->nfiles; i++)
        put_back_file(&image->files[i]);
    for (int i = 0; i < 3; i++)
        setitimer((__itimer_which_t)i, &image->timers[i], NULL);
    sigprocmask(SIG_SETMASK, &image->mask, NULL);
}

/* The C library keeps the thread's number where the kernel was told to clear it at its end; a fork has the kernel
   write the child's number there. */
pid_t ft_image_clone(void)
{
    struct clone_args args = {.flags = CLONE_PARENT};
    uint64_t at = 0;

    if (prctl(PR_GET_TID_ADDRESS, &at) == 0 && at) {
        args.flags |= CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID;
        args.child_tid = at;
    }
    return (pid_t)syscall(SYS_clone3, &args, sizeof args);
}
