/* SPDX-License-Identifier: BSD-3-Clause */
/* What ranks of nodes.c do: collectives with results that each can tell by itself, checkpoints, a call that does not match; and how long an
   allreduce takes. */
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ft/base/hash.h"
#include "ft/ft.h"
#include "ft/shm/keeper.h"
#include "ft/shm/wait.h"
#include "ft/test/both.h"
#include "ft/test/nodes_job.h"

/* x -> a x + b: composition is associative and does not commute. */
struct affine { uint32_t a, b; };

static void compose(void *ctx, const void *in, void *inout, uint64_t n)
{
    const struct affine *l = in;
    struct affine *r = inout;

    (void)ctx;
    for (uint64_t i = 0; i < n; i++)
        r[i] = (struct affine){ l[i].a * r[i].a, l[i].a * r[i].b + l[i].b };
}

static int64_t given(uint32_t call, uint32_t rank, uint64_t i) { return (int64_t)(call * 1000003ull + rank * 1009 + i * 7); }

static struct affine affine_of(uint32_t call, uint32_t rank, uint64_t i)
{
    return (struct affine){ (uint32_t)(call + 3 * rank + i) | 1, (uint32_t)(rank * 77 + i + call) };
}

struct program {
    struct ft *ft;
    uint32_t call, me;
    int64_t *send, *recv;
    struct ft_stream second;
    struct ft_error e;
};

/* The stream that this call is on. */
static struct ft_stream *stream(struct program *p) { return two() && p->call % 2 ? &p->second : ft_world(p->ft); }

static void check(const struct program *p, int err, const char *what)
{
    if (err)
        die("rank %u, call %u, %s: %s", p->me, p->call, what, p->e.text);
}

static void wrong(const struct program *p, const char *what, uint64_t i, int64_t is, int64_t should)
{
    die("rank %u, call %u: %s: element %llu is %lld and should be %lld", p->me, p->call, what, (unsigned long long)i, (long long)is,
        (long long)should);
}

static const struct ft_type INT64 = { .elem = 8, .kind = FT_I64 };

static void sums(struct program *p, uint64_t n, bool in_place, int root)
{
    struct ft_op sum = { .reduction = FT_SUM, .fold = ft_reduce_find(FT_I64, FT_SUM) };
    const int64_t *send = in_place ? p->recv : p->send;

    for (uint64_t i = 0; i < n; i++)
        (in_place ? p->recv : p->send)[i] = given(p->call, p->me, i);
    if (root < 0)
        check(p, ft_allreduce(stream(p), send, p->recv, n, INT64, &sum, 1, &p->e), "allreduce");
    else
        check(p, ft_reduce(stream(p), send, p->recv, n, INT64, &sum, root, 1, &p->e), "reduce");
    for (uint64_t i = 0; i < n && (root < 0 || (uint32_t)root == p->me); i++) {
        int64_t should = (int64_t)world * given(p->call, 0, i) + 1009ll * world * (world - 1) / 2;

        if (p->recv[i] != should)
            wrong(p, root < 0 ? "allreduce" : "reduce", i, p->recv[i], should);
    }
}

/* Element i of everybody's, composed in the order of ranks. */
static void check_composed(const struct program *p, const struct affine *recv, uint64_t i, const char *what)
{
    struct affine should = affine_of(p->call, world - 1, i);

    for (uint32_t r = world - 1; r-- > 0;) {
        struct affine x = affine_of(p->call, r, i);

        compose(NULL, &x, &should, 1);
    }
    if (memcmp(&should, &recv[i], sizeof should) != 0)
        wrong(p, what, i, recv[i].b, should.b);
}

static void composition(struct program *p, uint64_t n)
{
    struct ft_op op = { .reduction = FT_USER, .user = compose };
    struct affine *send = (struct affine *)p->send, *recv = (struct affine *)p->recv;

    for (uint64_t i = 0; i < n; i++)
        send[i] = affine_of(p->call, p->me, i);
    check(p, ft_allreduce(stream(p), send, recv, n, (struct ft_type){ .elem = 8, .kind = FT_OPAQUE, .base = FT_U32 }, &op, 2, &p->e),
          "user allreduce");
    for (uint64_t i = 0; i < n; i++)
        check_composed(p, recv, i, "composition");
}

