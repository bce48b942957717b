/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/outcome/descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ft/base/util.h"
#include "ft/outcome/counts.h"
#include "ft/outcome/descriptor_kind.h"
#include "ft/outcome/event.h"
#include "ft/outcome/inputs.h"
#include "ft/outcome/real.h"
#include "ft/outcome/record.h"

enum {
    MOST = FT_DESCRIPTORS,
    OWN_FROM = 3500,    /* the library's own, if the limit allows it */
    OWN_MOST = 64,
    LOW = 256,          /* where the others are, most of the time: a shell has 255 */
    AT_ONCE = 512,      /* descriptors that can be told by number */
    /* How the list of descriptors is opened, which takes a number of the program's: no program asks for all of these at once. */
    MARK = O_APPEND | O_NONBLOCK | O_SYNC
};

struct descriptor {
    bool known, own, left, shared;
    bool found;       /* known since it was there: no call of the program's has told of it, perhaps not yet */
    bool was_open;    /* when the predecessor was killed */
    bool first;       /* it came with the start */
    unsigned char kind;
    off_t at;
};

static struct descriptor table[MOST];

/* The engine's sockets to other nodes, as they were at the cut; 0: it is none. */
static ino_t ours[MOST];

/* Numbers from .from up to .to, without that. */
struct range {
    int from, to;
};

static struct range own_range = {MOST, 0};      /* all of the library's own lie there, */
static struct range given_range = {MOST, 0};    /* and those of the launcher's there */
static int odd;       /* a descriptor that cannot be followed; -1: there is none */

static struct descriptor *of(int fd)
{
    return fd >= 0 && fd < MOST ? &table[fd] : NULL;
}

/* struct linux_dirent64. */
struct entry {
    uint64_t inode;
    int64_t offset;
    unsigned short bytes;
    unsigned char type;
    char name[];
};

/* How many are open: the size of the list, since Linux 6.2. 0: not told. */
static off_t open_ones(void)
{
    struct stat st;

    return syscall(SYS_newfstatat, AT_FDCWD, "/proc/thread-self/fd", &st, 0) < 0 ? 0 : st.st_size;
}

static void widen(struct range *r, int fd)
{
    r->from = fd < r->from ? fd : r->from;
    r->to = fd >= r->to ? fd + 1 : r->to;
}

static int add_open(short *list, int n, int most, struct range r, struct range but)
{
    for (int fd = r.from; fd < r.to && n < most; fd++)
        if ((fd < but.from || fd >= but.to) && syscall(SYS_fcntl, fd, F_GETFD) >= 0)
            list[n++] = (short)fd;
    return n;
}

/* By number, where they are expected. To list them has the kernel make a file of each that is shown, which costs five times as much, and as much
   again when the process ends. False: there are others, or the kernel cannot say. */
static bool each_expected(void (*with)(int fd))
{
    short list[AT_ONCE];
    off_t all = open_ones();
    struct range own = {own_range.from < LOW ? LOW : own_range.from, own_range.to};
    int most = (int)all, n = 0;

    if (all <= 0 || all > AT_ONCE || given_range.to > LOW)
        return false;
    n = add_open(list, n, most, own, (struct range){0});
    n = add_open(list, n, most, given_range, (struct range){0});
    n = add_open(list, n, most, (struct range){0, LOW}, given_range);
    for (int i = 0; n == most && i < n; i++)
        with(list[i]);
    return n == most;
}

