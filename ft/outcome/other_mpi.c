/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/outcome/other_mpi.h"

#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "ft/outcome/real.h"
#include "ft/shm/given.h"
#include "ft/shm/region.h"
#include "ft/shm/wait.h"

enum {
    LIBRARIES = 8, NAMES = 6, PATH_BYTES = 160,
    EXIT_CODE = 126,               /* as of a program that ftrun sees to be another MPI's (launcher/options/program.h) */
    STACK_MOST = 64 << 20,         /* within 128 MiB of the stack's top the kernel maps nothing else */
    SCAN_BYTES = 512 << 10,
    PIECE_BYTES = 4096,            /* the kernel gives what is mapped of one page or two, or nothing */
};

/* What starts an MPI. The profiling names are mostly the same code. */
static const char *const starts[NAMES] = {"MPI_Init", "MPI_Init_thread", "MPI_Session_init",
                                          "PMPI_Init", "PMPI_Init_thread", "PMPI_Session_init"};
/* A library with this is ours, whatever it is called. */
static const char OURS[] = "MPIX_Mark_rabit";

struct library {
    struct { uintptr_t from, bytes; } code[NAMES];
    bool open_mpi;                      /* it has Open MPI's binary interface, as ours: what is linked with it runs on ours */
    char path[PATH_BYTES];
};

static struct {
    uintptr_t stack;
    atomic_flag busy;                   /* one thread looks; whoever comes meanwhile does not */
    unsigned long long added, removed;  /* libraries, when they were last looked at */
    struct library libraries[LIBRARIES];
    int n;
} other = {.busy = ATOMIC_FLAG_INIT};

/* ---- names of a library that is mapped. By hand: dlsym would wait for a thread that is loading one ---- */

struct names {
    uintptr_t base;
    const ElfW(Sym) *symbols;
    const char *strings;
    const uint32_t *gnu, *hash;         /* NULL: none */
};

/* Most C libraries have the addresses in there relocated, not all, and none the kernel's vdso's. */
static const void *address_of(uintptr_t base, ElfW(Addr) at) { return (const void *)(at < base ? base + at : at); }

static bool read_names(const struct dl_phdr_info *info, struct names *n)
{
    const ElfW(Dyn) *d = NULL;

    *n = (struct names){.base = info->dlpi_addr};
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
            d = (const ElfW(Dyn) *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
    for (; d && d->d_tag != DT_NULL; d++) {
        const void *at = address_of(n->base, d->d_un.d_ptr);

        if (d->d_tag == DT_SYMTAB)
            n->symbols = at;
        else if (d->d_tag == DT_STRTAB)
            n->strings = at;
        else if (d->d_tag == DT_GNU_HASH)
            n->gnu = at;
        else if (d->d_tag == DT_HASH)
            n->hash = at;
    }
    return n->symbols && n->strings && (n->gnu || n->hash);
}

static bool is_it(const struct names *n, uint32_t i, const char *name)
{
    return n->symbols[i].st_shndx != SHN_UNDEF && !strcmp(n->strings + n->symbols[i].st_name, name);
}

/* Number of buckets, first symbol, words of the filter, its shift; the filter, the buckets, a hash for each symbol. */
static const ElfW(Sym) *find_gnu(const struct names *n, const char *name)
{
    const uint32_t *buckets = n->gnu + 4 + n->gnu[2] * (sizeof(ElfW(Addr)) / sizeof(uint32_t)), *hashes = buckets + n->gnu[0];
    uint32_t hash = 5381, i;

    for (const char *c = name; *c; c++)
        hash = hash * 33 + (unsigned char)*c;
    i = n->gnu[0] ? buckets[hash % n->gnu[0]] : 0;
    if (i < n->gnu[1])
        return NULL;
    for (;; i++) {
        uint32_t have = hashes[i - n->gnu[1]];

        if ((have | 1) == (hash | 1) && is_it(n, i, name))
            return &n->symbols[i];
        if (have & 1)
            return NULL;
    }
}

/* Number of buckets, of symbols; the buckets, the chains. */
static const ElfW(Sym) *find_old(const struct names *n, const char *name)
{
    for (uint32_t i = 1; i < n->hash[1]; i++)
        if (is_it(n, i, name))
            return &n->symbols[i];
    return NULL;
}

static const ElfW(Sym) *find(const struct names *n, const char *name) { return n->gnu ? find_gnu(n, name) : find_old(n, name); }

/* ---- which other MPIs are here ---- */

static void note_path(struct library *l, const char *name)
{
    ssize_t n;

    snprintf(l->path, sizeof l->path, "%s", name);
    if (*name) /* the program itself has none */
        return;
    n = readlink("/proc/thread-self/exe", l->path, sizeof l->path - 1);
    l->path[n < 0 ? 0 : n] = 0;
}

static int note_library(struct dl_phdr_info *info, size_t size, void *unused)
{
    struct library *l = &other.libraries[other.n];
    struct names names;
    bool any = false;

    (void)size;
    (void)unused;
    other.added = info->dlpi_adds;
    other.removed = info->dlpi_subs;
    if (!read_names(info, &names) || !find(&names, "PMPI_Init") || find(&names, OURS))
        return 0; /* what has MPI_Init alone is a profiler */
    memset(l, 0, sizeof *l);
    for (int i = 0; i < NAMES; i++) {
        const ElfW(Sym) *s = find(&names, starts[i]);

        if (!s)
            continue;
        l->code[i].from = names.base + s->st_value;
        l->code[i].bytes = s->st_size;
        any = true;
    }
    l->open_mpi = find(&names, "ompi_mpi_comm_world");
    if (any)
        note_path(l, info->dlpi_name);
    other.n += any;
    return other.n == LIBRARIES;
}

static int is_new(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)size;
    (void)unused;
    return info->dlpi_adds != other.added || info->dlpi_subs != other.removed ? 1 : -1;
}

