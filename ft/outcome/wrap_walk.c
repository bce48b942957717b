/* SPDX-License-Identifier: BSD-3-Clause */
/* Whole functions of the C library that walk through directories, or look for a free name: made of calls that are recorded. */
#include "ft/outcome/real.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>

#include "ft/outcome/record.h"

/* ---- ftw and nftw ---- */

#ifndef FTW_ACTIONRETVAL
#define FTW_ACTIONRETVAL 16
#endif
enum { GO_ON = 0, STOP = 1, SKIP_SUBTREE = 2, SKIP_SIBLINGS = 3 }; /* FTW_CONTINUE and so on */

struct walk {
    int (*old)(const char *, const struct stat64 *, int);
    int (*each)(const char *, const struct stat64 *, int, struct FTW *);
    int flags;
    dev_t device;
    char path[PATH_MAX];
    struct { dev_t device; ino_t inode; } *seen; /* directories, if links are followed */
    size_t nseen;
};

static int tell(struct walk *w, const struct stat64 *st, int type, int base, int level)
{
    return w->old ? w->old(w->path, st, type) : w->each(w->path, st, type, &(struct FTW){base, level});
}

/* A link that is followed may lead back. */
static bool is_seen(struct walk *w, const struct stat64 *st)
{
    void *longer;

    if (w->flags & FTW_PHYS)
        return false;
    for (size_t i = 0; i < w->nseen; i++)
        if (w->seen[i].device == st->st_dev && w->seen[i].inode == st->st_ino)
            return true;
    longer = realloc(w->seen, (w->nseen + 1) * sizeof *w->seen);
    if (!longer)
        return false;
    w->seen = longer;
    w->seen[w->nseen].device = st->st_dev;
    w->seen[w->nseen++].inode = st->st_ino;
    return false;
}

/* What the path is; -1: errno. The first one must be there. */
static int type_of(struct walk *w, struct stat64 *st, int level)
{
    int error;

    if ((w->flags & FTW_PHYS ? lstat64(w->path, st) : stat64(w->path, st)) == 0)
        return S_ISDIR(st->st_mode) ? FTW_D : S_ISLNK(st->st_mode) ? FTW_SL : FTW_F;
    error = errno;
    if (error != ENOENT && error != EACCES)
        return -1;
    if (!(w->flags & FTW_PHYS) && lstat64(w->path, st) == 0 && S_ISLNK(st->st_mode))
        return w->old ? FTW_NS : FTW_SLN;
    errno = error;
    memset(st, 0, sizeof *st);
    return level ? FTW_NS : -1;
}

static int visit(struct walk *w, int base, int level);

static int visit_entries(struct walk *w, DIR *d, int level)
{
    size_t length = strlen(w->path);
    bool slash = length > 0 && w->path[length - 1] != '/';
    const struct dirent64 *e;
    int result = GO_ON;

    while (result == GO_ON && (e = readdir64(d))) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        if (length + strlen(e->d_name) + 2 > sizeof w->path) {
            errno = ENAMETOOLONG;
            result = -1;
            break;
        }
        snprintf(w->path + length, sizeof w->path - length, "%s%s", slash ? "/" : "", e->d_name);
        result = visit(w, (int)length + slash, level + 1);
        w->path[length] = 0;
    }
    return result == SKIP_SIBLINGS && w->flags & FTW_ACTIONRETVAL ? GO_ON : result;
}

static int visit_directory(struct walk *w, const struct stat64 *st, int base, int level)
{
    DIR *d = opendir(w->path);
    int result = GO_ON;

    if (!d)
        return errno == EACCES ? tell(w, st, FTW_DNR, base, level) : -1;
    if (!(w->flags & FTW_DEPTH))
        result = tell(w, st, FTW_D, base, level);
    if (result == SKIP_SUBTREE && w->flags & FTW_ACTIONRETVAL) {
        closedir(d);
        return GO_ON;
    }
    if (result == GO_ON)
        result = visit_entries(w, d, level);
    closedir(d);
    if (result == GO_ON && w->flags & FTW_DEPTH)
        result = tell(w, st, FTW_DP, base, level);
    return result;
}

static int visit(struct walk *w, int base, int level)
{
    struct stat64 st;
    int type = type_of(w, &st, level), result;

    if (type < 0)
        return -1;
    if (level > 0 && type != FTW_NS && w->flags & FTW_MOUNT && st.st_dev != w->device)
        return GO_ON;
    if (level == 0)
        w->device = st.st_dev;
    if (type != FTW_D)
        result = tell(w, &st, type, base, level);
    else if (is_seen(w, &st))
        result = GO_ON;
    else
        result = visit_directory(w, &st, base, level);
    return result == SKIP_SUBTREE && w->flags & FTW_ACTIONRETVAL ? GO_ON : result;
}

static int walk(struct walk *w, const char *name)
{
    size_t length = strlen(name);
    const char *slash;
    int result;

    if (length == 0 || length >= sizeof w->path) {
        errno = length ? ENAMETOOLONG : ENOENT;
        return -1;
    }
    memcpy(w->path, name, length + 1);
    while (length > 1 && w->path[length - 1] == '/')
        w->path[--length] = 0;
    slash = strrchr(w->path, '/');
    result = visit(w, slash && slash[1] ? (int)(slash + 1 - w->path) : 0, 0);
    free(w->seen);
    return result;
}

