/* SPDX-License-Identifier: BSD-3-Clause */
/* What stands in the store, as text of one line each (the list: one for each member). Pure. Nothing that is read is believed: names, addresses
   and numbers are checked, and what does not fit is no document.

     STATE       small, so that all can watch it: the phase of the round, and numbers
     LIST        who is in it, by place; read by each member when STATE says that it has changed
     LEADER      who writes STATE and LIST. Its term is the revision at which the store took this entry
     CONTROLLER  where the leader can be reached, its term, and the round's version
     MEMBER      one for each, by name: that it is there, and which round it has confirmed */
#ifndef LAUNCHER_RDZV_DOC_H
#define LAUNCHER_RDZV_DOC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    FT_RDZV_NAME = 254,        /* bytes of a host's name, at most */
    FT_RDZV_ADDRESS = 512,     /* bytes of what a member says of how to reach it, at most */
    FT_RDZV_LINE = 1024,       /* bytes of any text but a LIST's, at most, its end included */
    FT_RDZV_MEMBERS = 16384    /* at most */
};

enum ft_rdzv_phase {
    FT_RDZV_SETUP,             /* there is no STATE yet */
    FT_RDZV_JOINABLE,          /* who comes is in */
    FT_RDZV_FROZEN,            /* the LIST is made; each of its members confirms it */
    FT_RDZV_FINAL,             /* all have; who comes is a spare */
    FT_RDZV_CLOSED             /* for ever */
};

const char *ft_rdzv_phase_name(enum ft_rdzv_phase phase);

struct ft_rdzv_state {
    enum ft_rdzv_phase phase;
    uint64_t version;          /* of the round (below) */
    uint64_t change;           /* goes up with each STATE that is written */
    uint64_t list;             /* the stamp of the LIST: of no other list, so that it is known to be the one that was read */
    uint64_t term;             /* of the leader that wrote it; 0: closed by a member */
    uint64_t by;               /* the id of who wrote it */
    uint32_t min, max;
    uint32_t members;          /* in the LIST */
    uint32_t come;             /* members that are there */
    uint32_t spares;           /* FINAL: of those, in no place */
    uint32_t code;             /* CLOSED: the job's exit code */
    uint64_t ended;            /* CLOSED: when, in ms since 1970 */
};

struct ft_rdzv_member {
    const char *name, *address;
    uint32_t slots;
    uint64_t id;               /* of the process: another one under this name has another one */
    uint64_t confirmed;        /* MEMBER: the version of the round */
    uint64_t lease;            /* MEMBER, LEADER */
    bool lost;                 /* LIST: nobody has this place at present; who had it last is named */
};

/* Immutable, and shared: whoever keeps one counts it. */
struct ft_rdzv_list {
    uint32_t refs, n;
    uint64_t version, stamp;
    char *text;
    struct ft_rdzv_member members[];
};

/* A version is the round's number, 1, 2, ..., and when it began, so that of two with one number the older one is the higher version. There are two
   when a store has lost its memory, and hosts that knew nothing of the first have begun another one. ms: since 1970. */
uint64_t ft_rdzv_version_after(uint64_t version, uint64_t ms);
uint64_t ft_rdzv_version_number(uint64_t version);

/* A name, or an address, that can stand in a document. */
bool ft_rdzv_is_name(const char *name);
bool ft_rdzv_is_address(const char *address);

/* host2 before host10; never 0 for two names that differ. */
int ft_rdzv_compare(const char *a, const char *b);

/* text has FT_RDZV_LINE bytes; returned. */
const char *ft_rdzv_print_state(char *text, const struct ft_rdzv_state *s);
const char *ft_rdzv_print_member(char *text, const struct ft_rdzv_member *m);
const char *ft_rdzv_print_leader(char *text, const struct ft_rdzv_member *m);
const char *ft_rdzv_print_controller(char *text, uint64_t term, uint64_t version, const char *address);

/* False: it is none. The strings of a member point into text, which is changed. */
bool ft_rdzv_read_state(const char *text, struct ft_rdzv_state *s);
bool ft_rdzv_read_member(char *text, struct ft_rdzv_member *m);
bool ft_rdzv_read_leader(char *text, struct ft_rdzv_member *m);
bool ft_rdzv_read_controller(char *text, uint64_t *term, uint64_t *version, const char **address);

/* The caller's; NULL: no memory. */
char *ft_rdzv_print_list(uint64_t version, uint64_t stamp, const struct ft_rdzv_member *members, uint32_t n);

/* Counted once. NULL: it is none, or no memory. */
struct ft_rdzv_list *ft_rdzv_read_list(const char *text);
struct ft_rdzv_list *ft_rdzv_list_keep(struct ft_rdzv_list *list);
void ft_rdzv_list_drop(struct ft_rdzv_list *list);

/* The place of the process `id` called name that is not lost, or -1. */
int64_t ft_rdzv_list_find(const struct ft_rdzv_list *list, const char *name, uint64_t id);

#endif
