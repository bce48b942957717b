/* SPDX-License-Identifier: BSD-3-Clause */
/* Drives fuzz_wire.c without libFuzzer: what both sides really say, changed a little.

   fuzz_wire_plain SECONDS [SEED]     fuzz_wire_plain seeds DIR: writes what libFuzzer begins with */
#include "config.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ft/shm/log.h"
#include "launcher/greeting.h"
#include "launcher/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

enum { SEEDS = 8, BYTES = 16384 };

struct input {
    uint8_t bytes[BYTES];
    size_t n;
};

static uint64_t state;

static uint64_t draw(uint64_t below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state % below;
}

static void add(struct input *in, const void *bytes, size_t n)
{
    if (n > BYTES - in->n)
        n = BYTES - in->n;
    memcpy(in->bytes + in->n, bytes, n);
    in->n += n;
}

static void add_frame(struct input *in, struct ft_wire_bytes frame)
{
    if (!frame.data)
        abort();
    add(in, frame.data, frame.len);
    free(frame.data);
}

static void from_node(struct input *in)
{
    static struct ft_wire_hello hello = {.node = 1, .incarnation = 2, .version = "0.1.0", .host = "h1", .pid = 17, .naddresses = 2, .port = 4711,
                                         .addresses = {{"192.0.2.1"}, {"2001:db8::1"}}};
    struct ft_wire_rank ranks[2] = {{.state = FT_NODE_RANK_UP, .pid = 1}, {.state = FT_NODE_RANK_DOWN, .restarts = 3}};
    struct ft_wire_state s = {.phase = FT_NODE_RUNNING, .committed = 1000, .whole = true, .nranks = 2, .ranks = ranks};
    struct ft_wire_record r = {.rank = 3, .stream = FT_RECORD_STDOUT, .flags = FT_RECORD_BEGINS, .position = 77, .length = 6};
    uint8_t out[FT_WIRE_OUT_HEAD], head[FT_WIRE_RECORD];

    add_frame(in, ft_wire_put_hello(&hello));
    add_frame(in, ft_wire_put_state(&s));
    ft_wire_out_head(out, 12345, 2 * (FT_WIRE_RECORD + 6));
    add(in, out, sizeof out);
    for (int i = 0; i < 2; i++, r.position += 6) {
        ft_wire_record_head(head, &r);
        add(in, head, sizeof head);
        add(in, "hello\n", 6);
    }
    add_frame(in, ft_wire_put_beat());
}

static void from_controller(struct input *in)
{
    struct ft_wire_node nodes[2] = {{.up = true, .host = "h0", .naddresses = 1, .addresses = {{"192.0.2.1"}}, .port = 1},
                                    {.incarnation = 4, .host = "h1"}};
    struct ft_wire_table t = {.nnodes = 2, .nodes = nodes};
    struct ft_wire_job job = {.phase = FT_JOB_END, .code = 3};

    add_frame(in, ft_wire_put_table(&t));
    add_frame(in, ft_wire_put_job(&job));
    add_frame(in, ft_wire_put_got(999));
    add_frame(in, ft_wire_put_signal(1, 15));
    add_frame(in, ft_wire_put_input(0, true, "data", 4));
}

static void from_agent(struct input *in, int i)
{
    struct ft_greeting g = {.want = FT_WANT_LOG, .from = 2, .from_incarnation = 1, .to = 1, .position = 4096};
    struct ft_answer a = {.verdict = FT_VERDICT_YES, .node = 1, .extent_bytes = 4 << 20, .position = 1 << 20};
    struct ft_piece p = {.position = 4096, .length = 70000, .next = 17, .hash = 99};
    uint8_t text[FT_GREETING_BYTES];

    if (i == 0)
        ft_greeting_put(&g, text);
    else if (i == 1)
        ft_answer_put(&a, text);
    else
        ft_piece_put(&p, text);
    add(in, text, i == 0 ? FT_GREETING_BYTES : i == 1 ? FT_ANSWER_BYTES : FT_PIECE_HEAD);
}

