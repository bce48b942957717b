/* SPDX-License-Identifier: BSD-3-Clause */
/* Checkpoints at the next node (launcher/node/kept.c, cargo.c, parcel.c), and a node before it that sends anything. libFuzzer's entry point;
   fuzz_driver.c drives it without. What is sent is what a node really packs, with changes, so that they reach what lies behind sums and lengths.

   {flags, what the node has, size of pieces, -} and then changes of 8 bytes: {u16 place, u8 how, u8 -, u32 value}.

   What is kept is given back as it came. What a replacement cannot use leaves it as it was; what it takes it would pack itself again. */
#include "config.h"

#include <event2/event.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ft/core/cache.h"
#include "ft/shm/models.h"
#include "ft/shm/versions.h"
#include "ft/shm/word.h"
#include "ft/test/fuzz_driver.h"
#include "launcher/node/cargo.h"
#include "launcher/node/job.h"
#include "launcher/node/kept.h"
#include "launcher/stdio/memory.h"
#include "launcher/wire/greeting.h"

enum { RANKS = 2, STREAMS = 2 * RANKS, UNIT = 3, UNITS = 10, MOST = 96 << 10, GLOBAL_HASH = 72, UNIT_AT = 40, LOCAL_HASH = 120, OF_RANK = 24 };
enum { SUMS = 1, PLAIN = 2 };  /* flags: models' hashes are made right; pieces are as they should be */
enum how { SET1, SET4, SET8, ADD8, CUT, MORE, WIRE /* these and all that follow: of a piece, the place is its number */, FLIP = WIRE, POSITION,
    LENGTH, CLOSE, HOWS };

struct bytes {
    uint8_t at[MOST];
    size_t n;
};

struct change {
    uint16_t place;
    uint8_t how, unused;
    uint32_t value;
};

static struct ft_options options = {.nranks = RANKS};
static struct ft_description description = {.node = 1, .nnodes = 3};
static struct ft_job sender, keeper;         /* keeper: of what is sent, and afterwards the one that replaces the sender */
static struct ft_node node;
static int inbox;

/* ---- a node ---- */

static void open_job(struct ft_job *job)
{
    struct ft_stdio_config config = {.nranks = RANKS, .keep = true};
    struct ft_params params;
    struct ft_error e;

    ft_params_default(&params, RANKS, RANKS, 64 << 20);
    params.keeps_log = 1;
    job->options = &options;
    job->models = ft_models_create(&e);
    job->stdio = ft_stdio_memory_new(&config, &e);
    FT_INVARIANT(job->models >= 0 && job->stdio && ft_region_create(&job->region, &params, &e) == 0, "there is memory");
}

/* Its log has UNITS, and nothing else has happened there. */
static void renew_job(struct ft_job *job)
{
    struct ft_stdio_memory *m = job->stdio;

    memset(ft_versions_head(&job->region), 0, sizeof(struct ft_version_head) + RANKS * sizeof(struct ft_version_words));
    ft_region_reset(&job->region);
    for (uint32_t r = 0; r < RANKS; r++)
        ft_publish(&ft_region_stream(&job->region, 0).counters[r].done, UNITS);
    memset(m->shared->streams, 0, STREAMS * sizeof m->shared->streams[0]);
    memset(m->marks, 0, STREAMS * FT_MARKS * sizeof *m->marks);
}

static uint64_t put_model(const struct ft_job *job, uint64_t area, uint64_t n, uint8_t with)
{
    static uint8_t bytes[4096];
    struct ft_error e;
    uint64_t hash;

    memset(bytes, with, sizeof bytes);
    FT_INVARIANT(n <= sizeof bytes && ft_models_write(job->models, area, 0, bytes, n, &e) == 0 && ft_models_hash(job->models, area, n, &hash, &e) == 0,
                 "there is memory");
    return hash;
}

