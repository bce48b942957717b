/* SPDX-License-Identifier: BSD-3-Clause */
/* Checkpoints of an explored job: two calls, the load, and a checkpoint after every call, or every second one, from then on. Which call a rank
   goes on with follows from the version it loads, as in a program. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "ft/shm/models.h"
#include "ft/test/explore.h"

enum { BEFORE = 2, MODEL = 128, SITE = 9 };

static bool on(void) { return makes_versions(); }
static bool lazy(void) { return job.sc.what == LAZY; }
static uint32_t every(void) { return job.sc.what == DENSE || lazy() ? 1 : 2; }

/* Of the version made after a call; rank -1: the global one, which begins with the call. Sizes go up and down (what fits is written through a
   mapping), and some local ones are 0; lazy ones all. */
static uint64_t fill(unsigned char *model, int rank, uint32_t call)
{
    uint64_t n = rank >= 0 && (lazy() || (call + (uint32_t)rank) % 5 == 0) ? 0 : 40 + call * 29 % 61 + (uint32_t)(rank + 1) * 9;

    for (uint64_t i = 0; i < n; i++)
        model[i] = (unsigned char)(call * 37 + (uint32_t)(rank + 1) * 101 + i * 7);
    if (rank < 0)
        model[0] = (unsigned char)call;
    return n;
}

/* The library's, but for memory of models: there it may be that only a part is written when the rank is killed, and that
   there is no more (for the bootstrap cache there is: a rank that dies may not find its way back without). */
ssize_t pwrite(int fd, const void *bytes, size_t n, off_t at)
{
    if (fd == job.models && n > 1) {
        if (job.may_fail && (uint64_t)at / FT_MODELS_AREA_BYTES != FT_MODELS_CACHE &&
            (uint64_t)at / FT_MODELS_AREA_BYTES != FT_MODELS_GIVEN && random_below(24) == 0) {
            errno = ENOSPC;
            return -1;
        }
        ft_point_store();
        n -= n / 2;
    }
    return syscall(SYS_pwrite64, fd, bytes, n, at);
}

/* The library's, but for lazy checkpoints, whose time is that of the job: it passes when one is called. */
int clock_gettime(clockid_t clock, struct timespec *t)
{
    if (!lazy())
        return (int)syscall(SYS_clock_gettime, clock, t);
    *t = (struct timespec){ .tv_sec = (time_t)(job.clock_ns / 1000000000), .tv_nsec = (long)(job.clock_ns % 1000000000) };
    return 0;
}

static void lost(const char *why) { failed("the bootstrap cache is not complete: %s", why); }

void open_versions(struct actor *r)
{
    if (!on())
        return;
    ft_cache_open(&r->ft.cache, &r->ft.world, &job.region, job.models, lost);
    ft_checkpoints_open(&r->ft.checkpoints, &r->ft.world, &job.region, job.models, -1);
}

void drop_versions(struct actor *r)
{
    for (uint32_t i = 0; i < 4; i++)
        ft_model_map_close(&r->ft.checkpoints.maps[i / 2][i % 2]);
    free(r->ft.checkpoints.global);
    free(r->ft.checkpoints.local);
    r->ft.checkpoints.global = r->ft.checkpoints.local = NULL;
    ft_cache_close(&r->ft.cache);
}

/* ---- in a snapshot ---- */

static void *copy_of(const void *bytes, size_t n)
{
    void *copy = n ? malloc(n) : NULL;

    return copy ? memcpy(copy, bytes, n) : NULL;
}

/* A fork has its own tables. */
static void fork_cache(struct ft_cache *to, const struct ft_cache *from)
{
    *to = *from;
    to->keys.table = copy_of(from->keys.table, from->keys.size * sizeof *from->keys.table);
    to->ahead = copy_of(from->ahead, from->nahead * sizeof *from->ahead);
}

/* It does not have the mappings. The models of the last load nobody looks at any more. */
void copy_versions(struct actor *r)
{
    if (!on())
        return;
    r->snapshot.checkpoints = r->ft.checkpoints;
    r->snapshot.checkpoints.global = r->snapshot.checkpoints.local = NULL;
    for (uint32_t i = 0; i < 4; i++)
        r->snapshot.checkpoints.maps[i / 2][i % 2].at = NULL;
    fork_cache(&r->snapshot.cache, &r->ft.cache);
}

/* The snapshot stays: what goes on is a copy of it again. */
void wake_versions(struct actor *r)
{
    if (!on()) {
        r->snapshot.alive = false;
        return;
    }
    r->ft.checkpoints = r->snapshot.checkpoints;
    fork_cache(&r->ft.cache, &r->snapshot.cache);
}

void resume_versions(struct actor *r)
{
    if (!on())
        return;
    ft_cache_resume(&r->ft.cache);
    ft_checkpoints_resume(&r->ft.checkpoints);
}

void drop_snapshot(struct actor *r)
{
    if (on() && r->snapshot.alive)
        ft_cache_close(&r->snapshot.cache);
    r->snapshot.alive = false;
}

/* ---- in a life ---- */