/* ---- who is in one ---- */

static const struct library *library_of(uintptr_t word)
{
    for (int k = 0; k < other.n; k++)
        for (int i = 0; i < NAMES; i++)
            if (word - other.libraries[k].code[i].from - 1 < other.libraries[k].code[i].bytes - 1 && other.libraries[k].code[i].bytes)
                return &other.libraries[k]; /* behind its first byte: a pointer to a function is no call */
    return NULL;
}

static const struct library *library_in(const uintptr_t *words, size_t n)
{
    const struct library *l = NULL;

    for (size_t i = 0; !l && i < n; i++)
        l = library_of(words[i]);
    return l;
}

/* Of another thread than main's nobody says where its stack ends: the kernel reads until there is no more. */
static const struct library *started_in_thread(uintptr_t at)
{
    uintptr_t words[PIECE_BYTES / sizeof(uintptr_t)];
    const struct library *l = NULL;
    long n = PIECE_BYTES;

    for (uintptr_t end = at + SCAN_BYTES; !l && n == PIECE_BYTES && at < end; at += PIECE_BYTES) {
        struct iovec to = {words, PIECE_BYTES}, from = {(void *)at, PIECE_BYTES};

        n = syscall(SYS_process_vm_readv, (pid_t)syscall(SYS_getpid), &to, 1, &from, 1, 0);
        l = n > 0 ? library_in(words, (size_t)n / sizeof(uintptr_t)) : NULL;
    }
    return l;
}

__attribute__((noinline, no_sanitize("address"))) static const struct library *started(void)
{
    uintptr_t at = (uintptr_t)__builtin_frame_address(0) & ~(sizeof(uintptr_t) - 1), bytes = other.stack - at;

    if (bytes > STACK_MOST) /* also above it */
        return started_in_thread(at);
    return library_in((const uintptr_t *)at, (bytes < SCAN_BYTES ? bytes : SCAN_BYTES) / sizeof(uintptr_t));
}

/* ---- the end of the job ---- */

static long number_from(const char *name)
{
    const char *text = getenv(name);

    return text ? strtol(text, NULL, 10) : -1;
}

/* As ftrun gave it to this process, or else, if somebody has closed it here, to the one that ftrun started. */
static bool open_region(struct ft_region *r, long leader)
{
    long fd = number_from("FTMPI_FDS");
    char path[64];
    struct ft_error e;
    int again;

    if (ft_region_open(r, (int)fd, &e) == 0)
        return true;
    snprintf(path, sizeof path, "/proc/%ld/fd/%ld", leader, fd);
    again = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC);
    return again >= 0 && ft_region_open(r, again, &e) == 0;
}

static struct ft_rank_block *block_of(const struct ft_region *r)
{
    int64_t local = ft_region_local(r, (uint32_t)number_from("FTMPI_RANK"));

    return local < 0 ? NULL : ft_region_rank(r, (uint32_t)local);
}

