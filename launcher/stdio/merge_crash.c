/* SPDX-License-Identifier: BSD-3-Clause */
/* Output of a job on several hosts exactly once, whatever instruction the controller dies at (merge.h, sink.h, spool.h). A process that
   merges what two nodes say is killed at one instruction, and succeeded by another over the same memory, to which they say again what was not
   acknowledged; that one may be killed, too. In the end one node is replaced, and its ranks print all again. What has been written is what an
   undisturbed process writes, byte for byte.

   merge_crash [KILLS [KIND]] (instruction.h): kinds of output. */
#include "config.h"

#include <event2/event.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "launcher/stdio/instruction.h"
#include "launcher/stdio/memory.h"
#include "launcher/stdio/merge.h"
#include "launcher/stdio/sink.h"
#include "launcher/wire/wire.h"

enum { NODES = 2, WORLD = 3, ROOM = 4096, PER_FRAME = 3 };

/* Node 0 has ranks 0 and 1, node 1 has rank 2. */
static const struct record {
    uint32_t node, rank;
    uint16_t stream, flags;
    uint64_t line, offset;
    const char *text;
} script[] = {
    {0, 0, 0, FT_RECORD_BEGINS, 0, 0, "alpha\nbeta\n"}, {0, 1, 1, FT_RECORD_BEGINS, 0, 0, "an error\n"}, {0, 0, 0, FT_RECORD_BEGINS, 2, 0, "name? "},
    {0, 1, 0, FT_RECORD_BEGINS, 0, 0, "one\n"}, {0, 0, 0, 0, 2, 6, "you\n"}, {0, 1, 0, FT_RECORD_BEGINS | FT_RECORD_MORE, 1, 0, "long, "},
    {0, 1, 0, FT_RECORD_MORE, 1, 0, "longer, "}, {0, 1, 0, 0, 1, 0, "longest\n"}, {0, 0, 1, FT_RECORD_BEGINS | FT_RECORD_LAST, 0, 0, "last"},
    {1, 2, 0, FT_RECORD_BEGINS, 0, 0, "two\nthree\n"}, {1, 2, 1, FT_RECORD_BEGINS, 0, 0, "another\n"}, {1, 2, 0, FT_RECORD_BEGINS, 2, 0, "four"},
    {1, 2, 0, 0, 2, 4, " and more\n"}, {1, 2, 0, FT_RECORD_BEGINS, 3, 0, "five\n"},
}, again[] = {
    {1, 2, 0, FT_RECORD_BEGINS, 0, 0, "two\nthree\nfour and more\nfive\nsix\n"}, {1, 2, 1, FT_RECORD_BEGINS, 0, 0, "another\nand one\n"},
};
static const char *const wanted[WORLD][2] = {{"alpha\nbeta\nname? you\n", "last"},
                                             {"one\nlong, longer, longest\n", "an error\n"},
                                             {"two\nthree\nfour and more\nfive\nsix\n", "another\nand one\n"}};

static const char *const plain[] = {"alpha\nbeta\nname? \none\nyou\nlong, longer, longest\ntwo\nthree\nfour and more\nfive\nsix\n",
                                    "an error\nlast\nanother\nand one\n"};
#define OUT(rank) "[1," #rank "]<stdout>:"
#define ERR(rank) "[1," #rank "]<stderr>:"
static const char *const tagged[] = {
    OUT(0) "alpha\n" OUT(0) "beta\n" OUT(0) "name? \n" OUT(1) "one\nyou\n" OUT(1) "long, longer, longest\n"
    OUT(2) "two\n" OUT(2) "three\n" OUT(2) "four and more\n" OUT(2) "five\n" OUT(2) "six\n",
    ERR(1) "an error\n" ERR(0) "last\n" ERR(2) "another\n" ERR(2) "and one\n"};

enum kind { PIPE, FILE_, APPEND, TAGGED, DIR_, NKINDS };
static const char *const kinds[] = {"pipes", "files", "files opened for appending", "pipes, tagged", "a file for each rank"};

static uint8_t spools[NODES][ROOM];
static uint32_t tails[NODES], ends[NODES][32], nends[NODES]; /* ends: of frames */

struct scene {
    enum kind kind;
    struct event_base *base;
    struct ft_stdio_memory *m;
    int out[2], reader[2];
    int files[2 * WORLD];        /* with DIR_ */
    struct kept {
        uint64_t got[NODES];     /* as acknowledged */
        uint64_t merge[ROOM / 8];
    } *kept;                     /* in shared memory */
    struct ft_sink *sinks[2];    /* of one process */
    struct ft_merge *merge;
};

