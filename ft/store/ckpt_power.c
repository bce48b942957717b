/* SPDX-License-Identifier: BSD-3-Clause */
/* Power failures while a checkpoint is written. The writer's system calls go to a disk of the test's own, which keeps apart what was
   synced and what was not; the power fails at each call, and at each of some prefixes of each write; of what was not synced, each subset of the
   directory's changes and several parts of the files' bytes survive. In every such state the reader must find the previous or the new
   version, whole, without passing over a damaged file, and yet another version behind it.
   The same with a disk whose syncs do nothing must be found out. */
#include "config.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ft/store/ckpt_models.h"

enum { FILES = 8, CHANGES = 16, DIR_FD = 1000, ROOM = 1 << 16 };

/* Of what was written since the last sync, what survives. */
enum survivors { NOTHING, EVERYTHING, FIRST_HALF, SECOND_HALF, EVERY_OTHER_BLOCK, SURVIVORS };

struct file {
    char synced[ROOM], now[ROOM];
    size_t nsynced, nnow;
};

struct entry {
    char name[FT_CKPT_NAME];
    int file;              /* -1: no such name */
};

/* Sets up to two names. */
struct change {
    struct entry set[2];
    int n;
};

struct disk {
    struct file files[FILES];
    int nfiles;
    struct entry synced[FILES];
    int nsynced;
    struct change changes[CHANGES];  /* not synced */
    int nchanges;

    int calls, fail_at;    /* the power fails in this call, from 1 on; 0: never */
    size_t part;           /* of a write; so many bytes of it were done */
    size_t written;        /* by the write that was last begun */
    int error;             /* nonzero: call fail_at fails with this, and that is all */
    bool off, no_file_sync, no_dir_sync;
};

/* True: this call does nothing. */
static bool fails(struct disk *d)
{
    d->calls++;
    if (d->off) {
        errno = EIO;
        return true;
    }
    if (d->calls != d->fail_at)
        return false;
    d->off = !d->error;
    errno = d->error ? d->error : EIO;
    return true;
}

static void set(struct entry *entries, int *n, const struct entry *e)
{
    for (int i = 0; i < *n; i++)
        if (!strcmp(entries[i].name, e->name)) {
            entries[i].file = e->file;
            return;
        }
    entries[(*n)++] = *e;
}

/* The directory after those changes that `which` has bits of. */
static int survey(const struct disk *d, unsigned which, struct entry *entries)
{
    int n = d->nsynced;

    memcpy(entries, d->synced, sizeof d->synced);
    for (int i = 0; i < d->nchanges; i++)
        for (int k = 0; which >> i & 1 && k < d->changes[i].n; k++)
            set(entries, &n, &d->changes[i].set[k]);
    return n;
}

static int find(const struct disk *d, const char *name)
{
    struct entry entries[2 * FILES];
    int n = survey(d, ~0u, entries);

    for (int i = 0; i < n; i++)
        if (!strcmp(entries[i].name, name))
            return entries[i].file;
    return -1;
}

static struct change *add_change(struct disk *d, const char *name, int file)
{
    struct change *c = &d->changes[d->nchanges++];

    *c = (struct change){.n = 1};
    snprintf(c->set[0].name, FT_CKPT_NAME, "%s", name);
    c->set[0].file = file;
    return c;
}

static int sim_create(void *arg, int dir, const char *name)
{
    struct disk *d = arg;

    (void)dir;
    if (fails(d))
        return -1;
    if (find(d, name) >= 0) {
        errno = EEXIST;
        return -1;
    }
    d->files[d->nfiles] = (struct file){.nnow = 0};
    add_change(d, name, d->nfiles);
    return d->nfiles++;
}

static int sim_reserve(void *arg, int fd, uint64_t bytes)
{
    struct disk *d = arg;

    if (fails(d))
        return -1;
    d->files[fd].nnow = bytes;
    return 0;
}

static ssize_t sim_write(void *arg, int fd, const void *data, size_t n, uint64_t at)
{
    struct disk *d = arg;
    struct file *f = &d->files[fd];
    bool failed = fails(d);

    d->written = n;
    if (failed && !(d->off && d->calls == d->fail_at))
        return -1;
    n = failed && n > d->part ? d->part : n;
    if (at + n > ROOM)
        abort();
    memcpy(f->now + at, data, n);
    f->nnow = f->nnow < at + n ? at + n : f->nnow;
    return failed ? -1 : (ssize_t)n;
}