static void composed(void *ctx, const void *in, void *inout, uint64_t n)
{
    for (uint64_t k = 0; k < n; k++)
        compose(ctx, (const char *)in + k * 300000, (char *)inout + k * 300000, 300000 / 8);
}

/* An element that fits no slot. */
static void giants(struct program *p)
{
    struct ft_op op = { .reduction = FT_USER, .user = composed };
    struct affine *send = (struct affine *)p->send, *recv = (struct affine *)p->recv;
    uint64_t n = 300000 / 8;

    for (uint64_t i = 0; i < n; i++)
        send[i] = affine_of(p->call, p->me, i);
    check(p, ft_allreduce(stream(p), send, recv, 1, (struct ft_type){ .elem = 300000, .kind = FT_OPAQUE, .base = FT_U32 }, &op, 2, &p->e),
          "giants");
    for (uint64_t i = 0; i < n; i += 97)
        check_composed(p, recv, i, "giants");
}

static void broadcast(struct program *p, uint64_t n, int root)
{
    for (uint64_t i = 0; i < n; i++)
        p->recv[i] = (uint32_t)root == p->me ? given(p->call, p->me, i) : -1;
    check(p, ft_bcast(stream(p), p->recv, n, INT64, root, 3, &p->e), "bcast");
    for (uint64_t i = 0; i < n; i++)
        if (p->recv[i] != given(p->call, (uint32_t)root, i))
            wrong(p, "bcast", i, p->recv[i], given(p->call, (uint32_t)root, i));
}

static void gather(struct program *p, uint64_t n, bool in_place)
{
    int64_t *send = in_place ? p->recv + p->me * n : p->send;

    for (uint64_t i = 0; i < n; i++)
        send[i] = given(p->call, p->me, i);
    check(p, ft_allgather(stream(p), send, NULL, p->recv, n, INT64, 4, &p->e), "allgather");
    for (uint64_t i = 0; i < n * world; i++)
        if (p->recv[i] != given(p->call, (uint32_t)(i / n), i % n))
            wrong(p, "allgather", i, p->recv[i], given(p->call, (uint32_t)(i / n), i % n));
}

static void gather_unequal(struct program *p, uint64_t n, uint64_t *state)
{
    int counts[WORLD], displs[WORLD], at = 0;

    for (uint32_t r = 0; r < world; r++) {
        counts[r] = draw(state) % 4 ? (int)(draw(state) % (n + 1)) : 0;
        displs[r] = at;
        at += counts[r] + 1;
    }
    for (int i = 0; i < counts[p->me]; i++)
        p->send[i] = given(p->call, p->me, (uint64_t)i);
    memset(p->recv, -1, (size_t)at * 8);
    check(p, ft_allgatherv(stream(p), p->send, NULL, p->recv, counts, displs, INT64, 5, &p->e), "allgatherv");
    for (uint32_t r = 0; r < world; r++)
        for (int i = 0; i <= counts[r]; i++) {
            int64_t should = i < counts[r] ? given(p->call, r, (uint64_t)i) : -1;

            if (p->recv[displs[r] + i] != should)
                wrong(p, "allgatherv", (uint64_t)(displs[r] + i), p->recv[displs[r] + i], should);
        }
}

/* Nobody leaves before all have come. (Ranks that do not speak for their node did.) */
static void pass_barrier(struct program *p)
{
    check(p, ft_barrier(stream(p), 6, &p->e), "barrier");
    for (uint32_t r = 0; r < world; r++)
        if (entered[r] <= p->call)
            die("rank %u leaves barrier %u, which rank %u has not come to", p->me, p->call, r);
}

