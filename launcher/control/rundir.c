/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/control/rundir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { BACKLOG = 16, LOCK_TRIES = 20, LOCK_MS = 5 };

/* Not somebody else's whose environment we have (su, sudo). */
static bool is_own(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && st.st_uid == geteuid();
}

void ft_rundir_candidates(struct ft_rundirs *dirs)
{
    const char *own = getenv("FTMPI_RUN_DIR"), *xdg = getenv("XDG_RUNTIME_DIR"), *tmp = getenv("TMPDIR");

    dirs->n = 0;
    if (own && *own) {
        snprintf(dirs->paths[dirs->n++], FT_RUNDIR_PATH, "%s", own);
        return;
    }
    if (xdg && *xdg == '/' && is_own(xdg))
        snprintf(dirs->paths[dirs->n++], FT_RUNDIR_PATH, "%s/ftmpi", xdg);
    snprintf(dirs->paths[dirs->n++], FT_RUNDIR_PATH, "%s/ftmpi-%u", tmp && *tmp ? tmp : "/tmp", (unsigned)geteuid());
}

int ft_rundir_open(const char *path, bool make, struct ft_error *e)
{
    struct stat st;
    int fd;

    e->text[0] = 0;
    if (make && mkdir(path, 0700) < 0 && errno != EEXIST && errno != ENOENT)
        return ft_err_set(e, FT_ESYS, "cannot make the directory %s: %s", path, strerror(errno));
    fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT)
        return FT_ESYS;
    if (fd < 0 && (errno == ELOOP || errno == ENOTDIR))
        return ft_err_set(e, FT_EINVAL, "%s is not a directory (a symbolic link is not followed)", path);
    if (fd < 0)
        return ft_err_set(e, errno == EACCES ? FT_EINVAL : FT_ESYS, "cannot open the directory %s: %s", path, strerror(errno));
    if (fstat(fd, &st) < 0 || st.st_uid != geteuid())
        ft_err_set(e, FT_EINVAL, "%s belongs to another user (uid %u): not permitted", path, (unsigned)st.st_uid);
    else if (st.st_mode & 077)
        ft_err_set(e, FT_EINVAL, "%s is open to other users (chmod 700 would make it usable)", path);
    if (!e->text[0])
        return fd;
    close(fd);
    return FT_EINVAL;
}

int ft_rundir_make(char path[FT_RUNDIR_PATH], struct ft_error *e)
{
    struct ft_rundirs dirs;
    int fd;

    ft_rundir_candidates(&dirs);
    for (int i = 0; i < dirs.n; i++) {
        memcpy(path, dirs.paths[i], FT_RUNDIR_PATH);
        fd = ft_rundir_open(path, true, e);
        if (fd >= 0 || e->text[0])
            return fd; /* made, or refused; a parent that does not exist leaves the next one to try */
    }
    return ft_err_set(e, FT_ESYS, "cannot make the directory %s: %s", path, strerror(ENOENT)); /* its parent */
}

/* Through the open directory: any length of path will do, and it is the one that was checked. */
static void fill_address(struct sockaddr_un *address, int dir, const char *name)
{
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    snprintf(address->sun_path, sizeof address->sun_path, "/proc/self/fd/%d/%.*s", dir, FT_SOCKET_NAME, name);
}

/* Who removes a stale socket holds this while it looks and removes, and so does a successor while it binds. A holder that was stopped
   is not waited for: then the worst is a socket that is gone. */
static void lock(int dir)
{
    struct timespec pause = {.tv_nsec = LOCK_MS * 1000000};

    for (int i = 0; i < LOCK_TRIES && flock(dir, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK; i++)
        nanosleep(&pause, NULL);
}

static int bind_and_listen(int fd, int dir, const char *name)
{
    struct sockaddr_un address;

    fill_address(&address, dir, name);
    if (fchmod(fd, 0600) < 0) /* before bind: the file is never open to others */
        return -1;
    if (unlinkat(dir, name, 0) < 0 && errno != ENOENT)
        return -1;
    if (bind(fd, (const struct sockaddr *)&address, sizeof address) < 0)
        return -1;
    return listen(fd, BACKLOG);
}

int ft_rundir_listen(int dir, const char *name)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), err;

    if (fd < 0)
        return -1;
    lock(dir);
    err = bind_and_listen(fd, dir, name);
    if (err < 0) {
        int error = errno;

        close(fd);
        errno = error;
    }
    flock(dir, LOCK_UN);
    return err < 0 ? -1 : fd;
}

int ft_rundir_connect(int dir, const char *name)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), error;
    struct timeval patience = {.tv_sec = 5}; /* for a backlog that is full: the agent is stopped */
    struct sockaddr_un address;

    if (fd < 0)
        return -1;
    fill_address(&address, dir, name);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    if (connect(fd, (const struct sockaddr *)&address, sizeof address) == 0)
        return fd;
    error = errno;
    close(fd);
    errno = error;
    return -1;
}

bool ft_rundir_remove_stale(int dir, const char *name)
{
    bool stale;
    int fd;

    lock(dir);
    fd = ft_rundir_connect(dir, name);
    stale = fd < 0 && errno == ECONNREFUSED;
    if (fd >= 0)
        close(fd);
    if (stale)
        unlinkat(dir, name, 0);
    flock(dir, LOCK_UN);
    return stale;
}
