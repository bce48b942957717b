/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/rdzv/doc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FORM "1" /* of all texts; another one is not read */

static const char *const phases[] = {"setup", "joinable", "frozen", "final", "closed"};

const char *ft_rdzv_phase_name(enum ft_rdzv_phase phase) { return phases[phase]; }

/* ---- versions ---- */

enum { MS_BITS = 40 /* of 34 years */ };

uint64_t ft_rdzv_version_number(uint64_t version) { return version >> MS_BITS; }

uint64_t ft_rdzv_version_after(uint64_t version, uint64_t ms)
{
    return ((ft_rdzv_version_number(version) + 1) << MS_BITS) + (~ms & ((1ULL << MS_BITS) - 1));
}

/* ---- names ---- */

static bool is_of(const char *text, size_t most, const char *others)
{
    size_t n = strlen(text);

    if (!n || n > most)
        return false;
    for (size_t i = 0; i < n; i++) {
        char c = text[i];

        if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9') && !strchr(others, c))
            return false;
    }
    return true;
}

bool ft_rdzv_is_name(const char *name) { return is_of(name, FT_RDZV_NAME, "._-"); }

bool ft_rdzv_is_address(const char *address) { return is_of(address, FT_RDZV_ADDRESS, "._-:[]%,=/@+"); }

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* Of two runs of digits: by value, the shorter text first when that is the same. */
static int compare_numbers(const char **a, const char **b)
{
    const char *x = *a, *y = *b;
    size_t nx, ny;
    int order;

    while (*x == '0')
        x++;
    while (*y == '0')
        y++;
    nx = strspn(x, "0123456789");
    ny = strspn(y, "0123456789");
    order = nx != ny ? (nx < ny ? -1 : 1) : memcmp(x, y, nx);
    *a = x + nx;
    *b = y + ny;
    return order;
}

int ft_rdzv_compare(const char *a, const char *b)
{
    const char *x = a, *y = b;

    while (*x && *y) {
        int order = is_digit(*x) && is_digit(*y) ? compare_numbers(&x, &y) : (unsigned char)*x++ - (unsigned char)*y++;

        if (order)
            return order;
    }
    return *x || *y ? (*x ? 1 : -1) : strcmp(a, b);
}

/* ---- words ---- */

/* Parts text at single spaces; false: there are not exactly n words, or one is empty. */
static bool part(char *text, char **words, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        size_t len = strcspn(text, " ");

        words[i] = text;
        if (!len || (text[len] == ' ') != (i + 1 < n))
            return false;
        text[len] = 0;
        text += len + 1;
    }
    return true;
}

static bool number(const char *word, uint64_t most, uint64_t *value)
{
    uint64_t v = 0;

    if (!*word || (*word == '0' && word[1]))
        return false;
    for (; *word; word++) {
        if (!is_digit(*word) || v > (most - (uint64_t)(*word - '0')) / 10)
            return false;
        v = v * 10 + (uint64_t)(*word - '0');
    }
    *value = v;
    return true;
}

static bool number32(const char *word, uint32_t *value)
{
    uint64_t v;

    if (!number(word, UINT32_MAX, &v))
        return false;
    *value = (uint32_t)v;
    return true;
}

static bool id_of(const char *word, uint64_t *id)
{
    if (strlen(word) != 16 || strspn(word, "0123456789abcdef") != 16)
        return false;
    *id = strtoull(word, NULL, 16);
    return true;
}

static bool begins(char *const *words, const char *what)
{
    return strcmp(words[0], what) == 0 && strcmp(words[1], FORM) == 0;
}

/* ---- each kind ---- */

#define ID "%016llx"
#define ULL(x) ((unsigned long long)(x))

const char *ft_rdzv_print_state(char *text, const struct ft_rdzv_state *s)
{
    snprintf(text, FT_RDZV_LINE, "state " FORM " %s %llu %llu %llu %llu " ID " %u %u %u %u %u %u %llu", phases[s->phase], ULL(s->version),
             ULL(s->change), ULL(s->list), ULL(s->term), ULL(s->by), s->min, s->max, s->members, s->come, s->spares, s->code, ULL(s->ended));
    return text;
}

static bool phase_of(const char *word, enum ft_rdzv_phase *phase)
{
    for (int i = FT_RDZV_JOINABLE; i <= FT_RDZV_CLOSED; i++)
        if (strcmp(word, phases[i]) == 0) {
            *phase = i;
            return true;
        }
    return false;
}

bool ft_rdzv_read_state(const char *text, struct ft_rdzv_state *s)
{
    char copy[FT_RDZV_LINE], *w[15];

    if (strlen(text) >= sizeof copy)
        return false;
    strcpy(copy, text);
    return part(copy, w, 15) && begins(w, "state") && phase_of(w[2], &s->phase) && number(w[3], UINT64_MAX, &s->version) &&
           number(w[4], UINT64_MAX, &s->change) && number(w[5], UINT64_MAX, &s->list) && number(w[6], UINT64_MAX, &s->term) &&
           id_of(w[7], &s->by) && number32(w[8], &s->min) && number32(w[9], &s->max) && number32(w[10], &s->members) &&
           number32(w[11], &s->come) && number32(w[12], &s->spares) && number32(w[13], &s->code) &&
           number(w[14], UINT64_MAX, &s->ended) && s->members <= FT_RDZV_MEMBERS;
}

