/* SPDX-License-Identifier: BSD-3-Clause */
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_LARGEST = 1 << 20 };

const struct bench_type bench_types[BENCH_TYPES] = {
    {"mpi_char", MPI_CHAR, 1, BENCH_CHAR},
    {"mpi_int", MPI_INT, 4, BENCH_INT},
    {"mpi_float", MPI_FLOAT, 4, BENCH_FLOAT},
    {"mpi_double", MPI_DOUBLE, 8, BENCH_DOUBLE},
};

enum { OPTION_DIGITS = 256, OPTION_KILL, OPTION_WALL, OPTION_SETTLE, OPTION_LINE, OPTION_START, OPTION_TOUCH };

static const struct option long_options[] = {
    {"message-size", required_argument, NULL, 'm'}, {"iterations", required_argument, NULL, 'i'},
    {"warmup", required_argument, NULL, 'x'},       {"full", no_argument, NULL, 'f'},
    {"validation", no_argument, NULL, 'c'},         {"mem-limit", required_argument, NULL, 'M'},
    {"type", required_argument, NULL, 'T'},         {"root-rank", required_argument, NULL, 'k'},
    {"help", no_argument, NULL, 'h'},               {"digits", required_argument, NULL, OPTION_DIGITS},
    {"kill", required_argument, NULL, OPTION_KILL}, {"wall", no_argument, NULL, OPTION_WALL},
    {"settle", required_argument, NULL, OPTION_SETTLE}, {"line-file", required_argument, NULL, OPTION_LINE},
    {"start", required_argument, NULL, OPTION_START}, {"touch", no_argument, NULL, OPTION_TOUCH},
    {NULL, 0, NULL, 0},
};

const char bench_options_usage[] =
    "options, as OSU's programs take them:\n"
    "  -m, --message-size [MIN:]MAX  message sizes in bytes, doubling (default 1 element to 1 MiB); MIN: also, or a list 8,1k,64k\n"
    "  -i, --iterations N            timed iterations (default 1000, above 8 KiB 100)\n"
    "  -x, --warmup N                warm-up iterations (default 200, above 8 KiB 10)\n"
    "  -f, --full                    also minimum and maximum over the ranks, and the iterations\n"
    "  -c, --validation              validate every byte of every iteration\n"
    "  -M, --mem-limit BYTES         largest memory of a rank (default 512 MiB); larger sizes are left out\n"
    "  -T, --type TYPE,...           mpi_char, mpi_int, mpi_float, mpi_double, all (default: mpi_float if\n"
    "                                something is added up, else mpi_char)\n"
    "  -k, --root-rank [fixed:]RANK  root of bcast and reduce (default 0)\n"
    "beyond OSU's:\n"
    "  -i N,..., -x N,...            for each size its own; the last one is for all that follow\n"
    "  --start MS                    first of all, barriers for so long, in which ranks that share processors find theirs\n"
    "  --settle SECONDS              before the first row, calls of the largest size for so long\n"
    "  --touch                       each rank writes to each line of what it contributes before a call, and reads each line of\n"
    "                                what it received behind it, as a program does. Both count, but for writing before a barrier\n"
    "  --digits N                    digits behind the point (default 2)\n"
    "  --wall                        after each row a comment: what a call takes with all there is around it\n"
    "  --line-file FILE              after each row a comment: ns for a cache line to change hands between the first and the\n"
    "                                last rank before and after it (0: not known). Two ranks or more of one host, which stops them\n"
    "                                for a moment; FILE must not be there\n"
    "  --kill RANK                   that rank kills itself with SIGKILL once after the last size, then all verify the\n"
    "                                results again: for an MPI that survives it (needs FTMPI_INCARNATION)\n";

static bool parse_size(const char *text, size_t *out)
{
    char *end;
    errno = 0;
    unsigned long long v = strtoull(text, &end, 0);
    if (errno || end == text) return false;
    switch (*end) {
    case 'k': case 'K': v <<= 10; end++; break;
    case 'm': case 'M': v <<= 20; end++; break;
    case 'g': case 'G': v <<= 30; end++; break;
    default: break;
    }
    *out = v;
    return *end == '\0';
}

static bool add_size(struct bench_options *o, size_t size)
{
    if (o->nsizes == BENCH_SIZES) return false;
    o->sizes[o->nsizes++] = size;
    return true;
}

static bool parse_list(struct bench_options *o, char *text)
{
    size_t size;
    for (char *part = strtok(text, ","); part; part = strtok(NULL, ","))
        if (!parse_size(part, &size) || !add_size(o, size)) return false;
    return o->nsizes > 0;
}

