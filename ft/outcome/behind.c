/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/outcome/behind.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>

#include "ft/outcome/record.h"

/* ---- where an address lies ---- */

#if __GLIBC_PREREQ(2, 35)
bool ft_code_at(uintptr_t address, struct ft_code *code)
{
    struct dl_find_object found;

    if (_dl_find_object((void *)address, &found) != 0) /* NOLINT(performance-no-int-to-ptr) */
        return false;
    code->from = code->base = (uintptr_t)found.dlfo_map_start;
    code->bytes = (uintptr_t)found.dlfo_map_end - code->from;
    code->name = found.dlfo_link_map && found.dlfo_link_map->l_name ? found.dlfo_link_map->l_name : "";
    return true;
}
#else
struct search {
    uintptr_t address;
    struct ft_code *code;
};

static int look(struct dl_phdr_info *info, size_t size, void *arg)
{
    const struct search *s = arg;

    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        uintptr_t from = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr, bytes = info->dlpi_phdr[i].p_memsz;

        if (info->dlpi_phdr[i].p_type != PT_LOAD || s->address - from >= bytes)
            continue;
        *s->code = (struct ft_code){from, bytes, info->dlpi_addr, info->dlpi_name ? info->dlpi_name : ""};
        return 1;
    }
    return 0;
}

bool ft_code_at(uintptr_t address, struct ft_code *code) { return dl_iterate_phdr(look, &(struct search){address, code}) != 0; }
#endif

/* ---- functions ---- */

static bool is_ours(const void *function)
{
    struct ft_code its, ours;

    return ft_code_at((uintptr_t)function, &its) && ft_code_at((uintptr_t)ft_behind, &ours) && its.base == ours.base;
}

/* In the libraries that the caller's was linked with: others may not see them. The handle is kept, so what is found stays there. */
static void *of_library(const char *name, uintptr_t caller)
{
    void *handle, *function;
    struct ft_code code;

    if (!ft_code_at(caller, &code) || !*code.name)
        return NULL; /* the program: it sees what all see */
    handle = dlopen(code.name, RTLD_NOLOAD | RTLD_LAZY);
    function = handle ? dlsym(handle, name) : NULL;
    return function && !is_ours(function) ? function : NULL;
}

void *ft_behind(const char *name, uintptr_t caller)
{
    void *function;

    ft_inside();
    function = of_library(name, caller);
    if (!function)
        function = dlsym(RTLD_NEXT, name);
    ft_outside();
    if (!function) {
        fprintf(stderr, "libftmpi_rank: no library has %s\n", name);
        abort();
    }
    return function;
}