/* What the call's number and the seed say, the same on every rank. */
static void one_call(struct program *p)
{
    uint64_t state = plan.seed * 1000003 + p->call, kind = draw(&state) % 16, n = draw(&state) % 150;
    bool in_place = draw(&state) % 2;
    int root = (int)(draw(&state) % world);

    if (draw(&state) % 4 == 0)
        n = draw(&state) % 6000;
    if (draw(&state) % 12 == 0)
        n = draw(&state) % plan.most;
    if (entered[p->me] <= p->call)
        entered[p->me] = p->call + 1;
    if (kind < 4)
        sums(p, n, in_place, -1);
    else if (kind < 6)
        sums(p, n, in_place, root);
    else if (kind < 8)
        composition(p, n % 20000);
    else if (kind < 11)
        broadcast(p, n, root);
    else if (kind < 13)
        gather(p, n / world, in_place);
    else if (kind < 15)
        gather_unequal(p, n / world, &state);
    else if (draw(&state) % 4)
        pass_barrier(p);
    else
        giants(p);
}

/* A sum on each of both streams, at the same time. */
static void both_sums(struct program *p, uint32_t n)
{
    int32_t *send = (int32_t *)p->send, *recv = (int32_t *)p->recv;
    struct both first_one, second_one;
    struct ft_coll *all[2] = { &second_one.c, &first_one.c };

    for (uint32_t i = 0; i < 2 * n; i++)
        send[i] = (int32_t)given(p->call, p->me, i);
    check(p, both_begin(&first_one, ft_world(p->ft), send, recv, n, 13, &p->e), "the first of two");
    check(p, both_begin(&second_one, &p->second, send + n, recv + n, n, 14, &p->e), "the second of two");
    check(p, ft_coll_finish_all(all, 2, &p->e), "both");
    for (uint32_t i = 0; i < 2 * n; i++) {
        uint32_t should = world * (uint32_t)given(p->call, 0, i) + 1009u * (world * (world - 1) / 2);

        if ((uint32_t)recv[i] != should)
            wrong(p, "both", i, recv[i], (int32_t)should);
    }
}

static void join_second(struct program *p, uint32_t k, uint32_t local)
{
    static uint32_t all[WORLD];
    struct ft_use use = { .stream = 1, .use = 1 };

    for (uint32_t i = 0; i < node[k].n; i++)
        all[i] = i;
    ft_stream_join(&p->second, ft_world(p->ft), &use, all, node[k].n, local, "SECOND");
}

static void measure(struct program *p)
{
    struct ft_op sum = { .reduction = FT_SUM, .fold = ft_reduce_find(FT_F32, FT_SUM) };

    for (uint64_t bytes = 8; bytes <= 16 << 20; bytes *= bytes < 1024 ? 8 : 4) {
        int rounds = bytes <= 4096 ? 2000 : (int)ft_max(10, (32ull << 20) / bytes);
        uint64_t since = 0;

        for (int i = -rounds / 4; i < rounds; i++) {
            if (i == 0)
                since = ft_clock_ns();
            check(p, ft_allreduce(ft_world(p->ft), p->send, p->recv, bytes / 4, (struct ft_type){ .elem = 4, .kind = FT_F32 }, &sum, 1, &p->e),
                  "allreduce");
        }
        if (p->me == 0)
            printf("%9llu bytes %10.2f us\n", (unsigned long long)bytes, (double)(ft_clock_ns() - since) / rounds / 1000);
    }
    fflush(stdout);
}

enum { EVERY = 7 };

/* Calls that a version has behind it, in the models that all ranks have alike and in each rank's own. */
static void make_checkpoint(struct program *p)
{
    uint32_t global[64], local[16];
    struct ft_models m = { .global = global, .nglobal = sizeof global, .local = local, .nlocal = sizeof local };

    for (uint32_t i = 0; i < 64; i++)
        global[i] = p->call + i;
    for (uint32_t i = 0; i < 16; i++)
        local[i] = p->call * 1000 + p->me;
    check(p, ft_checkpoint(p->ft, &m, 8, &p->e), "checkpoint");
}

