/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/outcome/images.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "ft/base/util.h"
#include "ft/outcome/children.h"
#include "ft/outcome/once.h"
#include "ft/outcome/real.h"
#include "ft/outcome/record.h"
#include "ft/outcome/stand.h"

enum { IMAGES = FT_OUTCOME_MAPPED, CHUNK = 256 << 10 };

static const uint64_t BYTES = 1ull << 30, STOP_NS = 5000000000; /* to stop the other threads */

struct ft_image_of {
    char *start;
    size_t bytes;
    int protection;
    bool shared, followed;
    off_t offset;
    uint64_t file;
    void *image;    /* while a copy is made, and in that: what is to come into its place */
    void *aside;    /* shared, in a replay: the mapping itself */
    bool copied;    /* a copy has been made since, so that nobody can tell to which of its pages a replay has written */
};

static struct ft_image_of images[IMAGES];
static int nimages;
static char chunk[CHUNK];

_Atomic bool ft_images_any, ft_images_held;

static size_t whole(size_t bytes) { return ft_align(bytes, ft_page_bytes()); }

static bool is_zero(const char *bytes, size_t n) { return !*bytes && memcmp(bytes, bytes + 1, n - 1) == 0; }

static uint64_t id_of(const struct stat *st) { return ft_what((int64_t)st->st_dev, (int64_t)st->st_ino, 0) | 1; }

/* ---- which there are ---- */

/* Other ranks look here. */
static void publish(void)
{
    struct ft_outcome_words *words = ft_recorder.log.words;
    int n = 0;

    ft_images_any = nimages > 0;
    for (int i = 0; i < nimages; i++)
        if (images[i].shared)
            atomic_store(&words->mapped[n++], images[i].file);
    for (; n < IMAGES; n++)
        atomic_store(&words->mapped[n], 0);
}

static bool of_several_hosts(int fd)
{
    struct statfs fs;

    if (syscall(SYS_fstatfs, fd, &fs) < 0)
        return true;
    switch ((unsigned long)fs.f_type) {
    case EXT4_SUPER_MAGIC: case XFS_SUPER_MAGIC: case BTRFS_SUPER_MAGIC: case TMPFS_MAGIC: case RAMFS_MAGIC: case F2FS_SUPER_MAGIC:
    case OVERLAYFS_SUPER_MAGIC: case 0x2fc12fc1: /* ZFS */
        return false;
    default:
        return true;
    }
}

static bool is_mapped_already(const struct ft_mapping *m, uint64_t file)
{
    for (int i = 0; i < nimages; i++)
        if (images[i].file == file && images[i].offset < m->offset + (off_t)m->bytes && m->offset < images[i].offset + (off_t)images[i].bytes)
            return true;
    return false;
}

static uint64_t all_bytes(void)
{
    uint64_t sum = 0;

    for (int i = 0; i < nimages; i++)
        sum += images[i].bytes;
    return sum;
}

/* What is only read there others change, so that a replay must not be given it as it was. */
bool ft_images_can(const struct ft_mapping *m, const struct stat *st)
{
    const int plain = MAP_SHARED | MAP_PRIVATE | MAP_NORESERVE | MAP_POPULATE;

    if (m->flags & ~plain || !S_ISREG(st->st_mode) || nimages == IMAGES || m->bytes == 0 || all_bytes() + m->bytes > BYTES ||
        is_mapped_already(m, id_of(st)))
        return false;
    if (m->flags & MAP_PRIVATE)
        return m->bytes <= FT_OUTCOME_PIECE && ft_once_made(m->fd);
    return m->protection & PROT_WRITE && !of_several_hosts(m->fd) && !ft_children_some();
}

static void add(const struct ft_mapping *m, const struct stat *st, void *start)
{
    images[nimages++] = (struct ft_image_of){.start = start, .bytes = whole(m->bytes), .protection = m->protection,
                                             .shared = m->flags & MAP_SHARED, .followed = true, .offset = m->offset, .file = id_of(st)};
    publish();
    if (m->flags & MAP_SHARED && ft_recorder.others_map && ft_recorder.others_map(id_of(st), true))
        images[nimages - 1].followed = false;
}

