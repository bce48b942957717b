/* SPDX-License-Identifier: BSD-3-Clause */
/* Mappings. A replay maps the file once more, by the descriptor that holds it. Under way it is mapped: the predecessor's has gone with it.
   Mappings of the C library and of the dynamic linker never come here. */
#include "ft/outcome/real.h"

#include <errno.h>
#include <linux/magic.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/statfs.h>
#include <sys/syscall.h>

#include "ft/outcome/descriptors.h"
#include "ft/outcome/images.h"
#include "ft/outcome/inputs.h"
#include "ft/outcome/maps.h"
#include "ft/outcome/once.h"
#include "ft/outcome/record.h"
#include "ft/outcome/signals.h"

enum { MOST = 256 };

struct map {
    uintptr_t start, end;  /* 0: unmapped; a copy of before may need the file */
    int own;               /* holds the file; 0: not followed */
    int64_t stamp;         /* of the file */
    ino_t inode;
    dev_t device;
    uint64_t gone_at;      /* the log's position when it was unmapped */
};

static struct map maps[MOST];
static int nmaps;          /* MOST: there may be more, for ever */

/* ---- the file ---- */

static int64_t stamp_of(const struct stat *st)
{
    return (int64_t)ft_what(st->st_size, st->st_ctim.tv_sec * 1000000000 + st->st_ctim.tv_nsec,
                            st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec);
}

/* Stores into mappings of the others change no time there. */
static bool is_memory(int fd)
{
    struct statfs fs;

    return syscall(SYS_fstatfs, fd, &fs) < 0 || fs.f_type == TMPFS_MAGIC || fs.f_type == RAMFS_MAGIC || fs.f_type == HUGETLBFS_MAGIC;
}

/* Only the first store into a clean page of another's mapping changes the times: so all pages are made clean before the stamp is taken. */
static bool is_settled(int fd, struct stat *st)
{
    int64_t before = stamp_of(st);

    syscall(SYS_sync_file_range, fd, (off_t)0, (off_t)0, SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER);
    return syscall(SYS_fstat, fd, st) == 0 && stamp_of(st) == before;
}

static bool can_be_followed(int fd, int flags, struct stat *st)
{
    return !(flags & MAP_ANONYMOUS) && nmaps < MOST && syscall(SYS_fstat, fd, st) == 0 && S_ISREG(st->st_mode) &&
           ((int)syscall(SYS_fcntl, fd, F_GETFL) & O_ACCMODE) == O_RDONLY && ft_inputs_is_old(st) && !is_memory(fd) &&
           ft_inputs_opened_as(st, true) == 0 && is_settled(fd, st);
}

static void differs(int own)
{
    char name[160];

    ft_recorder_lost("%s, which it has mapped, has been changed since", ft_descriptors_name(own, name, sizeof name));
}

static void compare(int own, int64_t stamp)
{
    struct stat st;

    if (syscall(SYS_fstat, own, &st) < 0 || stamp_of(&st) != stamp)
        differs(own);
}

void ft_maps_compare(void)
{
    for (int i = 0; i < nmaps; i++)
        if (maps[i].start && maps[i].own)
            compare(maps[i].own, maps[i].stamp);
}

/* ---- which there are ---- */

bool ft_maps_any(void)
{
    for (int i = 0; i < nmaps; i++)
        if (maps[i].start && !maps[i].own)
            return true;
    return nmaps == MOST;
}

bool ft_maps_followed(void)
{
    for (int i = 0; i < nmaps; i++)
        if (maps[i].start && maps[i].own)
            return true;
    return false;
}

bool ft_maps_change(const struct stat *file)
{
    bool any = false;

    for (int i = 0; i < nmaps; i++)
        if (maps[i].start && maps[i].own && maps[i].inode == file->st_ino && maps[i].device == file->st_dev) {
            maps[i].own = 0; /* it stays open: copies may need it */
            any = true;
        }
    return any;
}

/* Another entry holds the file with the same descriptor, and for as long. */
static bool is_held_by_other(const struct map *m)
{
    for (int i = 0; i < nmaps; i++)
        if (&maps[i] != m && maps[i].own == m->own && (maps[i].start || maps[i].gone_at >= m->gone_at))
            return true;
    return false;
}