/* What comes after the base version has not been. */
void reset_versions(bool all)
{
    struct ft_version_head *h = ft_versions_head(&job.region);
    uint64_t base = 0;
    uint32_t from = 0;

    if (!all) {
        memset(h, 0, sizeof *h + job.sc.ranks * sizeof *ft_versions_of(&job.region, 0));
        for (uint64_t area = 0; area < FT_MODELS_LOCAL + 2 * job.sc.ranks; area++)
            ft_models_end(job.models, area, 0);
    } else {
        base = ft_peek(&h->base_version);
        from = job.begins[base];
    }
    for (uint64_t version = base + 1; version <= MORE_CALLS; version++)
        job.begins[version] = 0;
    for (uint32_t call = from ? from : BEFORE; call < MORE_CALLS; call++)
        job.outcome[call] = UNKNOWN;
    job.begins[0] = BEFORE;
    job.cached = 0;
}

/* Every rank, and every incarnation of it, has the same answer. */
static bool check_outcome(const struct actor *r, uint32_t call, int err)
{
    int outcome = err ? FAILED : MADE;
    uint64_t version = r->ft.checkpoints.version;

    if (job.outcome[call] == UNKNOWN) {
        job.outcome[call] = outcome;
        run.seen[LACKING] += outcome == FAILED;
        if (!err)
            job.begins[version] = call + 1;
    }
    if ((int)job.outcome[call] == outcome && (err || job.begins[version] == call + 1))
        return true;
    failed("rank %u incarnation %u: the checkpoint after call %u %s, version %llu, and another rank knows better", r->index,
           r->incarnation, call, err ? "has failed" : "is made", (unsigned long long)version);
    return false;
}

static bool check_model(const struct actor *r, int rank, uint32_t call, const void *got, uint64_t n)
{
    unsigned char want[2 * MODEL];

    if (n == fill(want, rank, call) && (n == 0 || memcmp(got, want, n) == 0))
        return true;
    failed("rank %u incarnation %u: the %s model of %llu bytes is not that of version %llu", r->index, r->incarnation,
           rank < 0 ? "global" : "local", (unsigned long long)n, (unsigned long long)r->ft.checkpoints.version);
    return false;
}

bool load_version(struct actor *r)
{
    struct ft_models m;
    struct ft_error e;
    uint64_t version;

    if (!on() || r->call != BEFORE || r->ft.checkpoints.loaded)
        return true;
    stop_here(r, -1);
    if (ft_checkpoints_load(&r->ft.checkpoints, &m, SITE, &e) != 0) {
        failed("rank %u incarnation %u cannot load: %s", r->index, r->incarnation, e.text);
        return false;
    }
    version = r->ft.checkpoints.version;
    if (version == 0)
        return true;
    run.seen[LOADS]++;
    if (m.nglobal == 0 || *(const unsigned char *)m.global >= job.sc.calls) {
        failed("rank %u incarnation %u: version %llu has no global model", r->index, r->incarnation, (unsigned long long)version);
        return false;
    }
    r->call = *(const unsigned char *)m.global + 1u;
    begin_life(r);
    return check_outcome(r, r->call - 1, 0) && check_model(r, -1, r->call - 1, m.global, m.nglobal) && check_model(r, (int)r->index, r->call - 1, m.local, m.nlocal);
}

bool awaits_version(const struct actor *r)
{
    const struct ft_version_words *w = ft_versions_of(&job.region, r->index);

    return on() && r->at.kind == FT_POINT_WAIT && ft_peek(&w->store_unit) && ft_peek(&w->store_commits);
}

bool reads_version(const struct actor *r)
{
    return r->call == BEFORE && r->at.kind == FT_POINT_LOOK && !r->ft.checkpoints.loaded;
}

static int serialize(void *state, const void **bytes, uint64_t *n)
{
    static unsigned char model[2 * MODEL];
    const struct actor *r = state;

    if (r->index != 0)
        failed("rank %u is asked for the bytes of a lazy checkpoint", r->index);
    *bytes = model;
    *n = fill(model, -1, r->call);
    return 0;
}

/* Kept are those of which the clock, or the agent, says so. */
static int make_lazy(struct actor *r, struct ft_error *e)
{
    uint64_t kept = r->ft.checkpoints.kept;
    int err;

    job.clock_ns += 400000000;
    err = ft_checkpoints_make_lazy(&r->ft.checkpoints, serialize, r, SITE, e);
    run.seen[UNKEPT] += !err && r->ft.checkpoints.kept == kept;
    return err;
}

/* Whoever has finished with a version can find it from then on. */
static bool is_there(const struct actor *r)
{
    struct ft_version v;

    ft_versions_newest(&job.region, r->index, &v);
    if (v.version >= r->ft.checkpoints.kept)
        return true;
    failed("rank %u incarnation %u, checkpoint after call %u: version %llu is made, and nobody could load it", r->index, r->incarnation, r->call,
           (unsigned long long)r->ft.checkpoints.kept);
    return false;
}

bool make_version(struct actor *r)
{
    unsigned char global[2 * MODEL], local[2 * MODEL];
    struct ft_models m = { .global = global, .local = local };
    struct ft_error e;
    int err;

    if (!on() || r->call < BEFORE || (r->call - BEFORE) % every() != every() - 1)
        return true;
    m.nglobal = fill(global, -1, r->call);
    m.nlocal = fill(local, (int)r->index, r->call);
    stop_here(r, -1);
    err = lazy() ? make_lazy(r, &e) : ft_checkpoints_make(&r->ft.checkpoints, &m, SITE, &e);
    if (err && err != FT_ENOMEM) {
        failed("rank %u incarnation %u, checkpoint after call %u: %s", r->index, r->incarnation, r->call, e.text);
        return false;
    }
    return check_outcome(r, r->call, err) && is_there(r);
}
