/* SPDX-License-Identifier: BSD-3-Clause */
/* A new node's log comes from others (launcher/node/fetch.h, ft/shm/transfer.h): whatever the sources do, what counts as fetched is the log
   byte for byte, up to the last whole record; and it is all there is if some source lasts.

   fetched [SEED [TIMES]] */
#include "config.h"

#include <event2/event.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "ft/core/stream.h"
#include "ft/shm/doubt.h"
#include "ft/shm/transfer.h"
#include "ft/shm/walk.h"
#include "launcher/node/fetch.h"
#include "launcher/node/links.h"
#include "launcher/node/check.h"
#include "launcher/wire/greeting.h"

enum { NODES = 4, FAKE, EXTENT = 256 << 10, SEGMENT = 64 << 10, UNITS = 1200, PAIR = 60 };

static void keeper_failed(void *arg, const char *line)
{
    (void)arg;
    fail("keeper", 0, line);
}

/* A node: its memory, and, of a source, its agent. */
struct node {
    uint32_t number, nranks;
    struct ft_region region;
    struct ft_keeper *keeper;
    struct ft_stream stream;       /* of its rank 0, to write with */
    struct ft_patience patience;
    uint64_t unit, end;            /* written so far */
    struct ft_links *links;
    struct ft_whereabouts entry;
};

static struct event_base *base;
static struct node nodes[NODES];
static uint32_t length[UNITS + 1];   /* of each unit's result, of many pairs of tests the same */
static uint64_t ends[UNITS + 1];     /* where the record before a unit ends */

static struct ft_counters *counters_of(const struct node *n)
{
    return ft_region_stream(&n->region, 0).counters;
}

static void open_node(struct node *n, uint32_t number, uint32_t nranks, uint32_t nextents)
{
    struct ft_keeper_config config = {.spill_dir = "/tmp"};
    struct ft_params params;
    struct ft_error e;

    *n = (struct node){.number = number, .nranks = nranks};
    ft_params_default(&params, nranks, 2, (uint64_t)nextents << 22);
    params.short_max = params.rooted_max = params.gather_max = 256;
    ft_params_nodes(&params, NODES, number, NODES * 2);
    params.segment = params.slot_bytes = params.gather_bytes = SEGMENT;
    params.extent_bytes = EXTENT;
    params.nextents = nextents;
    params.ntable = 1024;
    params.keeps_log = 1;
    if (ft_region_create(&n->region, &params, &e) < 0 || ft_keeper_open(&n->keeper, &n->region, &config, &e) < 0 ||
        ft_keeper_run(n->keeper, keeper_failed, NULL, &e) < 0)
        fail("node", (int)number, e.text);
    n->patience = (struct ft_patience){.yields = 20, .sleeps = true, .doorbells = ft_doorbells_of(&n->region)};
    ft_stream_open(&n->stream, &n->region, 0, "WORLD", &n->patience, ft_keeper_kick_fd(n->keeper), ft_keeper_spill_fd(n->keeper));
}

static void close_node(struct node *n)
{
    ft_links_leave(n->links);
    ft_links_free(n->links);
    ft_keeper_stop(n->keeper);
    ft_keeper_close(n->keeper);
    ft_region_close(&n->region);
}

/* As its ranks would have done it. */
static void write_unit(struct node *n)
{
    struct ft_record head = {.unit = n->unit + 1, .site = n->unit * 7, .sig = {.call = FT_CALL_BCAST, .length = length[n->unit]}};
    uint64_t bytes = length[n->unit], at = ft_log_place(&n->stream.log, n->end, bytes);
    char *to;

    if (at != n->end) {
        struct ft_record gap = ft_walk_gap(n->unit);

        memcpy(ft_log_write(&n->stream.log, n->end, 0), &gap, sizeof gap);
    }
    to = ft_log_write(&n->stream.log, at, bytes);
    memcpy(to, &head, sizeof head);
    for (uint64_t i = 0; i < bytes; i++)
        to[ft_record_offset(bytes) + i] = (char)(n->unit * 31 + i * 7 + (i >> 8));
    n->unit++;
    n->end = at + ft_record_bytes(bytes);
    for (uint32_t r = 0; r < n->nranks; r++) {
        ft_publish(&counters_of(n)[r].done, n->unit);
        ft_publish(&counters_of(n)[r].done_at, n->end);
    }
}

