/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/outcome/inputs.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "ft/outcome/descriptors.h"
#include "ft/outcome/maps.h"
#include "ft/outcome/real.h"
#include "ft/outcome/signals.h"

enum {
    INPUTS = 48,            /* held at a time; what is opened beyond that is read by value */
    FILE_LEAST = 64 << 10,
    READ_LEAST = 4096,      /* less is not worth it */
    AGE_LEAST = 2           /* seconds: the clock of a file is coarse, and may be another host's */
};

struct input {
    int own;                /* 0: a free place */
    int uses;               /* descriptors of the program's that are it */
    bool read;              /* by reference */
    uint64_t id;
    uint64_t closed_at;     /* the log's position when the last of them was closed: copies of before it need it */
};

static struct input inputs[INPUTS];
static unsigned char input_of[FT_DESCRIPTORS]; /* 0: none, else its place + 1 */

static struct input *of(int fd)
{
    return fd >= 0 && fd < FT_DESCRIPTORS && input_of[fd] ? &inputs[input_of[fd] - 1] : NULL;
}

static uint64_t id_of(const struct stat *st) { return ft_what((int64_t)st->st_ino, (int64_t)st->st_dev, 0); }

/* ---- which files ---- */

/* The program's descriptors of the file; writes: those by which it can be changed. */
static int count(const struct stat *file, int but, bool writes)
{
    struct stat st;
    int n = 0;

    for (int fd = 0; fd < FT_DESCRIPTORS; fd++)
        if (fd != but && ft_descriptors_knows(fd) && !ft_descriptors_is_own(fd) && syscall(SYS_fstat, fd, &st) == 0 &&
            st.st_ino == file->st_ino && st.st_dev == file->st_dev)
            n += !writes || (syscall(SYS_fcntl, fd, F_GETFL) & O_ACCMODE) != O_RDONLY;
    return n;
}

bool ft_inputs_is_old(const struct stat *file)
{
    struct timespec now;

    return syscall(SYS_clock_gettime, CLOCK_REALTIME, &now) == 0 && now.tv_sec - file->st_ctim.tv_sec > AGE_LEAST &&
           now.tv_sec - file->st_mtim.tv_sec > AGE_LEAST;
}

static bool is_input(int fd, int flags, struct stat *st)
{
    return (flags & (O_ACCMODE | O_PATH)) == O_RDONLY && syscall(SYS_fstat, fd, st) == 0 && S_ISREG(st->st_mode) &&
           st->st_size >= FILE_LEAST && ft_inputs_is_old(st) && count(st, fd, true) == 0;
}

int ft_inputs_opened_as(const struct stat *file, bool writes) { return count(file, -1, writes); }

/* No copy needs it, and the program has no lock on it that closing a descriptor would take. */
static bool can_go(const struct input *in)
{
    struct stat st;

    return in->uses == 0 && atomic_load(&ft_recorder.log.words->released) >= in->closed_at &&
           syscall(SYS_fstat, in->own, &st) == 0 && count(&st, -1, false) == 0;
}

static struct input *place(void)
{
    for (int i = 0; i < INPUTS; i++)
        if (!inputs[i].own)
            return &inputs[i];
    for (int i = 0; i < INPUTS; i++)
        if (can_go(&inputs[i])) {
            ft_descriptors_disown(inputs[i].own);
            inputs[i].own = 0;
            return &inputs[i];
        }
    return NULL;
}

/* From now on it is read by value. */
static void forget(uint64_t id)
{
    for (int fd = 0; fd < FT_DESCRIPTORS; fd++)
        if (of(fd) && of(fd)->id == id)
            ft_inputs_close(fd);
}

static bool any(uint64_t id, bool read)
{
    for (int i = 0; i < INPUTS; i++)
        if (inputs[i].own && (inputs[i].read || !read) && (id == 0 || inputs[i].id == id))
            return true;
    return false;
}

/* note: the descriptor that holds it, and which file it is. Or 0 and which file, if that one can be changed by the descriptor. */
void ft_inputs_opened(struct ft_recorded *c, int fd, int flags)
{
    int error = errno, own;
    struct stat st;

    if (fd < 0 || !c->record)
        return;
    c->record->note[0] = c->record->note[1] = 0;
    if ((flags & O_ACCMODE) != O_RDONLY) {
        if (any(0, false) && syscall(SYS_fstat, fd, &st) == 0 && any(id_of(&st), false))
            c->record->note[1] = (int64_t)id_of(&st);
    } else if (fd < FT_DESCRIPTORS && is_input(fd, flags, &st) && place() && (own = ft_descriptors_hold(fd)) > 0) {
        c->record->note[0] = own;
        c->record->note[1] = (int64_t)id_of(&st);
    }
    ft_inputs_given(c, fd);
    errno = error;
}