static void put_stream(const struct ft_job *job, uint32_t id, uint32_t slot, uint8_t what)
{
    struct ft_stdio_memory *m = job->stdio;
    struct ft_lines_mark *mark = ft_stdio_mark(m, id, (int)slot);
    uint32_t len = what & 64 ? FT_MARK_BYTES + 1 + what : what & 32 ? what : 0;

    m->shared->streams[id] = (struct ft_stream_state){.lines = {.n = what % 31, .open = what & 1}, .written = 40 * what};
    for (uint32_t i = 0; i < what % 31; i++)
        m->hashes[id * m->room + i] = i * 77 + id;
    *mark = (struct ft_lines_mark){.at = what % 31 / 2, .noted = 1, .len = len};
    memset(len > FT_MARK_BYTES ? ft_stdio_long_part(m, id, (int)slot) : mark->part, 'a', len);
}

/* Two results without bytes. */
static void put_cache(const struct ft_job *job, bool some)
{
    struct ft_entry entry[2] = {{.bytes = sizeof *entry, .kind = FT_ENTRY_KEY, .key = 1, .unit = 1},
                                {.bytes = sizeof *entry, .kind = FT_ENTRY_KEY, .key = 3, .unit = UNITS - 1}};
    struct ft_error e;

    ft_models_end(job->models, FT_MODELS_CACHE, 0);
    FT_INVARIANT(!some || ft_models_write(job->models, FT_MODELS_CACHE, 0, entry, sizeof entry, &e) == 0, "there is memory");
}

/* As ranks leave it that have loaded nothing, made a checkpoint and printed something. */
static void fill_job(const struct ft_job *job, uint8_t what)
{
    struct ft_version_head *h = ft_versions_head(&job->region);
    uint64_t version = 1 + what % 5, nglobal = what & 8 ? 2000 : 0, hash;
    uint32_t slot = what % 2;

    hash = put_model(job, ft_models_global(slot), nglobal, 'g');
    put_model(job, FT_MODELS_PREFIX, what & 16 ? 640 : 0, 'p');
    put_cache(job, what & 4);
    h->prefix_end = (what & 16 ? 640 : 0) + 1;
    h->cache_end = what & 4 ? 2 * sizeof(struct ft_entry) : 0;
    for (uint32_t r = 0; r < RANKS; r++) {
        struct ft_version_words *w = ft_versions_of(&job->region, r);
        struct ft_model_slot *s = &w->slot[slot];

        s->nlocal = what & 2 ? 300 + r : 0;
        s->local_hash = put_model(job, ft_models_local(r, slot), s->nlocal, (uint8_t)r);
        s->unit = UNIT;
        s->end = 4096;
        s->chain = 12345;
        s->nglobal = nglobal;
        s->global_hash = hash;
        s->version = version;
        w->loads = 1;
        w->consumed = version;
        for (uint32_t which = 0; which < 2; which++)
            put_stream(job, 2 * r + which, slot, (uint8_t)(what * (1 + which) + r));
    }
}

static bool pack(const struct ft_job *job, struct bytes *b)
{
    struct ft_cargo *c = ft_cargo_pack(job, 0);
    bool fits = c && ft_cargo_bytes(c) <= MOST;

    b->n = fits ? ft_cargo_bytes(c) : 0;
    FT_INVARIANT(!fits || ft_cargo_read(c, 0, b->at, (uint32_t)b->n), "what is packed can be read");
    ft_cargo_free(c);
    ft_cargo_unpin(job);
    return fits;
}

static uint64_t unit_of(const struct bytes *b)
{
    uint64_t unit;

    memcpy(&unit, b->at + UNIT_AT, sizeof unit);
    return unit;
}

/* ---- changes ---- */

static void change(struct bytes *b, const struct change *c)
{
    size_t at = c->place % b->n;
    uint64_t v = c->value, old;

    switch (c->how % HOWS) {
    case SET1: b->at[at] = (uint8_t)v; return;
    case SET4: memcpy(b->at + at, &v, ft_min(4, b->n - at)); return;
    case SET8: v = (uint64_t)(int64_t)(int32_t)c->value; memcpy(b->at + at, &v, ft_min(8, b->n - at)); return;
    case ADD8:
        at &= ~(size_t)7;
        if (at + 8 <= b->n) {
            memcpy(&old, b->at + at, 8);
            old += (uint64_t)(int64_t)(int32_t)c->value;
            memcpy(b->at + at, &old, 8);
        }
        return;
    case CUT: b->n = at + 1; return;
    case MORE: v %= MOST - b->n; memset(b->at + b->n, 0, v); b->n += v; return;
    default: return; /* of the wire */
    }
}