static void die(const char *what)
{
    perror(what);
    exit(99);
}

static void add_records(const struct record *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t node = list[i].node;
        struct ft_wire_record r = {.rank = list[i].rank, .stream = list[i].stream, .flags = list[i].flags,
                                   .position = ft_wire_position(list[i].line, list[i].offset), .length = (uint32_t)strlen(list[i].text)};

        ft_wire_record_head(spools[node] + tails[node], &r);
        memcpy(spools[node] + tails[node] + FT_WIRE_RECORD, list[i].text, r.length);
        tails[node] += FT_WIRE_RECORD + r.length;
        if (i % PER_FRAME == 0 || i + 1 == n || list[i + 1].node != node)
            ends[node][nends[node]++] = tails[node];
    }
}

static void put(void *arg, int stream, const char *data, size_t len)
{
    const struct scene *s = arg;

    ft_sink_put_ahead(s->sinks[stream], data, len);
}

static void end(void *arg, int stream)
{
    const struct scene *s = arg;

    ft_sink_end_line(s->sinks[stream]);
}

static void file(void *arg, uint32_t rank, int stream, uint64_t at, const char *data, size_t len)
{
    const struct scene *s = arg;

    if (pwrite(s->files[2 * rank + (uint32_t)stream], data, len, (off_t)at) != (ssize_t)len)
        _exit(98);
}

static void where(void *arg, uint64_t places[FT_MERGE_ENDS])
{
    const struct scene *s = arg;

    places[FT_MERGE_OUT] = ft_sink_place(s->sinks[0]);
    places[FT_MERGE_ERR] = ft_sink_place(s->sinks[1]);
    places[FT_MERGE_FILES] = 0;
}

static void publish(void *arg, const uint64_t places[FT_MERGE_ENDS])
{
    const struct scene *s = arg;

    ft_sink_publish(s->sinks[0], places[FT_MERGE_OUT]);
    ft_sink_publish(s->sinks[1], places[FT_MERGE_ERR]);
}

static void differs(void *arg, uint32_t rank, int stream, uint64_t line)
{
    (void)arg;
    printf("FAIL: line %llu of rank %u's stream %d differs\n", (unsigned long long)line, rank, stream);
    exit(1);
}

static void open_one(struct scene *s, int i)
{
    char path[] = "/tmp/merge-XXXXXX";
    int both[2];

    if (s->kind == FILE_ || s->kind == APPEND) {
        s->reader[i] = mkstemp(path);
        s->out[i] = open(path, O_WRONLY | (s->kind == APPEND ? O_APPEND : 0));
        unlink(path);
    } else {
        if (pipe(both) < 0)
            die("pipe");
        fcntl(both[0], F_SETFL, O_NONBLOCK);
        fcntl(both[1], F_SETPIPE_SZ, 1 << 20); /* each sendfile takes a slot of it */
        s->reader[i] = both[0];
        s->out[i] = both[1];
    }
}

