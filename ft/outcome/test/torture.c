/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank that does all kinds of things to files, by seed, and a peer outside that sees every byte of it.

     torture SEED MESSAGES [trace]      in the tree's directory; the memory is the recorder's, or that of FT_TEST_FDS without one
     torture -peer SEED MEMORY          the peer

   Between two messages the rank works on its tree; at each message the peer hashes the tree, and changes it, too, before it
   answers. What the rank is told by any call is hashed into its next message. The last line is "values HASH". */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ft/outcome/test/shared.h"
#include "ft/outcome/test/torture.h"

struct torture torture = {.hash = 1469598103934665603ull};

/* ---- numbers, and what is told ---- */

uint64_t torture_random(void)
{
    torture.seed ^= torture.seed << 13;
    torture.seed ^= torture.seed >> 7;
    torture.seed ^= torture.seed << 17;
    return torture.seed * 2685821657736338717ull >> 16;
}

int torture_pick(int n) { return (int)(torture_random() % (uint64_t)n); }

void torture_mix(const void *data, size_t n)
{
    const unsigned char *p = data;

    for (size_t i = 0; i < n; i++)
        torture.hash = (torture.hash ^ p[i]) * 1099511628211ull;
}

void torture_mix_number(long x) { torture_mix(&x, sizeof x); }

/* Of what it was told, the beginning: printed at the end, so that a traced rank makes the same calls. */
enum { MOST_TOLD = 4096 };
static struct told {
    int message, error;
    const char *what;
    long result;
    uint64_t hash;
} told[MOST_TOLD];
static int ntold;

static void print_told(void)
{
    for (int i = 0; i < ntold; i++)
        dprintf(2, "%d %s %ld %d %lx\n", told[i].message, told[i].what, told[i].result, told[i].error, (long)told[i].hash);
}

long torture_say(const char *what, long result)
{
    int error = errno;

    torture_mix_number(result);
    if (result < 0)
        torture_mix_number(error);
    if (torture.traced && ntold < MOST_TOLD)
        told[ntold++] = (struct told){torture.message, result < 0 ? error : 0, what, result, torture.hash};
    return result;
}

void torture_fill(size_t n)
{
    uint64_t s = torture_random() | 1;

    for (size_t i = 0; i < n; i += sizeof s) {
        s = s * 6364136223846793005ull + 1442695040888963407ull;
        memcpy(torture.buffer + i, &s, sizeof s);
    }
}

/* ---- the tree, without what differs from run to run ---- */

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static void hash_file(const char *path)
{
    static char piece[1 << 16];
    int fd = open(path, O_RDONLY);
    ssize_t n;

    while (fd >= 0 && (n = read(fd, piece, sizeof piece)) > 0)
        torture_mix(piece, (size_t)n);
    if (fd >= 0)
        close(fd);
}

static void hash_tree(const char *path, int depth)
{
    DIR *d = opendir(path);
    struct dirent *e;
    char *names[256], inner[300];
    size_t n = 0;

    while (d && n < 256 && (e = readdir(d)))
        if (e->d_name[0] != '.')
            names[n++] = strdup(e->d_name);
    if (d)
        closedir(d);
    qsort(names, n, sizeof *names, by_name);
    for (size_t i = 0; i < n; i++) {
        struct stat st;

        snprintf(inner, sizeof inner, "%s/%s", path, names[i]);
        torture_mix(names[i], strlen(names[i]));
        free(names[i]);
        if (lstat(inner, &st) < 0)
            continue;
        torture_mix_number(st.st_mode);
        if (S_ISDIR(st.st_mode) && depth < 4) {
            hash_tree(inner, depth + 1);
        } else if (S_ISREG(st.st_mode)) {
            torture_mix_number((long)st.st_nlink);
            torture_mix_number(st.st_size);
            hash_file(inner);
        }
    }
}

/* ---- messages ---- */

static void wait_a_little(void) { syscall(SYS_nanosleep, &(struct timespec){.tv_nsec = 20000}, NULL); }

static struct shared *map(int memory)
{
    struct shared head, *all;

