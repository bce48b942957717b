/* SPDX-License-Identifier: BSD-3-Clause */
/* The job's store in words: what a rank asks of it, and what it is answered; as structs, and as the bytes that go through a rank's box
   (ft/shm/box.h) and over the wire. docs/store.md. */
#ifndef FT_BASE_VALUE_H
#define FT_BASE_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    FT_VALUE_KEY = 1024,             /* bytes of a key, at most */
    FT_VALUE_BYTES = 1 << 20,        /* of a value; of COMPARE's two together */
    FT_VALUE_ASK_HEAD = 40, FT_VALUE_ANSWER_HEAD = 32,
    FT_VALUE_ROOM = FT_VALUE_ASK_HEAD + FT_VALUE_KEY + FT_VALUE_BYTES  /* of an ask; an answer is shorter */
};

enum ft_value_op {
    FT_VALUE_SET = 1,
    FT_VALUE_GET,                    /* what is there now */
    FT_VALUE_WAIT,                   /* the same, once there is something, or the time is up */
    FT_VALUE_ADD,                    /* to a number in decimal digits; nothing is 0 */
    FT_VALUE_COMPARE,                /* SET, if what is there is what was expected */
    FT_VALUE_OPS
};

enum ft_value_status {
    FT_VALUE_DONE,
    FT_VALUE_LATE,                   /* WAIT: the time was up */
    FT_VALUE_NO_NUMBER,              /* ADD: what is there is none, or the sum is too large */
    FT_VALUE_FULL,                   /* the store is */
    FT_VALUE_OTHER,                  /* this rank has made another call with this number */
    FT_VALUE_NO_MEMORY,              /* whoever answers has none */
    FT_VALUE_BAD,                    /* this is no ask */
    FT_VALUE_STATUSES
};

/* A rank's calls are numbered: the version of the checkpoint that they follow, and how many came before since that. So a rank that goes on
   from a checkpoint counts as its predecessor did. */
static inline uint64_t ft_value_number(uint64_t version, uint32_t n) { return version << 32 | n; }
static inline uint64_t ft_value_version(uint64_t number) { return number >> 32; }

struct ft_value_ask {
    uint64_t number;
    enum ft_value_op op;
    const char *key;                 /* nkey bytes, at least one; not ended by a zero */
    uint32_t nkey;
    const void *value;               /* SET, COMPARE */
    uint32_t nvalue;
    bool none_expected;              /* COMPARE: nothing is; else this: */
    const void *expected;
    uint32_t nexpected;
    uint64_t wait_ms;                /* WAIT: so long the rank waits; 0: no longer, it is to be answered now */
    int64_t by;                      /* ADD */
};

struct ft_value_answer {
    uint64_t number;                 /* the ask's */
    enum ft_value_status status;
    bool there;                      /* there is a value now */
    bool swapped;                    /* COMPARE */
    const void *value;               /* what is there now, but after SET */
    uint32_t nvalue;
    int64_t sum;                     /* ADD */
};

/* Bytes that it takes; `to` has so much room. */
size_t ft_value_ask_bytes(const struct ft_value_ask *a);
size_t ft_value_answer_bytes(const struct ft_value_answer *a);
void ft_value_put_ask(const struct ft_value_ask *a, void *to);
void ft_value_put_answer(const struct ft_value_answer *a, void *to);

/* Pointers go into `from`. False: this is none. */
bool ft_value_get_ask(struct ft_value_ask *a, const void *from, size_t len);
bool ft_value_get_answer(struct ft_value_answer *a, const void *from, size_t len);

#endif