static void set_up(struct scene *s, enum kind kind)
{
    struct ft_stdio_config config = {.nranks = 1};
    struct ft_error e;

    *s = (struct scene){.kind = kind, .base = event_base_new()};
    s->m = ft_stdio_memory_new(&config, &e);
    s->kept = mmap(NULL, sizeof *s->kept, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (!s->base || !s->m || s->kept == MAP_FAILED || ft_merge_bytes(NODES, WORLD) > sizeof s->kept->merge)
        die("set up");
    for (int i = 0; i < 2; i++)
        open_one(s, i);
    for (int i = 0; i < 2 * WORLD; i++)
        s->files[i] = memfd_create("file", MFD_CLOEXEC);
    memset(tails, 0, sizeof tails);
    memset(nends, 0, sizeof nends);
    add_records(script, sizeof script / sizeof script[0]);
}

static void become_controller(struct scene *s)
{
    struct ft_merge_config config = {.nnodes = NODES, .world = WORLD, .memory = s->kept->merge, .tag = s->kind == TAGGED, .put = put, .end = end,
                                     .file = s->kind == DIR_ ? file : NULL, .instead = s->kind == DIR_, .ends = where, .publish = publish,
                                     .differs = differs, .arg = s};

    for (int i = 0; i < 2; i++)
        s->sinks[i] = ft_sink_new(s->base, &s->m->spools[i], s->out[i], NULL, NULL);
    s->merge = ft_merge_new(&config);
    if (!s->sinks[0] || !s->sinks[1] || !s->merge)
        die("no controller");
    for (int i = 0; i < 2; i++)
        ft_sink_flush(s->sinks[i]);
}

/* One frame of a node; false: it has said all. */
static bool say(struct scene *s, uint32_t node)
{
    uint64_t place = s->kept->got[node];
    struct ft_error e;
    uint32_t i = 0;

    while (i < nends[node] && ends[node][i] <= place)
        i++;
    if (i == nends[node])
        return false;
    if (ft_merge_take(s->merge, node, place, spools[node] + place, ends[node][i] - (uint32_t)place, &e) < 0) {
        puts(e.text);
        _exit(98);
    }
    if (ft_merge_got(s->merge, node) > place) {
        s->kept->got[node] = ft_merge_got(s->merge, node);
        return true;
    }
    /* a line that goes on in the next frame */
    if (ft_merge_take(s->merge, node, ends[node][i], spools[node] + ends[node][i], ends[node][i + 1] - ends[node][i], &e) < 0)
        _exit(98);
    s->kept->got[node] = ft_merge_got(s->merge, node);
    return true;
}

/* What a controller does, the first one or a successor. */
static void merge(struct scene *s)
{
    become_controller(s);
    for (uint32_t node = 0; node < NODES; node++) /* one after the other, or who dies would change the order */
        while (say(s, node)) {
        }
    ft_merge_free(s->merge);
    for (int i = 0; i < 2; i++)
        ft_sink_free(s->sinks[i]);
}

/* Node 1 has been replaced; nobody dies here. */
static void replace(struct scene *s)
{
    tails[1] = nends[1] = 0;
    s->kept->got[1] = 0;
    add_records(again, sizeof again / sizeof again[0]);
    become_controller(s);
    ft_merge_replaced(s->merge, 1);
    while (say(s, 1)) {
    }
    ft_merge_free(s->merge);
    for (int i = 0; i < 2; i++)
        ft_sink_free(s->sinks[i]);
}

static void run(void *arg) { merge(arg); }

/* What a successor looks at. */
static size_t look(void *arg, char *to)
{
    const struct scene *s = arg;
    struct {
        struct kept kept;
        struct ft_spool_state spools[2];
        off_t at[4];
    } *l = (void *)to;

    _Static_assert(sizeof *l <= LOOK_MOST, "there is room");
    l->kept = *s->kept;
    for (int i = 0; i < 2; i++) {
        l->spools[i] = *s->m->spools[i].state;
        l->at[i] = lseek(s->m->spools[i].fd, 0, SEEK_CUR);
        l->at[2 + i] = lseek(s->out[i], 0, SEEK_CUR);
    }
    return sizeof *l;
}

static bool is_text(int fd, const char *want)
{
    char got[1024];
    ssize_t n = read(fd, got, sizeof got - 1);

    got[n < 0 ? 0 : n] = 0;
    if (!strcmp(got, want))
        return true;
    printf("FAIL: \"%s\" instead of \"%s\"\n", got, want);
    return false;
}

static bool is_right(const struct scene *s)
{
    const char *const *want = s->kind == TAGGED ? tagged : plain;

    for (uint32_t i = 0; s->kind == DIR_ && i < 2 * WORLD; i++)
        if (!is_text(s->files[i], wanted[i / 2][i % 2]))
            return false;
    return s->kind == DIR_ || (is_text(s->reader[0], want[0]) && is_text(s->reader[1], want[1]));
}

static void clean_up(struct scene *s)
{
    for (int i = 0; i < 2; i++) {
        close(s->out[i]);
        close(s->reader[i]);
    }
    for (int i = 0; i < 2 * WORLD; i++)
        close(s->files[i]);
    munmap(s->kept, sizeof *s->kept);
    ft_stdio_memory_free(s->m);
    event_base_free(s->base);
}

static void try(int kind, long first, long second, struct changes *changes)
{
    struct scene s;
    struct stepped stepped = {.run = run, .look = look, .scene = &s};

    set_up(&s, kind);
    run_some(&stepped, first, changes);
    if (second)
        run_some(&stepped, second, NULL);
    merge(&s);
    replace(&s);
    if (!is_right(&s)) {
        printf("  killed after %ld and %ld instructions, output to %s\n", first, second, kinds[kind]);
        exit(1);
    }
    clean_up(&s);
}

int main(int argc, char **argv) { return try_all(argc, argv, kinds, NKINDS, try); }