static int sim_sync(void *arg, int fd)
{
    struct disk *d = arg;

    if (fails(d))
        return -1;
    if (fd == DIR_FD && !d->no_dir_sync) {
        d->nsynced = survey(d, ~0u, d->synced);
        d->nchanges = 0;
    } else if (fd != DIR_FD && !d->no_file_sync) {
        memcpy(d->files[fd].synced, d->files[fd].now, ROOM);
        d->files[fd].nsynced = d->files[fd].nnow;
    }
    return 0;
}

static int sim_close(void *arg, int fd)
{
    (void)fd;
    return fails(arg) ? -1 : 0;
}

static int sim_rename(void *arg, int dir, const char *from, const char *to)
{
    struct disk *d = arg;
    struct change *c;

    (void)dir;
    if (fails(d))
        return -1;
    c = add_change(d, to, find(d, from));
    c->set[1].file = -1;
    snprintf(c->set[1].name, FT_CKPT_NAME, "%s", from);
    c->n = 2;
    return 0;
}

static int sim_remove(void *arg, int dir, const char *name)
{
    struct disk *d = arg;

    (void)dir;
    if (fails(d))
        return -1;
    if (find(d, name) < 0) {
        errno = ENOENT;
        return -1;
    }
    add_change(d, name, -1);
    return 0;
}

static int sim_list(void *arg, int dir, void (*each)(void *to, const char *name), void *to)
{
    struct disk *d = arg;
    struct entry entries[2 * FILES];
    int n;

    (void)dir;
    if (fails(d))
        return -1;
    n = survey(d, ~0u, entries);
    for (int i = 0; i < n; i++)
        if (entries[i].file >= 0)
            each(to, entries[i].name);
    return 0;
}

static struct ft_disk sim(struct disk *d)
{
    return (struct ft_disk){d, sim_create, sim_reserve, sim_write, sim_sync, sim_close, sim_rename, sim_remove, sim_list};
}

/* ---- what is there when the power is back ---- */

static size_t survive(const struct file *f, enum survivors how, char *out)
{
    size_t n = how == NOTHING ? f->nsynced : f->nnow;

    memcpy(out, f->synced, ROOM);
    for (size_t i = 0; i < n; i++) {
        bool kept = how == EVERYTHING || (how == FIRST_HALF && i < n / 2) || (how == SECOND_HALF && i >= n / 2) ||
                    (how == EVERY_OTHER_BLOCK && i / 512 % 2 == 0);

        if (kept && how != NOTHING)
            out[i] = f->now[i];
    }
    return n;
}

