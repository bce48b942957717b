/* SPDX-License-Identifier: BSD-3-Clause */
/* What a host knows of the round (hear.c), for a member's part (round.c) and the leader's (lead.c). */
#ifndef LAUNCHER_RDZV_ROUND_STATE_H
#define LAUNCHER_RDZV_ROUND_STATE_H

#include "launcher/rdzv/roll.h"
#include "launcher/rdzv/round_events.h"

enum { FT_RDZV_ROUND_EFFECTS = 24 };

/* One entry of the store as it was last heard of. */
struct ft_rdzv_round_slot {
    uint64_t at;
    bool there, good;          /* good: it is the job's */
    bool leased;               /* whoever wrote it is alive */
};

struct ft_rdzv_round_controller {
    char address[FT_RDZV_LINE];
    uint64_t term, version;
};

struct ft_rdzv_round {
    struct ft_rdzv_round_config config;
    uint64_t now, began, deadline;
    bool over, synced;
    bool stored;               /* something was read since the store was new */

    /* what is in the store */
    struct ft_rdzv_round_controller there;         /* perhaps of another round */
    struct ft_rdzv_round_slot state_slot, leader_slot, controller_slot, mine_slot;
    struct ft_rdzv_state state;    /* the last good one; phase SETUP: there has been none */
    struct ft_rdzv_list *list;     /* the last one that was read */
    int64_t place_listed;          /* in it */
    uint64_t leader_id, leader_lease;
    uint64_t mine_id, mine_lease, mine_confirmed;
    uint64_t version;              /* the highest that was heard of */

    /* what is being done */
    uint64_t lease, keep_at;
    bool asked, keeping, reading;
    uint64_t read_at;              /* again, not before */
    uint64_t tokens, member_token, leader_token, state_token, controller_token;
    uint64_t campaign_at;          /* not before */
    uint64_t shun_until;           /* it has resigned */
    uint64_t again_at, taken_since, taken_by;  /* its name is another's */
    uint64_t foreign_since;        /* another job is there */
    uint64_t foreign_led;          /* when it had a leader last */
    enum ft_rdzv_phase claimed;    /* what a stranger's STATE says */
    bool closing, told_others;
    uint32_t code;                 /* closing: the job's */

    /* what was told */
    bool joined;
    uint64_t joined_version, told_list, led;
    uint32_t told_spares;
    int64_t place;
    struct ft_rdzv_list *final;    /* of the round that was joined */
    char *publish;
    struct ft_rdzv_round_controller controller;    /* of the round that was joined; address "": there is none yet */

    /* the leader's */
    struct ft_rdzv_roll *roll;
    bool rolled;                   /* all of it has been read */
    bool renew, dirty;             /* dirty: something has come since it looked */
    bool rewrite;                  /* the LIST in the store is not the one that it wrote */
    uint64_t looked, call_until, told_come_at, verify_at;
    uint64_t patient_until;        /* who is not there is not lost yet */
    uint64_t doubt_until;          /* of the first of the roll */
    uint64_t bad_reads;            /* of the LIST, in a row */

    struct ft_rdzv_round_effect effects[FT_RDZV_ROUND_EFFECTS];
    uint32_t neffects;
    char *lists[2];                /* that effects point to */
    char texts[6][FT_RDZV_LINE];
    uint32_t nlists, ntexts;
};

struct ft_rdzv_round_effect *ft_rdzv_round_effect(struct ft_rdzv_round *r, enum ft_rdzv_round_effect_kind kind);
struct ft_rdzv_round_effect *ft_rdzv_round_write(struct ft_rdzv_round *r, uint64_t *token);
void ft_rdzv_round_compare(struct ft_rdzv_round_effect *e, enum ft_rdzv_round_key key, const char *name, uint64_t at);
void ft_rdzv_round_put(struct ft_rdzv_round_effect *e, enum ft_rdzv_round_key key, const char *name, const char *text, uint64_t lease);
char *ft_rdzv_round_text(struct ft_rdzv_round *r);
void ft_rdzv_round_fail(struct ft_rdzv_round *r, enum ft_rdzv_round_why why);

/* Its own entry as LEADER is there. */
bool ft_rdzv_round_leads(const struct ft_rdzv_round *r);

/* How many members are there. */
uint32_t ft_rdzv_round_come(const struct ft_rdzv_round *r);

/* The version of a round that begins now. */
uint64_t ft_rdzv_round_next(const struct ft_rdzv_round *r);

/* The LIST that STATE speaks of has been read. */
bool ft_rdzv_round_has_list(const struct ft_rdzv_round *r);

/* Whether list is the one that STATE speaks of; and its own place in a list, or -1. */
bool ft_rdzv_round_is_the_list(const struct ft_rdzv_round *r, const struct ft_rdzv_list *list);
int64_t ft_rdzv_round_place_in(const struct ft_rdzv_round *r, const struct ft_rdzv_list *list);

/* There is a CONTROLLER, and it is of the round that was joined. */
bool ft_rdzv_round_has_controller(const struct ft_rdzv_round *r);

/* Its MEMBER is there, and bound to the lease that it has. */
bool ft_rdzv_round_is_registered(const struct ft_rdzv_round *r);

/* The effects of the step before are gone. */
void ft_rdzv_round_begin_step(struct ft_rdzv_round *r);

/* Nothing is done any more, and what is bound to the lease goes. */
void ft_rdzv_round_end(struct ft_rdzv_round *r, enum ft_rdzv_round_effect_kind how);

void ft_rdzv_round_stop_leading(struct ft_rdzv_round *r);

#endif
