/* SPDX-License-Identifier: BSD-3-Clause */
/* Which checkpoints there are, and what a rank finds in them: the words of struct ft_version_head and ft_version_words. */
#ifndef FT_SHM_VERSIONS_H
#define FT_SHM_VERSIONS_H

#include <stdbool.h>

#include "ft/shm/region.h"

/* One version as one rank has it. */
struct ft_version {
    uint64_t version;            /* 1, 2, ...; 0: none */
    uint32_t slot;
    bool base;                   /* the job's programs begin with it: it has no place in the log */
    uint64_t unit, end, chain;   /* as struct ft_model_slot */
    uint64_t nglobal, global_hash;
    uint64_t nlocal, local_hash; /* of the rank, as what follows */
    uint64_t ncarried, carried_hash;
};

struct ft_version_head *ft_versions_head(const struct ft_region *r);
struct ft_version_words *ft_versions_of(const struct ft_region *r, uint32_t rank);

/* The newest version that is committed and whose models are in the store: any rank, whoever is or will be that rank, has it, and
   nobody writes over it before that rank says that it has consumed a later one. False: there is none (v is zeros). May be asked at
   any time by anybody; the answer never goes down. */
bool ft_versions_newest(const struct ft_region *r, uint32_t rank, struct ft_version *v);

/* What one rank's words say of a version in a slot, of which that rank knows that it is committed. region NULL: a world of one.
   False: it has been written over. */
bool ft_versions_kept(const struct ft_region *r, const struct ft_version_words *words, uint32_t slot, uint64_t version,
                      struct ft_version *v);

/* Where rank goes on after that version, one of its slots' that is no base, in all logs. False: it has been written over. */
bool ft_versions_positions(const struct ft_region *r, uint32_t rank, const struct ft_version *v, struct ft_positions *p);

/* Whatever rank does before it loads is in the store: it can be started from its beginning without the log up to a checkpoint. */
bool ft_versions_can_load(const struct ft_region *r, uint32_t rank);

/* Rank, if it dies now, will load that version at its first load, and what it calls before is in the store. False: v is zeros, and
   it is to be started with all of its log or with all other ranks. */
bool ft_versions_loadable(const struct ft_region *r, uint32_t rank, struct ft_version *v);

/* The base version is there for rank, if it is started from its beginning and can load no later one. False: it has consumed a later one, so
   others write over it. */
bool ft_versions_can_begin(const struct ft_region *r, uint32_t rank);

/* Agent: may rank's cut be moved to that version, which is committed? Only this incarnation of it has left that behind: another one may be on its
   way there, and need the log. */
bool ft_versions_moves_cut(const struct ft_region *r, uint32_t rank, const struct ft_version *v);

/* For people: what the bootstrap cache has, and how often it was of use. */
struct ft_cache_totals {
    uint64_t results, bytes, answers;
    bool lost;                   /* there was no memory for some */
};

void ft_versions_cache(const struct ft_region *r, struct ft_cache_totals *t);

/* Agent, before rank's next incarnation: what the dead one has asked for is void. */
void ft_versions_void(const struct ft_region *r, uint32_t rank);

/* Agent: the models of `slot` are in the store and the rank's words (slot) say their sizes and hashes: the job's programs begin with
   this version. Before any rank is started, or when all are dead. */
void ft_versions_begin(const struct ft_region *r, uint64_t version, uint32_t slot);

/* ft_region_reset: the newest version becomes the base (before counters are made new), and then all else is forgotten. Both may be
   done again. */
void ft_versions_settle(const struct ft_region *r);
void ft_versions_renew(const struct ft_region *r);

#endif
