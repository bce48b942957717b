/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/rdzv/roll.h"

#include <stdlib.h>
#include <string.h>

struct entry {
    uint64_t at, made, until;  /* until: doubted; 0: it is not */
    bool there, unseen;
    char *address;
    struct ft_rdzv_member m;
    char name[];
};

struct ft_rdzv_roll {
    struct entry **entries;    /* by name */
    uint32_t n, room, there;
    uint64_t due;              /* no doubt ends before */
    uint64_t begun;            /* between begin and end: the revision */
};

struct ft_rdzv_roll *ft_rdzv_roll_new(void)
{
    struct ft_rdzv_roll *roll = calloc(1, sizeof *roll);

    if (roll)
        roll->due = UINT64_MAX;
    return roll;
}

static void free_entry(struct entry *e)
{
    free(e->address);
    free(e);
}

void ft_rdzv_roll_free(struct ft_rdzv_roll *roll)
{
    if (!roll)
        return;
    for (uint32_t i = 0; i < roll->n; i++)
        free_entry(roll->entries[i]);
    free(roll->entries);
    free(roll);
}

/* Where name is, or would be. */
static uint32_t where(const struct ft_rdzv_roll *roll, const char *name)
{
    uint32_t from = 0, to = roll->n;

    while (from < to) {
        uint32_t mid = (from + to) / 2;

        if (strcmp(roll->entries[mid]->name, name) < 0)
            from = mid + 1;
        else
            to = mid;
    }
    return from;
}

static struct entry *find(const struct ft_rdzv_roll *roll, const char *name)
{
    uint32_t i = where(roll, name);

    return i < roll->n && strcmp(roll->entries[i]->name, name) == 0 ? roll->entries[i] : NULL;
}

static struct entry *insert(struct ft_rdzv_roll *roll, const char *name)
{
    struct entry *e = calloc(1, sizeof *e + strlen(name) + 1);
    uint32_t i = where(roll, name);

    if (e && roll->n == roll->room) {
        uint32_t room = roll->room ? 2 * roll->room : 16;
        struct entry **entries = realloc(roll->entries, room * sizeof *entries);

        if (entries) {
            roll->entries = entries;
            roll->room = room;
        }
    }
    if (!e || roll->n == roll->room) {
        free(e);
        return NULL;
    }
    strcpy(e->name, name);
    memmove(&roll->entries[i + 1], &roll->entries[i], (roll->n - i) * sizeof *roll->entries);
    roll->entries[i] = e;
    roll->n++;
    return e;
}

static void gone(struct ft_rdzv_roll *roll, struct entry *e, uint64_t at)
{
    roll->there -= e->there;
    e->there = false;
    e->until = 0;
    e->at = at;
}

int ft_rdzv_roll_set(struct ft_rdzv_roll *roll, const char *name, uint64_t at, uint64_t made, const struct ft_rdzv_member *m)
{
    struct entry *e = find(roll, name);
    char *address;

    if (e && at <= e->at) {
        e->unseen = false;
        return 0;
    }
    if (!m) {
        if (e)
            gone(roll, e, at);
        return 0;
    }
    address = strdup(m->address);
    if (!e)
        e = address ? insert(roll, name) : NULL;
    if (!e) {
        free(address);
        return -1;
    }
    free(e->address);
    roll->there += !e->there;
    e->there = true;
    e->unseen = false;
    e->until = 0;
    e->at = at;
    e->made = made;
    e->m = *m;
    e->m.name = e->name;
    e->m.address = e->address = address;
    return 0;
}

int ft_rdzv_roll_doubt(struct ft_rdzv_roll *roll, const char *name, uint64_t at, uint64_t until_ms)
{
    struct entry *e = find(roll, name);

    if (!e)
        e = insert(roll, name);
    if (!e)
        return -1;
    e->unseen = false;
    if (at <= e->at)
        return 0;
    e->at = at;
    e->until = e->until ? e->until : until_ms;
    if (e->until < roll->due)
        roll->due = e->until;
    return 0;
}

bool ft_rdzv_roll_is_doubted(const struct ft_rdzv_roll *roll, const char *name)
{
    const struct entry *e = find(roll, name);

    return e && e->until;
}

uint64_t ft_rdzv_roll_expire(struct ft_rdzv_roll *roll, uint64_t now_ms)
{
    if (now_ms < roll->due)
        return roll->due;
    roll->due = UINT64_MAX;
    for (uint32_t i = 0; i < roll->n; i++) {
        struct entry *e = roll->entries[i];

        if (e->until && now_ms >= e->until)
            gone(roll, e, e->at);
        if (e->until && e->until < roll->due)
            roll->due = e->until;
    }
    return roll->due;
}

void ft_rdzv_roll_begin(struct ft_rdzv_roll *roll, uint64_t at)
{
    roll->begun = at;
    for (uint32_t i = 0; i < roll->n; i++)
        roll->entries[i]->unseen = true;
}

/* Those that are gone are forgotten here: so many names can come in the life of a job. */
void ft_rdzv_roll_end(struct ft_rdzv_roll *roll)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < roll->n; i++) {
        struct entry *e = roll->entries[i];

        if (e->unseen && e->at <= roll->begun)
            gone(roll, e, roll->begun);
        if (e->there || e->until)
            roll->entries[n++] = e;
        else
            free_entry(e);
    }
    roll->n = n;
}

uint32_t ft_rdzv_roll_count(const struct ft_rdzv_roll *roll) { return roll->there; }

const struct ft_rdzv_member *ft_rdzv_roll_find(const struct ft_rdzv_roll *roll, const char *name)
{
    const struct entry *e = find(roll, name);

    return e && e->there ? &e->m : NULL;
}

static int by_arrival(const void *a, const void *b)
{
    const struct entry *x = *(struct entry *const *)a, *y = *(struct entry *const *)b;

    return x->made != y->made ? (x->made < y->made ? -1 : 1) : strcmp(x->name, y->name);
}

struct ft_rdzv_member *ft_rdzv_roll_by_arrival(const struct ft_rdzv_roll *roll)
{
    struct entry **there = malloc((roll->n + 1) * sizeof(struct entry *));
    struct ft_rdzv_member *list = malloc((roll->n + 1) * sizeof *list);
    uint32_t n = 0;

    if (!there || !list) {
        free(there);
        free(list);
        return NULL;
    }
    for (uint32_t i = 0; i < roll->n; i++)
        if (roll->entries[i]->there)
            there[n++] = roll->entries[i];
    qsort(there, n, sizeof *there, by_arrival);
    for (uint32_t i = 0; i < n; i++)
        list[i] = there[i]->m;
    free(there);
    return list;
}

uint64_t ft_rdzv_roll_confirmed(const struct ft_rdzv_roll *roll)
{
    uint64_t most = 0;

    for (uint32_t i = 0; i < roll->n; i++)
        if (roll->entries[i]->there && roll->entries[i]->m.confirmed > most)
            most = roll->entries[i]->m.confirmed;
    return most;
}
