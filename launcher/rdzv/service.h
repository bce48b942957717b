/* SPDX-License-Identifier: BSD-3-Clause */
/* What the embedded store answers to a request of etcd's gateway: of kv/range, kv/put, kv/txn, lease/grant, lease/keepalive and lease/revoke.
   Nothing of a request is believed. */
#ifndef LAUNCHER_RDZV_SERVICE_H
#define LAUNCHER_RDZV_SERVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ft_kvs;

struct ft_service {
    struct ft_kvs *kvs;
    uint64_t cluster;          /* drawn by each server */
};

/* The answer, the caller's, and its HTTP status. NULL: no memory. */
char *ft_service_answer(const struct ft_service *s, uint64_t now_ms, const char *path, const char *body, size_t n, int *status);

/* A watch: its keys (the caller's; *end NULL: one key) and the revision from which on; 0: from now on. False: it is none. */
bool ft_service_watch(const char *body, size_t n, char **key, char **end, uint64_t *from);

/* What is streamed, each with its newline; the caller's. NULL: no memory; news: or nothing has changed. */
char *ft_service_created(const struct ft_service *s);
char *ft_service_news(const struct ft_service *s, const char *key, const char *end, uint64_t *from);

/* An answer that is an error; gRPC's code. */
char *ft_service_error(int code, const char *text);

#endif