static void put_on_disk(int dir, const struct disk *d, unsigned which, enum survivors how)
{
    struct entry entries[2 * FILES];
    int n = survey(d, which, entries);
    static char bytes[ROOM];

    for (int i = 0; i < n; i++) {
        size_t len;
        int fd;

        if (entries[i].file < 0)
            continue;
        len = survive(&d->files[entries[i].file], how, bytes);
        fd = openat(dir, entries[i].name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        if (fd < 0 || write(fd, bytes, len) != (ssize_t)len)
            abort();
        close(fd);
    }
}

static void remove_name(void *to, const char *name)
{
    if (name[0] != '.')
        unlinkat(*(int *)to, name, 0);
}

static void make_empty(int dir)
{
    ft_disk_real.list(NULL, dir, remove_name, &dir);
}

static long states, faults;
static bool tell = true;

static void fault(const char *what, const struct disk *d, unsigned which, enum survivors how, int got)
{
    if (tell && faults < 20)
        printf("FAIL: %s: power fails in call %d (%zu bytes of a write), changes %x, survivors %d: %d\n", what, d->fail_at, d->part,
               which, how, got);
    faults++;
}

/* least..most: the versions that may be found; behind: at least that one is there if that is lost, too. */
static void check_state(int dir, const struct disk *d, unsigned which, enum survivors how, int least, int most, int behind)
{
    struct test_read r;
    struct ft_error e;
    char name[FT_CKPT_NAME];
    int got;

    states++;
    make_empty(dir);
    put_on_disk(dir, d, which, how);
    got = test_load(dir, &r, &e);
    if (got < least || got > most)
        fault("a version that cannot be", d, which, how, got);
    if (r.passed)
        fault(r.line, d, which, how, got);
    if (got < 0)
        return;
    ft_ckpt_dir_name(name, (uint64_t)got);
    unlinkat(dir, name, 0);
    got = test_load(dir, &r, &e);
    if (got < behind || r.passed)
        fault("no version before it", d, which, how, got);
}

static void check_states(int dir, const struct disk *d, int least, int most, int behind)
{
    for (unsigned which = 0; which < 1u << d->nchanges; which++)
        for (int how = 0; how < SURVIVORS; how++)
            check_state(dir, d, which, how, least, most, behind);
}

/* Version 3 behind 1 and 2, the power failing in call at. False: it needs no more calls than that. */
static bool fail_in_call(int dir, const struct disk *start, int at)
{
    static const size_t parts[] = {0, 1, 31, 32, 300, SIZE_MAX};
    static struct disk d;
    struct ft_disk table = sim(&d);
    struct ft_error e;

    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        int err;

        d = *start;
        d.calls = 0;
        d.fail_at = at;
        d.part = parts[i];
        d.written = 0;
        err = test_write(&table, DIR_FD, 3, 2, &e);
        if (!d.off) { /* it went through */
            check_states(dir, &d, 3, 3, 2);
            return false;
        }
        /* what is reported as written is */
        check_states(dir, &d, err ? 2 : 3, 3, err ? 1 : 2);
    }
    return true;
}

static void power(int dir, bool no_file_sync, bool no_dir_sync)
{
    static struct disk start;
    struct ft_disk table = sim(&start);
    struct ft_error e;
    int calls = 1;

    start = (struct disk){.nfiles = 0};
    if (test_write(&table, DIR_FD, 1, 0, &e) < 0 || test_write(&table, DIR_FD, 2, 1, &e) < 0)
        abort();
    start.no_file_sync = no_file_sync;
    start.no_dir_sync = no_dir_sync;
    while (fail_in_call(dir, &start, calls))
        calls++;
    printf("%d calls, %ld states, %ld faults\n", calls - 1, states, faults);
}

/* Calls that fail while the power stays: the version before is there, and the next one can be written. */
static void errors(int dir)
{
    static struct disk start, d;
    struct ft_disk table = sim(&start);
    struct ft_error e;

    start = (struct disk){.nfiles = 0};
    if (test_write(&table, DIR_FD, 1, 0, &e) < 0 || test_write(&table, DIR_FD, 2, 1, &e) < 0)
        abort();
    table = sim(&d);
    for (int at = 1; at < 100; at++) {
        int err;

        d = start;
        d.calls = 0;
        d.fail_at = at;
        d.error = ENOSPC;
        err = test_write(&table, DIR_FD, 3, 2, &e);
        if (d.calls < at)
            break;
        if (err && !strstr(e.text, strerror(ENOSPC)))
            fault(e.text, &d, 0, 0, err);
        check_states(dir, &d, err ? 2 : 3, 3, err ? 1 : 2);
        if (test_write(&table, DIR_FD, 4, err ? 2 : 3, &e) < 0)
            fault("the next one cannot be written", &d, 0, 0, 0);
        check_states(dir, &d, 4, 4, err ? 2 : 3);
    }
}

int main(void)
{
    char path[] = "/dev/shm/ckpt_power.XXXXXX";
    long sound;
    int dir;

    if (!mkdtemp(path))
        return 99;
    dir = open(path, O_RDONLY | O_DIRECTORY);
    power(dir, false, false);
    errors(dir);
    sound = faults;
    tell = false;
    faults = states = 0;
    power(dir, true, false);
    if (!faults)
        printf("FAIL: a disk that does not sync files is as good\n");
    sound += !faults;
    faults = states = 0;
    power(dir, false, true);
    if (!faults)
        printf("FAIL: a disk that does not sync directories is as good\n");
    sound += !faults;
    make_empty(dir);
    rmdir(path);
    return sound ? 1 : 0;
}
