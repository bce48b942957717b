/* SPDX-License-Identifier: BSD-3-Clause */
/* The head of an HTTP/1.1 request, as far as the embedded store takes one: POST, with a Content-Length. Pure.
   Not libevent's evhttp: that has no bound for the number of connections. */
#ifndef LAUNCHER_RDZV_HTTP_H
#define LAUNCHER_RDZV_HTTP_H

#include <stdbool.h>
#include <stddef.h>

enum { FT_HTTP_HEAD = 8192, FT_HTTP_PATH = 64, FT_HTTP_TOKEN = 128 };

struct ft_http_request {
    char path[FT_HTTP_PATH];
    char token[FT_HTTP_TOKEN];     /* of Authorization; empty: there is none, or too long a one */
    size_t body;                   /* bytes that follow the head */
    bool waits;                    /* Expect: 100-continue */
    bool closes;                   /* nothing follows on this connection */
};

/* The length of the head; 0: it is not complete; or minus an HTTP status: 400, 405, 411, 413, 414, 431, 501, 505. most: of the body. */
int ft_http_read(const char *bytes, size_t n, size_t most, struct ft_http_request *r);

#endif
