/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/controller/stdio.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "launcher/base/shared.h"
#include "launcher/control/server.h"
#include "launcher/controller/files.h"
#include "launcher/controller/peers.h"
#include "launcher/options/map.h"
#include "launcher/stdio/memory.h"
#include "launcher/stdio/merge.h"
#include "launcher/stdio/output.h"
#include "launcher/stdio/relay.h"
#include "launcher/stdio/sink.h"

/* Whoever reads, or a disk, is slow. */
static bool is_full(const struct ft_controller *c)
{
    return ft_sink_full(c->sinks[0]) || ft_sink_full(c->sinks[1]) || ft_files_full(c->files);
}

/* As long as what is written is read by somebody, more may come. */
void ft_controller_acknowledge(struct ft_controller *c, uint32_t node)
{
    uint64_t got = ft_merge_got(c->merge, node);

    if (got == c->nodes[node].got || is_full(c))
        return;
    c->nodes[node].got = got;
    ft_peers_send(c->peers, node, ft_wire_put_got(got));
}

static void on_room(void *arg)
{
    struct ft_controller *c = arg;

    for (uint32_t i = 0; i < c->map->nnodes; i++)
        ft_controller_acknowledge(c, i);
    ft_controller_post(c, NULL);
}

static void on_output(void *arg, int stream, const char *data, size_t len)
{
    const struct ft_controller *c = arg;

    if (stream == FT_RECORD_AGENT) {
        ft_say_line(&c->say, data, len);
        return;
    }
    ft_sink_put_ahead(c->sinks[stream], data, len);
    ft_control_tap(c->control, stream != FT_RECORD_STDOUT, data, len);
}

static void on_end(void *arg, int stream)
{
    const struct ft_controller *c = arg;

    if (ft_sink_end_line(c->sinks[stream]))
        ft_control_tap(c->control, stream != FT_RECORD_STDOUT, "\n", 1);
}

static void on_say(void *arg, const char *line, size_t len)
{
    const struct ft_controller *c = arg;

    ft_files_say(c->files, line, len, c->say.put == ft_sink_put);
}

/* Ranks of several nodes may end the job at once, each with its reason: told is that of the node whose code counts. */
void ft_controller_tell_reason(struct ft_controller *c, uint32_t node)
{
    char *reason = c->kept->nodes[node].reason;

    if (!*reason || c->kept->ender != node + 1)
        return;
    ft_say_line(&c->say, reason, strlen(reason));
    *reason = 0;
}

static void on_differs(void *arg, uint32_t rank, int stream, uint64_t line)
{
    const struct ft_controller *c = arg;

    ft_output_tell(&c->say, rank, stream, line);
}

static void on_reason(void *arg, uint32_t node, const char *data, size_t len)
{
    struct ft_controller *c = arg;

    snprintf(c->kept->nodes[node].reason, FT_CONTROLLER_TEXT, "%.*s", (int)len, data);
    ft_controller_tell_reason(c, node);
}

static void on_rank_output(void *arg, uint32_t rank, int stream, uint64_t at, const char *data, size_t len)
{
    const struct ft_controller *c = arg;

    ft_files_put_ahead(c->files, rank, stream, at, data, len);
}

static void ends(void *arg, uint64_t ends[FT_MERGE_ENDS])
{
    const struct ft_controller *c = arg;

    ends[FT_MERGE_OUT] = ft_sink_place(c->sinks[0]);
    ends[FT_MERGE_ERR] = ft_sink_place(c->sinks[1]);
    ends[FT_MERGE_FILES] = ft_files_place(c->files);
}

static void publish(void *arg, const uint64_t ends[FT_MERGE_ENDS])
{
    const struct ft_controller *c = arg;

    ft_sink_publish(c->sinks[0], ends[FT_MERGE_OUT]);
    ft_sink_publish(c->sinks[1], ends[FT_MERGE_ERR]);
    ft_files_publish(c->files, ends[FT_MERGE_FILES]);
}

int ft_controller_take_output(struct ft_controller *c, uint32_t node, const struct ft_wire_frame *f, struct ft_error *e)
{
    const uint8_t *data;
    uint64_t place;
    uint32_t len;

    ft_merge_comes_again(c->merge, node, ft_nodes_comes_again(c->policy, node));
    if (ft_wire_get_out(f, &place, &data, &len, e) < 0 || ft_merge_take(c->merge, node, place, data, len, e) < 0)
        return FT_EDAMAGED;
    ft_controller_acknowledge(c, node);
    return 0;
}

static void on_input(void *arg, uint64_t place, bool last, const void *data, uint32_t len)
{
    struct ft_controller *c = arg;

    ft_peers_send(c->peers, c->reader, ft_wire_put_input(place, last, data, len));
}

static void on_input_failed(void *arg, const struct ft_error *e)
{
    struct ft_controller *c = arg;

    ft_say(&c->say, "%s; the job is ended", e->text);
    ft_controller_post(c, &(struct ft_nodes_event){.kind = FT_NV_STOP, .code = FT_CODE_JOB});
}