/* No copy needs it, and the program has no lock on it that closing a descriptor would take. */
static bool can_be_closed(const struct map *m)
{
    struct stat st;

    return !ft_recorder_replays() && atomic_load(&ft_recorder.log.words->released) >= m->gone_at &&
           syscall(SYS_fstat, m->own, &st) == 0 && ft_inputs_opened_as(&st, false) == 0;
}

static void note(struct map m)
{
    ft_threads_lock();
    for (int i = nmaps - 1; i >= 0 && nmaps < MOST; i--) {
        bool held = !maps[i].own || is_held_by_other(&maps[i]);

        if (maps[i].start || (!held && !can_be_closed(&maps[i])))
            continue;
        if (!held)
            ft_descriptors_disown(maps[i].own);
        maps[i] = maps[--nmaps];
    }
    if (nmaps < MOST)
        maps[nmaps++] = m;
    ft_threads_unlock();
}

/* It has been mapped before, and is what it was: the library has a descriptor of it. */
static int hold(int fd, const struct stat *st)
{
    for (int i = 0; i < nmaps; i++)
        if (maps[i].own && maps[i].inode == st->st_ino && maps[i].device == st->st_dev && maps[i].stamp == stamp_of(st))
            return maps[i].own;
    return ft_descriptors_hold(fd);
}

static void release(int own)
{
    for (int i = 0; i < nmaps; i++)
        if (maps[i].own == own)
            return;
    ft_descriptors_disown(own);
}

/* Whole mappings only: what is unmapped in part stays. */
static void forget(uintptr_t start, size_t bytes)
{
    if (nmaps == MOST)
        return;
    for (int i = 0; i < nmaps; i++)
        if (maps[i].start && maps[i].start >= start && maps[i].end <= ((start + bytes + 4095) & ~(uintptr_t)4095)) {
            maps[i].start = 0;
            maps[i].gone_at = ft_recorder_position();
        }
}

/* ---- mapping ---- */

static void *map_now(const struct ft_mapping *m, int fd)
{
    return ft_real()->mmap64(m->at, m->bytes, m->protection, m->flags, fd, m->offset);
}

static uint64_t what_of(const struct ft_mapping *m)
{
    return ft_what((int64_t)m->bytes, m->offset, (int64_t)ft_what(m->fd, m->protection, m->flags));
}

static _Noreturn void cannot_again(void) { ft_recorder_lost("a replay maps a file that could not be mapped"); }

/* It could not be mapped: that, with errno, is the outcome. A replay has other files open. */
static void *failed(const struct ft_mapping *m)
{
    struct ft_recorded c;

    if (ft_call_begin(&c, FT_CALL_IMAGE, what_of(m), 0)) {
        ft_call_give(&c);
        return MAP_FAILED;
    }
    if (c.under_way && map_now(m, m->fd) != MAP_FAILED)
        cannot_again();
    ft_call_end(&c, -1, 0);
    return MAP_FAILED;
}

/* note: the descriptor that holds the file, and its stamp. */
static void *map_again(struct ft_recorded *c, const struct ft_mapping *m)
{
    int own = (int)c->record->note[0];
    void *start = MAP_FAILED;
    struct stat st;

    if (c->record->result == 0) {
        ft_descriptors_adopt(own);
        compare(own, c->record->note[1]);
        start = map_now(m, own);
        if (start == MAP_FAILED || syscall(SYS_fstat, own, &st) < 0)
            ft_recorder_lost("it cannot map a file again that it had mapped");
        note((struct map){(uintptr_t)start, (uintptr_t)start + m->bytes, own, c->record->note[1], st.st_ino, st.st_dev, 0});
    }
    ft_call_give(c);
    return start;
}

static void *map_followed(const struct ft_mapping *m, const struct stat *st)
{
    struct ft_recorded c;
    void *start;
    int own;

    if (ft_call_begin(&c, FT_CALL_MAP, what_of(m), 0))
        return map_again(&c, m);
    own = hold(m->fd, st);
    errno = c.error;
    start = map_now(m, m->fd);
    if (own < 0 && start != MAP_FAILED)
        ft_recorder_close("it has mapped a file, and there is no descriptor to hold it");
    if (c.record) {
        c.record->note[0] = own;
        c.record->note[1] = stamp_of(st);
    }
    if (start != MAP_FAILED)
        note((struct map){(uintptr_t)start, (uintptr_t)start + m->bytes, own < 0 ? 0 : own, stamp_of(st), st->st_ino, st->st_dev, 0});
    else if (own >= 0)
        release(own);
    ft_call_end(&c, start == MAP_FAILED ? -1 : 0, 0);
    return start;
}

