/* SPDX-License-Identifier: BSD-3-Clause */
/* The JSON of etcd's gateway (/v3), as far as ftmpi speaks it, for both ends. Keys and values are base64; numbers of 64 bits come as strings, or
   are left out when they are 0. */
#ifndef LAUNCHER_RDZV_GATEWAY_H
#define LAUNCHER_RDZV_GATEWAY_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "launcher/rdzv/kvs.h"

/* The caller's; *text ends with a 0 that *n does not count. NULL: no memory, or it is none. */
char *ft_gateway_to64(const unsigned char *bytes, size_t n);
unsigned char *ft_gateway_from64(const char *text, size_t *n);

/* A key: base64 of a string without zeros. */
char *ft_gateway_key(const json_t *object, const char *name);

/* 0 if there is none. False: it is no number. */
bool ft_gateway_number(const json_t *object, const char *name, uint64_t *value);

/* Sets object[name]; NULL, or an object that is none, has no effect, and what is printed in the end fails. */
void ft_gateway_set_number(json_t *object, const char *name, uint64_t value);
void ft_gateway_set_bytes(json_t *object, const char *name, const void *bytes, size_t n);

/* The end of all keys that begin with prefix; the caller's. NULL: no memory. */
char *ft_gateway_end(const char *prefix);

/* ---- what a client sends and gets ---- */

/* The caller's; NULL: no memory. */
char *ft_gateway_txn(const struct ft_kvs_txn *txn);
char *ft_gateway_grant(uint64_t ttl_s);
char *ft_gateway_lease(uint64_t lease);
char *ft_gateway_watch(const char *key, const char *end, uint64_t from);
char *ft_gateway_login(const char *user, const char *password);

struct ft_gateway_reply {
    uint64_t revision;
    bool held;                 /* txn */
    uint64_t lease, ttl;       /* grant, keepalive */
    uint32_t n;
    struct ft_kvs_entry *entries;  /* txn: of all ranges, in order; watch: events. value NULL: deleted */
    char token[1024];          /* authenticate */
    bool created, canceled;    /* watch */
    uint64_t compacted;
    int code;                  /* of gRPC; 0: it is no error */
    char error[256];
};

/* False: it is no answer of a store. To be freed in any case. */
bool ft_gateway_read(const char *body, size_t n, struct ft_gateway_reply *r);
void ft_gateway_free(struct ft_gateway_reply *r);

/* ---- what a server gets and sends ---- */

/* To be freed; false: it is no request, or asks for more than is spoken here. */
struct ft_gateway_request {
    struct ft_kvs_txn txn;
    struct ft_kvs_compare *compares;
    struct ft_kvs_op *then, *otherwise;
};
bool ft_gateway_read_txn(const json_t *j, struct ft_gateway_request *r);
bool ft_gateway_read_range(const json_t *j, struct ft_gateway_request *r);
bool ft_gateway_read_put(const json_t *j, struct ft_gateway_request *r);
void ft_gateway_free_request(struct ft_gateway_request *r);

json_t *ft_gateway_entry(const struct ft_kvs_entry *kv);

#endif