/* In a file of /proc/PID. */
static bool holds(long pid, const char *file, const char *what)
{
    char text[4096], path[64];
    size_t length = strlen(what), have = 0, kept;
    bool found = false;
    ssize_t n;
    int fd;

    snprintf(path, sizeof path, "/proc/%ld/%s", pid, file);
    fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && !found && (n = (ssize_t)syscall(SYS_read, fd, text + have, sizeof text - have)) > 0) {
        have += (size_t)n;
        found = memmem(text, have, what, length);
        kept = have < length ? have : length; /* it may be in two pieces */
        memmove(text, text + have - kept, kept);
        have = kept;
    }
    if (fd >= 0)
        syscall(SYS_close, fd);
    return found;
}

/* mpiexec and its like, started by the rank: in their job it is not alone. The leader may have been given the same variables,
   which are stale then, if ftrun was started by such a one. */
static bool has_launcher(long leader)
{
    static const char *const theirs[] = {"PMI_FD", "PMI_PORT", "PMIX_NAMESPACE"};
    char text[256];

    for (size_t i = 0; i < sizeof theirs / sizeof theirs[0]; i++) {
        const char *value = getenv(theirs[i]);

        if (!value)
            continue;
        snprintf(text, sizeof text, "%s=%s", theirs[i], value);
        if (!holds(leader, "environ", text))
            return true;
    }
    return false;
}

/* A program that is linked with ours may not have come to its MPI_Init: what its child runs is a tool of it. */
static bool is_tool(long leader) { return holds(leader, "maps", "/libftmpi.so") || has_launcher(leader); }

static bool is_python(void)
{
    char path[PATH_MAX];
    ssize_t n = readlink("/proc/thread-self/exe", path, sizeof path - 1);
    const char *slash;

    path[n < 0 ? 0 : n] = 0;
    slash = strrchr(path, '/');
    return slash && !strncmp(slash + 1, "python", 6);
}

/* What led to it, if that is known; else where ours is found. */
static const char *advice(const struct library *l)
{
    const char *named = getenv("MPI4PY_LIBMPI");

    if (named && !strcmp(named, l->path))
        return "MPI4PY_LIBMPI names it: leave that unset, ftrun sets it for mpi4py";
    if (!l->open_mpi)
        return "build what calls it (mpi4py, too) with ftmpicc, or with Open MPI's mpicc";
    if (is_python())
        return "use mpi4py's wheel, with MPI4PY_LIBMPI unset, or build the module with ftmpicc";
    return "link it with ftmpicc, or have it find ftmpi's libmpi.so.40, the first in LD_LIBRARY_PATH";
}

static void say(char *text, size_t size, const struct library *l)
{
    char host[HOST_NAME_MAX + 1];

    ft_host_name(host, sizeof host);
    snprintf(text, size, "rank %ld (pid %d, host %.64s) has started another MPI, %s, where each rank is alone: %s; --other-mpi allow "
             "lets it run", number_from("FTMPI_RANK"), (int)syscall(SYS_getpid), host, l->path, advice(l));
}

static void end(const struct library *l)
{
    long leader = number_from("FTMPI_PID");
    bool child = leader != (long)syscall(SYS_getpid);
    struct ft_rank_block *block;
    uint32_t absent = FT_RANK_ABSENT;
    struct ft_region region;

    if (!open_region(&region, leader) || !(block = block_of(&region)))
        return; /* it could not join ours either */
    if (ft_peek32(&block->state) != FT_RANK_ABSENT || (child && is_tool(leader)))
        return; /* the rank is another process, on ours, and this is a tool of it */
    say(block->last_words, sizeof block->last_words, l);
    atomic_store(&block->exit_code, EXIT_CODE);
    if (!atomic_compare_exchange_strong(&block->state, &absent, FT_RANK_ENDED))
        return;
    if (child)
        syscall(SYS_kill, (pid_t)leader, SIGKILL);
    syscall(SYS_exit_group, EXIT_CODE);
}

/* ---- looking ---- */

static void look(void)
{
    const struct library *l = NULL;

    if (atomic_flag_test_and_set(&other.busy))
        return;
    if (dl_iterate_phdr(is_new, NULL) > 0) {
        other.n = 0;
        dl_iterate_phdr(note_library, NULL);
    }
    if (other.n)
        l = started();
    if (l) {
        ft_real_watch(NULL);
        end(l);
    }
    atomic_flag_clear(&other.busy);
}

void ft_other_mpi_watch(void *stack)
{
    const char *allowed = getenv("FTMPI_OTHER_MPI");

    if ((allowed && !strcmp(allowed, "allow")) || number_from("FTMPI_SIZE") == 1)
        return; /* a world of one is right then */
    other.stack = (uintptr_t)stack;
    ft_real_watch(look);
}

void ft_other_mpi_joined(void) { ft_real_watch(NULL); }