/* The models are where the head says; their hashes are of what is there. */
static void make_sums_right(struct bytes *b)
{
    uint64_t at, n, hash;
    struct ft_error e;

    if (b->n < LOCAL_HASH + RANKS * OF_RANK)
        return;
    memcpy(&at, b->at + 8, 8);
    for (uint32_t i = 0; i <= RANKS; i++, at += n) {
        size_t hash_at = i ? LOCAL_HASH + (i - 1) * OF_RANK : GLOBAL_HASH;

        memcpy(&n, b->at + hash_at - 8, 8);
        if (at > b->n || n > b->n - at)
            return;
        FT_INVARIANT(ft_models_write(inbox, 1, 0, b->at + at, n, &e) == 0 && ft_models_hash(inbox, 1, n, &hash, &e) == 0, "there is memory");
        memcpy(b->at + hash_at, &hash, 8);
    }
}

/* ---- the wire ---- */

static struct bytes wire;

static const struct change *of_piece(const struct change *c, size_t n, size_t piece)
{
    for (size_t i = 0; i < n; i++)
        if (c[i].how % HOWS >= WIRE && c[i].place % 16 == piece)
            return &c[i];
    return NULL;
}

/* False: nothing follows it. */
static bool add_piece(const struct bytes *cargo, size_t at, size_t n, const struct change *c)
{
    struct ft_piece p = {.position = at, .length = (uint32_t)n, .hash = ft_piece_hash(at, cargo->at + at, (uint32_t)n)};
    uint8_t *to = wire.at + wire.n;

    if (c && c->how % HOWS == POSITION)
        p.position += c->value;
    if (c && c->how % HOWS == LENGTH)
        p.length = c->value;
    ft_piece_put(&p, to);
    memcpy(to + FT_PIECE_HEAD, cargo->at + at, n);
    wire.n += FT_PIECE_HEAD + n;
    if (c && c->how % HOWS == FLIP)
        to[c->value % (FT_PIECE_HEAD + n)] ^= (uint8_t)(1 | c->value >> 16);
    if (c && c->how % HOWS == CLOSE)
        wire.n -= 1 + c->value % (FT_PIECE_HEAD + n);
    return !c || c->how % HOWS != CLOSE;
}

static void make_wire(const struct bytes *cargo, size_t size, const struct change *c, size_t n)
{
    size_t at = 0, some, piece = 0;
    bool more = true;

    wire.n = 0;
    do {
        some = ft_min(size, cargo->n - at);
        if (wire.n + some + FT_PIECE_HEAD > MOST)
            break;
        more = add_piece(cargo, at, some, of_piece(c, n, piece++));
        at += some;
    } while (more && some);
}

/* ---- the next node ---- */

static void turn(void) { FT_INVARIANT(event_base_loop(keeper.base, EVLOOP_NONBLOCK) >= 0, "the loop goes on"); }

static bool ask(enum ft_greeting_want want, int *end)
{
    struct ft_greeting g = {.want = want, .from = 0, .to = 1};
    struct ft_answer a = {.verdict = FT_VERDICT_YES};
    int link[2];

    ft_kept_answer(node.kept, &g, &a);
    if (a.verdict != FT_VERDICT_YES)
        return false;
    FT_INVARIANT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, link) == 0, "there are sockets");
    ft_kept_take(node.kept, link[1], &g);
    *end = link[0];
    return true;
}

