/* SPDX-License-Identifier: BSD-3-Clause */
/* What is done to a file's content as a whole: its length, its room, its way to the disk; and what the kernel copies from file to
   file. Under way: made again, but for

     truncate   the size before is noted: others may have appended since
     copies     without offsets of their own: those of the descriptors are noted, and put back
     pipes      what was taken of them cannot be told */
#include "ft/outcome/real.h"

#include <errno.h>
#include <limits.h>
#include <linux/falloc.h>
#include <sys/syscall.h>

#include "ft/base/util.h"
#include "ft/outcome/counts.h"
#include "ft/outcome/descriptors.h"
#include "ft/outcome/inputs.h"
#include "ft/outcome/once.h"
#include "ft/outcome/record.h"
#include "ft/outcome/tcp.h"

/* ---- length ---- */

static int64_t stamp_of(const struct stat *st) { return st->st_ctim.tv_sec * 1000000000 + st->st_ctim.tv_nsec; }

/* note: the size, and when the file had last been changed. */
static bool was_cut(const struct ft_recorded *c, const struct stat *now, off_t length)
{
    off_t before = (off_t)c->record->note[0], size = now->st_size;

    if (size == before && stamp_of(now) == c->record->note[1])
        return false;
    if (size == length || (size < before && size > length))
        return true;
    if (before < length)
        return size > length; /* else others have appended before */
    ft_recorder_lost("it was killed while it cut a file to %lld byte%s, and others have changed that",
                     (long long)length, ft_plural(length));
}

enum { BY_NAME = INT_MIN };

/* A file by its name, or by its descriptor. */
static long look(int fd, const char *name, struct stat *st)
{
    return name ? syscall(SYS_newfstatat, AT_FDCWD, name, st, 0) : syscall(SYS_fstat, fd, st);
}

static int do_truncate(int fd, const char *name, off_t length)
{
    struct ft_recorded c;
    struct stat st;

    if (name)
        ft_inputs_before_change(AT_FDCWD, name);
    if (ft_call_begin(&c, name ? FT_CALL_TRUNCATE : FT_CALL_FTRUNCATE, ft_what(fd, (int64_t)ft_what_name(name), length), 0))
        return (int)ft_call_give(&c);
    if (look(fd, name, &st) == 0) {
        if (!ft_call_noted(&c)) {
            ft_call_note(&c, st.st_size, stamp_of(&st));
        } else if (was_cut(&c, &st, length)) {
            errno = c.error;
            return (int)ft_call_end(&c, 0, 0);
        }
    }
    if (name)
        ft_once_replaces(AT_FDCWD, name, 0);
    else
        ft_once_cuts(fd, length);
    errno = c.error;
    return (int)ft_call_end(&c, fd == BY_NAME ? ft_real()->truncate64(name, length) : ft_real()->ftruncate64(fd, length), 0);
}

int truncate64(const char *name, off_t length)
{
    return ft_recording() ? do_truncate(BY_NAME, name, length) : ft_real()->truncate64(name, length);
}

int ftruncate64(int fd, off_t length) { return ft_recording() ? do_truncate(fd, NULL, length) : ft_real()->ftruncate64(fd, length); }
int truncate(const char *name, off_t length) { return truncate64(name, length); }
int ftruncate(int fd, off_t length) { return ftruncate64(fd, length); }

/* ---- room. Moving what is behind must not be done twice: note[0] is the size before ---- */

int fallocate64(int fd, int mode, off_t at, off_t bytes)
{
    bool moves = mode & (FALLOC_FL_COLLAPSE_RANGE | FALLOC_FL_INSERT_RANGE);
    struct ft_recorded c;
    struct stat st;

    if (!ft_recording())
        return ft_real()->fallocate64(fd, mode, at, bytes);
    if (ft_call_begin(&c, FT_CALL_FALLOCATE, ft_what(fd, mode, (int64_t)ft_what(at, bytes, 0)), 0))
        return (int)ft_call_give(&c);
    if (moves)
        ft_once_read(fd);
    ft_once_write(fd);
    if (moves && syscall(SYS_fstat, fd, &st) == 0) {
        if (!ft_call_noted(&c)) {
            ft_call_note(&c, st.st_size, 0);
        } else if (st.st_size != c.record->note[0]) {
            errno = c.error;
            return (int)ft_call_end(&c, 0, 0);
        }
    }
    errno = c.error;
    return (int)ft_call_end(&c, ft_real()->fallocate64(fd, mode, at, bytes), 0);
}

int fallocate(int fd, int mode, off_t at, off_t bytes) { return fallocate64(fd, mode, at, bytes); }

int posix_fallocate64(int fd, off_t at, off_t bytes)
{
    if (!ft_recording())
        return ft_real()->posix_fallocate64(fd, at, bytes);
    if (!ft_recorder_replays())
        ft_once_write(fd); /* it may be longer then */
    return (int)FT_CALL_PLAIN(FT_CALL_FALLOCATE, ft_what(fd, -1, (int64_t)ft_what(at, bytes, 0)),
                              ft_real()->posix_fallocate64(fd, at, bytes));
}

