/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/wire/shares.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/base/bytes.h"
#include "launcher/options/options.h"
#include "launcher/wire/wire.h"

static const char *const names[FT_SHARE_KINDS] = {"begin", "start", "all", "up", "end", "ready", "ended", "line",
                                                  "come", "leave", "welcome", "over"};

char *ft_share_write(const struct ft_share_word *w)
{
    json_t *j = json_pack("{ss si}", "starter", names[w->kind], "node", (int)w->node);
    char *text, *line;
    size_t len;
    int bad = !j;

    if (j && w->kind == FT_SHARE_BEGIN)
        bad |= json_object_set_new(j, "ftmpi", json_string(PACKAGE_VERSION)) < 0 || json_object_set_new(j, "path", ft_bytes_json(w->path)) < 0 ||
               json_object_set_new(j, "args", ft_bytes_json_list(w->args)) < 0 || json_object_set_new(j, "nodes", json_integer(w->nnodes)) < 0 ||
               json_object_set_new(j, "width", json_integer(w->width)) < 0 || json_object_set_new(j, "start", json_integer(w->start_ms)) < 0 ||
               (w->launcher && json_object_set_new(j, "launcher", ft_bytes_json(w->launcher)) < 0);
    if (j && w->kind == FT_SHARE_COME)
        bad |= json_object_set_new(j, "ftmpi", json_string(PACKAGE_VERSION)) < 0 || json_object_set_new(j, "slots", json_integer(w->slots)) < 0;
    if (j && w->id)
        bad |= json_object_set_new(j, "id", json_integer((json_int_t)w->id)) < 0;
    if (j && w->kind == FT_SHARE_WELCOME)
        bad |= json_object_set_new(j, "lease", json_integer(w->lease_ms)) < 0;
    if (j && (w->kind == FT_SHARE_ENDED || w->kind == FT_SHARE_OVER))
        bad |= json_object_set_new(j, "status", json_integer(w->status)) < 0;
    if (j && w->text)
        bad |= json_object_set_new(j, "text", ft_bytes_json(w->text)) < 0;
    text = bad ? NULL : json_dumps(j, JSON_COMPACT);
    json_decref(j);
    if (!text)
        return NULL;
    len = strlen(text);
    line = realloc(text, len + 2);
    if (line)
        strcpy(line + len, "\n");
    else
        free(text);
    return line;
}

static uint32_t number(const json_t *j, const char *name)
{
    json_int_t n = json_integer_value(json_object_get(j, name));

    return n < 0 || n > UINT32_MAX ? UINT32_MAX : (uint32_t)n;
}

static int read_version(const json_t *j, struct ft_error *e)
{
    const char *version = json_string_value(json_object_get(j, "ftmpi"));

    if (version && !strcmp(version, PACKAGE_VERSION))
        return 0;
    return ft_err_set(e, FT_EINVAL, "ftmpi here is version " PACKAGE_VERSION ", that of the job is %.40s", version ? version : "unknown");
}

static int read_come(struct ft_share_word *w, const json_t *j, struct ft_error *e)
{
    w->slots = number(j, "slots");
    if (!w->text || !*w->text || strlen(w->text) >= FT_WIRE_NAME || !w->slots || w->slots > FT_RANKS_MAX || !w->id)
        return ft_err_set(e, FT_EINVAL, "what a host says that comes is damaged");
    return read_version(j, e);
}

static int read_begin(struct ft_share_word *w, const json_t *j, struct ft_error *e)
{
    if (read_version(j, e) < 0)
        return FT_EINVAL;
    w->launcher = ft_bytes_read(json_object_get(j, "launcher"));
    w->path = ft_bytes_read(json_object_get(j, "path"));
    w->args = ft_bytes_read_list(json_object_get(j, "args"));
    w->nnodes = number(j, "nodes");
    w->width = number(j, "width");
    w->start_ms = number(j, "start");
    if (!w->path || !w->args || !w->nnodes || w->nnodes > FT_NODES_MAX || w->node >= w->nnodes || w->width < FT_TREE_MIN || w->width > FT_NODES_MAX)
        return ft_err_set(e, FT_EINVAL, "what a starter was told is damaged");
    return 0;
}

int ft_share_read(struct ft_share_word *w, const char *line, size_t len, struct ft_error *e)
{
    json_error_t where;
    json_t *j = len && *line == '{' ? json_loadb(line, len, 0, &where) : NULL;
    const char *name = json_string_value(json_object_get(j, "starter"));
    int err = 0;

    *w = (struct ft_share_word){.kind = FT_SHARE_KINDS};
    for (int k = 0; name && k < FT_SHARE_KINDS; k++)
        if (!strcmp(name, names[k]))
            w->kind = (enum ft_share_kind)k;
    w->node = number(j, "node");
    w->status = (int)json_integer_value(json_object_get(j, "status"));
    w->text = ft_bytes_read(json_object_get(j, "text"));
    w->id = (uint64_t)json_integer_value(json_object_get(j, "id"));
    if (w->kind == FT_SHARE_KINDS)
        err = ft_err_set(e, FT_EINVAL, "a starter is not told such things");
    else if (w->kind == FT_SHARE_BEGIN)
        err = read_begin(w, j, e);
    else if (w->kind == FT_SHARE_COME)
        err = read_come(w, j, e);
    else if (w->kind == FT_SHARE_WELCOME && !(w->lease_ms = number(j, "lease")))
        err = ft_err_set(e, FT_EINVAL, "what a starter was told is damaged");
    else if ((w->kind == FT_SHARE_START || w->kind == FT_SHARE_ENDED || w->kind == FT_SHARE_LINE) && !w->text)
        err = ft_err_set(e, FT_EINVAL, "what a starter says is damaged");
    json_decref(j);
    return err;
}

void ft_share_free(struct ft_share_word *w)
{
    free(w->text);
    free(w->launcher);
    free(w->path);
    ft_bytes_free_list(w->args);
    *w = (struct ft_share_word){0};
}