static void write_units(struct node *n, uint64_t units)
{
    while (n->unit < units)
        write_unit(n);
}

static bool look_up(void *arg, uint32_t node, struct ft_whereabouts *peer)
{
    (void)arg;
    *peer = nodes[node].entry;
    return true;
}

static void open_source(struct node *n)
{
    struct ft_address list[FT_ADDRESSES];
    struct ft_links_config config = {.secret = secret, .node = n->number, .nnodes = NODES, .incarnation = 5, .region = &n->region,
                                     .spill_fd = ft_keeper_spill_fd(n->keeper), .look_up = look_up};
    struct ft_error e;

    config.listener = ft_address_listen("127.0.0.1", NULL, list, &n->entry.naddresses, &e);
    CHECK(config.listener >= 0);
    n->entry.incarnation = 5;
    n->entry.up = true;
    n->entry.addresses[0] = list[0];
    CHECK(ft_links_new(&n->links, &config, &e) == 0);
    CHECK(ft_links_serve(n->links, base, &say) == 0);
}

static struct ft_source source(uint32_t node)
{
    struct ft_source s = {.node = node, .incarnation = nodes[node].entry.incarnation, .naddresses = 1};

    s.addresses[0] = nodes[node].entry.addresses[0];
    return s;
}

/* ---- a source that does wrong, knowing the secret ---- */

enum wrong { REFUSES, OTHER_EXTENTS, NO_ANSWER, NO_PIECE, TOO_LONG, OTHER_PLACE, BAD_HASH, NO_LOG, BREAKS, NWRONG };

static struct {
    enum wrong how;
    uint64_t after;       /* at this position */
    _Atomic unsigned times;  /* how often it was asked; it does right from the third time on if `mends` */
    bool mends;
    struct event_base *base;  /* it has a thread of its own */
    pthread_t thread;
    struct event *tick;
    atomic_bool over;
    struct ft_auth *auth;
    int listener;
    struct ft_address at[FT_ADDRESSES];
    unsigned random;
} fake;

static void fake_piece(int fd, struct ft_reader *t, uint64_t at, uint64_t n)
{
    static uint8_t out[FT_PIECE_HEAD + EXTENT];
    struct ft_piece p = {.position = at, .length = (uint32_t)n};

    CHECK(ft_reader_read(t, at, out + FT_PIECE_HEAD, n));
    if (fake.how == NO_LOG)
        memset(out + FT_PIECE_HEAD, 0xff, 8); /* no such unit */
    p.hash = ft_piece_hash(at, out + FT_PIECE_HEAD, p.length);
    if (fake.how == BAD_HASH)
        out[FT_PIECE_HEAD + (uint64_t)rand_r(&fake.random) % n] ^= 4;
    if (fake.how == OTHER_PLACE)
        p.position += 64;
    if (fake.how == TOO_LONG)
        p.length = FT_PIECE_MOST;
    ft_piece_put(&p, out);
    if (fake.how == NO_PIECE)
        out[rand_r(&fake.random) % 4] ^= 1;
    for (uint64_t done = 0; done < FT_PIECE_HEAD + n;) {
        ssize_t put = send(fd, out + done, FT_PIECE_HEAD + n - done, MSG_NOSIGNAL);

        if (put <= 0) /* it has seen what it needs to see */
            return;
        done += (size_t)put;
    }
}