int posix_fallocate(int fd, off_t at, off_t bytes) { return posix_fallocate64(fd, at, bytes); }

/* ---- to the disk, and hints ---- */

int fsync(int fd)
{
    if (!ft_recording())
        return ft_real()->fsync(fd);
    return (int)FT_CALL_WAITING(FT_CALL_SYNC, ft_what(fd, 0, 0), ft_real()->fsync(fd));
}

int fdatasync(int fd)
{
    if (!ft_recording())
        return ft_real()->fdatasync(fd);
    return (int)FT_CALL_WAITING(FT_CALL_SYNC, ft_what(fd, 1, 0), ft_real()->fdatasync(fd));
}

int syncfs(int fd)
{
    if (!ft_recording())
        return ft_real()->syncfs(fd);
    return (int)FT_CALL_WAITING(FT_CALL_SYNC, ft_what(fd, 2, 0), ft_real()->syncfs(fd));
}

int sync_file_range(int fd, off_t at, off_t bytes, unsigned flags)
{
    if (!ft_recording())
        return ft_real()->sync_file_range(fd, at, bytes, flags);
    return (int)FT_CALL_WAITING(FT_CALL_SYNC, ft_what(fd, 3, (int64_t)ft_what(at, bytes, flags)),
                              ft_real()->sync_file_range(fd, at, bytes, flags));
}

void sync(void)
{
    struct ft_recorded c;

    if (!ft_recording()) {
        ft_real()->sync();
    } else if (ft_call_begin(&c, FT_CALL_SYNC, ft_what(-1, 4, 0), 0)) {
        ft_call_give(&c);
    } else {
        ft_real()->sync();
        ft_call_end(&c, 0, 0);
    }
}

int posix_fadvise64(int fd, off_t at, off_t bytes, int advice)
{
    if (!ft_recording())
        return ft_real()->posix_fadvise64(fd, at, bytes, advice);
    return (int)FT_CALL_PLAIN(FT_CALL_ADVISE, ft_what(fd, advice, (int64_t)ft_what(at, bytes, 0)),
                              ft_real()->posix_fadvise64(fd, at, bytes, advice));
}

int posix_fadvise(int fd, off_t at, off_t bytes, int advice) { return posix_fadvise64(fd, at, bytes, advice); }

ssize_t readahead(int fd, off_t at, size_t bytes)
{
    if (!ft_recording())
        return ft_real()->readahead(fd, at, bytes);
    return FT_CALL_PLAIN(FT_CALL_ADVISE, ft_what(fd, -1, (int64_t)ft_what(at, (int64_t)bytes, 0)), ft_real()->readahead(fd, at, bytes));
}

/* ---- from file to file ---- */

struct copy {
    int from, to;
    off_t *at_from, *at_to;   /* NULL: the descriptor's own offset */
    size_t bytes;
    unsigned flags;
};

static uint64_t what_copy(const struct copy *p, int which)
{
    return ft_what((int64_t)p->from << 32 | p->to, (int64_t)ft_what(p->at_from ? *p->at_from : -1, p->at_to ? *p->at_to : -1, which),
                   (int64_t)ft_what((int64_t)p->bytes, p->flags, 0));
}

static bool is_file(int fd)
{
    enum ft_descriptor_kind kind = ft_descriptors_kind(fd);

    return kind == FT_DESCRIPTOR_FILE || kind == FT_DESCRIPTOR_APPEND;
}

/* Something that cannot be put back: neither a file, nor no descriptor at all, with which the call fails again. */
static bool is_stream(int fd) { return !is_file(fd) && syscall(SYS_fcntl, fd, F_GETFD) >= 0; }

/* A file into a connection. */
static bool is_sent(const struct copy *p) { return is_file(p->from) && ft_descriptors_kind(p->to) == FT_DESCRIPTOR_TCP; }

/* note: the offsets before, of those that have one; of a connection how much had been sent. How much the predecessor has copied; 0: nothing, or it can be done again. The
   kernel moves the offset behind what it has written, at the end. Again would be wrong where a file is copied into itself. */
static ssize_t copy_prepare(struct ft_recorded *c, const struct copy *p)
{
    off_t from = p->at_from || !is_file(p->from) ? -1 : ft_descriptors_offset(p->from);
    off_t to = p->at_to || !is_file(p->to) ? -1 : ft_descriptors_offset(p->to), done;

    if (!ft_call_noted(c)) {
        ft_call_note(c, from, is_sent(p) ? ft_tcp_sent(p->to) : to);
        return 0;
    }
    if (is_sent(p)) {
        done = (off_t)ft_tcp_sent_since(p->to, c->record->note[1], p->bytes);
        if (c->record->note[0] >= 0)
            syscall(SYS_lseek, p->from, (off_t)c->record->note[0] + done, SEEK_SET);
        return done;
    }
    if (is_stream(p->from) || is_stream(p->to))
        ft_recorder_lost("it was killed while the kernel copied from descriptor %d to %d, of which one is no file", p->from, p->to);
    if (c->record->note[1] >= 0 && to > c->record->note[1])
        return to - (off_t)c->record->note[1];
    if (c->record->note[0] >= 0)
        syscall(SYS_lseek, p->from, (off_t)c->record->note[0], SEEK_SET);
    return 0;
}