/* What it says to the wire. It waits for the unit of what has come, if it is not there; we do not. */
static bool is_kept(void)
{
    uint8_t answer[FT_ANSWER_BYTES];
    struct ft_answer a;
    size_t sent = 0;
    ssize_t n = -1;
    int fd;

    FT_INVARIANT(ask(FT_WANT_KEEP, &fd), "there is a place for it");
    for (int idle = 0; idle < 3 && n < 0; idle++) {
        ssize_t some = sent < wire.n ? send(fd, wire.at + sent, wire.n - sent, MSG_NOSIGNAL) : 0;

        if (some > 0) {
            sent += (size_t)some;
            idle = 0;
        }
        if (sent == wire.n)
            shutdown(fd, SHUT_WR);
        turn();
        n = recv(fd, answer, sizeof answer, 0);
    }
    close(fd);
    if (n <= 0)
        return false;
    FT_INVARIANT(n == sizeof answer && ft_answer_get(answer, &a), "an answer is one");
    return a.verdict == FT_VERDICT_YES;
}

/* All of what it has kept. */
static void fetch(struct bytes *b)
{
    static uint8_t in[MOST + FT_PIECE_HEAD];
    size_t have = 0;
    struct ft_piece p = {.length = 1};
    int fd;

    b->n = 0;
    FT_INVARIANT(ask(FT_WANT_KEPT, &fd), "what is kept is there");
    while (p.length) {
        ssize_t n = recv(fd, in + have, sizeof in - have, 0);

        have += n > 0 ? (size_t)n : 0;
        FT_INVARIANT(n != 0 || have >= FT_PIECE_HEAD, "it comes to its end");
        while (have >= FT_PIECE_HEAD) {
            FT_INVARIANT(ft_piece_get(in, &p) && p.position == b->n && p.length <= MOST - b->n, "pieces follow each other");
            if (have < FT_PIECE_HEAD + p.length)
                break;
            FT_INVARIANT(ft_piece_hash(p.position, in + FT_PIECE_HEAD, p.length) == p.hash, "a piece is what it says");
            memcpy(b->at + b->n, in + FT_PIECE_HEAD, p.length);
            b->n += p.length;
            have -= FT_PIECE_HEAD + p.length;
            memmove(in, in + FT_PIECE_HEAD + p.length, have);
            if (!p.length)
                break;
        }
        turn();
    }
    close(fd);
    turn();
}

static void open_kept(void)
{
    struct ft_error e;

    FT_INVARIANT(ft_kept_new(&node.kept, &node, &e) == 0 && ft_kept_serve(node.kept) == 0, "there is memory");
}

static void close_kept(void)
{
    ft_kept_leave(node.kept);
    ft_kept_free(node.kept);
    node.kept = NULL;
}

/* ---- the replacement ---- */

static void emit(void *arg, bool begins, const char *data, size_t len)
{
    (void)arg;
    (void)begins;
    FT_INVARIANT(data && len, "something is printed");
}

/* What a rank prints that goes on behind the version. */
static void print_on(const struct ft_job *job, uint32_t slot)
{
    static const char text[] = "one line\nand another one\nand";

    for (uint32_t id = 0; id < STREAMS; id++) {
        struct ft_lines l = ft_stdio_lines(job->stdio, id);

        ft_lines_restart(&l);
        ft_lines_return(&l, ft_stdio_mark(job->stdio, id, (int)slot), ft_stdio_long_part(job->stdio, id, (int)slot));
        for (size_t at = 0, n; at < sizeof text - 1; at += n) {
            n = ft_lines_step(&l, text + at, sizeof text - 1 - at, emit, NULL);
            FT_INVARIANT(n >= 1 && n <= sizeof text - 1 - at && l.s.len < l.longest, "lines go on");
        }
    }
}

static void check_model(const struct ft_job *job, uint64_t area, uint64_t n, uint64_t should)
{
    struct ft_error e;
    uint64_t hash;

    FT_INVARIANT(ft_models_hash(job->models, area, n, &hash, &e) == 0 && (!n || hash == should), "a model is what it was");
}

