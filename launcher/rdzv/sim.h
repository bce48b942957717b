/* SPDX-License-Identifier: BSD-3-Clause */
/* A test: many hosts in one process, over one store in memory, with a clock of its own. What goes between them is late, lost or comes twice, by
   a seed. Whatever a host is told is compared with what all others were told. */
#ifndef LAUNCHER_RDZV_SIM_H
#define LAUNCHER_RDZV_SIM_H

#include "launcher/rdzv/kvs.h"
#include "launcher/rdzv/round.h"

struct sim_config {
    uint64_t seed;
    uint32_t min, max;
    uint32_t followers;        /* the first so many hosts never lead */
    uint64_t yields_ms;        /* of all but the last */
    uint64_t lease_ms, timeout_ms, last_call_ms;
    uint64_t delay_ms;         /* of each message, at most */
    unsigned lost, twice;      /* of 1000 messages */
};

enum sim_life { SIM_NONE, SIM_WAITS, SIM_JOINED, SIM_CLOSED, SIM_FAILED, SIM_LEFT, SIM_DEAD };

struct sim_host {
    enum sim_life life;
    char name[24];
    unsigned incarnation;      /* of the host's process */
    struct ft_rdzv_round *round, *frozen;
    struct ft_rdzv_state state;    /* that it was told last */
    struct ft_rdzv_list *list;
    int64_t place;             /* -1: a spare */
    uint64_t joined_at, term, controller_term;
    uint32_t voids, changes, strangers, others;
    enum ft_rdzv_round_why why;
    char controller[64];
    /* the sim's */
    uint64_t seen, wake, again, cluster;
    bool follows, pumping;
};

struct sim {
    struct sim_config config;
    struct ft_kvs *kvs;
    uint64_t now, random, cluster;
    bool away;
    uint32_t nhosts;
    struct sim_host *hosts;
    uint64_t messages, bytes, told, refused;
    char broken[256];          /* what was promised and is not so */
};

struct sim *sim_new(const struct sim_config *config, uint32_t nhosts);
void sim_free(struct sim *s);

/* A process begins on the host; the host's number is its name. */
void sim_start(struct sim *s, uint32_t host);
void sim_kill(struct sim *s, uint32_t host);

/* Its process stands still, and goes on. */
void sim_freeze(struct sim *s, uint32_t host);
void sim_thaw(struct sim *s, uint32_t host);

/* Something of a user's. CLOSE: text is the exit code. */
void sim_tell(struct sim *s, uint32_t host, enum ft_rdzv_round_event_kind kind, const char *text);

/* A stranger writes "stranger", or "stranger PHASE" as a STATE with another secret. */
void sim_stranger(struct sim *s, const char *key, const char *text);

/* The store loses its memory; or is away, and there again. */
void sim_new_store(struct sim *s);

/* Until then, or until all that is to be so is. False: it is not, after as long. */
void sim_run(struct sim *s, uint64_t ms);
bool sim_until(struct sim *s, uint64_t ms, bool (*is)(const struct sim *s));

/* How many hosts are of this life, and of those in a place. */
uint32_t sim_count(const struct sim *s, enum sim_life life);
uint32_t sim_placed(const struct sim *s);
uint32_t sim_leader(const struct sim *s);  /* UINT32_MAX: none */
uint64_t sim_draw(struct sim *s, uint64_t below);

#endif
