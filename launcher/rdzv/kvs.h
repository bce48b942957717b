/* SPDX-License-Identifier: BSD-3-Clause */
/* Keys and values in memory, as etcd has them: one revision that goes up with each change, leases that keys are bound to, and a history of
   changes that watchers read. Pure: the time comes in. Bounded; what is too much is refused. Keys are strings; values any bytes. */
#ifndef LAUNCHER_RDZV_KVS_H
#define LAUNCHER_RDZV_KVS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    FT_KVS_KEY = 1024,              /* bytes of a key */
    FT_KVS_VALUE = 4 << 20,         /* of a value */
    FT_KVS_BYTES = 256 << 20,       /* of all keys and values */
    FT_KVS_KEYS = 65536,
    FT_KVS_LEASES = 65536,
    FT_KVS_TTL = 86400,             /* seconds of a lease */
    FT_KVS_HISTORY = 65536          /* changes, of FT_KVS_PAST bytes at most */,
    FT_KVS_PAST = 64 << 20
};

enum ft_kvs_error { FT_KVS_OK = 0, FT_KVS_FULL = -1, FT_KVS_NO_LEASE = -2, FT_KVS_COMPACTED = -3, FT_KVS_BAD = -4 };

struct ft_kvs_entry {
    const char *key;
    const unsigned char *value;        /* NULL: in an event, deleted */
    size_t n;
    uint64_t made, at, version, lease;
};

enum ft_kvs_what { FT_KVS_MOD, FT_KVS_CREATE, FT_KVS_VERSION, FT_KVS_VALUE_IS };

struct ft_kvs_compare {
    enum ft_kvs_what what;
    const char *key;
    uint64_t is;
    const unsigned char *value;        /* VALUE_IS: there is such a key, with these n bytes */
    size_t n;
};

enum ft_kvs_op_kind { FT_KVS_PUT, FT_KVS_RANGE, FT_KVS_DELETE };

struct ft_kvs_op {
    enum ft_kvs_op_kind kind;
    const char *key, *end;             /* end: all keys from key on that are below it; NULL: just key */
    const unsigned char *value;
    size_t n;
    uint64_t lease;                    /* 0: none */
    uint32_t limit;                    /* RANGE: 0: all */
};

struct ft_kvs_txn {
    const struct ft_kvs_compare *compares;
    const struct ft_kvs_op *then, *otherwise;
    uint32_t ncompares, nthen, notherwise;
};

struct ft_kvs;

/* seed: drawn by each process. NULL: no memory. */
struct ft_kvs *ft_kvs_new(uint64_t seed);
void ft_kvs_free(struct ft_kvs *m);

uint64_t ft_kvs_revision(const struct ft_kvs *m);

/* All of it or nothing. each is called for every entry of a RANGE, deleted for each DELETE with how many there were. FULL, NO_LEASE, BAD. */
int ft_kvs_do(struct ft_kvs *m, const struct ft_kvs_txn *txn, bool *held,
              void (*each)(void *arg, uint32_t op, const struct ft_kvs_entry *kv), void (*deleted)(void *arg, uint32_t op, uint64_t n),
              void *arg);

/* id 0: one is drawn; *id: which. FULL; BAD: there is one such, or a ttl that cannot be. */
int ft_kvs_grant(struct ft_kvs *m, uint64_t now_ms, uint64_t ttl_s, uint64_t *id);

/* Its ttl in seconds; 0: there is none such. */
uint64_t ft_kvs_keep(struct ft_kvs *m, uint64_t now_ms, uint64_t id);
int ft_kvs_revoke(struct ft_kvs *m, uint64_t id);

/* Leases that have run out go, with their keys. That is not due before; UINT64_MAX: never. */
void ft_kvs_expire(struct ft_kvs *m, uint64_t now_ms);
uint64_t ft_kvs_due(const struct ft_kvs *m);

/* The changes from revision `from` on of [key, end), in order; each says its revision in `at`. COMPACTED: they are not all known,
   but from *oldest on. */
int ft_kvs_changes(const struct ft_kvs *m, uint64_t from, const char *key, const char *end,
                      void (*each)(void *arg, const struct ft_kvs_entry *kv), void *arg, uint64_t *oldest);

#endif
