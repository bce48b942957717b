/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/snap/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

enum { MEMORY_DEVICES = 1, MQUEUE = 0x19800202 };

static struct ft_file_id id_of(const struct stat *st)
{
    return (struct ft_file_id){st->st_dev, st->st_ino};
}

static bool same(struct ft_file_id a, struct ft_file_id b)
{
    return a.inode && a.inode == b.inode && a.device == b.device;
}

void ft_files_stdio(struct ft_image_own *own)
{
    struct stat st;

    for (int i = 0; i < 3; i++)
        own->stdio[i] = fstat(i, &st) == 0 && S_ISFIFO(st.st_mode) ? id_of(&st) : (struct ft_file_id){0};
}

static bool is_own(const struct ft_image_own *own, int fd)
{
    for (int i = 0; i < own->nfds; i++)
        if (own->fds[i] == fd)
            return true;
    for (int i = 0; i < own->nlinks; i++)
        if (own->links[i] == fd)
            return true;
    return false;
}

/* One of ftrun's pipes, wherever the program has put it? ftrun knows how much went through them. */
static bool is_stdio(const struct ft_image_own *own, const struct stat *st)
{
    return same(own->stdio[0], id_of(st)) || same(own->stdio[1], id_of(st)) || same(own->stdio[2], id_of(st));
}

/* Came with the program's start, from whoever started ftrun, and the launcher and all other ranks have it, too: nothing of ours to put
   back, and as a rule the program does not know of it. */
static bool is_inherited(int fd, const struct stat *st)
{
    struct stat parents;
    char path[48];

    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)getppid(), fd);
    return stat(path, &parents) == 0 && same(id_of(&parents), id_of(st)) && parents.st_rdev == st->st_rdev;
}

/* null, zero, full, random, urandom: nothing that is read or written there is missed. A terminal or an accelerator is another matter. */
static bool is_harmless_device(dev_t device)
{
    unsigned m = minor(device);

    return major(device) == MEMORY_DEVICES && (m == 3 || m == 5 || m == 7 || m == 8 || m == 9);
}

/* Not what it looks like: files of /proc are about this very process, message queues are emptied by reading. */
static bool is_pseudo(int fd)
{
    struct statfs fs;

    return fstatfs(fd, &fs) < 0 || fs.f_type == PROC_SUPER_MAGIC || fs.f_type == MQUEUE;
}

/* Locks of this open file (flock, fcntl, leases), which the kernel lists after a line of flags and the like. 1, 0, or -1: cannot tell. */
static int is_locked(int fd)
{
    char path[40], text[1024];
    ssize_t n = -1;
    int info;

    snprintf(path, sizeof path, "/proc/self/fdinfo/%d", fd);
    info = open(path, O_RDONLY | O_CLOEXEC);
    if (info >= 0) {
        n = read(info, text, sizeof text - 1);
        close(info);
    }
    if (n <= 0)
        return -1;
    text[n] = '\0';
    return strstr(text, "\nlock:") != NULL;
}

static enum ft_image_reason take_regular(struct ft_files *files, int fd, int flags, const struct stat *st)
{
    int locked = is_locked(fd);
    off_t at = lseek(fd, 0, SEEK_CUR);

    if (locked)
        return locked < 0 ? FT_IMAGE_SYSTEM : FT_IMAGE_LOCK;
    if (is_pseudo(fd))
        return FT_IMAGE_DESCRIPTOR;
    if (S_ISREG(st->st_mode) && (flags & O_ACCMODE) == O_RDWR)
        return FT_IMAGE_READ_WRITE;
    if (at < 0)
        return FT_IMAGE_GOOD;
    if (files->nfiles == FT_FILES_MAX)
        return FT_IMAGE_DESCRIPTOR;
    files->files[files->nfiles++] = (struct ft_file){.fd = fd, .flags = flags, .id = id_of(st), .at = at, .size = st->st_size};
    return FT_IMAGE_GOOD;
}

static enum ft_image_reason take(struct ft_files *files, const struct ft_image_own *own, int fd)
{
    int flags = fcntl(fd, F_GETFL);
    struct stat st;

