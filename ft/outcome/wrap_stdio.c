/* SPDX-License-Identifier: BSD-3-Clause */
/* Streams. The C library's own functions read and write through a table of functions (_IO_file_jumps, and one for wide characters),
   past every name that could be interposed. Its entries that call the system are replaced. Buffers, locks and formats stay the C
   library's.

   The C library opens files for itself, too (time zones, locales, the users' names), without a name that could be interposed. What it
   does with them is done again in a replay, so those streams are none of ours: ours carry a mark.

   A stream is made without the system: on a descriptor of the library's own, /dev/null, in whose place then comes the number that the
   outcome has. */
#include "ft/outcome/stdio.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <termios.h>

#include "ft/base/util.h"
#include "ft/outcome/descriptors.h"
#include "ft/outcome/once.h"
#include "ft/outcome/real.h"
#include "ft/outcome/record.h"

enum {
    READ = 14, WRITE, SEEK, CLOSE, STAT, /* entries of the table, libio/libioP.h */
    ENTRIES = 21,
    IN_ERROR = 0x20,                     /* bits of a stream's flags, libio/libio.h */
    SPARE = 3000,                        /* a descriptor for a moment has such a number */
    TERMINAL = 136                       /* what the C library takes for a terminal without asking */
};

static int null = -1;     /* the library's own */
static bool reached;

/* ---- which are ours ---- */

static const uint64_t MARK = 0x9c1f7a53e08b64d2u;

/* The last bytes of the structure, which no version of the C library uses. */
static char *mark_of(FILE *f) { return (char *)(f + 1) - sizeof MARK; }

/* It has the address in it: the memory may have been another stream's. */
static void set_mark(FILE *f, bool ours)
{
    uint64_t mark = ours ? MARK ^ (uintptr_t)f : 0;

    memcpy(mark_of(f), &mark, sizeof mark);
}

static bool is_ours(FILE *f)
{
    uint64_t mark;

    memcpy(&mark, mark_of(f), sizeof mark);
    return mark == (MARK ^ (uintptr_t)f);
}

/* ---- the table ---- */

static ssize_t file_read(FILE *f, void *to, ssize_t n)
{
    reached = true;
    return is_ours(f) ? read(f->_fileno, to, (size_t)n) : ft_real()->read(f->_fileno, to, (size_t)n);
}

static ssize_t file_write(FILE *f, const void *from, ssize_t n)
{
    bool ours = is_ours(f);
    ssize_t done = 0;

    while (done < n) {
        const char *at = (const char *)from + done;
        ssize_t some = ours ? write(f->_fileno, at, (size_t)(n - done)) : ft_real()->write(f->_fileno, at, (size_t)(n - done));

        if (some < 0) {
            f->_flags |= IN_ERROR;
            break;
        }
        done += some;
    }
    if (f->_offset >= 0)
        f->_offset += done;
    return done;
}

static off_t file_seek(FILE *f, off_t offset, int whence)
{
    return is_ours(f) ? lseek64(f->_fileno, offset, whence) : ft_real()->lseek64(f->_fileno, offset, whence);
}

static int file_close(FILE *f)
{
    bool ours = is_ours(f);

    set_mark(f, false);
    return ours ? close(f->_fileno) : ft_real()->close(f->_fileno);
}

/* The C library asks a device whether it is a terminal, past all names. So it sees a device only where it need not ask. */
static int stat_without_question(int fd, struct stat *st)
{
    struct termios terminal;
    int error = errno;

    if (syscall(SYS_fstat, fd, st) < 0)
        return -1;
    if (S_ISCHR(st->st_mode)) {
        if (syscall(SYS_ioctl, fd, TCGETS, &terminal) == 0)
            st->st_rdev = makedev(TERMINAL, 0);
        else
            st->st_mode = (st->st_mode & ~(mode_t)S_IFMT) | S_IFIFO;
        errno = error;
    }
    return 0;
}

static int file_stat(FILE *f, void *to)
{
    struct stat *st = to;

    if (!is_ours(f) || !ft_recording())
        return (int)syscall(SYS_fstat, f->_fileno, st);
    return (int)FT_CALL_FILLS(FT_CALL_FSTAT, ft_what(f->_fileno, 0, 0), st, stat_without_question(f->_fileno, st));
}

/* ---- the start ---- */

