/* SPDX-License-Identifier: BSD-3-Clause */
/* Random numbers that the program cannot compute: from the kernel, and from the processor by way of the C++ library. Under way they are
   drawn again. /dev/urandom is a file that is read; AT_RANDOM's bytes lie in memory, which a copy has. */
#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>

#include "ft/base/util.h"
#include "ft/outcome/real.h"
#include "ft/outcome/record.h"

FT_CALLED ssize_t draw(void *to, size_t n, unsigned flags)
{
    struct ft_recorded c;
    ssize_t got;

    if (!ft_recording())
        return ft_real()->getrandom(to, n, flags);
    if (ft_call_begin(&c, FT_CALL_RANDOM, ft_what((int64_t)n, flags, 0), n)) {
        memcpy(to, ft_call_data(&c), ft_call_bytes(&c));
        return ft_call_give(&c);
    }
    got = ft_real()->getrandom(to, n, flags);
    if (got > 0 && c.record)
        memcpy(ft_call_data(&c), to, (size_t)got);
    return ft_call_end(&c, got, got > 0 ? (size_t)got : 0);
}

ssize_t getrandom(void *to, size_t n, unsigned flags)
{
    size_t done = 0;

    do {
        size_t piece = ft_min(n - done, FT_OUTCOME_PIECE);
        ssize_t got = draw((char *)to + done, piece, flags);

        if (got < 0)
            return done ? (ssize_t)done : got;
        done += (size_t)got;
        if ((size_t)got < piece)
            break;
    } while (done < n);
    return (ssize_t)done;
}

/* All of them, or -1. */
static int draw_all(void *to, size_t n)
{
    for (size_t done = 0; done < n;) {
        ssize_t got = getrandom((char *)to + done, n - done, 0);

        if (got < 0 && errno != EINTR)
            return -1;
        done += got > 0 ? (size_t)got : 0;
    }
    return 0;
}

int getentropy(void *to, size_t n)
{
    if (n > 256) {
        errno = EIO;
        return -1;
    }
    return draw_all(to, n);
}

/* As the C library does from 2.36 on: straight from the kernel. Older ones have no such functions. */
uint32_t arc4random(void);
void arc4random_buf(void *to, size_t n);
uint32_t arc4random_uniform(uint32_t below);

void arc4random_buf(void *to, size_t n)
{
    int error = errno;

    FT_INVARIANT(draw_all(to, n) == 0, "the kernel has random numbers");
    errno = error;
}

uint32_t arc4random(void)
{
    uint32_t number;

    arc4random_buf(&number, sizeof number);
    return number;
}

/* Numbers below 2^32 % below are drawn again: each of the others is as likely as any. */
uint32_t arc4random_uniform(uint32_t below)
{
    uint32_t number;

    if (below < 2)
        return 0;
    do {
        number = arc4random();
    } while (number < -below % below);
    return number % below;
}

/* std::random_device asks the processor (rdseed, rdrand) or a file, inside of the C++ library. These two members give what it says. */
uint32_t _ZNSt13random_device9_M_getvalEv(void *device);
uint32_t _ZNSt13random_device16_M_getval_pretr1Ev(void *device);

/* An extension of Python may have brought the C++ library, which then is not behind us. */
static void *find_member(const char *name)
{
    void *real = dlsym(RTLD_NEXT, name), *library = real ? NULL : dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_NOLOAD);

    return library ? dlsym(library, name) : real;
}

static uint32_t device_number(const char *name, void *device)
{
    uint32_t (*real)(void *) = (uint32_t (*)(void *))find_member(name);
    uint32_t number;
    void *library;

    ft_inside();
    if (!real && (library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_NOLOAD))) /* loaded by dlopen, for a module of Python's alone */
        real = (uint32_t (*)(void *))dlsym(library, name);
    FT_INVARIANT(real, "the C++ library has the member of std::random_device that is called");
    number = real(device);
    ft_outside();
    return number;
}

FT_CALLED uint32_t device_draw(const char *name, void *device)
{
    if (!ft_recording())
        return device_number(name, device);
    return (uint32_t)FT_CALL_PLAIN(FT_CALL_RANDOM, ft_what(-1, 0, 0), device_number(name, device));
}

uint32_t _ZNSt13random_device9_M_getvalEv(void *device) { return device_draw("_ZNSt13random_device9_M_getvalEv", device); }

uint32_t _ZNSt13random_device16_M_getval_pretr1Ev(void *device)
{
    return device_draw("_ZNSt13random_device16_M_getval_pretr1Ev", device);
}