/* Each open one. Raw: a thread that stands still may hold malloc's lock. */
static void each(void (*with)(int fd))
{
    _Alignas(struct entry) char text[4096];
    int dir;
    long n;

    if (each_expected(with))
        return;
    dir = (int)syscall(SYS_openat, AT_FDCWD, "/proc/thread-self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC | MARK);
    while (dir >= 0 && (n = syscall(SYS_getdents64, dir, text, sizeof text)) > 0)
        for (long i = 0; i < n;) {
            const struct entry *e = (const struct entry *)(const void *)(text + i);
            const char *name = e->name;
            int fd = e->name[0] == '.' ? -1 : (int)ft_number_read(&name, 10);

            if (fd >= 0 && fd != dir)
                with(fd);
            i += e->bytes;
        }
    if (dir >= 0)
        syscall(SYS_close, dir);
}

static void set(int fd, struct descriptor d)
{
    table[fd] = d;
    ft_counts_begin(fd);
}

/* What is counted of it is to be asked for. */
static void uncount(int fd)
{
    table[fd].at = -1;
    ft_counts_forget(fd);
}

static void take_in(int fd)
{
    struct descriptor *d = of(fd);

    if (!d) {
        ft_recorder_close("it has a descriptor above %d (%d)", MOST, fd);
        return;
    }
    if (!d->known)
        set(fd, (struct descriptor){.known = true, .found = true, .own = d->own, .left = d->left, .was_open = d->was_open, .shared = true});
    uncount(fd); /* a replay does not count what it is given */
}

static void take_first(int fd)
{
    take_in(fd);
    if (of(fd))
        of(fd)->first = true;
}

void ft_descriptors_given(int fd) { widen(&given_range, fd); }

void ft_descriptors_open(void) { each(take_first); }

int ft_descriptors_option(int fd, int option)
{
    int value = -1;
    socklen_t bytes = sizeof value;

    return syscall(SYS_getsockopt, fd, SOL_SOCKET, option, &value, &bytes) < 0 ? -1 : value;
}

bool ft_descriptors_is_anonymous(int fd, const char *what)
{
    char name[40];

    return !strcmp(ft_descriptors_name(fd, name, sizeof name), what);
}

/* The C library of another thread has it open for itself, perhaps, and closes it next (a library that is loaded, a locale, a name that is looked up).
   What is there the second time, is there to stay; or a thread has it from a call that it waits in (accept), and stands since then. */
static bool passing;
static ino_t strangers[MOST];

static bool is_passing(int fd)
{
    struct stat st;

    if (!ft_threads_many || !of(fd) || of(fd)->known || of(fd)->own || syscall(SYS_fstat, fd, &st) < 0 || strangers[fd] == st.st_ino)
        return false;
    strangers[fd] = st.st_ino;
    return true;
}

bool ft_descriptors_are_passing(void) { return passing; }

static void look_at(int fd)
{
    if (is_passing(fd)) {
        passing = true;
        return;
    }
    take_in(fd);
    if (odd < 0 && of(fd) && !of(fd)->own && !of(fd)->first && ft_descriptor_kind_is_odd(fd))
        odd = fd;
}

static void note_ours(const int *fds, int n)
{
    struct stat st;

    for (int fd = 0; fd < MOST; fd++)
        if (ours[fd]) /* pages that are not written are not copied */
            ours[fd] = 0;
    for (int i = 0; i < n; i++) {
        ft_descriptors_add(fds[i]);
        if (!of(fds[i]) || syscall(SYS_fstat, fds[i], &st) < 0)
            continue;
        ours[fds[i]] = st.st_ino;
        of(fds[i])->first = true;
    }
}

bool ft_descriptors_look(const int *fds, int n)
{
    note_ours(fds, n);
    odd = -1;
    passing = false;
    each(look_at);
    return odd < 0 && !passing;
}

/* `left` stays in these two: the number may be of several descriptors before the log's end. */
void ft_descriptors_add(int fd)
{
    if (of(fd))
        set(fd, (struct descriptor){.known = true, .left = of(fd)->left, .was_open = of(fd)->was_open, .at = -1});
    else
        ft_recorder_close("it has a descriptor above %d (%d)", MOST, fd);
}

/* A replay's close is of what there was long ago: the number may since have been given to what is left. After it, what was left is closed. */
static void clear(int fd)
{
    if (of(fd))
        set(fd, (struct descriptor){.left = of(fd)->left && !ft_recorder.switched, .was_open = of(fd)->was_open});
}

static void others_forget(int fd)
{
    ft_inputs_close(fd);
    ft_event_closed(fd);
}

void ft_descriptors_closed(int fd)
{
    others_forget(fd);
    clear(fd);
}

void ft_descriptors_lose(int fd)
{
    others_forget(fd);
    if (of(fd))
        set(fd, (struct descriptor){.left = of(fd)->left, .was_open = of(fd)->was_open});
}

void ft_descriptors_share(int fd)
{
    if (of(fd))
        of(fd)->shared = true;
}

void ft_descriptors_share_all(void)
{
    for (int fd = 0; fd < MOST; fd++)
        table[fd].shared |= table[fd].known;
}

bool ft_descriptors_knows(int fd) { return of(fd) && of(fd)->known; }

bool ft_descriptors_is_alone(int fd) { return ft_descriptors_knows(fd) && !of(fd)->shared; }

static void forget(int fd)
{
    table[fd].kind = FT_DESCRIPTOR_UNKNOWN;
    uncount(fd);
}

void ft_descriptors_forget(int fd)
{
    if (!of(fd))
        return;
    forget(fd);
    for (int i = 0; of(fd)->shared && i < MOST; i++)
        if (table[i].shared)
            forget(i);
}

enum ft_descriptor_kind ft_descriptors_kind(int fd)
{
    struct descriptor *d = of(fd);
    int error = errno;

    if (!d)
        return FT_DESCRIPTOR_OTHER;
    if (d->kind == FT_DESCRIPTOR_UNKNOWN)
        d->kind = (unsigned char)ft_descriptor_kind_ask(fd);
    errno = error;
    return d->kind;
}

off_t ft_descriptors_offset(int fd)
{
    struct descriptor *d = of(fd);
    int error = errno;
    off_t at = d && d->known && !d->shared && d->at >= 0 ? d->at : (off_t)syscall(SYS_lseek, fd, 0, SEEK_CUR);

    errno = error;
    return at;
}

void ft_descriptors_set_offset(int fd, off_t at)
{
    if (of(fd))
        of(fd)->at = at;
}

const char *ft_descriptors_link(int fd, char path[40])
{
    strcpy(path, "/proc/thread-self/fd/");
    ft_number_write(path + strlen(path), (uint64_t)fd);
    return path;
}

const char *ft_descriptors_name(int fd, char *text, size_t room)
{
    static const char unknown[] = "a file";
    char link[40];
    ssize_t n = -1;

    if (fd >= 0)
        n = syscall(SYS_readlinkat, AT_FDCWD, ft_descriptors_link(fd, link), text, room - 1);
    if (n < 0)
        memcpy(text, unknown, (size_t)(n = (ssize_t)ft_min(sizeof unknown - 1, room - 1)));
    text[n] = 0;
    return text;
}

/* ---- the library's own ---- */

/* A double, out of the program's way. */
static int above(int fd)
{
    int high = -1;

    for (int from = OWN_FROM; high < 0 && from > OWN_MOST; from /= 2)
        high = (int)syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, from);
    return high;
}