static void on_fake(void *arg, int fd, enum ft_auth_kind kind, const struct ft_error *e)
{
    struct ft_reader t;
    struct ft_greeting g;
    uint8_t text[FT_GREETING_BYTES], answer[FT_ANSWER_BYTES];
    struct ft_answer a = {.verdict = FT_VERDICT_YES, .node = 0, .incarnation = 5, .extent_bytes = EXTENT};
    uint64_t at, after = fake.mends && fake.times >= 2 ? UINT64_MAX : fake.after;

    fake.times++;
    (void)arg;
    (void)e;
    CHECK(kind == FT_AUTH_FETCH && fcntl(fd, F_SETFL, 0) == 0);
    CHECK(recv(fd, text, sizeof text, MSG_WAITALL) == sizeof text && ft_greeting_get(text, &g) && g.want == FT_WANT_LOG);
    if (fake.how == REFUSES)
        a.verdict = FT_VERDICT_RELEASED;
    if (fake.how == OTHER_EXTENTS)
        a.extent_bytes *= 2;
    ft_answer_put(&a, answer);
    if (fake.how == NO_ANSWER)
        answer[0] ^= 1;
    CHECK(send(fd, answer, sizeof answer, 0) == sizeof answer);
    ft_reader_open(&t, &nodes[0].region, 0, ft_keeper_spill_fd(nodes[0].keeper));
    at = g.position;
    if (fake.how >= NO_PIECE && fake.how != BREAKS && at < nodes[0].end)
        fake_piece(fd, &t, at, ft_min(ft_min(nodes[0].end - at, 5000), EXTENT - at % EXTENT));
    while (fake.how == BREAKS && at < after && at < nodes[0].end) {
        uint64_t n = ft_min(ft_min(ft_min(nodes[0].end - at, 1 + (uint64_t)rand_r(&fake.random) % 70000), EXTENT - at % EXTENT), after - at);

        fake_piece(fd, &t, at, n);
        at += n;
    }
    if (after == UINT64_MAX) { /* all that there is */
        struct ft_piece last = {.position = at, .hash = ft_piece_hash(at, "", 0)};
        uint8_t head[FT_PIECE_HEAD];

        ft_piece_put(&last, head);
        CHECK(send(fd, head, sizeof head, MSG_NOSIGNAL) == sizeof head);
    }
    close(fd);
}

static void on_tick(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    (void)arg;
}

static void *run_fake(void *arg)
{
    while (!atomic_load(&fake.over))
        event_base_loop(fake.base, EVLOOP_ONCE);
    return arg;
}

static void open_fake(void)
{
    struct ft_error e;
    size_t n;
    struct timeval often = {.tv_usec = 10000};

    fake.base = event_base_new();
    fake.tick = event_new(fake.base, -1, EV_PERSIST, on_tick, NULL);
    CHECK(event_add(fake.tick, &often) == 0);
    atomic_store(&fake.over, false);
    fake.random = seed;
    fake.auth = ft_auth_new(fake.base, secret, &say);
    fake.listener = ft_address_listen("127.0.0.1", NULL, fake.at, &n, &e);
    CHECK(fake.auth && fake.listener >= 0 && ft_auth_listen(fake.auth, fake.listener, 1 << FT_AUTH_FETCH, on_fake, NULL) == 0);
    CHECK(pthread_create(&fake.thread, NULL, run_fake, NULL) == 0);
}

static void close_fake(void)
{
    atomic_store(&fake.over, true);
    pthread_join(fake.thread, NULL);
    ft_auth_free(fake.auth);
    close(fake.listener);
    event_free(fake.tick);
    event_base_free(fake.base);
}

static struct ft_source fake_source(enum wrong how, uint64_t after)
{
    struct ft_source s = source(0);

    s.addresses[0] = fake.at[0];
    fake.how = how;
    fake.after = after;
    fake.times = 0;
    fake.mends = false;
    return s;
}

/* ---- fetching ---- */

static struct {
    bool done;
    uint64_t units, bytes;
    struct ft_error e;
} got;

static void on_done(void *arg, uint64_t units, uint64_t bytes, const struct ft_error *e)
{
    (void)arg;
    CHECK(!got.done);
    got.done = true;
    got.units = units;
    got.bytes = bytes;
    got.e = *e;
}