/* Whole records in pieces; as many as fill more than an extent. */
static void log_pieces(struct input *in, uint32_t length, bool next)
{
    uint8_t bytes[512] = {0};
    struct ft_record rec = {.sig = {.length = length}};
    uint16_t n = (uint16_t)ft_record_bytes(length);

    for (int u = 0; u < 20; u++) {
        uint8_t head[4] = {(uint8_t)n, (uint8_t)(n >> 8), next, 1};

        rec.unit = (uint64_t)u + 1;
        memcpy(bytes, &rec, sizeof rec);
        add(in, head, sizeof head);
        add(in, bytes, n);
    }
}

static void make_seed(struct input *in, int i)
{
    in->bytes[0] = (uint8_t)(i < 2 ? 0 : i < 5 ? 2 : 3);
    in->n = 1;
    if (i == 0)
        from_node(in);
    else if (i == 1)
        from_controller(in);
    else if (i < 5)
        from_agent(in, i - 2);
    else
        log_pieces(in, i == 5 ? 16 : 400, i == 7);
}

static void change(struct input *in)
{
    static const uint64_t numbers[] = {0, 1, 7, 8, 63, 64, 65, 255, 1 << 16, 0x7fffffff, 0xffffffff, 1ull << 40, 1ull << 63, UINT64_MAX};
    size_t at = draw(2) ? draw(in->n) : draw(in->n < 100 ? in->n : 100), from;
    uint64_t number = numbers[draw(sizeof numbers / sizeof numbers[0])];

    switch (draw(6)) {
    case 0:
        in->bytes[at] ^= (uint8_t)(1 << draw(8));
        break;
    case 1:
        in->bytes[at] = (uint8_t)draw(256);
        break;
    case 2:
        if (at + 8 <= in->n)
            memcpy(in->bytes + at, &number, draw(2) ? 8 : draw(2) ? 4 : 2);
        break;
    case 3:
        in->n = 1 + draw(in->n);
        break;
    case 4: /* something of it once more, elsewhere */
        from = draw(in->n);
        memmove(in->bytes + at, in->bytes + from, draw(in->n - (at > from ? at : from)));
        break;
    default:
        in->bytes[0] = (uint8_t)draw(4);
    }
}

static void run(double seconds)
{
    static struct input seeds[SEEDS], in;
    struct timespec begin, now;
    long n = 0;

    for (int i = 0; i < SEEDS; i++) {
        make_seed(&seeds[i], i);
        LLVMFuzzerTestOneInput(seeds[i].bytes, seeds[i].n);
    }
    clock_gettime(CLOCK_MONOTONIC, &begin);
    do {
        for (int k = 0; k < 200; k++, n++) {
            in = seeds[draw(SEEDS)];
            for (uint64_t changes = draw(6); changes; changes--)
                change(&in);
            LLVMFuzzerTestOneInput(in.bytes, in.n);
        }
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((double)(now.tv_sec - begin.tv_sec) + (double)(now.tv_nsec - begin.tv_nsec) / 1e9 < seconds);
    printf("%ld inputs\n", n);
}

static int write_seeds(const char *dir)
{
    static struct input in;
    char path[4096];

    for (int i = 0; i < SEEDS; i++) {
        int fd;

        make_seed(&in, i);
        snprintf(path, sizeof path, "%s/seed%d", dir, i);
        fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        if (fd < 0 || write(fd, in.bytes, in.n) != (ssize_t)in.n)
            return 1;
        close(fd);
    }
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 3 && !strcmp(argv[1], "seeds"))
        return write_seeds(argv[2]);
    if (argc < 2)
        return 2;
    state = argc > 2 ? strtoull(argv[2], NULL, 10) : (uint64_t)time(NULL);
    state = state * 2 + 1;
    printf("seed %llu\n", (unsigned long long)(state / 2));
    run(atof(argv[1]));
    return 0;
}