bool ft_images_add(const struct ft_mapping *m, const struct stat *st, void *start)
{
    bool room;

    ft_threads_lock();
    room = nimages < IMAGES;
    if (room)
        add(m, st, start);
    ft_threads_unlock();
    return room;
}

static bool overlaps(const struct ft_image_of *i, const char *at, size_t bytes)
{
    return at < i->start + i->bytes && i->start < at + bytes;
}

enum ft_images_what ft_images_find(const void *at, size_t bytes)
{
    enum ft_images_what what = FT_IMAGES_NONE;

    ft_threads_lock();
    for (int i = 0; i < nimages; i++)
        if (images[i].start == at && images[i].bytes == whole(bytes))
            what = images[i].shared ? FT_IMAGES_SHARED : FT_IMAGES_PRIVATE;
    ft_threads_unlock();
    if (what == FT_IMAGES_NONE)
        ft_images_unfollow(at, bytes, "it has unmapped a part of a file");
    return what;
}

static void remove_at(int i)
{
    if (images[i].aside)
        syscall(SYS_munmap, images[i].aside, images[i].bytes);
    images[i] = images[--nimages];
    publish();
}

void ft_images_remove(const void *at)
{
    ft_threads_lock();
    for (int i = 0; i < nimages; i++)
        if (images[i].start == at) {
            remove_at(i);
            break;
        }
    ft_threads_unlock();
}

static void unfollow(struct ft_image_of *i, const char *why)
{
    i->followed = false;
    ft_recorder_close("%s", why);
}

/* Of one that is not followed: that is unmapped. */
void ft_images_unmapped(const void *at, size_t bytes)
{
    const char *end = (const char *)at + whole(bytes);

    for (int i = nimages - 1; i >= 0; i--) {
        struct ft_image_of *m = &images[i];

        if (m->followed || !overlaps(m, at, whole(bytes)))
            continue;
        if ((const char *)at <= m->start) {
            size_t gone = ft_min((size_t)(end - m->start), m->bytes);

            m->start += gone;
            m->bytes -= gone;
        } else if (end >= m->start + m->bytes) {
            m->bytes = (size_t)((const char *)at - m->start);
        }
        if (m->bytes == 0)
            remove_at(i);
    }
}

void ft_images_moved(const void *from, void *to, size_t bytes)
{
    ft_threads_lock();
    for (int i = 0; i < nimages; i++)
        if (images[i].start == from) {
            images[i].start = to;
            images[i].bytes = whole(bytes);
        }
    ft_threads_unlock();
}

/* In a replay: the predecessor had not done that, or its ways back were closed. */
static void must_be_beyond(const char *why)
{
    if (ft_recorder_replays())
        ft_recorder_lost("a replay does what its predecessor did not: %s", why);
    ft_recorder_live();
    ft_images_settle();
}

static bool is_followed(const void *at, size_t bytes)
{
    bool any = false;

    ft_threads_lock();
    for (int i = 0; i < nimages; i++)
        any |= images[i].followed && overlaps(&images[i], at, bytes);
    ft_threads_unlock();
    return any;
}

void ft_images_unfollow(const void *at, size_t bytes, const char *why)
{
    if (!is_followed(at, bytes))
        return;
    must_be_beyond(why);
    ft_threads_lock();
    for (int i = 0; i < nimages; i++)
        if (images[i].followed && overlaps(&images[i], at, bytes))
            unfollow(&images[i], why);
    ft_threads_unlock();
}

void ft_images_unfollow_all(const char *why)
{
    ft_threads_lock();
    for (int i = 0; i < nimages; i++)
        if (images[i].shared && images[i].followed)
            unfollow(&images[i], why);
    ft_threads_unlock();
}

