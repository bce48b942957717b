/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/wire/description.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/base/bytes.h"
#include "launcher/options/readers.h"
#include "launcher/options/settings.h"

/* ---- writing: NULL, which jansson passes through, means no memory ---- */

static json_t *numbers(const uint32_t *list, uint32_t n)
{
    json_t *array = json_array();

    for (uint32_t i = 0; array && i < n; i++) {
        if (json_array_append_new(array, json_integer(list[i])) < 0) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

static json_t *hex(const unsigned char *data, size_t n)
{
    char text[2 * FT_JOB_SECRET_BYTES + 1];

    for (size_t i = 0; i < n; i++)
        snprintf(text + 2 * i, 3, "%02x", data[i]);
    return json_string(text);
}

/* "NAME" goes along with its value here, and not at all without one. */
static json_t *exports(const struct ft_context *c)
{
    json_t *array = json_array();

    for (size_t i = 0; array && i < c->nexports; i++) {
        const char *text = c->exports[i], *value = strchr(text, '=') ? "" : getenv(text);
        char *whole;
        int err;

        if (!value)
            continue;
        if (asprintf(&whole, "%s%s%s", text, strchr(text, '=') ? "" : "=", value) < 0)
            whole = NULL;
        err = whole ? json_array_append_new(array, ft_bytes_json(whole)) : -1;
        free(whole);
        if (err < 0) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

/* How many of the ranks of a context are on the node. */
static uint32_t ranks_here(const struct ft_description *d, const struct ft_context *c)
{
    uint32_t n = 0;

    for (uint32_t place = d->first[d->node]; place < d->first[d->node + 1]; place++)
        n += d->rank_at[place] >= c->first && d->rank_at[place] < c->first + c->nranks;
    return n;
}

static json_t *contexts(const struct ft_options *o, const struct ft_description *d)
{
    json_t *array = json_array();

    for (const struct ft_context *c = o->contexts; array && c < o->contexts + o->ncontexts; c++) {
        uint32_t n = ranks_here(d, c);
        json_t *j;

        if (!n)
            continue;
        j = json_pack("{si si so so sb so*}", "number", (int)c->number, "ranks", (int)n, "argv", ft_bytes_json_list(c->argv), "exports",
                      exports(c), "bare", c->bare, "wdir", c->wdir ? ft_bytes_json(c->wdir) : NULL);
        if (json_array_append_new(array, j) < 0) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

/* Those that mean something on a node. The others are the controller's. */
static bool is_of_nodes(const char *name)
{
    static const char *const own[] = {"stdin",  "tag-output", "timestamp-output", "output-filename", "report",      "timeline", "events",
                                      "timeout", "launcher",  "launch-arg", "launch-tree", "spares",          "wait-for-host", "prefix",
                                      "start-timeout", "ckpt-dir", "ckpt-every", "resume", "rdzv", "nodes", "rdzv-secret-file"};

    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        if (!strcmp(name, own[i]))
            return false;
    return true;
}

static json_t *settings(const struct ft_options *o)
{
    json_t *object = json_object();
    const struct ft_setting *s;
    char name[64];

    for (size_t i = 0; object && (s = ft_settings_at(i)); i++) {
        struct ft_origin origin;

        if (!ft_settings_is_setting(s) || !is_of_nodes(ft_settings_name(s, name, sizeof name)))
            continue;
        origin = ft_settings_origin(o, s);
        if (strcmp(origin.source, "default") && json_object_set_new(object, name, ft_bytes_json(origin.value)) < 0) {
            json_decref(object);
            return NULL;
        }
    }
    if (object) /* however often it was said */
        json_object_set_new(object, "verbose", json_sprintf("%d", o->verbose));
    return object;
}

static int local_stdin(const struct ft_options *o, const struct ft_description *d)
{
    for (uint32_t place = d->first[d->node]; !d->no_input && place < d->first[d->node + 1]; place++)
        if (o->stdin_rank == (int64_t)d->rank_at[place])
            return (int)(place - d->first[d->node]);
    return -1;
}

char *ft_description_write(const struct ft_options *o, const struct ft_description *d)
{
    json_t *j = json_pack("{ss ss si si si si si so so so so so si so so so so so so si sb sb}", "ftmpi", PACKAGE_VERSION, "job", o->job_id, "node",
                          (int)d->node, "nodes", (int)d->nnodes, "world", (int)d->world, "incarnation", (int)d->incarnation, "epoch",
                          (int)d->epoch, "first", numbers(d->first, d->nnodes + 1), "rank_at", numbers(d->rank_at, d->world),
                          "incarnations", numbers(d->incarnations, ft_description_count(d, d->node)), "secret",
                          hex(d->secret, sizeof d->secret), "controllers", ft_bytes_json_list(d->controllers), "port", (int)d->port, "host",
                          ft_bytes_json(d->host), "master", ft_bytes_json(d->master), "cwd", ft_bytes_json(d->cwd), "env", ft_bytes_json_list(d->env), "contexts", contexts(o, d), "settings", settings(o),
                          "stdin", local_stdin(o, d), "report", o->report != NULL, "timeline", o->timeline != NULL);
    char *text = j ? json_dumps(j, JSON_COMPACT) : NULL;

    json_decref(j);
    return text;
}

/* ---- reading: NULL and -1 mean that something is not as it has to be ---- */

static uint32_t *to_numbers(const json_t *j, uint32_t n, uint32_t most)
{
    uint32_t *list = json_array_size(j) == n ? calloc((size_t)n + 1, sizeof *list) : NULL;

    for (uint32_t i = 0; list && i < n; i++) {
        const json_t *v = json_array_get(j, i);

        if (!json_is_integer(v) || json_integer_value(v) < 0 || json_integer_value(v) > most) {
            free(list);
            return NULL;
        }
        list[i] = (uint32_t)json_integer_value(v);
    }
    return list;
}

static bool to_number(const json_t *object, const char *name, uint32_t least, uint32_t most, uint32_t *value)
{
    const json_t *j = json_object_get(object, name);

    if (!json_is_integer(j) || json_integer_value(j) < least || json_integer_value(j) > most)
        return false;
    *value = (uint32_t)json_integer_value(j);
    return true;
}

static bool from_hex(const json_t *j, unsigned char *data, size_t n)
{
    const char *text = json_string_value(j);
    unsigned byte;

    if (!text || strlen(text) != 2 * n || strspn(text, "0123456789abcdef") != 2 * n)
        return false;
    for (size_t i = 0; i < n; i++) {
        if (sscanf(text + 2 * i, "%2x", &byte) != 1)
            return false;
        data[i] = (unsigned char)byte;
    }
    return true;
}

/* Every node has a rank, every rank a place, and those of a node ascend. */
static bool is_map(const struct ft_description *d)
{
    bool *seen = calloc(d->world, sizeof *seen), good = seen && d->first[0] == 0 && d->first[d->nnodes] == d->world;

    for (uint32_t node = 0; good && node < d->nnodes; node++) {
        good = d->first[node] < d->first[node + 1] && d->first[node + 1] <= d->world;
        for (uint32_t place = d->first[node]; good && place < d->first[node + 1]; place++) {
            good = !seen[d->rank_at[place]] && (place == d->first[node] || d->rank_at[place - 1] < d->rank_at[place]);
            seen[d->rank_at[place]] = true;
        }
    }
    free(seen);
    return good;
}

static int read_place(struct ft_description *d, const json_t *j)
{
    uint32_t port;

    if (!to_number(j, "nodes", 1, FT_NODES_MAX, &d->nnodes) || !to_number(j, "node", 0, d->nnodes - 1, &d->node) ||
        !to_number(j, "world", d->nnodes, FT_WORLD_MAX, &d->world) || !to_number(j, "incarnation", 0, INT32_MAX, &d->incarnation) ||
        !to_number(j, "epoch", 0, INT32_MAX, &d->epoch) || !to_number(j, "port", 1, UINT16_MAX, &port) ||
        !from_hex(json_object_get(j, "secret"), d->secret, sizeof d->secret))
        return -1;
    d->port = (uint16_t)port;
    d->report = json_is_true(json_object_get(j, "report"));
    d->timeline = json_is_true(json_object_get(j, "timeline"));
    d->first = to_numbers(json_object_get(j, "first"), d->nnodes + 1, d->world);
    d->rank_at = to_numbers(json_object_get(j, "rank_at"), d->world, d->world - 1);
    if (!d->first || !d->rank_at || !is_map(d))
        return -1;
    d->incarnations = to_numbers(json_object_get(j, "incarnations"), ft_description_count(d, d->node), INT32_MAX);
    d->controllers = ft_bytes_read_list(json_object_get(j, "controllers"));
    d->host = ft_bytes_read(json_object_get(j, "host"));
    d->master = ft_bytes_read(json_object_get(j, "master"));
    d->cwd = ft_bytes_read(json_object_get(j, "cwd"));
    d->env = ft_bytes_read_list(json_object_get(j, "env"));
    return d->incarnations && d->controllers && d->host && d->master && d->cwd && d->env ? 0 : -1;
}

/* A list of words that lives as long as o. */
static char **keep_words(struct ft_options *o, const json_t *j)
{
    char **list = ft_bytes_read_list(j);

    for (char **w = list; w && *w; w++) {
        char *kept = ft_options_keep(o, "%s", *w);

        free(*w);
        *w = kept; /* NULL: what follows is lost, and the process ends for want of memory */
    }
    return ft_options_own(o, list);
}

static int read_context(struct ft_options *o, const json_t *j, struct ft_error *e)
{
    struct ft_context *c;
    char **list, *wdir = NULL;

    if (ft_options_add_context(o, e) < 0)
        return -1;
    c = &o->contexts[o->ncontexts - 1];
    c->first = o->nranks;
    c->counted = true;
    c->bare = json_is_true(json_object_get(j, "bare"));
    if (!to_number(j, "number", 0, FT_RANKS_MAX, &c->number) || !to_number(j, "ranks", 1, FT_RANKS_MAX, &c->nranks) ||
        !(c->argv = keep_words(o, json_object_get(j, "argv"))) || !c->argv[0] ||
        !(list = keep_words(o, json_object_get(j, "exports"))))
        return -1;
    for (; *list; list++)
        if (ft_options_add(&c->exports, &c->nexports, *list, e) < 0)
            return -1;
    if (json_object_get(j, "wdir") && !(wdir = ft_options_own(o, ft_bytes_read(json_object_get(j, "wdir")))))
        return -1;
    c->wdir = wdir;
    o->nranks += c->nranks;
    return 0;
}

static int read_settings(struct ft_options *o, json_t *object, struct ft_error *e)
{
    const char *name;
    json_t *j;

    json_object_foreach(object, name, j) {
        const struct ft_setting *s = ft_settings_find_name(name, strlen(name));
        struct ft_word word = {.who = ft_options_keep(o, "%s", name), .value = ft_options_own(o, ft_bytes_read(j))};

        if (!s || !word.who || !word.value || ft_settings_read(o, s, &word, "the job's description", e) < 0)
            return -1;
    }
    return 0;
}

static int read_job(struct ft_options *o, const struct ft_description *d, const json_t *j, struct ft_error *e)
{
    const json_t *list = json_object_get(j, "contexts"), *in = json_object_get(j, "stdin");
    const char *id = json_string_value(json_object_get(j, "job"));

    if (!id || strlen(id) >= sizeof o->job_id || !*id)
        return -1;
    strcpy(o->job_id, id);
    for (size_t i = 0; i < json_array_size(list); i++)
        if (read_context(o, json_array_get(list, i), e) < 0)
            return -1;
    if (o->nranks != ft_description_count(d, d->node) || read_settings(o, json_object_get(j, "settings"), e) < 0)
        return -1;
    if (!json_is_integer(in) || json_integer_value(in) < -1 || json_integer_value(in) >= (json_int_t)o->nranks)
        return -1;
    o->stdin_rank = json_integer_value(in);
    o->node = d;
    return 0;
}

int ft_description_read(struct ft_description *d, struct ft_options *o, const char *text, size_t len, struct ft_error *e)
{
    json_error_t where;
    json_t *j = json_loadb(text, len, 0, &where);
    const char *version = json_string_value(json_object_get(j, "ftmpi"));
    int err = 0;

    *d = (struct ft_description){0};
    e->text[0] = 0;
    ft_options_defaults(o);
    if (!version)
        err = ft_err_set(e, FT_EINVAL, "this is not the description of a job; --node is for ftrun itself, which starts its nodes with it");
    else if (strcmp(version, PACKAGE_VERSION))
        err = ft_err_set(e, FT_EINVAL, "ftmpi here is version " PACKAGE_VERSION ", that of the job is %.40s", version);
    else if ((read_place(d, j) < 0 || read_job(o, d, j, e) < 0) && !e->text[0])
        err = ft_err_set(e, FT_EINVAL, "the description of the job is damaged");
    else if (e->text[0])
        err = FT_EINVAL;
    json_decref(j);
    return err;
}

char *ft_description_with_secret(const char *text, const unsigned char secret[FT_JOB_SECRET_BYTES])
{
    json_error_t where;
    json_t *j = json_loads(text, 0, &where);
    char *line = json_object_get(j, "secret") && json_object_set_new(j, "secret", hex(secret, FT_JOB_SECRET_BYTES)) == 0
                     ? json_dumps(j, JSON_COMPACT) : NULL;

    json_decref(j);
    return line;
}

void ft_description_free(struct ft_description *d)
{
    free(d->first);
    free(d->rank_at);
    free(d->incarnations);
    ft_bytes_free_list(d->controllers);
    free(d->host);
    free(d->master);
    free(d->cwd);
    ft_bytes_free_list(d->env);
    *d = (struct ft_description){0};
}
