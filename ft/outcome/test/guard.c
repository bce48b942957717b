/* SPDX-License-Identifier: BSD-3-Clause */
/* Preloaded after the recorder by bare.sh: functions of the C library that take a lock which another thread may have when it is stopped.
   Who calls one between test_cutting(true) and test_cutting(false) (test/start.c), in a thread that makes a copy or in the copy that is
   woken, ends the rank. A real lock would only be waited for now and then.

     FT_TEST_NO_QUERY    the kernel cannot be asked about mappings, as before 6.11
     FT_TEST_FALSIFY     each cut calls one */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "ft/snap/forget_queries.h"

void test_cutting(bool begins);

static _Thread_local bool cutting __attribute__((tls_model("initial-exec")));

static void look(const char *name)
{
    struct iovec text[] = {{(void *)(uintptr_t)name, strlen(name)}, {(void *)(uintptr_t)" in a cut\n", 10}};

    if (!cutting)
        return;
    cutting = false; /* abort may call one */
    syscall(SYS_writev, STDERR_FILENO, text, 2);
    abort();
}

void test_cutting(bool begins)
{
    bool falsified = begins && getenv("FT_TEST_FALSIFY");

    cutting = begins;
    if (falsified)
        free(malloc(1));
}

/* ---- memory: the C library has other names for these ---- */

void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t each);
void *__libc_realloc(void *at, size_t n);
void *__libc_memalign(size_t to, size_t n);
void __libc_free(void *at);

void *malloc(size_t n)
{
    look("malloc");
    return __libc_malloc(n);
}

void *calloc(size_t n, size_t each)
{
    look("calloc");
    return __libc_calloc(n, each);
}

void *realloc(void *at, size_t n)
{
    look("realloc");
    return __libc_realloc(at, n);
}

void *memalign(size_t to, size_t n)
{
    look("memalign");
    return __libc_memalign(to, n);
}

void *aligned_alloc(size_t to, size_t n) { return memalign(to, n); }

int posix_memalign(void **at, size_t to, size_t n)
{
    *at = memalign(to, n);
    return *at ? 0 : ENOMEM;
}

void free(void *at)
{
    look("free");
    __libc_free(at);
}

/* ---- streams, directories, the dynamic linker, the environment ---- */

/* dlsym's version differs between C libraries and machines. */
static void *find(const char *name)
{
    static const char *const versions[] = {"GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17"};
    static void *(*real)(void *, const char *);

    for (size_t i = 0; !real && i < sizeof versions / sizeof *versions; i++)
        real = (void *(*)(void *, const char *))dlvsym(RTLD_NEXT, "dlsym", versions[i]);
    return real ? real(RTLD_NEXT, name) : NULL;
}

/* Who asks for what comes after itself is told what comes after this, which is preloaded last. */
void *dlsym(void *handle, const char *name)
{
    static __typeof__(&dlsym) real;

    look("dlsym");
    if (!real)
        real = (__typeof__(&dlsym))find("dlsym");
    return real(handle, name);
}

#define GUARD(type, name, of, with)                        \
    type name of                                           \
    {                                                      \
        static __typeof__(&name) real;                     \
                                                           \
        look(#name);                                       \
        if (!real)                                         \
            real = (__typeof__(&name))find(#name);         \
        return real with;                                  \
    }

GUARD(FILE *, fopen, (const char *name, const char *mode), (name, mode))
GUARD(FILE *, fopen64, (const char *name, const char *mode), (name, mode))
GUARD(int, fclose, (FILE * f), (f))
GUARD(int, fflush, (FILE * f), (f))
GUARD(int, fputs, (const char *text, FILE *f), (text, f))
GUARD(char *, fgets, (char *to, int n, FILE *f), (to, n, f))
GUARD(DIR *, opendir, (const char *name), (name))
GUARD(struct dirent *, readdir, (DIR * d), (d))
GUARD(struct dirent64 *, readdir64, (DIR * d), (d))
GUARD(int, closedir, (DIR * d), (d))
GUARD(void *, dlopen, (const char *name, int mode), (name, mode))
GUARD(int, dlclose, (void *handle), (handle))
GUARD(int, dl_iterate_phdr, (int (*with)(struct dl_phdr_info *info, size_t size, void *arg), void *arg), (with, arg))
GUARD(char *, getenv, (const char *name), (name))
GUARD(int, setenv, (const char *name, const char *value, int over), (name, value, over))
GUARD(int, unsetenv, (const char *name), (name))
GUARD(struct tm *, localtime_r, (const time_t *at, struct tm *to), (at, to))

__attribute__((constructor)) static void start(void)
{
    if (getenv("FT_TEST_NO_QUERY") && !ft_forget_queries())
        _exit(77);
}