/* Copies of after that have it in their images. */
void ft_images_written(int fd)
{
    int error = errno;
    struct stat st;

    ft_threads_lock();
    if (syscall(SYS_fstat, fd, &st) == 0)
        for (int i = 0; i < nimages; i++)
            if (images[i].file == id_of(&st)) {
                ft_recorder_close("it has written to a file that it has mapped");
                break;
            }
    ft_threads_unlock();
    errno = error;
}

bool ft_images_strange(void)
{
    for (int i = 0; i < nimages; i++)
        if (!images[i].followed || (images[i].shared && ft_recorder.others_map && ft_recorder.others_map(images[i].file, false)))
            return true;
    return false;
}

bool ft_images_knows(uintptr_t start)
{
    for (int i = 0; i < nimages; i++)
        if (start - (uintptr_t)images[i].start < images[i].bytes || start - (uintptr_t)images[i].aside < images[i].bytes)
            return true;
    return false;
}

/* ---- content ---- */

size_t ft_images_read(int fd, off_t offset, void *to, size_t bytes)
{
    size_t done = 0;

    while (done < bytes) {
        ssize_t n = (ssize_t)syscall(SYS_pread64, fd, (char *)to + done, bytes - done, offset + (off_t)done);

        if (n <= 0)
            break;
        done += (size_t)n;
    }
    return done;
}

/* Of this process's memory, up to the end of the file below it: how much that is. -1: it cannot be had. By this thread: the first one may
   have ended. */
static ssize_t look_at(const char *from, size_t bytes)
{
    struct iovec here = {chunk, bytes}, there = {(void *)(uintptr_t)from, bytes};
    ssize_t n = (ssize_t)syscall(SYS_process_vm_readv, (pid_t)syscall(SYS_gettid), &here, 1L, &there, 1L, 0L);

    return n < 0 && errno == EFAULT ? 0 : n;
}