const char *ft_rdzv_print_member(char *text, const struct ft_rdzv_member *m)
{
    snprintf(text, FT_RDZV_LINE, "member " FORM " %s %s %u " ID " %llu " ID, m->name, m->address, m->slots, ULL(m->id), ULL(m->confirmed),
             ULL(m->lease));
    return text;
}

bool ft_rdzv_read_member(char *text, struct ft_rdzv_member *m)
{
    char *w[8];

    *m = (struct ft_rdzv_member){0};
    if (!part(text, w, 8) || !begins(w, "member") || !ft_rdzv_is_name(w[2]) || !ft_rdzv_is_address(w[3]))
        return false;
    m->name = w[2];
    m->address = w[3];
    return number32(w[4], &m->slots) && id_of(w[5], &m->id) && number(w[6], UINT64_MAX, &m->confirmed) && id_of(w[7], &m->lease);
}

const char *ft_rdzv_print_leader(char *text, const struct ft_rdzv_member *m)
{
    snprintf(text, FT_RDZV_LINE, "leader " FORM " %s " ID " " ID, m->name, ULL(m->id), ULL(m->lease));
    return text;
}

bool ft_rdzv_read_leader(char *text, struct ft_rdzv_member *m)
{
    char *w[5];

    *m = (struct ft_rdzv_member){0};
    if (!part(text, w, 5) || !begins(w, "leader") || !ft_rdzv_is_name(w[2]))
        return false;
    m->name = w[2];
    return id_of(w[3], &m->id) && id_of(w[4], &m->lease);
}

const char *ft_rdzv_print_controller(char *text, uint64_t term, uint64_t version, const char *address)
{
    snprintf(text, FT_RDZV_LINE, "controller " FORM " %llu %llu %s", ULL(term), ULL(version), address);
    return text;
}

bool ft_rdzv_read_controller(char *text, uint64_t *term, uint64_t *version, const char **address)
{
    char *w[5];

    if (!part(text, w, 5) || !begins(w, "controller") || !ft_rdzv_is_address(w[4]))
        return false;
    *address = w[4];
    return number(w[2], UINT64_MAX, term) && number(w[3], UINT64_MAX, version);
}

/* ---- the list ---- */

static size_t print_place(char *to, size_t room, const struct ft_rdzv_member *m)
{
    return (size_t)snprintf(to, room, "%s %s %u " ID "%s\n", m->name, m->address, m->slots, ULL(m->id), m->lost ? " lost" : "");
}

char *ft_rdzv_print_list(uint64_t version, uint64_t stamp, const struct ft_rdzv_member *members, uint32_t n)
{
    size_t room = 128, at;
    char *text;

    for (uint32_t i = 0; i < n; i++)
        room += print_place(NULL, 0, &members[i]);
    text = malloc(room);
    if (!text)
        return NULL;
    at = (size_t)snprintf(text, room, "list " FORM " %llu %llu %u\n", ULL(version), ULL(stamp), n);
    for (uint32_t i = 0; i < n; i++)
        at += print_place(text + at, room - at, &members[i]);
    return text;
}

/* Cuts the line at *at off, and goes behind it. */
static char *cut_line(char **at)
{
    char *line = *at, *end = strchr(line, '\n');

    if (!end)
        return NULL;
    *end = 0;
    *at = end + 1;
    return line;
}

static bool read_place(char *line, struct ft_rdzv_member *m)
{
    char *w[5];
    size_t len = strlen(line);

    m->lost = len > 5 && strcmp(line + len - 5, " lost") == 0;
    if (m->lost)
        line[len - 5] = 0;
    if (!part(line, w, 4) || !ft_rdzv_is_name(w[0]) || !ft_rdzv_is_address(w[1]))
        return false;
    m->name = w[0];
    m->address = w[1];
    return number32(w[2], &m->slots) && id_of(w[3], &m->id);
}

static bool read_places(struct ft_rdzv_list *list, char *at)
{
    for (uint32_t i = 0; i < list->n; i++) {
        char *line = cut_line(&at);

        if (!line || !read_place(line, &list->members[i]))
            return false;
    }
    return *at == 0;
}

struct ft_rdzv_list *ft_rdzv_read_list(const char *text)
{
    char *copy = strdup(text), *at = copy, *line = copy ? cut_line(&at) : NULL, *w[5];
    struct ft_rdzv_list *list = NULL;
    uint64_t version, stamp;
    uint32_t n;

    if (line && part(line, w, 5) && begins(w, "list") && number(w[2], UINT64_MAX, &version) && number(w[3], UINT64_MAX, &stamp) &&
        number32(w[4], &n) && n <= FT_RDZV_MEMBERS)
        list = calloc(1, sizeof *list + n * sizeof list->members[0]);
    if (!list) {
        free(copy);
        return NULL;
    }
    *list = (struct ft_rdzv_list){.refs = 1, .n = n, .version = version, .stamp = stamp, .text = copy};
    if (read_places(list, at))
        return list;
    ft_rdzv_list_drop(list);
    return NULL;
}

struct ft_rdzv_list *ft_rdzv_list_keep(struct ft_rdzv_list *list)
{
    if (list)
        list->refs++;
    return list;
}

void ft_rdzv_list_drop(struct ft_rdzv_list *list)
{
    if (!list || --list->refs)
        return;
    free(list->text);
    free(list);
}

int64_t ft_rdzv_list_find(const struct ft_rdzv_list *list, const char *name, uint64_t id)
{
    for (uint32_t i = 0; i < list->n; i++)
        if (list->members[i].id == id && !list->members[i].lost && strcmp(list->members[i].name, name) == 0)
            return i;
    return -1;
}
