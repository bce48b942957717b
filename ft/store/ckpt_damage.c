/* SPDX-License-Identifier: BSD-3-Clause */
/* Checkpoint files that are not what was written: the reader passes over the damaged one to the version before, says why, and refuses what
   belongs to somebody else. Every bit of the header, bits of the models, every length, contradictions under good checksums. */
#include "config.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xxhash.h>

#include "ft/store/ckpt_models.h"

static int failed;

#define EXPECT(cond, ...) \
    do { if (!(cond) && failed++ < 20) { printf("FAIL: line %d: ", __LINE__); printf(__VA_ARGS__); printf("\n"); } } while (0)

static void write_file(int dir, const char *name, const char *bytes, size_t n)
{
    int fd = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC, 0600);

    if (fd < 0 || write(fd, bytes, n) != (ssize_t)n)
        abort();
    close(fd);
}

static size_t read_file(int dir, const char *name, char *bytes, size_t room)
{
    int fd = openat(dir, name, O_RDONLY);
    ssize_t n = fd < 0 ? -1 : read(fd, bytes, room);

    if (n < 0)
        abort();
    close(fd);
    return (size_t)n;
}

static void remove_name(void *to, const char *name)
{
    if (name[0] != '.' && unlinkat(*(int *)to, name, 0) < 0)
        unlinkat(*(int *)to, name, AT_REMOVEDIR);
}

static void make_empty(int dir)
{
    ft_disk_real.list(NULL, dir, remove_name, &dir);
}

static void expect_before(int dir, const char *what, size_t where)
{
    struct test_read r;
    struct ft_error e;
    int got = test_load(dir, &r, &e);

    EXPECT(got == 1 && r.passed == 1, "%s at %zu: found %d, %d passed over: %s", what, where, got, r.passed, got < 0 ? e.text : r.line);
    EXPECT(strstr(r.line, "checkpoint-0000000002.ftmpi cannot be used: "), "%s: \"%s\"", what, r.line);
}

static void damage(int dir, const char *name)
{
    static char good[1 << 16], bad[1 << 16];
    size_t n = read_file(dir, name, good, sizeof good), header;
    struct ft_error e;

    if (ft_ckpt_header_length(good, n, &header, &e) < 0)
        abort();
    memcpy(bad, good, n);
    for (size_t bit = 0; bit < 8 * n; bit += bit < 8 * header ? 1 : 37) {
        bad[bit / 8] ^= (char)(1 << bit % 8);
        write_file(dir, name, bad, n);
        expect_before(dir, "bit", bit);
        bad[bit / 8] = good[bit / 8];
    }
    for (size_t len = 0; len < n; len += len < header ? 1 : 29) {
        write_file(dir, name, good, len);
        expect_before(dir, "length", len);
    }
    write_file(dir, name, bad, n + 1);
    expect_before(dir, "length", n + 1);
    for (size_t at = 0; at + 512 <= n; at += 512) { /* a lost block, at least one byte of which was not 0 */
        memset(bad + at, 0, 512);
        write_file(dir, name, bad, n);
        expect_before(dir, "block", at);
        memcpy(bad + at, good + at, 512);
    }
    unlinkat(dir, name, 0);
    mkdirat(dir, name, 0700);
    expect_before(dir, "a directory of that name", 0);
    unlinkat(dir, name, AT_REMOVEDIR);
    mkfifoat(dir, name, 0600);
    expect_before(dir, "a FIFO of that name", 0);
    unlinkat(dir, name, 0);
    if (symlinkat("checkpoint-0000000001.ftmpi", dir, name) < 0)
        abort();
    expect_before(dir, "a symbolic link", 0);
    unlinkat(dir, name, 0);
    write_file(dir, name, good, n);
}

static void put(char *bytes, size_t at, uint64_t v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        bytes[at + i] = (char)(v >> 8 * i);
}

/* The file's header with a number changed, and checksums that are right. */
static void expect_contradiction(int dir, const char *name, size_t at, uint64_t v, size_t width)
{
    static char good[1 << 16], bytes[1 << 16];
    size_t n = read_file(dir, name, good, sizeof good), header;
    struct ft_error e;

    if (ft_ckpt_header_length(good, n, &header, &e) < 0)
        abort();
    memcpy(bytes, good, n);
    put(bytes, at, v, width);
    put(bytes, 32, XXH3_64bits(bytes + 40, header - 40), 8);
    put(bytes, 24, XXH3_64bits(bytes, 24), 8);
    write_file(dir, name, bytes, n);
    expect_before(dir, "contradiction", at);
    write_file(dir, name, good, n);
}