/* One that goes along into each directory is the C library's: what it opens inside is seen by nobody. */
int nftw64(const char *name, int (*each)(const char *, const struct stat64 *, int, struct FTW *), int most, int flags)
{
    struct walk w = {.each = each, .flags = flags};

    if (!ft_recording())
        return ft_real()->nftw64(name, each, most, flags);
    if (flags & FTW_CHDIR)
        return FT_CLOSED(ft_real()->nftw64(name, each, most, flags), "it calls nftw with FTW_CHDIR (%s)", name);
    return walk(&w, name);
}

int ftw64(const char *name, int (*each)(const char *, const struct stat64 *, int), int most)
{
    struct walk w = {.old = each};

    return ft_recording() ? walk(&w, name) : ft_real()->ftw64(name, each, most);
}

int nftw(const char *name, int (*each)(const char *, const struct stat *, int, struct FTW *), int most, int flags)
{
    return nftw64(name, (int (*)(const char *, const struct stat64 *, int, struct FTW *))(void (*)(void))each, most, flags);
}

int ftw(const char *name, int (*each)(const char *, const struct stat *, int), int most)
{
    return ftw64(name, (int (*)(const char *, const struct stat64 *, int))(void (*)(void))each, most);
}

/* ---- glob: it can be told by which functions it is to look ---- */

static void *glob_open(const char *name) { return opendir(name); }
static struct dirent64 *glob_read(void *d) { return readdir64(d); }
static void glob_close(void *d) { closedir(d); }

int glob64(const char *restrict pattern, int flags, int (*failed)(const char *, int), glob64_t *restrict g)
{
    if (!ft_recording() || flags & GLOB_ALTDIRFUNC)
        return ft_real()->glob64(pattern, flags, failed, g);
    g->gl_opendir = glob_open;
    g->gl_readdir = glob_read;
    g->gl_closedir = glob_close;
    g->gl_stat = stat64;
    g->gl_lstat = lstat64;
    return ft_real()->glob64(pattern, flags | GLOB_ALTDIRFUNC, failed, g);
}

int glob(const char *restrict pattern, int flags, int (*failed)(const char *, int), glob_t *restrict g)
{
    return glob64(pattern, flags, failed, (glob64_t *)(void *)g);
}

/* ---- names of temporary files: a random number is recorded, then files are opened as any other ---- */

enum { LETTERS = 6, TRIES = 62 * 62 * 62 };

FT_CALLED uint64_t random_number(void)
{
    struct ft_recorded c;
    uint64_t number = 0;

    if (ft_recording() && ft_call_begin(&c, FT_CALL_TEMPORARY, 0, 0))
        return (uint64_t)ft_call_give(&c);
    while (syscall(SYS_getrandom, &number, sizeof number, 0) < 0 && errno == EINTR)
        continue;
    number >>= 1;
    if (ft_recording()) {
        errno = c.error;
        ft_call_end(&c, (long)number, 0);
    }
    return number;
}

/* Replaces the six X before the suffix; false: errno. */
static bool is_template(const char *name, int suffix, char **letters)
{
    size_t length = strlen(name);

    if (suffix < 0 || length < LETTERS + (size_t)suffix) {
        errno = EINVAL;
        return false;
    }
    *letters = (char *)(uintptr_t)name + length - (size_t)suffix - LETTERS;
    if (strspn(*letters, "X") >= LETTERS)
        return true;
    errno = EINVAL;
    return false;
}

/* Until `make` makes one that there was not. */
static int temporary(char *name, int suffix, int flags, int (*make)(const char *name, int flags))
{
    static const char of[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    int error = errno;
    char *letters;

    if (!is_template(name, suffix, &letters))
        return -1;
    for (int tries = 0; tries < TRIES; tries++) {
        uint64_t number = random_number();
        int result;

        for (int i = 0; i < LETTERS; i++, number /= 62)
            letters[i] = of[number % 62];
        result = make(name, flags);
        if (result >= 0)
            errno = error;
        if (result >= 0 || errno != EEXIST)
            return result;
    }
    return -1;
}

static int make_file(const char *name, int flags)
{
    return open(name, (flags & ~O_ACCMODE) | O_RDWR | O_CREAT | O_EXCL, 0600);
}

static int make_directory(const char *name, int flags)
{
    (void)flags;
    return mkdir(name, 0700);
}

/* There is none so far. */
static int find_none(const char *name, int flags)
{
    struct stat st;
    int result = lstat(name, &st);

    (void)flags;
    if (result == 0)
        errno = EEXIST;
    return result < 0 && errno == ENOENT ? 0 : -1;
}

int mkostemps(char *name, int suffix, int flags) { return temporary(name, suffix, flags, make_file); }
int mkostemps64(char *name, int suffix, int flags) { return temporary(name, suffix, flags, make_file); }
int mkstemps(char *name, int suffix) { return temporary(name, suffix, 0, make_file); }
int mkstemps64(char *name, int suffix) { return temporary(name, suffix, 0, make_file); }
int mkostemp(char *name, int flags) { return temporary(name, 0, flags, make_file); }
int mkostemp64(char *name, int flags) { return temporary(name, 0, flags, make_file); }
int mkstemp(char *name) { return temporary(name, 0, 0, make_file); }
int mkstemp64(char *name) { return temporary(name, 0, 0, make_file); }
char *mkdtemp(char *name) { return temporary(name, 0, 0, make_directory) < 0 ? NULL : name; }

char *mktemp(char *name)
{
    if (temporary(name, 0, 0, find_none) < 0)
        *name = 0;
    return name;
}
