/* SPDX-License-Identifier: BSD-3-Clause */
/* What a round is told, and what it wants done (round.h). */
#ifndef LAUNCHER_RDZV_ROUND_EVENTS_H
#define LAUNCHER_RDZV_ROUND_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "launcher/rdzv/doc.h"

struct ft_rdzv_round_config {
    const char *name, *address;    /* borrowed */
    uint32_t slots;
    uint64_t id;                   /* drawn by each process; not 0 */
    uint32_t min, max;
    bool follows;                  /* it never leads: it has nothing to lead with */
    uint64_t yields_ms;            /* so long it leaves leading a new round to others */
    uint64_t since_1970_ms;        /* at the now_ms with which it begins */
    uint64_t lease_ms, timeout_ms, last_call_ms;
};

enum ft_rdzv_round_key { FT_RK_STATE, FT_RK_LIST, FT_RK_LEADER, FT_RK_CONTROLLER, FT_RK_MEMBER };

enum ft_rdzv_round_event_kind {
    FT_RV_TIME,                /* nothing but its time */
    FT_RV_ENTRY,               /* key, name, at, made, lease, text: it is so since revision `at`, and there since `made`. text NULL: it is a stranger's,
                                  who is alive if there is a lease */
    FT_RV_GONE,                /* key, name, at: it is not there at revision `at` */
    FT_RV_SYNCED,              /* STATE, LEADER and CONTROLLER have been looked at */
    FT_RV_MEMBERS,             /* at: all MEMBERs follow, as they are at that revision */
    FT_RV_MEMBERS_END,         /* they have; from now on changes follow */
    FT_RV_LIST,                /* what was read for FT_RE_READ; NULL: there is none that is good. The machine keeps it for itself */
    FT_RV_LEASED,              /* lease */
    FT_RV_KEPT,                /* lease: has been renewed */
    FT_RV_UNLEASED,            /* lease: there is none such any more */
    FT_RV_WRITTEN,             /* token: the write has come to an end, and what is there now was told by events before this one */
    FT_RV_NEW_STORE,           /* the store has lost its memory: revisions and leases begin anew */
    FT_RV_PUBLISH,             /* text: where the leader can be reached, should this one be it; borrowed */
    FT_RV_RENEW,               /* of the leader, when it is final: a new round, with all who are there */
    FT_RV_CLOSE,               /* code: the job's exit code */
    FT_RV_LEAVE
};

struct ft_rdzv_round_event {
    enum ft_rdzv_round_event_kind kind;
    uint64_t now_ms;           /* never goes back */
    enum ft_rdzv_round_key key;
    const char *name, *text;
    uint64_t at, made, lease, token;
    uint32_t code;
    enum ft_rdzv_phase claimed;    /* ENTRY, STATE, of a stranger's: what it would say if it were the job's; SETUP: nothing */
    struct ft_rdzv_list *list;
};

enum ft_rdzv_round_effect_kind {
    FT_RE_LEASE,               /* a lease of lease_ms is wanted: LEASED comes */
    FT_RE_KEEP,                /* lease: renewed: KEPT or UNLEASED comes */
    FT_RE_REVOKE,              /* lease: given back, with what is bound to it */
    FT_RE_FOLLOW,              /* MEMBERS are wanted, and their changes */
    FT_RE_UNFOLLOW,            /* no longer */
    FT_RE_WRITE,               /* puts, if all compares hold; WRITTEN comes */
    FT_RE_READ,                /* the LIST: FT_RV_LIST comes */
    FT_RE_LED,                 /* term: this one is the leader; 0: it is not any more */
    FT_RE_CONTROLLER,          /* term, text: where the leader can be reached */
    FT_RE_JOINED,              /* state, list, place; -1: a spare */
    FT_RE_CHANGED,             /* likewise, later: a place was lost or taken, perhaps its own, or there are more or fewer spares */
    FT_RE_VOID,                /* the round that was joined is over, a new one begins: JOINED comes again */
    FT_RE_CLOSED,              /* state: with the code; over */
    FT_RE_FAILED,              /* why; over */
    FT_RE_LEFT,                /* over */
    FT_RE_STRANGER,            /* key, name: an entry that is not the job's */
    FT_RE_OTHERS               /* state: its min and max hold, which are not this one's */
};

enum ft_rdzv_round_why {
    FT_RW_TOO_FEW,             /* state.come of min, so far as is known */
    FT_RW_NAME,                /* another process has the name */
    FT_RW_SECRET,              /* there is such a job, of other processes that live, with another secret */
    FT_RW_STORE,               /* nothing was ever read from the store, or it does not answer */
    FT_RW_MEMORY
};

struct ft_rdzv_round_compare {
    enum ft_rdzv_round_key key;
    const char *name;
    uint64_t at;               /* its revision; 0: there is none */
};

struct ft_rdzv_round_put {
    enum ft_rdzv_round_key key;
    const char *name;
    const char *text;          /* NULL: deleted */
    uint64_t lease;            /* 0: none */
};

enum { FT_RDZV_ROUND_COMPARES = 2, FT_RDZV_ROUND_PUTS = 2 };

struct ft_rdzv_round_effect {
    enum ft_rdzv_round_effect_kind kind;
    uint64_t lease, term, token;
    uint32_t ncompares, nputs;
    struct ft_rdzv_round_compare compares[FT_RDZV_ROUND_COMPARES];
    struct ft_rdzv_round_put puts[FT_RDZV_ROUND_PUTS];
    uint64_t forget;           /* WRITE: what was stored for rounds up to this version is deleted with it; 0: nothing */
    enum ft_rdzv_round_key key;
    const char *name, *text;
    enum ft_rdzv_round_why why;
    struct ft_rdzv_state state;
    struct ft_rdzv_list *list; /* not counted */
    int64_t place;
};

/* In the order in which they are to be done. Valid until the next step. */
struct ft_rdzv_round_effects {
    uint32_t n;
    const struct ft_rdzv_round_effect *e;
};

#endif