static void moved(int fd, off_t *at, ssize_t n)
{
    ft_counts_set(fd, FT_COUNT_RECEIVED, -1);
    ft_counts_set(fd, FT_COUNT_SENT, -1);
    if (!at)
        ft_descriptors_set_offset(fd, -1);
    else if (n > 0)
        *at += n;
}

enum which { COPY_RANGE, SENDFILE, SPLICE };

static ssize_t copy_now(const struct copy *p, enum which which, off_t *from, off_t *to)
{
    switch (which) {
    case COPY_RANGE:
        return ft_real()->copy_file_range(p->from, from, p->to, to, p->bytes, p->flags);
    case SENDFILE:
        return ft_real()->sendfile64(p->to, p->from, from, p->bytes);
    default:
        return ft_real()->splice(p->from, from, p->to, to, p->bytes, p->flags);
    }
}

/* Of a file into a connection, after what the killed call has sent. */
static ssize_t send_rest(struct ft_recorded *c, const struct copy *p, off_t at, size_t done)
{
    ssize_t n = FT_WAITING(ft_real()->sendfile64(p->to, p->from, p->at_from ? &at : NULL, p->bytes - done));

    if (n < 0)
        ft_tcp_owes(c, p->to, errno);
    return n < 0 ? 0 : n;
}

static ssize_t do_copy(const struct copy *p, enum which which)
{
    struct ft_recorded c;
    off_t from, to;
    ssize_t n;

    if (ft_call_begin_wait(&c, FT_CALL_COPY, what_copy(p, (int)which), 0)) {
        if (c.record->step > 1)
            ft_tcp_given(&c, p->to);
        n = ft_call_give(&c);
    } else {
        from = p->at_from ? *p->at_from : 0;
        to = p->at_to ? *p->at_to : 0;
        n = copy_prepare(&c, p);
        ft_once_read(p->from);
        ft_once_write(p->to);
        errno = c.error;
        if (n == 0)
            n = FT_WAITING(copy_now(p, which, p->at_from ? &from : NULL, p->at_to ? &to : NULL));
        else if (is_sent(p) && (size_t)n < p->bytes && ft_tcp_waits(p->to, 0))
            n += send_rest(&c, p, from + n, (size_t)n);
        n = ft_call_end(&c, n, 0);
    }
    moved(p->from, p->at_from, n);
    moved(p->to, p->at_to, n);
    return n;
}

ssize_t copy_file_range(int from, off_t *at_from, int to, off_t *at_to, size_t bytes, unsigned flags)
{
    if (!ft_recording())
        return ft_real()->copy_file_range(from, at_from, to, at_to, bytes, flags);
    return do_copy(&(struct copy){from, to, at_from, at_to, bytes, flags}, COPY_RANGE);
}

ssize_t sendfile64(int to, int from, off_t *at, size_t bytes)
{
    if (!ft_recording())
        return ft_real()->sendfile64(to, from, at, bytes);
    return do_copy(&(struct copy){from, to, at, NULL, bytes, 0}, SENDFILE);
}

ssize_t sendfile(int to, int from, off_t *at, size_t bytes) { return sendfile64(to, from, at, bytes); }

ssize_t splice(int from, off_t *at_from, int to, off_t *at_to, size_t bytes, unsigned flags)
{
    if (!ft_recording())
        return ft_real()->splice(from, at_from, to, at_to, bytes, flags);
    return do_copy(&(struct copy){from, to, at_from, at_to, bytes, flags}, SPLICE);
}

/* Between pipes only: what was under way cannot be told. */
ssize_t tee(int from, int to, size_t bytes, unsigned flags)
{
    struct ft_recorded c;

    if (!ft_recording())
        return ft_real()->tee(from, to, bytes, flags);
    if (ft_call_begin(&c, FT_CALL_COPY, ft_what(from, to, (int64_t)ft_what((int64_t)bytes, flags, 9)), 0))
        return ft_call_give(&c);
    if (ft_call_noted(&c))
        ft_recorder_lost("it was killed in tee");
    ft_call_note(&c, 0, 0);
    errno = c.error;
    return ft_call_end(&c, ft_real()->tee(from, to, bytes, flags), 0);
}

/* What is read this way is in the program's memory: nobody keeps it. */
ssize_t vmsplice(int fd, const struct iovec *pieces, size_t n, unsigned flags)
{
    struct ft_recorded c;
    ssize_t done;

    if (!ft_recording())
        return ft_real()->vmsplice(fd, pieces, n, flags);
    if (ft_call_begin(&c, FT_CALL_COPY, ft_what(fd, (int64_t)n, (int64_t)flags), 0) || c.under_way)
        ft_recorder_lost("it called vmsplice, whose outcome is not kept");
    done = ft_call_end(&c, ft_real()->vmsplice(fd, pieces, n, flags), 0);
    ft_recorder_close("it calls vmsplice, whose outcome is not kept");
    return done;
}