/* What the new node has is what node 0 has, as far as its ranks' counters say. */
static void check_log(const struct node *n)
{
    struct ft_reader a, b;
    static char x[EXTENT], y[EXTENT];

    CHECK(got.units <= nodes[0].unit && got.bytes == ends[got.units]);
    for (uint32_t r = 0; r < n->nranks; r++)
        CHECK(ft_peek(&counters_of(n)[r].done) == got.units && ft_peek(&counters_of(n)[r].done_at) == got.bytes);
    ft_reader_open(&a, &nodes[0].region, 0, ft_keeper_spill_fd(nodes[0].keeper));
    ft_reader_open(&b, &n->region, 0, ft_keeper_spill_fd(n->keeper));
    for (uint64_t u = 0; u < got.units; u++) {
        uint64_t bytes = ft_record_bytes(length[u]), at = ends[u + 1] - bytes;

        CHECK(ft_reader_read(&a, at, x, bytes) && ft_reader_read(&b, at, y, bytes) && !memcmp(x, y, bytes));
    }
}

static void fetch(struct node *n, const struct ft_source *sources, size_t nsources, uint64_t leave_at, uint64_t grow)
{
    struct ft_fetch_config config = {.base = base, .secret = secret, .say = &say, .node = n->number, .incarnation = 6,
                                     .region = &n->region, .keeper = n->keeper, .spill_fd = ft_keeper_spill_fd(n->keeper)};
    struct timespec begin, now;

    clock_gettime(CLOCK_MONOTONIC, &begin);
    memset(&got, 0, sizeof got);
    CHECK(ft_fetch_start(&config, sources, nsources, on_done, NULL) && !got.done);
    while (!got.done) {
        event_base_loop(base, EVLOOP_NONBLOCK);
        if (leave_at && ft_peek(&counters_of(n)->done_at) >= leave_at) { /* node 1's agent is gone */
            ft_links_leave(nodes[1].links);
            leave_at = 0;
        }
        if (grow && nodes[0].unit < grow) /* node 0's ranks go on */
            write_unit(&nodes[0]);
        clock_gettime(CLOCK_MONOTONIC, &now);
        CHECK(now.tv_sec - begin.tv_sec < PAIR);
    }
    check_log(n);
}

/* A new node with nothing. */
static void renew(struct node *n)
{
    if (n->region.base)
        close_node(n);
    open_node(n, 3, 1 + (uint32_t)rand() % 3, 5 + (uint32_t)rand() % 60);
}

/* The units that are whole with so many bytes. */
static uint64_t whole(uint64_t bytes)
{
    uint64_t u = 0;

    while (u < UNITS && ends[u + 1] <= bytes)
        u++;
    return u;
}

/* What a unit is, out of the log: what lies between records is none. */
static void look_units_up(struct node *n)
{
    int spill_fd = ft_keeper_spill_fd(n->keeper);
    uint64_t what;

    for (int i = 0; i < 40; i++) {
        uint64_t u = i < 2 ? i * (n->unit - 1) : (uint64_t)rand() % n->unit;
        struct ft_sig sig = {.call = FT_CALL_BCAST};

        CHECK(ft_doubt_known(&n->region, spill_fd, u, &what) == FT_KNOWN_CALL && what == ft_doubt_call(&sig, u * 7));
    }
    CHECK(ft_doubt_known(&n->region, spill_fd, n->unit, &what) == FT_KNOWN_NOT);
    ft_doubt_tell(&n->region, n->unit, FT_TOLD_ALL);
    CHECK(ft_doubt_known(&n->region, spill_fd, n->unit, &what) == FT_KNOWN_NOT);
    ft_doubt_tell(&n->region, n->unit, 77);
    CHECK(ft_doubt_known(&n->region, spill_fd, n->unit, &what) == FT_KNOWN_CALL && what == 77);
    CHECK(ft_doubt_told(&n->region, n->unit) == 77 && !ft_doubt_told(&n->region, n->unit + 1));
}

