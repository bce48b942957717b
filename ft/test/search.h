/* SPDX-License-Identifier: BSD-3-Clause */
/* The search that both explorers make (explore.h, apart.h), each of its own jobs. For each scenario:
   every single crash in eight ways, which are two schedules, successors at once or only when nobody
   else can go on, what was about to be written half written or not at all; then random schedules with
   several kills, by seed. search.c has main, too. */
#ifndef FT_TEST_SEARCH_H
#define FT_TEST_SEARCH_H

#include "ft/test/coroutine.h"

struct scenario;

/* A run of a scenario follows from this alone. */
struct plan {
    uint64_t kill_at;        /* step at which the running actor is killed; UINT64_MAX: none */
    bool torn;               /* ... with half of the bytes it was about to write written, as garbage;
                                on several nodes what it had sent is lost, or (sc.loses) its node */
    bool late;               /* successors and connections come only when nobody else can go on */
    bool switch_always;      /* switch at every point, or only when one cannot go on */
    uint32_t seed;           /* 0: as above; else random choices, */
    uint32_t kills;          /* ... with so many kills at most */
};

/* What comes of it. */
struct run {
    char failure[640];       /* empty: none */
    uint64_t steps;          /* points passed */
    uint64_t seen[32];       /* by the explorer's enum seen: so often, in all runs of the scenario */
};

extern struct run run;

void failed(const char *format, ...) __attribute__((format(printf, 1, 2)));  /* the first one counts */
void count_step(void);                           /* one more point; too many are a failure */
void went_on(const struct ft_point *to, uint32_t who);  /* the run's course; NULL: between points */
void killed_at(const struct ft_point *p);        /* somebody was; NULL: between points */

/* quick: a sample. normal, what make check runs: all single crashes of most scenarios. full: all. */
enum tier { QUICK, NORMAL, FULL, NTIERS };

/* Single crashes of a scenario: in all ways, in some, none (every one would take too long); or
   nothing of it at all. */
enum singles { ALL, SAMPLE, CHANCE, NOTHING };

struct search {
    const struct scenario *sc;
    enum singles singles[NTIERS];
    uint32_t times;          /* so many times the seeds */
    uint32_t sees;           /* a bit for each enum seen: the search has failed if that has not happened */
};

#define SCENARIO(...) &(const struct scenario){ __VA_ARGS__ }
#define SEES(what) (1u << (what))

bool search(const struct search *s, size_t n, enum tier tier);  /* all of these. False: something was found */

/* ---- what an explorer has for it ---- */

struct explorer {
    const char *name;
    uint32_t sample;         /* of the eight ways: a bit each */
    uint32_t seeds[NTIERS];  /* unless they are given */
    const char *const *seen_text;
};

extern const struct explorer explorer;

void make_job(const struct scenario *sc);        /* memory for it; from now on it is explored */
void drop_job(void);
bool attempt(const struct plan *p);              /* one run, and what must be true after it */
bool search_all(enum tier tier);
void print_only(void);                           /* what is explored: for --only, */
void print_failed(void);                         /* ... in the first line of a failure, */
void print_searched(void);                       /* ... in the line of its search */
bool find_scenario(const char *only, struct search *s);  /* s->sc, and more. False: there is none such */

#endif
