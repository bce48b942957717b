/* SPDX-License-Identifier: BSD-3-Clause */
/* libcurl, loaded when it is wanted: with the thirty libraries that it brings along it would take most of the time in which any ftrun starts. */
#ifndef LAUNCHER_RDZV_CURL_H
#define LAUNCHER_RDZV_CURL_H

#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

#include "ft/base/err.h"

#define FT_CURL_FUNCTIONS(X)                                                                                            \
    X(global_init) X(easy_init) X(easy_cleanup) X(easy_getinfo) X(easy_setopt) X(easy_strerror) X(multi_add_handle)     \
    X(multi_assign) X(multi_cleanup) X(multi_info_read) X(multi_init) X(multi_remove_handle) X(multi_setopt)            \
    X(multi_socket_action) X(slist_append) X(slist_free_all)

struct ft_curl {
#define X(name) __typeof__(&curl_##name) name;
    FT_CURL_FUNCTIONS(X)
#undef X
};

extern struct ft_curl ft_curl; /* once it is loaded */

/* Again and again; it is loaded once. FT_ESYS with a line. */
int ft_curl_load(struct ft_error *e);

#endif