static void once(void)
{
    struct node *n = &nodes[3];
    struct ft_source sources[2];
    uint64_t bytes;

    /* All of it, from one that goes on meanwhile; a second fetch has nothing to do. */
    renew(n);
    sources[0] = source(0);
    fetch(n, sources, 1, 0, nodes[0].unit + 50);
    CHECK(got.units >= UNITS / 2 && !got.e.text[0]);
    bytes = got.bytes;
    write_units(&nodes[0], nodes[0].unit + 10);
    fetch(n, sources, 1, 0, 0);
    CHECK(got.units == nodes[0].unit && got.bytes > bytes && !got.e.text[0]);
    look_units_up(&nodes[0]);
    got.units = n->unit = nodes[0].unit;
    look_units_up(n);

    /* From one that breaks off, then from one that has it all: what the first gave is kept. */
    renew(n);
    sources[0] = fake_source(BREAKS, 1 + (uint64_t)rand() % ends[UNITS / 3]);
    sources[1] = source(0);
    fetch(n, sources, 2, 0, 0);
    CHECK(got.units == nodes[0].unit && !got.e.text[0]);

    /* From one whose agent is gone in the midst of it (or just then had sent all it has). */
    renew(n);
    sources[0] = source(1);
    sources[1] = source(0);
    fetch(n, sources, 2, 1, 0);
    CHECK((got.units == nodes[0].unit || got.units == nodes[1].unit) && !got.e.text[0]);
    CHECK(ft_links_serve(nodes[1].links, base, &say) == 0);

    /* From one that does wrong only. */
    for (int how = 0; how < NWRONG; how++) {
        bytes = how == BREAKS ? (uint64_t)rand() % nodes[0].end : 0;
        renew(n);
        sources[0] = fake_source((enum wrong)how, bytes);
        fetch(n, sources, 1, 0, 0);
        CHECK(got.e.text[0] && !strchr(got.e.text, '\n') && got.units == whole(bytes) && fake.times == 3);
        sources[1] = source(rand() % 2);
        fetch(n, sources, 2, 0, 0);
        CHECK(!got.e.text[0] && got.units >= nodes[sources[1].node].unit);
    }

    /* From one that has broken off twice. */
    renew(n);
    sources[0] = fake_source(BREAKS, (uint64_t)rand() % nodes[0].end);
    fake.mends = true;
    fetch(n, sources, 1, 0, 0);
    CHECK(!got.e.text[0] && got.units == nodes[0].unit && fake.times == 3);

    /* There is nobody. */
    renew(n);
    fetch(n, sources, 0, 0, 0);
    CHECK(got.e.text[0] && got.units == 0);
}

int main(int argc, char **argv)
{
    int times = argc > 2 ? atoi(argv[2]) : 1;

    if (argc > 1)
        seed = (unsigned)atoi(argv[1]);
    for (int i = 0; i < times; i++, seed++) {
        struct ft_log log = {.extent_bytes = EXTENT};

        srand(seed);
        base = event_base_new();
        for (uint64_t u = 0; u < UNITS; u++) {
            length[u] = rand() % 4 == 0 ? (uint32_t)rand() % (SEGMENT + 1) : rand() % 3 == 0 ? 0 : (uint32_t)rand() % 200;
            ends[u + 1] = ft_log_place(&log, ends[u], length[u]) + ft_record_bytes(length[u]);
        }
        for (uint32_t k = 0; k < 2; k++) {
            open_node(&nodes[k], k, 2, 8);
            write_units(&nodes[k], k ? UNITS / 3 : UNITS / 2);
            open_source(&nodes[k]);
        }
        open_fake();
        once();
        close_fake();
        for (uint32_t k = 0; k < 4; k++)
            if (nodes[k].region.base)
                close_node(&nodes[k]);
        memset(nodes, 0, sizeof nodes);
        event_base_free(base);
    }
    return 0;
}