static const struct {
    int entry;
    const char *name;
    void *ours;
} replaced[] = {
    {READ, "_IO_file_read", (void *)file_read},    {WRITE, "_IO_file_write", (void *)file_write},
    {SEEK, "_IO_file_seek", (void *)file_seek},    {CLOSE, "_IO_file_close", (void *)file_close},
    {STAT, "_IO_file_stat", (void *)file_stat},
};

enum { REPLACED = sizeof replaced / sizeof *replaced };

static bool have_expected(void *const *narrow, void *const *wide)
{
    for (int i = 0; narrow && wide && i < REPLACED; i++) {
        const void *function = dlsym(RTLD_DEFAULT, replaced[i].name);

        if (!function || narrow[replaced[i].entry] != function || wide[replaced[i].entry] != function)
            return false;
    }
    return narrow && wide;
}

/* The tables lie side by side in memory that the loader has made read-only. */
static bool replace(void **narrow, void **wide)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), from = (uintptr_t)(narrow < wide ? narrow : wide) & ~(page - 1);
    size_t bytes = ft_align((uintptr_t)((narrow < wide ? wide : narrow) + ENTRIES) - from, page);

    if (syscall(SYS_mprotect, from, bytes, PROT_READ | PROT_WRITE) < 0)
        return false;
    for (int i = 0; i < REPLACED; i++)
        narrow[replaced[i].entry] = wide[replaced[i].entry] = replaced[i].ours;
    return syscall(SYS_mprotect, from, bytes, PROT_READ) == 0;
}

static bool reaches_ours(void)
{
    FILE *f = ft_real()->fdopen(null, "r");

    if (!f)
        return false;
    getc(f);
    f->_fileno = -1; /* the descriptor stays */
    fclose(f);
    return reached;
}

const char *ft_stdio_open(void)
{
    void **narrow = dlsym(RTLD_DEFAULT, "_IO_file_jumps"), **wide = dlsym(RTLD_DEFAULT, "_IO_wfile_jumps");
    FILE *const *first = dlsym(RTLD_DEFAULT, "_IO_list_all");
    int fd = (int)syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDWR | O_CLOEXEC);

    null = fd < 0 ? -1 : ft_descriptors_own(fd);
    if (null < 0)
        return "there is no descriptor for /dev/null";
    if (!have_expected(narrow, wide) || !first)
        return "this C library's streams are not those that are known";
    if (!replace(narrow, wide) || !reaches_ours())
        return "this C library's streams cannot be followed";
    for (FILE *f = *first; f; f = f->_chain)
        set_mark(f, true);
    return NULL;
}

/* ---- modes ---- */

struct mode {
    int flags;      /* of open */
    char text[80];  /* without what opening has done already, and without 'm': that way of reading has a table of its own */
    bool coded;     /* ,ccs= */
};

static bool set_mode(struct mode *m, const char *text)
{
    const char *coding = strstr(text, ",ccs=");
    bool both = false;

    switch (*text) {
    case 'r': m->flags = O_RDONLY; break;
    case 'w': m->flags = O_WRONLY | O_CREAT | O_TRUNC; break;
    case 'a': m->flags = O_WRONLY | O_CREAT | O_APPEND; break;
    default: errno = EINVAL; return false;
    }
    for (const char *c = text + 1; *c && *c != ','; c++) {
        both |= *c == '+';
        m->flags |= (*c == 'x' ? O_EXCL : 0) | (*c == 'e' ? O_CLOEXEC : 0);
    }
    if (both)
        m->flags = (m->flags & ~O_ACCMODE) | O_RDWR;
    m->coded = coding != NULL;
    snprintf(m->text, sizeof m->text, "%c%s%s", *text, both ? "+" : "", coding ? coding : "");
    return true;
}

/* ---- making them ---- */

/* fdopen does not know of codings. */
static FILE *new_stream(const struct mode *m)
{
    FILE *f;

    ft_inside();
    f = m->coded ? ft_real()->fopen64("/dev/null", m->text) : ft_real()->fdopen(null, m->text);
    if (f && m->coded)
        syscall(SYS_close, f->_fileno);
    ft_outside();
    return f;
}

static FILE *stream_of(int fd, const struct mode *m)
{
    FILE *f = new_stream(m);

    if (!f)
        return NULL;
    f->_fileno = fd;
    set_mark(f, true);
    if ((m->flags & (O_APPEND | O_ACCMODE)) == (O_APPEND | O_WRONLY))
        lseek64(fd, 0, SEEK_END);
    return f;
}