bool bench_options_sizes(struct bench_options *o)
{
    char buffer[512], *text = buffer;
    size_t low = 0, high = DEFAULT_LARGEST;
    if (strlen(o->sizes_text) >= sizeof buffer) return false;
    strcpy(buffer, o->sizes_text);
    o->nsizes = 0;
    if (strchr(text, ',')) return parse_list(o, text);
    char *colon = strchr(text, ':');
    if (colon) {
        *colon = '\0';
        if (*text && !parse_size(text, &low)) return false;
        text = colon + 1;
    }
    if (!(colon && !*text) && !parse_size(text, &high)) return false;
    if (low == 0) low = o->type->size;
    for (size_t s = low; s <= high && s >= low && add_size(o, s); s *= 2)
        ;
    return o->nsizes > 0;
}

static bool parse_types(struct bench_options *o, const char *text)
{
    char buffer[128];
    if (strlen(text) >= sizeof buffer) return false;
    strcpy(buffer, text);
    memset(o->use, 0, sizeof o->use);
    bool any = false;
    for (char *part = strtok(buffer, ","); part; part = strtok(NULL, ",")) {
        bool all = strcmp(part, "all") == 0, known = all;
        for (size_t i = 0; i < BENCH_TYPES; i++)
            if (all || strcmp(part, bench_types[i].name) == 0) o->use[i] = known = true;
        if (!known) return false;
        any = true;
    }
    return any;
}

static bool parse_count(const char *text, int *out)
{
    size_t v;
    if (!parse_size(text, &v) || v > INT_MAX) return false;
    *out = (int)v;
    return true;
}

/* A number for all sizes, or a list whose last one is for all that follow. */
static bool parse_counts(const char *text, int least, int out[BENCH_SIZES])
{
    char buffer[512];
    int n = 0;
    if (strlen(text) >= sizeof buffer) return false;
    strcpy(buffer, text);
    for (char *part = strtok(buffer, ","); part; part = strtok(NULL, ","))
        if (n == BENCH_SIZES || !parse_count(part, &out[n]) || out[n++] < least) return false;
    for (int i = n; n && i < BENCH_SIZES; i++) out[i] = out[n - 1];
    return n > 0;
}

static bool parse_root(const char *text, int *out)
{
    return parse_count(strncmp(text, "fixed:", 6) == 0 ? text + 6 : text, out);
}

const char *bench_options_parse(int argc, char **argv, const struct bench *b, int ranks, struct bench_options *o)
{
    *o = (struct bench_options){.sizes_text = ":", .memory = (size_t)512 << 20, .digits = 2, .kill_rank = -1};
    memset(o->warmup, -1, sizeof o->warmup);
    parse_types(o, b->adds ? "mpi_float" : "mpi_char");
    opterr = 0;
    for (int c; (c = getopt_long(argc, argv, "m:i:x:fcM:T:k:h", long_options, NULL)) != -1;) {
        switch (c) {
        case 'm': o->sizes_text = optarg; break;
        case 'i': if (!parse_counts(optarg, 1, o->iterations)) return "-i wants a number above 0, or a list"; break;
        case 'x': if (!parse_counts(optarg, 0, o->warmup)) return "-x wants a number, or a list"; break;
        case 'f': o->full = true; break;
        case 'c': o->validate = true; break;
        case 'M': if (!parse_size(optarg, &o->memory)) return "-M wants a number of bytes"; break;
        case 'T': if (!parse_types(o, optarg)) return "-T wants some of mpi_char, mpi_int, mpi_float, mpi_double, or all"; break;
        case 'k':
            if (!b->rooted) return "-k: this operation has no root";
            if (!parse_root(optarg, &o->root) || o->root >= ranks) return "-k wants a rank of the job";
            break;
        case OPTION_DIGITS: if (!parse_count(optarg, &o->digits) || o->digits > 9) return "--digits wants 0 to 9"; break;
        case OPTION_WALL: o->wall = true; break;
        case OPTION_TOUCH: o->touch = true; break;
        case OPTION_LINE:
            if (ranks < 2) return "--line-file wants two ranks or more";
            o->line_file = optarg;
            break;
        case OPTION_START: if (!parse_count(optarg, &o->start_ms)) return "--start wants milliseconds"; break;
        case OPTION_SETTLE: if (!parse_count(optarg, &o->settle_s)) return "--settle wants seconds"; break;
        case OPTION_KILL:
            if (!parse_count(optarg, &o->kill_rank) || o->kill_rank >= ranks) return "--kill wants a rank of the job";
            break;
        case 'h': return "";
        default: return "unknown option, or one without its value";
        }
    }
    if (optind != argc) return "no arguments but options";
    if (b->pairs && ranks % 2) return "ranks send to each other in pairs: it wants an even number of them";
    for (int i = 0; i < BENCH_TYPES; i++) {
        o->type = &bench_types[i];
        if (o->use[i] && !bench_options_sizes(o)) return "-m wants MIN:MAX, MIN:, MAX or a list";
    }
    return NULL;
}
