/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/outcome/behind.h"

#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "ft/outcome/record.h"

static const struct link_map *library_at(uintptr_t address)
{
    struct dl_find_object found;

    return _dl_find_object((void *)address, &found) == 0 ? found.dlfo_link_map : NULL; /* NOLINT(performance-no-int-to-ptr) */
}

static bool is_ours(const void *function)
{
    return library_at((uintptr_t)function) == library_at((uintptr_t)ft_behind);
}

/* In the libraries that the caller's was linked with: others may not see them. The handle is kept, so what is found stays there. */
static void *of_library(const char *name, uintptr_t caller)
{
    const struct link_map *library = library_at(caller);
    void *handle, *function;

    if (!library || !library->l_name || !*library->l_name)
        return NULL; /* the program: it sees what all see */
    handle = dlopen(library->l_name, RTLD_NOLOAD | RTLD_LAZY);
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

void ft_behind_range(uintptr_t caller, uintptr_t *from, uintptr_t *bytes)
{
    struct dl_find_object found;

    if (_dl_find_object((void *)caller, &found) != 0) { /* NOLINT(performance-no-int-to-ptr) */
        *from = caller;
        *bytes = 1;
        return;
    }
    *from = (uintptr_t)found.dlfo_map_start;
    *bytes = (uintptr_t)found.dlfo_map_end - *from;
}