/* Lines may be longer where it comes from: limits differ between hosts. */
static bool has_room(const struct ft_job *job, const struct ft_job *from, uint32_t slot)
{
    for (uint32_t id = 0; id < STREAMS; id++)
        if (ft_stdio_mark(from->stdio, id, (int)slot)->len >= job->stdio->longest)
            return false;
    return true;
}

static void replace(const struct bytes *kept, const struct bytes *honest, uint32_t slot)
{
    bool same = kept->n == honest->n && !memcmp(kept->at, honest->at, kept->n);
    static struct ft_stream_state before[STREAMS];
    static struct bytes again;
    struct ft_job *job = &keeper;
    struct ft_error e = {""};
    struct ft_version v;
    int64_t version;

    renew_job(job);
    memcpy(before, job->stdio->shared->streams, sizeof before);
    ft_models_end(inbox, 0, 0);
    FT_INVARIANT(ft_models_write(inbox, 0, 0, kept->at, kept->n, &e) == 0, "there is memory");
    version = ft_cargo_unpack(job, inbox, 0, kept->n, UNITS, &e);
    if (version <= 0) {
        FT_INVARIANT(version == 0 || (e.text[0] && !strchr(e.text, '\n')), "a refusal says why in one line");
        FT_INVARIANT(!memcmp(before, job->stdio->shared->streams, sizeof before), "what has been printed is what was known");
        for (uint32_t r = 0; r < RANKS; r++)
            FT_INVARIANT(!ft_versions_newest(&job->region, r, &v) && !ft_versions_of(&job->region, r)->consumed, "there is no version");
        FT_INVARIANT(!same || !has_room(job, &sender, slot), "what a node sends is taken");
        return;
    }
    for (uint32_t r = 0; r < RANKS; r++) {
        FT_INVARIANT(ft_versions_newest(&job->region, r, &v) && v.version == (uint64_t)version, "there is the version");
        check_model(job, ft_models_local(r, v.slot), v.nlocal, v.local_hash);
    }
    check_model(job, ft_models_global(v.slot), v.nglobal, v.global_hash);
    if (same)
        FT_INVARIANT(pack(job, &again) && again.n == kept->n && !memcmp(again.at, kept->at, again.n), "the same is packed again");
    print_on(job, v.slot);
}

static void set_up(void)
{
    struct ft_error e;

    open_job(&sender);
    open_job(&keeper);
    keeper.stdio->longest = FT_MARK_BYTES + 200;
    keeper.base = event_base_new();
    keeper.node = &node;
    node.job = &keeper;
    node.d = &description;
    inbox = ft_models_create(&e);
    FT_INVARIANT(keeper.base && inbox >= 0, "there is memory");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static struct bytes honest, cargo, kept;
    struct change changes[16];
    size_t nchanges;

    if (n < 4)
        return 0;
    if (!keeper.base)
        set_up();
    nchanges = ft_min((n - 4) / sizeof *changes, 16);
    memcpy(changes, data + 4, nchanges * sizeof *changes);
    renew_job(&sender);
    fill_job(&sender, data[1]);
    FT_INVARIANT(pack(&sender, &honest), "a node packs its checkpoint");
    cargo = honest;
    for (size_t i = 0; i < nchanges; i++)
        change(&cargo, &changes[i]);
    if (data[0] & SUMS)
        make_sums_right(&cargo);
    make_wire(&cargo, (1 + (size_t)data[2]) << 8, changes, data[0] & PLAIN ? 0 : nchanges);
    renew_job(&keeper);
    open_kept();
    if (is_kept()) {
        fetch(&kept);
        FT_INVARIANT(kept.n <= cargo.n && !memcmp(kept.at, cargo.at, kept.n), "what is kept is what came");
        FT_INVARIANT(kept.n == cargo.n || (nchanges && !(data[0] & PLAIN)), "all of it is kept");
        FT_INVARIANT(unit_of(&kept) < UNITS, "what is kept is in the log");
        replace(&kept, &honest, data[1] % 2);
    } else {
        FT_INVARIANT(nchanges, "what a node sends is kept");
        replace(&cargo, &honest, data[1] % 2);
    }
    close_kept();
    return 0;
}