static void contradictions(int dir, const char *name, size_t sections)
{
    expect_contradiction(dir, name, 12, 64, 4);              /* length of the header */
    expect_contradiction(dir, name, 12, 0xffffffc0, 4);
    expect_contradiction(dir, name, 16, 1, 8);               /* of the file */
    expect_contradiction(dir, name, 40, 0, 8);               /* version */
    expect_contradiction(dir, name, 40, 7, 8);
    expect_contradiction(dir, name, 56, 0, 8);               /* series */
    expect_contradiction(dir, name, 56, '\n', 1);
    expect_contradiction(dir, name, 72, 0, 4);               /* ranks */
    expect_contradiction(dir, name, 72, 4, 4);
    expect_contradiction(dir, name, 72, 0xffffffff, 4);
    expect_contradiction(dir, name, 76, 0, 4);               /* length of the name */
    expect_contradiction(dir, name, 76, 7, 4);
    expect_contradiction(dir, name, 76, 0xfffffff0, 4);
    expect_contradiction(dir, name, 80, UINT64_MAX, 8);      /* length of the global model */
    expect_contradiction(dir, name, 80, 1, 8);
    expect_contradiction(dir, name, 80 + 16 * sections + 3, 0, 1);  /* the name */
    expect_contradiction(dir, name, 80 + 16 * sections + 9, 1, 1);  /* behind it */
    expect_contradiction(dir, name, 8, sections == 4 ? 2 : 1, 4);   /* format: more sections than that, or fewer */
    expect_contradiction(dir, name, 8, 0, 4);
}

static void write_as(int dir, uint64_t version, uint32_t nranks, const char *program, const char *series)
{
    uint64_t v = version;
    struct ft_ckpt_models models = {test_get, NULL, &v};
    struct ft_ckpt_header h;
    struct ft_error e;
    char name[FT_CKPT_NAME];

    if (ft_ckpt_header_new(&h, nranks, &e) < 0)
        abort();
    h.version = version;
    strcpy(h.series, series);
    strcpy(h.program, program);
    ft_ckpt_dir_name(name, version);
    if (ft_ckpt_file_write(&ft_disk_real, dir, name, FT_CKPT_SPARE, &h, &models, &e) < 0)
        abort();
    ft_ckpt_header_free(&h);
}

static void expect_refused(int dir, const char *why)
{
    struct test_read r;
    struct ft_error e = {""};
    int got = test_load(dir, &r, &e);

    EXPECT(got == FT_EINVAL && strstr(e.text, why), "found %d, \"%s\" does not say \"%s\"", got, e.text, why);
}

static void somebody_elses(int dir)
{
    static char bytes[1 << 16];
    size_t n;

    write_as(dir, 3, TEST_RANKS, "other.py", TEST_SERIES);
    expect_refused(dir, "checkpoint-0000000003.ftmpi cannot be used: it is of the program \"other.py\", this is \"train.py\"");
    write_as(dir, 3, 4, TEST_PROGRAM, TEST_SERIES);
    expect_refused(dir, "it is of 4 ranks, this job has 3");
    write_as(dir, 3, TEST_RANKS, TEST_PROGRAM, "anotherj");
    expect_refused(dir, "checkpoint 2 of job k3x9mmpq");

    n = read_file(dir, "checkpoint-0000000002.ftmpi", bytes, sizeof bytes);
    put(bytes, 8, 3, 4);
    put(bytes, 24, XXH3_64bits(bytes, 24), 8);
    write_file(dir, "checkpoint-0000000003.ftmpi", bytes, n);
    expect_refused(dir, "it has format 3, of a newer ftmpi; this one reads up to format 2");
    unlinkat(dir, "checkpoint-0000000003.ftmpi", 0);
}

/* Names that are not ours, or not quite. */
static void names(int dir)
{
    static const char *const others[] = {"checkpoint-2.ftmpi", "checkpoint-0000000002.ftmpi.old", "checkpoint-0000000000.ftmpi",
                                         "checkpoint--000000002.ftmpi", "checkpoint.tmp", "core", "checkpoint-99999999999999999999999.ftmpi"};
    struct test_read r;
    struct ft_error e;

    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        EXPECT(!ft_ckpt_dir_version(others[i]), "%s", others[i]);
        write_file(dir, others[i], "x", 1);
    }
    EXPECT(ft_ckpt_dir_version("checkpoint-0000000012.ftmpi") == 12, "12");
    EXPECT(ft_ckpt_dir_version("checkpoint-12345678901234.ftmpi") == 12345678901234, "more digits");
    EXPECT(test_load(dir, &r, &e) == 0, "nothing of ours is there");
    make_empty(dir);
}

/* The last two stay, a damaged newer one and older ones do not; permissions; the directory is one job's. */
static void kept(int dir, const char *path)
{
    struct ft_error e;
    struct stat st;
    uint64_t *v;
    int other, n;

    write_as(dir, 9, TEST_RANKS, TEST_PROGRAM, TEST_SERIES);
    for (uint64_t version = 1; version <= 4; version++)
        EXPECT(test_write(&ft_disk_real, dir, version, version - 1, &e) == 0, "%s", e.text);
    n = ft_ckpt_dir_list(&ft_disk_real, dir, &v, &e);
    EXPECT(n == 2 && v[0] == 4 && v[1] == 3, "%d files are left", n);
    free(v);
    EXPECT(fstatat(dir, "checkpoint-0000000004.ftmpi", &st, 0) == 0 && (st.st_mode & 07777) == 0600, "permissions %o", st.st_mode);
    other = ft_ckpt_dir_open(path, &e);
    EXPECT(other == FT_EINVAL && strstr(e.text, "is in use by another job"), "%d", other);
    EXPECT(ft_ckpt_dir_open("/dev/null", &e) == FT_ESYS && strstr(e.text, "Not a directory"), "%s", e.text);
    EXPECT(ft_ckpt_dir_open("/nonexistent/a", &e) == FT_ESYS && strstr(e.text, "No such file"), "%s", e.text);
    make_empty(dir);
}