    if (flags < 0 || fstat(fd, &st) < 0)
        return FT_IMAGE_SYSTEM;
    if (flags & O_PATH)
        return FT_IMAGE_GOOD; /* a name, not an open file */
    if (fd > 2 && is_inherited(fd, &st))
        return FT_IMAGE_GOOD;
    if (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode))
        return take_regular(files, fd, flags, &st);
    if (S_ISCHR(st.st_mode))
        return is_harmless_device(st.st_rdev) ? FT_IMAGE_GOOD : FT_IMAGE_DESCRIPTOR;
    return is_stdio(own, &st) ? FT_IMAGE_GOOD : FT_IMAGE_DESCRIPTOR;
}

/* Opened twice, for reading here and for writing there, is read and written as well. */
static bool read_and_written(const struct ft_files *files)
{
    for (int i = 0; i < files->nfiles; i++)
        for (int k = 0; k < files->nfiles; k++)
            if ((files->files[i].flags & O_ACCMODE) == O_RDONLY && (files->files[k].flags & O_ACCMODE) == O_WRONLY &&
                same(files->files[i].id, files->files[k].id))
                return true;
    return false;
}

enum ft_image_reason ft_files_take(struct ft_files *files, const struct ft_image_own *own)
{
    DIR *dir = opendir("/proc/self/fd");
    enum ft_image_reason reason = dir ? FT_IMAGE_GOOD : FT_IMAGE_SYSTEM;
    struct dirent *entry;

    files->nfiles = 0;
    while (reason == FT_IMAGE_GOOD && (entry = readdir(dir))) {
        int fd = atoi(entry->d_name);

        if (entry->d_name[0] != '.' && fd != dirfd(dir) && !is_own(own, fd))
            reason = take(files, own, fd);
    }
    if (dir)
        closedir(dir);
    return reason == FT_IMAGE_GOOD && read_and_written(files) ? FT_IMAGE_READ_WRITE : reason;
}

/* A lease for writing is only given where nobody else has the file open. Where the file system has none, nobody knows. */
static bool is_alone(int fd)
{
    if (fcntl(fd, F_SETLEASE, F_WRLCK) < 0)
        return false;
    fcntl(fd, F_SETLEASE, F_UNLCK);
    return true;
}

/* Who opens a file while we have the lease has us sent a SIGIO. */
static void forget_leases(void)
{
    sigset_t lease;

    sigemptyset(&lease);
    sigaddset(&lease, SIGIO);
    while (sigtimedwait(&lease, NULL, &(struct timespec){0}) == SIGIO)
        ;
}

/* Writing moves the offset, which we share with the predecessor, to the end: if that is not where the end is, somebody else wrote.
   In doubt nothing is cut: rather a line of ours twice than a line of another's lost. */
static void look_again(struct ft_file *file)
{
    struct stat st;

    file->cut = false;
    if (file->foreign || !(file->flags & O_APPEND) || (file->flags & O_ACCMODE) != O_WRONLY || fstat(file->fd, &st) < 0)
        return;
    if (!S_ISREG(st.st_mode) || !same(id_of(&st), file->id) || st.st_size <= file->size)
        return;
    file->foreign = lseek(file->fd, 0, SEEK_CUR) != st.st_size || !is_alone(file->fd);
    file->cut = !file->foreign;
}

void ft_files_look_again(struct ft_files *files)
{
    for (int i = 0; i < files->nfiles; i++)
        look_again(&files->files[i]);
    forget_leases();
}

void ft_files_put_back(const struct ft_files *files)
{
    for (int i = 0; i < files->nfiles; i++) {
        const struct ft_file *file = &files->files[i];
        struct stat st;

        if (fstat(file->fd, &st) < 0 || !same(id_of(&st), file->id))
            continue;
        if (!file->cut || ftruncate(file->fd, file->size) == 0)
            lseek(file->fd, file->at, SEEK_SET);
        fcntl(file->fd, F_SETFL, file->flags);
    }
}