static void load_checkpoint(struct program *p)
{
    const uint32_t *global, *local;
    struct ft_models m;

    check(p, ft_barrier(ft_world(p->ft), 9, &p->e), "what comes before the load");
    check(p, ft_load(p->ft, &m, 9, &p->e), "load");
    if (!ft_version(p->ft))
        return;
    global = m.global;
    local = m.local;
    if (m.nglobal != 256 || m.nlocal != 64 || global[63] != global[0] + 63 || local[15] != global[0] * 1000 + p->me ||
        global[0] != ft_version(p->ft) * EVERY)
        die("rank %u loads version %llu, which is damaged", p->me, (unsigned long long)ft_version(p->ft));
    p->call = global[0];
}

/* The last rank calls something else than all others, who each find out or are ended by those that do. */
static void differ(struct program *p)
{
    int err = p->me == world - 1 ? ft_bcast(ft_world(p->ft), p->recv, 10, INT64, 0, 11, &p->e) : ft_barrier(ft_world(p->ft), 12, &p->e);

    if (err != FT_EMISMATCH || !strstr(p->e.text, "MPI_Bcast") || !strstr(p->e.text, "MPI_Barrier"))
        die("rank %u is told of a mismatch: %d, %s", p->me, err, p->e.text);
    _exit(MISMATCH);
}

static void run_program(struct program *p)
{
    bool checkpoints = strchr(plan.faults, 'c') != NULL;

    if (checkpoints)
        load_checkpoint(p);
    while (p->call < plan.calls) {
        if (*plan.faults == 'm' && p->call == plan.calls / 2)
            differ(p);
        if (two() && p->call % 5 == 0)
            both_sums(p, p->call % 3 ? 40 : (uint32_t)plan.most / 8);
        one_call(p);
        p->call++;
        if (checkpoints && p->call % EVERY == 0)
            make_checkpoint(p);
    }
}

/* A link is reset: one of this representative's sockets, whichever. */
static void reset_link(int signal)
{
    static unsigned turn;
    int found = 0, saved = errno;

    (void)signal;
    for (int round = 0; round < 2; round++)
        for (int fd = 3; fd < 256; fd++) {
            struct sockaddr_in a;
            socklen_t len = sizeof a;

            if (getsockname(fd, (struct sockaddr *)&a, &len) != 0 || a.sin_family != AF_INET)
                continue;
            if (round == 0) {
                found++;
            } else if (turn % (unsigned)found-- == 0) {
                shutdown(fd, SHUT_RDWR);
                turn++;
                goto done;
            }
        }
done:
    errno = saved;
}

int program(uint32_t k, uint32_t local)
{
    struct program p = { .me = rank_at[first[k] + local] };
    uint64_t room = (plan.most + 150) * 8 + 4096 + (uint64_t)WORLD * 300000;
    char text[96];
    struct node *n = &node[k];

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    alarm(SECONDS);
    signal(SIGUSR1, local == 0 ? reset_link : SIG_IGN);
    snprintf(text, sizeof text, "%d,%d,%d,%d,-1,%d,%d", n->region.fd, ft_keeper_kick_fd(n->keeper), ft_keeper_spill_fd(n->keeper), n->bell,
             n->models, local == 0 ? n->pair[1] : -1);
    setenv("FTMPI_FDS", text, 1);
    snprintf(text, sizeof text, "%u", p.me);
    setenv("FTMPI_RANK", text, 1);
    p.send = malloc(plan.speed ? 32 << 20 : room);
    p.recv = malloc(plan.speed ? 32 << 20 : room);
    if (!p.send || !p.recv || ft_attach(&p.ft, false, &p.e) != 0)
        die("rank %u cannot join: %s", p.me, p.e.text);
    if (ft_rank(p.ft) != (int)p.me || ft_size(p.ft) != (int)world)
        die("rank %u is %d of %d", p.me, ft_rank(p.ft), ft_size(p.ft));
    if (two())
        join_second(&p, k, local);
    if (plan.speed)
        memset(p.send, 0, 16 << 20), measure(&p);
    else
        run_program(&p);
    check(&p, ft_finalize(p.ft, 7, &p.e), "finalize");
    ft_detach(p.ft);
    return 0;
}