static void unfollowed(const struct ft_mapping *m, void *start)
{
    ft_recorder_close("it has mapped a file, or memory that others may share");
    note((struct map){.start = (uintptr_t)start, .end = (uintptr_t)start + m->bytes});
}

static void *map_unfollowed(const struct ft_mapping *m)
{
    void *start = map_now(m, m->fd);

    if (start == MAP_FAILED)
        return failed(m);
    if (m->fd >= 0 && !(m->flags & MAP_ANONYMOUS)) {
        ft_once_read(m->fd);
        if (m->flags & MAP_SHARED && m->protection & PROT_WRITE)
            ft_once_write(m->fd);
    }
    unfollowed(m, start);
    return start;
}

/* ---- files that may change ---- */

static void map_said(const struct ft_mapping *m)
{
    ft_once_read(m->fd);
    if (m->flags & MAP_SHARED && m->protection & PROT_WRITE)
        ft_once_write(m->fd);
}

/* Private, which is small (ft_images_can): what is in it is recorded, and is all that a replay needs. */
static void *map_recorded(const struct ft_mapping *m, const struct stat *st)
{
    struct ft_recorded c;
    size_t bytes = 0;
    void *start;

    if (ft_call_begin(&c, FT_CALL_IMAGE, what_of(m), m->bytes)) {
        start = MAP_FAILED;
        if (c.record->result == 0)
            start = (void *)syscall(SYS_mmap, m->at, m->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (start != MAP_FAILED)
            memcpy(start, ft_call_data(&c), ft_call_bytes(&c));
        if (start != MAP_FAILED && syscall(SYS_mprotect, start, m->bytes, m->protection) < 0)
            ft_recorder_lost("it cannot have memory in place of a file that it had mapped");
        ft_call_give(&c);
        return start;
    }
    map_said(m);
    errno = c.error;
    start = map_now(m, m->fd);
    if (start != MAP_FAILED) {
        bytes = c.record ? ft_images_read(m->fd, m->offset, ft_call_data(&c), m->bytes) : 0;
        if (!ft_images_add(m, st, start))
            unfollowed(m, start); /* another thread has been faster */
        errno = c.error;
    }
    ft_call_end(&c, start == MAP_FAILED ? -1 : 0, bytes);
    return start;
}

static void *map(const struct ft_mapping *m);

/* Else a copy that has its image is the first way back. */
static void *map_imaged(const struct ft_mapping *m, const struct stat *st)
{
    void *start;
    int error = errno;

    if (!ft_recorder_may_renew())
        return map(m); /* a process that has been made of a copy meanwhile */
    if (!ft_images_can(m, st)) { /* another thread has mapped it */
        ft_recorder_renew_not();
        return map_unfollowed(m);
    }
    ft_images_settle();
    map_said(m);
    errno = error;
    start = map_now(m, m->fd);
    error = errno;
    if (start == MAP_FAILED) {
        ft_recorder_renew_not();
        errno = error;
        return failed(m);
    }
    ft_images_add(m, st, start);
    ft_recorder_renew("it has mapped a file that may change");
    errno = error;
    return start;
}

/* What a replay comes to is recorded, or closed the ways back. */
static void *map_as_before(const struct ft_mapping *m, const struct stat *st)
{
    switch (ft_recorder_next()) {
    case FT_CALL_MAP: return map_followed(m, st);
    case FT_CALL_IMAGE: return m->flags & MAP_PRIVATE ? map_recorded(m, st) : failed(m);
    default: cannot_again();
    }
}

static void *map(const struct ft_mapping *m)
{
    int error = errno;
    struct stat st = {0};
    bool is_file, input;

    ft_signals_give();
    is_file = !(m->flags & MAP_ANONYMOUS) && syscall(SYS_fstat, m->fd, &st) == 0;
    errno = error;
    if (ft_recorder_replays())
        return map_as_before(m, &st);
    input = is_file && can_be_followed(m->fd, m->flags, &st);
    errno = error;
    if (input)
        return map_followed(m, &st);
    if (!is_file || !ft_images_can(m, &st))
        return map_unfollowed(m);
    errno = error;
    return m->flags & MAP_PRIVATE ? map_recorded(m, &st) : map_imaged(m, &st);
}

void *mmap64(void *at, size_t bytes, int protection, int flags, int fd, off_t offset)
{
    bool private = flags & MAP_ANONYMOUS && !(flags & MAP_SHARED);

    if (ft_images_any && flags & MAP_FIXED && ft_recording())
        ft_images_unfollow(at, bytes, "it has mapped something else in the place of a file (MAP_FIXED)");
    if (private || !ft_recording())
        return ft_real()->mmap64(at, bytes, protection, flags, fd, offset);
    return map(&(struct ft_mapping){at, bytes, protection, flags, fd, offset});
}

void *mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset) __attribute__((alias("mmap64")));

