/* SPDX-License-Identifier: BSD-3-Clause */
/* Call sites that mean the same in every process: a hash of the module's file name in the upper 24 bits,
   the offset in the module below. Address-space randomisation moves modules, not what is in them. */
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ft/base/site.h"
#include "ft/base/util.h"

enum { OFFSET_BITS = 40, CACHE = 256, MODULES = 16 };
#define OFFSET_MASK ((1ull << OFFSET_BITS) - 1)

/* The file that it was started from. Not what the process is called (comm, argv): programs say there which rank they are. */
static const char *program(void)
{
    static char path[PATH_MAX];

    if (!*path && readlink("/proc/self/exe", path, sizeof path - 1) <= 0)
        strcpy(path, "program");
    return path;
}

static bool is_library(const struct dl_phdr_info *info) { return info->dlpi_name && *info->dlpi_name; }

/* Of the file itself, as /proc/PID/maps has it: libm.so.6 may be a link to libm.so.6.1. Until the next call. */
static const char *module_name(const struct dl_phdr_info *info)
{
    static char path[PATH_MAX];
    const char *name = is_library(info) ? info->dlpi_name : program(), *slash;

    if (is_library(info) && realpath(name, path))
        name = path;
    slash = strrchr(name, '/');
    return slash ? slash + 1 : name;
}

static uint64_t hash_of(const char *text, const char *end)
{
    uint64_t h = 1469598103934665603ull;  /* FNV-1a */

    for (; *text && strcmp(text, end) != 0; text++)
        h = (h ^ (unsigned char)*text) * 1099511628211ull;
    return h;
}

/* Of a file that has been replaced since, too: of that the kernel says so. */
static uint64_t name_hash(const char *name) { return hash_of(name, " (deleted)") >> OFFSET_BITS; }

/* To follow links takes system calls: once for each library that calls. */
static uint64_t module_hash(const struct dl_phdr_info *info)
{
    static struct { uint64_t name, file; } known[MODULES];
    static unsigned next;
    uint64_t name = hash_of(is_library(info) ? info->dlpi_name : "", ""), file;

    for (int i = 0; i < MODULES; i++)
        if (known[i].name == name)
            return known[i].file;
    file = name_hash(module_name(info));
    known[next].name = name;
    known[next].file = file;
    next = (next + 1) % MODULES;
    return file;
}

struct search {
    uintptr_t address;  /* looked for by address ... */
    uint64_t hash;      /* ... or by name */
    uint64_t site;
    const char *name;
};

static int find_address(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct search *s = arg;

    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
        uintptr_t at = info->dlpi_addr + ph->p_vaddr;

        if (ph->p_type == PT_LOAD && s->address >= at && s->address < at + ph->p_memsz) {
            s->site = module_hash(info) << OFFSET_BITS | ((s->address - info->dlpi_addr) & OFFSET_MASK);
            return 1;
        }
    }
    return 0;
}

static int find_name(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct search *s = arg;

    (void)size;
    if (module_hash(info) != s->hash)
        return 0;
    s->name = module_name(info);
    return 1;
}

FT_HOT uint64_t ft_site(const void *address)
{
    static struct { const void *address; uint64_t site; } cache[CACHE];
    unsigned slot = ((uintptr_t)address ^ (uintptr_t)address >> 8) % CACHE;
    struct search s = { .address = (uintptr_t)address };

    if (__builtin_expect(cache[slot].address == address, 1))
        return cache[slot].site;
    if (!dl_iterate_phdr(find_address, &s))
        s.site = s.address & OFFSET_MASK;  /* code made at run time */
    cache[slot].address = address;
    cache[slot].site = s.site;
    return s.site;
}

const char *ft_site_print(uint64_t site, char *text, size_t size)
{
    struct search s = { .hash = site >> OFFSET_BITS };

    dl_iterate_phdr(find_name, &s);
    snprintf(text, size, "%s+0x%llx", s.name ? s.name : "?", (unsigned long long)(site & OFFSET_MASK));
    return text;
}

bool ft_site_is_in(uint64_t site, const char *module)
{
    return name_hash(module) == site >> OFFSET_BITS;
}

uint64_t ft_site_offset(uint64_t site)
{
    return site & OFFSET_MASK;
}