static bool make(struct ft_image_of *i)
{
    const ssize_t page_bytes = (ssize_t)ft_page_bytes();
    char *memory = (char *)syscall(SYS_mmap, NULL, i->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ssize_t n = CHUNK;

    if (memory == MAP_FAILED)
        return false;
    i->image = memory;
    for (size_t at = 0; at < i->bytes && n == CHUNK; at += CHUNK) {
        n = look_at(i->start + at, ft_min(CHUNK, i->bytes - at));
        for (ssize_t page = 0; page < n; page += page_bytes)
            if (!is_zero(chunk + page, (size_t)page_bytes))
                memcpy(memory + at + page, chunk + page, (size_t)page_bytes);
    }
    return n >= 0;
}

bool ft_images_make(void)
{
    for (int i = 0; ft_images_held && i < nimages; i++)
        images[i].copied = true;
    if (ft_images_held)
        return true;
    for (int i = 0; i < nimages; i++)
        if (!make(&images[i])) {
            ft_images_drop();
            return false;
        }
    return true;
}

void ft_images_drop(void)
{
    for (int i = 0; i < nimages; i++) {
        if (images[i].image)
            syscall(SYS_munmap, images[i].image, images[i].bytes);
        images[i].image = NULL;
    }
}

static void *move(void *from, size_t bytes, void *to)
{
    int flags = MREMAP_MAYMOVE | (to ? MREMAP_FIXED : 0);
    void *there = (void *)syscall(SYS_mremap, from, bytes, bytes, flags, to);

    if (there == MAP_FAILED)
        ft_recorder_lost("a file that it has mapped cannot be put aside");
    return there;
}

/* Private memory is the process's own from now on. If images are held already they are a copy's own. */
void ft_images_begin(void)
{
    if (ft_images_held)
        return;
    for (int i = 0; i < nimages; i++) {
        struct ft_image_of *m = &images[i];

        if (m->shared) {
            m->aside = (void *)syscall(SYS_mmap, NULL, m->bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            move(m->start, m->bytes, m->aside);
            ft_images_held = true;
        }
        move(m->image, m->bytes, m->start);
        m->image = NULL;
        if (m->protection != (PROT_READ | PROT_WRITE))
            syscall(SYS_mprotect, m->start, m->bytes, m->protection);
    }
    for (int i = nimages - 1; i >= 0; i--)
        if (!images[i].shared)
            images[i] = images[--nimages];
    ft_images_any = nimages > 0;
}

/* The replay has written to the page: it is no longer the copy's, too. If the kernel does not say, it may have. */
static bool is_written(int pages, const char *page)
{
    const uint64_t present = 1ull << 63, swapped = 1ull << 62, alone = 1ull << 56;
    uint64_t entry;

    if (pages < 0 || syscall(SYS_pread64, pages, &entry, sizeof entry, (off_t)((uintptr_t)page / ft_page_bytes() * sizeof entry)) != sizeof entry)
        return true;
    return entry & swapped || (entry & present && entry & alone);
}

/* Of the pages that the replay has written to, what differs: the others may have been changed by others. `all`: of all, since the predecessor may
   have been further. */
static void store(struct ft_image_of *m, bool all)
{
    int pages = (int)syscall(SYS_openat, AT_FDCWD, "/proc/thread-self/pagemap", O_RDONLY | O_CLOEXEC);
    const ssize_t page_bytes = (ssize_t)ft_page_bytes();
    ssize_t n = CHUNK;

    for (size_t at = 0; at < m->bytes && n == CHUNK && m->protection & PROT_WRITE; at += CHUNK) {
        n = look_at((char *)m->aside + at, ft_min(CHUNK, m->bytes - at));
        for (ssize_t page = 0; page < n; page += page_bytes)
            if (memcmp(chunk + page, m->start + at + page, (size_t)page_bytes) != 0 && (all || m->copied || is_written(pages, m->start + at + page)))
                memcpy((char *)m->aside + at + page, m->start + at + page, (size_t)page_bytes);
    }
    if (pages >= 0)
        syscall(SYS_close, pages);
    if (n < 0)
        ft_recorder_lost("a file that it has mapped cannot be looked at");
    move(m->aside, m->bytes, m->start);
    m->aside = NULL;
    m->copied = false;
}

/* What another thread stored into an image that has been looked at would be lost. Others may have the lock in between, and do what there is to
   do: one that is on its way to it may have what this one waits for. */
static bool are_others_stopped(void)
{
    uint64_t end = ft_real_clock_ns() + STOP_NS;

    while (ft_threads_many && !ft_stand_around()) {
        char why[FT_STAND_WHY];
        int holds;

        if (ft_real_clock_ns() > end) {
            ft_stand_why(why);
            ft_recorder_lost("a thread of it could not be stopped where its replay ended, and it has mapped a file: %s", why);
        }
        holds = ft_threads_let();
        syscall(SYS_nanosleep, &(struct timespec){.tv_nsec = 1000000}, NULL);
        ft_threads_take(holds);
        if (!ft_images_held)
            return false;
    }
    return true;
}

static void store_all(void)
{
    bool all = ft_threads_many && ft_stand_computes();

    for (int i = 0; i < nimages; i++)
        if (images[i].aside)
            store(&images[i], all);
    ft_images_held = false;
    ft_recorder.settled = ft_recorder.switched;
    publish();
}

/* A handler that ran here would store as another thread does. */
static void settle(void)
{
    sigset_t every, before;

    if (!ft_images_held || !are_others_stopped())
        return;
    sigfillset(&every);
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &every, &before, NSIG / 8);
    store_all();
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, NSIG / 8);
    if (ft_threads_many)
        ft_stand_go();
}

/* Not in a process that has been made of a copy since its caller looked: that is a replay. */
void ft_images_settle(void)
{
    if (!ft_images_held)
        return;
    ft_busy();
    if (!atomic_load(&ft_threads_replay)) {
        ft_threads_lock();
        settle();
        ft_threads_unlock();
    }
    ft_idle();
}
