/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/tracker/protocol.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int32_t magic = 0xff99;
_Static_assert(sizeof magic == FT_WORKER_MAGIC_BYTES, "an int32");

/* ---- reading ---- */

struct input {
    const char *at, *end;
    const char *why;        /* it is none; NULL: so far it is one */
    bool wants_more;
};

static int32_t read_number(struct input *in)
{
    int32_t n = 0;

    if (in->end - in->at < (ptrdiff_t)sizeof n) {
        in->wants_more = true;
        return 0;
    }
    memcpy(&n, in->at, sizeof n);
    in->at += sizeof n;
    return n;
}

/* NULL: it is not there (yet). */
static json_t *read_object(struct input *in)
{
    int32_t len = in->wants_more || in->why ? 0 : read_number(in);
    json_t *object;

    if (in->wants_more || in->why)
        return NULL;
    if (len <= 0 || len > FT_WORKER_TEXT_MOST) {
        in->why = "the length of what it says cannot be";
        return NULL;
    }
    if (in->end - in->at < len) {
        in->wants_more = true;
        return NULL;
    }
    object = json_loadb(in->at, (size_t)len, 0, NULL);
    in->at += len;
    if (!json_is_object(object)) {
        json_decref(object);
        in->why = "what it says is no JSON object";
        return NULL;
    }
    return object;
}

static bool read_integer(const json_t *object, const char *name, int64_t least, int64_t most, int64_t *n)
{
    const json_t *j = json_object_get(object, name);

    *n = json_integer_value(j);
    return json_is_integer(j) && *n >= least && *n <= most;
}

static bool read_text(const json_t *object, const char *name, char **text)
{
    const char *value = json_string_value(json_object_get(object, name));

    free(*text);
    *text = value ? strdup(value) : NULL;
    return *text;
}

static bool read_command(struct ft_worker *w, const json_t *object)
{
    int64_t command, port = 0;

    if (!read_integer(object, "cmd", FT_WORKER_START, FT_WORKER_PRINT, &command))
        return false;
    w->command = (enum ft_worker_command)command;
    switch (w->command) {
    case FT_WORKER_START:
        if (!read_integer(object, "port", 1, UINT16_MAX, &port))
            return false;
        w->port = (uint16_t)port;
        return true;
    case FT_WORKER_ERROR:
        return read_text(object, "msg", &w->text) && read_integer(object, "code", INT32_MIN, INT32_MAX, &w->code);
    case FT_WORKER_PRINT:
        return read_text(object, "msg", &w->text);
    case FT_WORKER_SHUTDOWN:
        break;
    }
    return true;
}

int ft_worker_read(struct ft_worker *w, const char *data, size_t len, const char **why)
{
    struct input in = {.at = data, .end = data + len};
    json_t *connect, *command;

    if (memcmp(data, &magic, len < sizeof magic ? len : sizeof magic) != 0) {
        *why = "it does not begin as one";
        return -1;
    }
    read_number(&in);
    w->greeted = !in.wants_more;
    connect = read_object(&in);
    command = read_object(&in);
    if (connect && (!read_integer(connect, "world_size", -1, UINT32_MAX, &w->world) || !read_integer(connect, "rank", -1, UINT32_MAX, &w->rank) ||
                    !read_text(connect, "task_id", &w->task)))
        in.why = "it does not say who it is";
    else if (command && !read_command(w, command))
        in.why = "its command is none";
    json_decref(connect);
    json_decref(command);
    *why = in.why;
    return in.why ? -1 : !in.wants_more;
}

void ft_worker_free(struct ft_worker *w)
{
    free(w->task);
    free(w->text);
    *w = (struct ft_worker){0};
}

/* ---- writing ---- */

/* Takes object. */
static char *put(json_t *object, size_t *len)
{
    char *json = object ? json_dumps(object, JSON_COMPACT) : NULL, *text = NULL;
    int32_t n = json ? (int32_t)strlen(json) : 0;

    json_decref(object);
    *len = sizeof n + (size_t)n;
    if (json && (text = malloc(*len))) {
        memcpy(text, &n, sizeof n);
        memcpy(text + sizeof n, json, (size_t)n);
    }
    free(json);
    return text;
}

char *ft_worker_welcome(uint32_t world, size_t *len)
{
    return put(json_pack("{sI}", "world_size", (json_int_t)world), len);
}

char *ft_worker_next(const char *host, uint16_t port, uint32_t rank, size_t *len)
{
    return put(json_pack("{sI ss sI}", "rank", (json_int_t)rank, "host", host, "port", (json_int_t)port), len);
}

char *ft_worker_magic(size_t *len)
{
    char *text = malloc(sizeof magic);

    *len = sizeof magic;
    return text ? memcpy(text, &magic, sizeof magic) : NULL;
}

/* ---- in order ---- */

static bool is_number(const char *task)
{
    return *task && !task[strspn(task, "0123456789")];
}

int ft_worker_compare(const char *a, const char *b)
{
    bool numbers = is_number(a);
    size_t na, nb;

    if (numbers != is_number(b))
        return numbers ? -1 : 1;
    if (numbers) {
        a += strspn(a, "0");
        b += strspn(b, "0");
        na = strlen(a);
        nb = strlen(b);
        if (na != nb)
            return na < nb ? -1 : 1;
    }
    return strcmp(a, b);
}
