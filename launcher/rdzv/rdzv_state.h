/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of one host's rendezvous have in common (rdzv.c). */
#ifndef LAUNCHER_RDZV_RDZV_STATE_H
#define LAUNCHER_RDZV_RDZV_STATE_H

#include <event2/event.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "launcher/rdzv/keys.h"
#include "launcher/rdzv/rdzv_config.h"
#include "launcher/rdzv/round.h"
#include "launcher/rdzv/seal.h"
#include "launcher/rdzv/server.h"
#include "launcher/rdzv/store.h"
#include "launcher/rdzv/values.h"

struct ft_etcd_own;

/* What is done from the event loop: a step is never taken within a step. */
enum ft_rdzv_wish {
    FT_WISH_PUBLISH = 1, FT_WISH_RENEW = 2, FT_WISH_CLOSE = 4, FT_WISH_LEAVE = 8,
    FT_WISH_ANEW = 16,         /* the store is */
    FT_WISH_FAIL = 32
};

/* A write, or a lease's renewal, that is on its way. */
struct ft_rdzv_write {
    LIST_ENTRY(ft_rdzv_write) link;
    struct ft_rdzv *r;
    uint64_t token, lease;
};

struct ft_rdzv {
    struct ft_rdzv_config config;
    char name[FT_RDZV_NAME + 1], address[FT_RDZV_ADDRESS + 1];
    struct ft_rdzv_secret secret;
    struct ft_rdzv_server *server;
    struct ft_etcd_own *own;       /* NULL: none of the job's etcds belongs here */
    struct ft_rdzv_store *store;
    struct ft_rdzv_round *round;
    struct ft_rdzv_values *values;
    uint64_t id;
    struct event *due, *wished, *again, *linger;
    struct ft_rdzv_watch *watch, *members_watch;
    bool looking, looking_at_members, follows;
    LIST_HEAD(, ft_rdzv_write) writes;
    char failure[1024];
    void (*step)(struct ft_rdzv *r, struct ft_rdzv_round_event *v);    /* of the round; what it wants is done (rdzv.c) */
    unsigned wishes;
    uint32_t code;                 /* FT_WISH_CLOSE */
    char *publish;
    bool told_stranger, told_away;
    uint64_t away_since, told_strangers_ms, untold;
    char why[512];                 /* the store does not answer */
    uint64_t linger_until;
    bool revoking;
    bool counting, others;         /* the etcds here wait for who is still there: it is being asked; there is somebody */
};

uint64_t ft_rdzv_now_ms(void);

/* An event of nothing but its kind, and a lease, token or revision. */
void ft_rdzv_tell(struct ft_rdzv *r, enum ft_rdzv_round_event_kind kind, uint64_t value);

void ft_rdzv_wish(struct ft_rdzv *r, enum ft_rdzv_wish what);

/* It is over, from the event loop, for a reason that the round does not know. */
void ft_rdzv_out_of_memory(struct ft_rdzv *r);
void ft_rdzv_deny(struct ft_rdzv *r, const char *why);

#endif