/* Of the rank that reads ours. */
static uint32_t reader_of(const struct ft_controller *c)
{
    uint32_t node = 0, place = 0;

    while (c->map->rank_at[place] != (uint32_t)c->o->stdin_rank)
        place++;
    while (place >= c->map->first[node + 1])
        node++;
    return node;
}

int ft_controller_stdio_make(struct ft_controller *c, struct ft_error *e)
{
    const struct ft_options *o = c->o;
    struct ft_stdio_config config = {.nranks = 1, .store_dir = o->stdin_rank >= 0 ? o->log_spill : NULL};
    int err = ft_files_new(&c->files, o, e);

    if (err < 0)
        return err;
    c->stdio = ft_stdio_memory_new(&config, e);
    if (!c->stdio)
        return FT_ESYS;
    c->d.no_input = c->stdio->store.kind == FT_STORE_NONE;
    if (!c->d.no_input)
        c->reader = reader_of(c);
    c->merged = ft_shared_new(ft_merge_bytes(c->map->nnodes, c->map->world));
    return c->merged ? 0 : ft_err_set(e, FT_ENOMEM, "out of memory");
}

static int open_sinks(struct ft_controller *c, struct ft_error *e)
{
    for (int i = 0; i < 2; i++)
        c->sinks[i] = i && c->stdio->one_sink ? c->sinks[0] : ft_sink_new(c->base, &c->stdio->spools[i], i + 1, on_room, c);
    if (!c->sinks[0] || !c->sinks[1])
        return ft_err_set(e, FT_ENOMEM, "out of memory");
    for (int i = 0; i < 2; i++)
        if (ft_sink_apart(c->sinks[i], c->base) < 0)
            return ft_err_set(e, FT_ESYS, "cannot start a thread that writes output: %s", strerror(errno));
    c->say.put = ft_sink_put;
    c->say.put_arg = c->sinks[1];
    return 0;
}

int ft_controller_stdio_open(struct ft_controller *c, struct ft_error *e)
{
    const struct ft_options *o = c->o;
    struct ft_merge_config merge = {.nnodes = c->map->nnodes, .world = c->map->world, .memory = c->merged, .tag = o->tag_output,
                                    .timestamp = o->timestamp_output, .one_sink = c->stdio->one_sink, .put = on_output, .end = on_end,
                                    .file = c->files ? on_rank_output : NULL, .instead = ft_files_instead(c->files), .ends = ends, .publish = publish,
                                    .differs = on_differs, .reason = on_reason, .arg = c};
    struct ft_relay_config relay = {.send = on_input, .failed = on_input_failed, .arg = c};
    struct ft_files_config files = {.say = &c->say, .base = c->base, .room = on_room, .arg = c};
    int err;

    if (ft_files_open(c->files, &files) < 0)
        return ft_err_set(e, FT_ESYS, "cannot start a thread that writes output: %s", strerror(errno));
    c->say.copy = c->files ? on_say : NULL;
    c->say.copy_arg = c;
    if ((err = open_sinks(c, e)) < 0)
        return err;
    c->merge = ft_merge_new(&merge);
    if (c->merge && !c->d.no_input)
        c->relay = ft_relay_new(c->base, c->stdio, &relay);
    return c->merge && (c->relay || c->d.no_input) ? 0 : ft_err_set(e, FT_ENOMEM, "out of memory");
}

void ft_controller_stdio_hurry(struct ft_controller *c)
{
    for (int i = 0; i < 2; i++)
        if (ft_sink_full(c->sinks[i]))
            ft_sink_drop(c->sinks[i]);
    if (ft_files_full(c->files))
        ft_files_drop(c->files);
    on_room(c);
}

void ft_controller_stdio_check(struct ft_controller *c)
{
    for (int i = 0; i < 2; i++) {
        int error = ft_sink_error(c->sinks[i]);

        if (error && !(i && c->sinks[0] == c->sinks[1])) {
            ft_say(&c->say, "output was lost: cannot write to %s: %s", i ? "stderr" : "stdout", strerror(error));
            c->code = c->code ? c->code : FT_CODE_JOB;
        }
    }
    if (ft_files_failed(c->files)) /* it has been told */
        c->code = c->code ? c->code : FT_CODE_JOB;
}

void ft_controller_stdio_close(struct ft_controller *c)
{
    ft_relay_free(c->relay);
    ft_merge_free(c->merge);
    if (c->sinks[1] != c->sinks[0])
        ft_sink_free(c->sinks[1]);
    ft_sink_free(c->sinks[0]);
    c->say.copy = NULL;
    ft_files_close(c->files);
}

void ft_controller_stdio_free(struct ft_controller *c)
{
    ft_stdio_memory_free(c->stdio);
    ft_files_free(c->files);
    ft_shared_free(c->merged, ft_merge_bytes(c->map->nnodes, c->map->world));
}