int ft_descriptors_aside(int fd)
{
    int high = above(fd);

    if (high < 0)
        return fd;
    syscall(SYS_close, fd);
    widen(&own_range, high);
    return high;
}

int ft_descriptors_hold(int fd)
{
    int own = above(fd);

    if (own >= MOST) {
        syscall(SYS_close, own);
        errno = EMFILE;
        return -1;
    }
    if (own >= 0)
        ft_descriptors_adopt(own);
    return own;
}

int ft_descriptors_own(int fd)
{
    int own = ft_descriptors_hold(fd), error = errno;

    syscall(SYS_close, fd);
    errno = error;
    return own;
}

void ft_descriptors_adopt(int own)
{
    if (!of(own))
        return;
    set(own, (struct descriptor){.known = true, .own = true, .left = of(own)->left, .at = -1});
    widen(&own_range, own);
}

void ft_descriptors_disown(int own)
{
    syscall(SYS_close, own);
    clear(own);
}

bool ft_descriptors_is_own(int fd) { return of(fd) && of(fd)->own; }

/* ---- what a predecessor left ---- */

/* Also a number that was known when the copy was made: it may have been closed since, and be another one's now. */
static void mark_left(int fd)
{
    if (of(fd)) {
        of(fd)->was_open = true;
        of(fd)->left = true;
    }
}

bool ft_descriptors_was_open(int fd) { return of(fd) && of(fd)->was_open; }

static void close_sockets(void)
{
    struct stat st;

    for (int fd = own_range.from; fd < MOST; fd++)
        if (table[fd].left && !table[fd].known && syscall(SYS_fstat, fd, &st) == 0 && S_ISSOCK(st.st_mode)) {
            syscall(SYS_close, fd);
            table[fd].left = false;
        }
    for (int fd = 0; fd < MOST; fd++) {
        if (!ours[fd])
            continue;
        if (syscall(SYS_fstat, fd, &st) == 0 && st.st_ino == ours[fd])
            syscall(SYS_close, fd);
        clear(fd);
        ours[fd] = 0;
    }
}

/* That of `each`, in which another predecessor was killed. */
static bool is_list(int fd)
{
    struct statfs fs;

    return (syscall(SYS_fcntl, fd, F_GETFL) & MARK) == MARK && syscall(SYS_fstatfs, fd, &fs) == 0 && fs.f_type == PROC_SUPER_MAGIC;
}

/* To the program it was never open: the call that was under way may be a close of its number. */
static void close_lists(void)
{
    for (int fd = 0; fd < MOST; fd++)
        if (table[fd].left && is_list(fd)) {
            syscall(SYS_close, fd);
            table[fd].left = table[fd].was_open = false;
        }
}

void ft_descriptors_left(void)
{
    for (int fd = 0; fd < MOST; fd++) {
        table[fd].left = table[fd].was_open = false;
        ft_counts_left(fd);
        uncount(fd); /* the predecessor has gone on from what was counted when the copy was made */
    }
    each(mark_left);
    close_lists();
    close_sockets();
}

void ft_descriptors_sweep(void)
{
    for (int fd = 0; fd < MOST; fd++) {
        if (table[fd].left && !table[fd].known)
            syscall(SYS_close, fd);
        table[fd].left = false;
    }
}

int ft_descriptors_stray(bool (*is_it)(int fd, const void *arg), const void *arg)
{
    bool stood = ft_thread.log->last < ft_thread.log->from; /* in that call when the copy was made: it may have been found there */

    for (int fd = 0; fd < MOST; fd++)
        if (table[fd].left && (!table[fd].known || (stood && table[fd].found)) && is_it(fd, arg))
            return fd;
    if (ft_threads_resolves_last()) /* what is left may be another one's, that has not come to it yet */
        ft_descriptors_sweep(); /* so that the call, made again, gets the number that it would have got */
    return -1;
}