    if (syscall(SYS_pread64, memory, &head, sizeof head, 0) != sizeof head)
        exit(95);
    all = mmap(NULL, head.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    if (all == MAP_FAILED)
        exit(95);
    return all;
}

/* Without a recorder: as its test_message, in a process that is never killed. Without a peer: nobody answers. */
static uint64_t message(uint64_t contribution)
{
    static struct shared *s;
    static uint64_t (*recorded)(uint64_t);
    static uint64_t messages;
    uint64_t k = messages++;

    torture.message++;
    if (!recorded)
        recorded = (uint64_t (*)(uint64_t))(uintptr_t)dlsym(RTLD_DEFAULT, "test_message");
    if (recorded)
        return recorded(contribution);
    if (!s && getenv(TEST_FDS))
        s = map(atoi(getenv(TEST_FDS)));
    if (!s)
        return k;
    s->contribution[k] = contribution;
    atomic_store(&s->contributed, k + 1);
    while (atomic_load(&s->answered) <= k)
        wait_a_little();
    return s->answer[k];
}

static int rank(int messages)
{
    char line[40];

    torture_begin();
    torture.root = open(".", O_RDONLY | O_DIRECTORY);
    torture.lock = open("lock", O_RDWR | O_CREAT, 0644);
    if (torture.seed & 1)
        fcntl(torture.root, F_DUPFD, 300); /* where descriptors are not looked for by number: the list of them is read */
    for (int m = 0; m < messages; m++) {
        for (int ops = torture_pick(15); ops >= 0; ops--)
            torture_operation();
        torture_say("message", (long)(message(torture.hash) >> 1));
    }
    hash_tree(".", 0);
    message(0);
    print_told();
    write(1, line, (size_t)snprintf(line, sizeof line, "values %016lx\n", (long)torture.hash));
    return 0;
}

/* ---- the peer ---- */

static void peer_writes(void)
{
    char n[NAME];
    int fd;

    snprintf(n, NAME, "f%d", torture_pick(6));
    if (torture_pick(3) == 0) {
        fd = open(n, (torture_pick(2) ? O_TRUNC | O_CREAT : torture_pick(2) ? O_APPEND : 0) | O_WRONLY, 0644);
        torture_fill(4000);
        if (fd >= 0) {
            write(fd, torture.buffer, (size_t)torture_pick(4000));
            close(fd);
        }
    }
    if (torture_pick(8) == 0)
        rename("f1", "f5");
}

static int peer(int memory)
{
    struct shared *s = map(memory);
    struct flock l;
    char line[65];
    int log = open("../shared.log", O_WRONLY | O_APPEND | O_CREAT, 0644), fd;

    for (uint64_t k = 0; k < MESSAGES; k++) {
        while (atomic_load(&s->contributed) <= k)
            wait_a_little();
        torture.hash = s->contribution[k];
        if (torture.hash == 0) { /* the last one: all lines are written */
            atomic_store(&s->answered, k + 1);
            return 0;
        }
        hash_tree(".", 0);
        fd = open("lock", O_RDWR);
        for (int i = 0; i < 20; i++) {
            l = (struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = i, .l_len = 1};
            torture_mix_number(fcntl(fd, F_GETLK, &l) == 0 ? l.l_type : -1);
        }
        close(fd);
        peer_writes();
        s->answer[k] = torture.hash;
        atomic_store(&s->answered, k + 1);
        snprintf(line, sizeof line, "%-46s %016lx\n", "peer", (long)torture.hash);
        if (write(log, line, 64) != 64)
            return 1;
    }
    return 0;
}

int main(int argc, char **argv)
{
    bool is_peer = argc == 4 && strcmp(argv[1], "-peer") == 0;

    if (argc < 3)
        return 2;
    torture.seed = strtoull(argv[is_peer ? 2 : 1], NULL, 10) * 7919 + (is_peer ? 77 : 12345);
    for (int i = 0; i < 10; i++)
        torture_random();
    torture.traced = !is_peer && argc > 3;
    return is_peer ? peer(atoi(argv[3])) : rank(atoi(argv[2]));
}