enum { UNMAP = -1, SYNC = -2 };

static int unmap_image(void *at, size_t bytes)
{
    struct ft_recorded c;
    int result;

    if (ft_call_begin(&c, FT_CALL_IMAGE, ft_what((int64_t)bytes, UNMAP, 0), 0)) {
        syscall(SYS_munmap, at, bytes);
        ft_images_remove(at);
        return (int)ft_call_give(&c);
    }
    result = ft_real()->munmap(at, bytes);
    ft_images_remove(at);
    return (int)ft_call_end(&c, result, 0);
}

/* With the lock: the address may be another mapping's as soon as it is free. */
static int unmap(void *at, size_t bytes, bool is_image)
{
    int result = ft_real()->munmap(at, bytes);

    if (is_image && result == 0)
        ft_images_remove(at);
    else if (ft_images_any && result == 0)
        ft_images_unmapped(at, bytes);
    if (nmaps > 0 && result == 0)
        forget((uintptr_t)at, bytes);
    return result;
}

int munmap(void *at, size_t bytes)
{
    enum ft_images_what what = ft_images_any && ft_recording() ? ft_images_find(at, bytes) : FT_IMAGES_NONE;
    int result;

    if (what == FT_IMAGES_SHARED)
        return unmap_image(at, bytes);
    if (!ft_images_any && nmaps == 0)
        return ft_real()->munmap(at, bytes);
    ft_threads_lock();
    result = unmap(at, bytes, what == FT_IMAGES_PRIVATE);
    ft_threads_unlock();
    return result;
}

int msync(void *at, size_t bytes, int flags)
{
    if (!ft_images_any || !ft_recording())
        return ft_real()->msync(at, bytes, flags);
    return (int)FT_CALL_PLAIN(FT_CALL_IMAGE, ft_what((int64_t)bytes, SYNC, flags), ft_real()->msync(at, bytes, flags));
}

int mprotect(void *at, size_t bytes, int protection)
{
    if (ft_images_any && ft_recording())
        ft_images_unfollow(at, bytes, "it has changed who may do what in a file that it has mapped (mprotect)");
    return ft_real()->mprotect(at, bytes, protection);
}

void *mremap(void *at, size_t bytes, size_t wanted, int flags, ...)
{
    void *to;
    va_list args;

    va_start(args, flags);
    to = va_arg(args, void *);
    va_end(args);
    if (ft_images_any && ft_recording())
        ft_images_unfollow(at, bytes, "it has moved a file that it has mapped (mremap)");
    to = ft_real()->mremap(at, bytes, wanted, flags, to);
    if (ft_images_any && to != MAP_FAILED)
        ft_images_moved(at, to, wanted);
    return to;
}

void *shmat(int id, const void *at, int flags)
{
    void *start = ft_real()->shmat(id, at, flags);

    if (start != (void *)-1 && ft_recording()) {
        ft_recorder_close("it has memory that others may share (shmat)");
        note((struct map){.start = (uintptr_t)start, .end = (uintptr_t)start + 1});
    }
    return start;
}

int shmdt(const void *at)
{
    int result;

    ft_threads_lock();
    result = ft_real()->shmdt(at);
    if (result == 0)
        forget((uintptr_t)at, 1);
    ft_threads_unlock();
    return result;
}