static FILE *stream_or_close(int fd, const struct mode *m)
{
    FILE *f = fd < 0 ? NULL : stream_of(fd, m);

    if (!f && fd >= 0)
        close(fd);
    return f;
}

FILE *fopen64(const char *name, const char *mode)
{
    struct mode m;

    if (!ft_recording())
        return ft_real()->fopen64(name, mode);
    if (!set_mode(&m, mode))
        return NULL;
    return stream_or_close(open64(name, m.flags, 0666), &m);
}

FILE *fopen(const char *name, const char *mode) { return fopen64(name, mode); }

FILE *fdopen(int fd, const char *mode)
{
    struct mode m;
    int has;

    if (!ft_recording())
        return ft_real()->fdopen(fd, mode);
    if (!set_mode(&m, mode))
        return NULL;
    has = (int)FT_CALL_PLAIN(FT_CALL_FCNTL, ft_what(fd, F_GETFL, 0), syscall(SYS_fcntl, fd, F_GETFL));
    if (has < 0)
        return NULL;
    if ((has & O_ACCMODE) != O_RDWR && (has & O_ACCMODE) != (m.flags & O_ACCMODE)) {
        errno = EINVAL;
        return NULL;
    }
    if ((m.flags & O_APPEND) && !(has & O_APPEND)) {
        if (FT_CALL_PLAIN(FT_CALL_FCNTL, ft_what(fd, F_SETFL, has | O_APPEND), syscall(SYS_fcntl, fd, F_SETFL, has | O_APPEND)) < 0)
            return NULL;
        ft_descriptors_forget(fd);
    }
    return stream_of(fd, &m);
}

/* As the C library does: the new file gets the old one's number. Under way it is done again: fd is open until that is recorded. */
static void put_in_place(int fd, int old, int flags)
{
    struct ft_recorded c;

    if (ft_call_begin(&c, FT_CALL_DUP, ft_what(fd, old, flags), 0)) {
        ft_call_give_fd(&c);
    } else {
        int result = (int)syscall(SYS_dup3, fd, old, flags);

        ft_once_doubled(fd, result);
        ft_call_end_fd(&c, result);
    }
    close(fd);
}

/* The structure, from one stream to another; the C library closes and duplicates a spare descriptor. An empty name is not found. */
static FILE *renew(FILE *f, const struct mode *m, bool opened)
{
    int spare = (int)syscall(SYS_fcntl, null, F_DUPFD_CLOEXEC, SPARE);
    FILE *renewed;

    ft_inside();
    f->_fileno = spare;
    renewed = ft_real()->freopen64(opened ? "/dev/null" : "", m->text, f);
    ft_outside();
    if (renewed)
        syscall(SYS_close, spare);
    return renewed;
}

FILE *freopen64(const char *name, const char *mode, FILE *f)
{
    char same[40];
    struct mode m;
    int old, fd, error;

    if (!ft_recording() || !is_ours(f))
        return ft_real()->freopen64(name, mode, f);
    if (!set_mode(&m, mode))
        return NULL;
    fflush(f);
    old = f->_fileno;
    snprintf(same, sizeof same, "/proc/thread-self/fd/%d", old);
    fd = open64(name ? name : same, m.flags, 0666);
    error = errno;
    if (fd < 0 && old >= 0)
        close(old);
    if (fd >= 0 && old >= 0 && fd != old) {
        put_in_place(fd, old, m.flags & O_CLOEXEC);
        fd = old;
    }
    f = renew(f, &m, fd >= 0);
    if (fd < 0)
        errno = error;
    if (!f)
        return NULL;
    f->_fileno = fd;
    set_mark(f, true);
    if ((m.flags & (O_APPEND | O_ACCMODE)) == (O_APPEND | O_WRONLY))
        lseek64(fd, 0, SEEK_END);
    return f;
}

FILE *freopen(const char *name, const char *mode, FILE *f) { return freopen64(name, mode, f); }

FILE *tmpfile64(void)
{
    char name[] = P_tmpdir "/tmpfXXXXXX";
    struct mode m;
    int fd;

    if (!ft_recording())
        return ft_real()->tmpfile64();
    set_mode(&m, "w+");
    fd = open64(P_tmpdir, O_RDWR | O_TMPFILE | O_EXCL, 0600);
    if (fd < 0) {
        fd = mkstemp64(name);
        if (fd >= 0)
            unlink(name);
    }
    return stream_or_close(fd, &m);
}

FILE *tmpfile(void) { return tmpfile64(); }
