/* SPDX-License-Identifier: BSD-3-Clause */
/* Checkpoints of an explored job: two calls, the load, and a checkpoint after every second call from then on. Which call a rank goes on
   with follows from the version it loads, as in a program. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ft/shm/models.h"
#include "ft/test/explore.h"

enum { BEFORE = 2, MODEL = 128, SITE = 9 };

static bool on(void) { return makes_versions(); }
static uint32_t every(void) { return job.sc.what == DENSE ? 1 : 2; }

/* Of the version made after a call; rank -1: the global one, which begins with the call. Sizes differ, and some local ones are 0. */
static uint64_t fill(unsigned char *model, int rank, uint32_t call)
{
    uint64_t n = rank >= 0 && (call + (uint32_t)rank) % 5 == 0 ? 0 : 40 + call * 5 + (uint32_t)(rank + 1) * 9;

    for (uint64_t i = 0; i < n; i++)
        model[i] = (unsigned char)(call * 37 + (uint32_t)(rank + 1) * 101 + i * 7);
    if (rank < 0)
        model[0] = (unsigned char)call;
    return n;
}

/* The library's, but for memory of models: there it may be that only a part is written when the rank is killed, and that
   there is no more. */
ssize_t pwrite(int fd, const void *bytes, size_t n, off_t at)
{
    if (fd == job.models && n > 1) {
        if (job.may_fail && random_below(24) == 0) {
            errno = ENOSPC;
            return -1;
        }
        ft_point_store();
        n -= n / 2;
    }
    return syscall(SYS_pwrite64, fd, bytes, n, at);
}

void open_versions(struct actor *r)
{
    if (on())
        ft_checkpoints_open(&r->checkpoints, &r->stream, &job.region, job.models, -1);
}

void drop_versions(struct actor *r)
{
    for (uint32_t i = 0; i < 4; i++)
        ft_model_map_close(&r->checkpoints.maps[i / 2][i % 2]);
    free(r->checkpoints.global);
    free(r->checkpoints.local);
    r->checkpoints.global = r->checkpoints.local = NULL;
}

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
}

/* Every rank, and every incarnation of it, has the same answer. */
static bool check_outcome(const struct actor *r, uint32_t call, int err)
{
    int outcome = err ? FAILED : MADE;
    uint64_t version = r->checkpoints.version;

    if (job.outcome[call] == UNKNOWN) {
        job.outcome[call] = outcome;
        job.seen.lacking += outcome == FAILED;
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
           rank < 0 ? "global" : "local", (unsigned long long)n, (unsigned long long)r->checkpoints.version);
    return false;
}

bool load_version(struct actor *r)
{
    struct ft_models m;
    struct ft_error e;
    uint64_t version;

    if (!on() || r->call != BEFORE || r->checkpoints.loaded)
        return true;
    stop_here(r, -1);
    if (ft_checkpoints_load(&r->checkpoints, &m, SITE, &e) != 0) {
        failed("rank %u incarnation %u cannot load: %s", r->index, r->incarnation, e.text);
        return false;
    }
    version = r->checkpoints.version;
    if (version == 0)
        return true;
    job.seen.loads++;
    if (m.nglobal == 0 || *(const unsigned char *)m.global >= job.sc.calls) {
        failed("rank %u incarnation %u: version %llu has no global model", r->index, r->incarnation, (unsigned long long)version);
        return false;
    }
    r->call = *(const unsigned char *)m.global + 1u;
    return check_outcome(r, r->call - 1, 0) && check_model(r, -1, r->call - 1, m.global, m.nglobal) && check_model(r, (int)r->index, r->call - 1, m.local, m.nlocal);
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
    err = ft_checkpoints_make(&r->checkpoints, &m, SITE, &e);
    if (err && err != FT_ENOMEM) {
        failed("rank %u incarnation %u, checkpoint after call %u: %s", r->index, r->incarnation, r->call, e.text);
        return false;
    }
    return check_outcome(r, r->call, err);
}

/* ---- the agent's part, as in launcher/cut.c ---- */

static bool find_cut(uint32_t rank, struct ft_version *v)
{
    return on() && ft_versions_newest(&job.region, 0, v) && !v->base && ft_versions_can_load(&job.region, rank) &&
           ft_region_cut(&job.region, rank) <= v->unit && ft_look(&ft_region_rank(&job.region, rank)->left) > v->unit;
}

bool has_cut(uint32_t rank)
{
    struct ft_version v;

    return find_cut(rank, &v);
}

void register_cuts(void)
{
    struct ft_version v;

    for (uint32_t r = 0; r < job.sc.ranks; r++)
        if (find_cut(r, &v))
            ft_region_register(&job.region, r, &(struct ft_position){ .stream[0] = { .unit = v.unit + 1, .end = v.end } });
}
