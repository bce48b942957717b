/* SPDX-License-Identifier: BSD-3-Clause */
/* The bootstrap cache (docs/internals/bootstrap-cache.md): results of operations that a program makes once in a job's life, but that a rank
   which has come back by a checkpoint makes again while the others are far beyond. Entries are in the store (ft/shm/models.h), one
   after the other, written by rank 0 alone, right after the operation and before its next; `cache_end` says how far they are complete.

   A rank that loads a version finds every entry of an operation before that version: rank 0 took part in its commit
   after it had written them. So nobody has to wait for an entry, and an operation that is not there yet is still in the log. */
#ifndef FT_CORE_CACHE_H
#define FT_CORE_CACHE_H

#include "ft/core/keys.h"
#include "ft/core/op.h"
#include "ft/shm/versions.h"

struct ft_ahead {
    uint64_t unit, at;               /* of the operation; of its entry */
};

struct ft_cache {
    struct ft_stream *s;             /* MPI_COMM_WORLD's */
    struct ft_version_head *head;    /* NULL: a world without ftrun, where nothing is kept */
    struct ft_version_words *words;  /* of all ranks */
    int fd;                          /* of the store */
    bool sites;                      /* --bootstrap-cache: calls without a key are found by their place */
    uint64_t version;                /* of this life of the rank, from the job's first on: 0, 1, ... */
    bool loaded;                     /* this life began with a later version: it has other calls behind it than the log has */
    bool restarted;                  /* there may be entries that this life has not come to */
    void (*tell_lost)(const char *why);
    bool lost;                       /* rank 0 has told that there is no memory for it */
    uint64_t scanned;                /* entries below are in `keys` */
    uint64_t results;                /* entries that are results, as far as scanned */
    uint64_t sites_bytes;            /* of entries without a key, as far as scanned */
    struct ft_keys keys;
    struct ft_ahead *ahead;          /* were served before the stream came to them */
    uint64_t nahead;
};

enum { FT_CACHE_KEY = 256 };  /* a key's text, with its end (ft.h: 255 bytes at most) */

/* Head of an entry; the text of the key and the result follow, each padded to 8 bytes. */
struct ft_entry {
    uint64_t bytes;        /* of all of it */
    uint32_t kind;         /* enum ft_entry_kind */
    uint32_t key_bytes;
    uint64_t key;          /* hash of the key, or of place and signature */
    uint64_t unit;         /* of the operation; RECURRING: how often in one version */
    uint64_t site;
    struct ft_sig sig;
    uint64_t result_bytes, result_hash;
};

enum ft_entry_kind {
    FT_ENTRY_KEY = 1,    /* found by the program's key */
    FT_ENTRY_PLACE,      /* by the place of the call */
    FT_ENTRY_RECURRING   /* no result: calls of this place are made anew in later versions */
};

/* One collective, planned and run at the stream's position (ft/collective.c). */
typedef int ft_perform(struct ft_coll *c, const struct ft_sig *sig, uint64_t total, uint64_t site, struct ft_error *e);

/* For MPI_COMM_WORLD's stream; region NULL: without ftrun. Makes the stream attentive if call sites count. lost: says once that there is
   no memory for an entry. */
void ft_cache_open(struct ft_cache *k, struct ft_stream *s, const struct ft_region *region, int fd, void (*lost)(const char *why));
void ft_cache_close(struct ft_cache *k);

/* In a forked copy that is the rank now. */
void ft_cache_resume(struct ft_cache *k);

/* This life of the rank is at a version now; jumped: it has just loaded that, and left out what was called on the way there. */
void ft_cache_at_version(struct ft_cache *k, uint64_t version, bool jumped);

/* Before the stream's position is published: what has been served before it is there, and is there now, is behind it then. */
int ft_cache_settle(struct ft_cache *k, ft_perform *perform, struct ft_error *e);

/* A call on an attentive stream, or one with a key (c->key): by position, out of the cache, or an error. total, site, errors: as
   perform; FT_EINVAL: the key cannot be used for this call, which was not made. */
int ft_cache_call(struct ft_cache *k, struct ft_coll *c, const struct ft_sig *sig, uint64_t total, uint64_t site, ft_perform *perform,
                  struct ft_error *e);

/* ---- for who brings a cache to another node ---- */

/* Where the entries of `end` bytes end that are whole, and of units below `units`: how far a log is. *results: so many of them are results. */
uint64_t ft_cache_below(int fd, uint64_t end, uint64_t units, uint64_t *results);

/* ---- inside: entries (cache.c), for who decides (bootstrap.c) ---- */

int ft_cache_no_memory(const struct ft_cache *k, struct ft_error *e);

/* Takes in what rank 0 has written since. FT_ENOMEM, FT_ESYS. */
int ft_cache_scan(struct ft_cache *k, struct ft_error *e);

/* Rank 0, scanned: keeps the result that c has just had, under the entry's key, unit, site and signature. Without memory for it the
   job goes on, and rank 0 says so once. text: of the key, may be NULL. */
int ft_cache_keep(struct ft_cache *k, struct ft_entry entry, const char *text,
                  const struct ft_coll *c, struct ft_error *e);
int ft_cache_recurs(struct ft_cache *k, uint64_t hash, uint64_t times, struct ft_error *e);

/* The head of an entry, and its key. */
int ft_cache_head(const struct ft_cache *k, uint64_t at, struct ft_entry *entry, char key[FT_CACHE_KEY], struct ft_error *e);

/* The result goes where c would have it. FT_ESYS: it is damaged. */
int ft_cache_serve(const struct ft_cache *k, uint64_t at, const struct ft_coll *c,
                   struct ft_error *e);

/* What this rank contributed to the operation of a unit, as a hash; 0: nobody knows. Of so many ranks that is so many bytes. */
uint64_t ft_cache_given_bytes(uint32_t nranks);
uint64_t ft_cache_contributed(const struct ft_cache *k, uint64_t unit);
void ft_cache_note_contribution(const struct ft_cache *k, uint64_t unit, uint64_t hash);

#endif
