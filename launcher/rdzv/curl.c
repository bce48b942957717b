/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/rdzv/curl.h"

#include <dlfcn.h>

static const char library[] = "libcurl.so.4";

struct ft_curl ft_curl;

static int find(void *curl, const char *name, void *function, struct ft_error *e)
{
    void **to = function;

    *to = dlsym(curl, name);
    return *to ? 0 : ft_err_set(e, FT_ESYS, "--rdzv: %s has no %s", library, name);
}

int ft_curl_load(struct ft_error *e)
{
    static void *curl;

    if (curl)
        return 0;
    curl = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!curl)
        return ft_err_set(e, FT_ESYS, "--rdzv: %s is needed, and cannot be loaded: %s (apt-get install libcurl4)", library, dlerror());
#define X(name)                                                \
    if (find(curl, "curl_" #name, &ft_curl.name, e) < 0)       \
        return FT_ESYS;
    FT_CURL_FUNCTIONS(X)
#undef X
    return 0;
}