/* A job whose processes are killed still holds its lock for some milliseconds: --resume right after it was refused. */
static void left(const char *path)
{
    struct ft_error e;
    char ready;
    int told[2], dir;
    pid_t dying;

    if (pipe(told) < 0)
        abort();
    dying = fork();
    if (dying == 0) {
        dir = ft_ckpt_dir_open(path, &e);
        if (dir < 0 || write(told[1], "", 1) != 1)
            _exit(1);
        usleep(200000);
        _exit(0);
    }
    EXPECT(dying > 0 && read(told[0], &ready, 1) == 1, "no lock to wait for");
    dir = ft_ckpt_dir_open(path, &e);
    EXPECT(dir >= 0, "%s", e.text);
    close(dir);
    close(told[0]);
    close(told[1]);
    EXPECT(waitpid(dying, NULL, 0) == dying, "waitpid");
}

/* Sections of several blocks of the reader's, and of none. */
struct large {
    uint64_t seen;
    bool wrong;
};

static int large_begin(void *arg, const struct ft_ckpt_header *h, struct ft_error *e)
{
    (void)e;
    *(struct large *)arg = (struct large){.wrong = h->sections[0].bytes != 3 << 20 || h->sections[1].bytes != (1 << 20) + 1};
    return 0;
}

static int large_put(void *arg, uint32_t section, uint64_t at, const void *data, size_t n, struct ft_error *e)
{
    struct large *l = arg;

    (void)e;
    for (size_t i = 0; i < n; i++)
        l->wrong |= ((const unsigned char *)data)[i] != test_byte(5, section, at + i);
    l->seen += n;
    return 0;
}

/* Format 1. */
static void no_messages(int dir)
{
    static char bytes[1 << 16];
    struct ft_error e;

    write_as(dir, 2, TEST_RANKS, TEST_PROGRAM, TEST_SERIES);
    EXPECT(read_file(dir, "checkpoint-0000000002.ftmpi", bytes, sizeof bytes) > 80 && bytes[8] == 1, "format %d", bytes[8]);
    contradictions(dir, "checkpoint-0000000002.ftmpi", 1 + TEST_RANKS);
    unlinkat(dir, "checkpoint-0000000002.ftmpi", 0);
    if (test_write(&ft_disk_real, dir, 2, 1, &e) < 0)
        abort();
}

static void large(int dir)
{
    uint64_t version = 5;
    struct ft_ckpt_models models = {test_get, NULL, &version};
    struct large l;
    struct ft_ckpt_wanted wanted = {TEST_PROGRAM, TEST_RANKS, test_passed, NULL};
    struct ft_ckpt_sink sink = {large_begin, large_put, &l};
    struct ft_ckpt_header h;
    struct ft_error e;

    test_header(&h, version);
    h.sections[0].bytes = 3 << 20;
    h.sections[1].bytes = (1 << 20) + 1;
    h.sections[2].bytes = h.sections[3].bytes = 0;
    EXPECT(ft_ckpt_dir_write(&ft_disk_real, dir, &h, 0, &models, &e) == 0, "%s", e.text);
    ft_ckpt_header_free(&h);
    EXPECT(ft_ckpt_dir_load(dir, &wanted, &h, &sink, &e) == 1 && !l.wrong && l.seen == (4 << 20) + 1, "%llu bytes",
           (unsigned long long)l.seen);
    EXPECT(h.made_s == 1800000005 && !strcmp(h.series, TEST_SERIES), "header");
    ft_ckpt_header_free(&h);
    make_empty(dir);
}

int main(void)
{
    char path[] = "/dev/shm/ckpt_damage.XXXXXX";
    struct ft_error e;
    int dir;

    if (!mkdtemp(path))
        return 99;
    dir = ft_ckpt_dir_open(path, &e);
    if (dir < 0)
        return 99;
    names(dir);
    kept(dir, path);
    large(dir);
    if (test_write(&ft_disk_real, dir, 1, 0, &e) < 0 || test_write(&ft_disk_real, dir, 2, 1, &e) < 0)
        return 99;
    damage(dir, "checkpoint-0000000002.ftmpi");
    contradictions(dir, "checkpoint-0000000002.ftmpi", 1 + 2 * TEST_RANKS);
    no_messages(dir);
    somebody_elses(dir);
    unlinkat(dir, "checkpoint-0000000001.ftmpi", 0);
    write_file(dir, "checkpoint-0000000002.ftmpi", "x", 1);
    expect_refused(dir, "there is no good checkpoint in it");
    make_empty(dir);
    close(dir);
    left(path);
    rmdir(path);
    return failed ? 1 : 0;
}