void ft_inputs_given(const struct ft_recorded *c, int fd)
{
    int own = (int)c->record->note[0], at = -1;

    if (fd < 0)
        return;
    ft_inputs_close(fd); /* somebody may have closed it unseen */
    if (own <= 0 && c->record->note[1])
        forget((uint64_t)c->record->note[1]);
    if (own <= 0)
        return;
    ft_descriptors_adopt(own);
    for (int i = 0; i < INPUTS; i++)
        if (inputs[i].own == own || (at < 0 && !inputs[i].own)) /* the predecessor may have used the number again */
            at = i;
    if (at < 0)
        for (at = INPUTS - 1; at > 0 && inputs[at].uses; at--) /* its place was free to the predecessor */
            continue;
    inputs[at] = (struct input){.own = own, .uses = 1, .id = (uint64_t)c->record->note[1]};
    input_of[fd] = (unsigned char)(at + 1);
}

void ft_inputs_close(int fd)
{
    struct input *in = of(fd);

    if (!in)
        return;
    input_of[fd] = 0;
    if (--in->uses == 0)
        in->closed_at = ft_recorder_position();
}

void ft_inputs_double(int fd, int to)
{
    struct input *in = of(fd);

    if (!in || to < 0 || to >= FT_DESCRIPTORS)
        return;
    in->uses++;
    input_of[to] = input_of[fd];
}

/* ---- reading ---- */

bool ft_inputs_has(int fd, size_t n)
{
    if (n < READ_LEAST)
        return false;
    ft_signals_give(); /* the next record is this call's */
    return ft_recorder_replays() ? ft_recorder_next() == FT_CALL_READ_REFERENCE : of(fd) != NULL;
}

static void lost(const struct input *in)
{
    char name[160];

    ft_recorder_lost("%s, which it has read, has been changed since by others", ft_descriptors_name(in->own, name, sizeof name));
}

/* What was read at this offset once more, into `to`. */
static ssize_t read_again(struct ft_recorded *c, int fd, void *to, off_t at)
{
    size_t want = c->record->result > 0 ? (size_t)c->record->result : 0, done = 0;
    struct input *in = of(fd);

    if (!in)
        ft_recorder_lost("a replay reads descriptor %d, which was another file's", fd);
    in->read = true;
    while (done < want) {
        ssize_t n = syscall(SYS_pread64, in->own, (char *)to + done, want - done, at + (off_t)done);

        if (n <= 0)
            lost(in);
        done += (size_t)n;
    }
    if (want && ft_what_bytes(to, want) != (uint64_t)c->record->note[1])
        lost(in);
    return ft_call_give(c);
}

/* note: the offset before, and the hash. */
static ssize_t was_read(struct ft_recorded *c, int fd, const void *to, ssize_t got)
{
    int error = errno;

    if (of(fd))
        of(fd)->read = true; /* else another thread has just opened it to write: then that reads it, and closes what there is of before */
    if (c->record && got > 0)
        c->record->note[1] = (int64_t)ft_what_bytes(to, (size_t)got);
    errno = error;
    return ft_call_end(c, got, 0);
}

ssize_t ft_inputs_read(int fd, void *to, size_t n)
{
    struct ft_recorded c;
    ssize_t got;
    off_t at;

    if (ft_call_begin(&c, FT_CALL_READ_REFERENCE, ft_what(fd, (int64_t)n, -1), 0))
        return read_again(&c, fd, to, (off_t)c.record->note[0]);
    if (ft_call_noted(&c)) {
        at = (off_t)c.record->note[0];
        syscall(SYS_lseek, fd, at, SEEK_SET);
    } else {
        at = ft_descriptors_offset(fd);
        ft_call_note(&c, at, 0);
    }
    errno = c.error;
    got = ft_real()->read(fd, to, n);
    ft_descriptors_set_offset(fd, got >= 0 ? at + got : -1);
    return was_read(&c, fd, to, got);
}

ssize_t ft_inputs_pread(int fd, void *to, size_t n, off_t at)
{
    struct ft_recorded c;

    if (ft_call_begin(&c, FT_CALL_READ_REFERENCE, ft_what(fd, (int64_t)n, at), 0))
        return read_again(&c, fd, to, at);
    return was_read(&c, fd, to, ft_real()->pread64(fd, to, n, at));
}

/* ---- changing ---- */

void ft_inputs_before_change(int dir, const char *name)
{
    char why[FT_OUTCOME_WHY];
    int error = errno;
    struct stat st;

    if ((!any(0, true) && !ft_maps_followed()) || ft_recorder_replays() || syscall(SYS_newfstatat, dir, name, &st, 0) < 0) {
        errno = error;
        return;
    }
    if (!ft_recorder_may_renew()) {
        errno = error;
        return;
    }
    if (ft_maps_change(&st))
        ft_recorder_close("it has mapped %.150s as it was before it changed it", name);
    if (!any(id_of(&st), true)) {
        ft_recorder_renew_not();
        errno = error;
        return;
    }
    forget(id_of(&st));
    snprintf(why, sizeof why, "it has read %.150s as it was before it changed it", name);
    ft_recorder_renew(why);
    ft_threads_lock();
    for (int i = 0; i < INPUTS; i++)
        inputs[i].read &= inputs[i].id != id_of(&st);
    ft_threads_unlock();
    errno = error;
}
