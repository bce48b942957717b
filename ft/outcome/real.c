/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/outcome/real.h"

#include <dlfcn.h>

#include "ft/base/util.h"

struct ft_real ft_real_table;
bool ft_real_found;

static void *find(const char *name)
{
    void *function = dlsym(RTLD_NEXT, name);

    FT_INVARIANT(function, "the C library has what ft/outcome/real_names.h lists");
    return function;
}

/* Two threads may both do it, with the same result. */
void ft_real_find(void)
{
#define X(name) ft_real_table.name = (__typeof__(&name))find(#name);
    FT_REAL_NAMES(X)
#undef X
    ft_real_found = true;
}
