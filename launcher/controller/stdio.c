/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/controller/stdio.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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
    ft_sink_add(c->sinks[stream], data, len);
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
    char *reason = c->nodes[node].reason;

    if (!reason || c->ender != node + 1)
        return;
    ft_say_line(&c->say, reason, strlen(reason));
    free(reason);
    c->nodes[node].reason = NULL;
}

static void on_differs(void *arg, uint32_t rank, int stream, uint64_t line)
{
    const struct ft_controller *c = arg;

    ft_output_tell(&c->say, rank, stream, line);
}

static void on_reason(void *arg, uint32_t node, const char *data, size_t len)
{
    struct ft_controller *c = arg;

    free(c->nodes[node].reason);
    c->nodes[node].reason = strndup(data, len);
    ft_controller_tell_reason(c, node);
}

static void on_rank_output(void *arg, uint32_t rank, int stream, const char *data, size_t len)
{
    const struct ft_controller *c = arg;

    ft_files_append(c->files, rank, stream, data, len);
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

int ft_controller_stdio_open(struct ft_controller *c, struct ft_error *e)
{
    const struct ft_options *o = c->o;
    struct ft_stdio_config config = {.nranks = 1, .store_dir = o->stdin_rank >= 0 ? o->log_spill : NULL};
    struct ft_merge_config merge = {.nnodes = c->map->nnodes, .world = c->map->world, .tag = o->tag_output, .timestamp = o->timestamp_output,
                                    .put = on_output, .end = on_end, .differs = on_differs, .reason = on_reason, .arg = c};
    struct ft_relay_config relay = {.send = on_input, .failed = on_input_failed, .arg = c};
    struct ft_files_config files = {.options = o, .say = &c->say, .base = c->base, .room = on_room, .arg = c};
    int err = ft_files_new(&c->files, &files, e);

    if (err < 0)
        return err;
    merge.file = c->files ? on_rank_output : NULL;
    merge.instead = ft_files_instead(c->files);
    c->say.copy = c->files ? on_say : NULL;
    c->say.copy_arg = c;
    c->stdio = ft_stdio_memory_new(&config, e);
    if (!c->stdio)
        return FT_ESYS;
    for (int i = 0; i < 2; i++)
        c->sinks[i] = i && c->stdio->one_sink ? c->sinks[0] : ft_sink_new(c->base, &c->stdio->spools[i], i + 1, on_room, c);
    c->say.put = ft_sink_put;
    c->say.put_arg = c->sinks[1];
    merge.one_sink = c->stdio->one_sink;
    c->merge = ft_merge_new(&merge);
    if (!c->sinks[0] || !c->sinks[1] || !c->merge)
        return ft_err_set(e, FT_ENOMEM, "out of memory");
    for (int i = 0; i < 2; i++)
        if (ft_sink_apart(c->sinks[i], c->base) < 0)
            return ft_err_set(e, FT_ESYS, "cannot start a thread that writes output: %s", strerror(errno));
    c->d.no_input = c->stdio->store.kind == FT_STORE_NONE;
    if (c->d.no_input)
        return 0;
    for (uint32_t node = 0; node < c->map->nnodes; node++)
        for (uint32_t place = c->map->first[node]; place < c->map->first[node + 1]; place++)
            if (c->map->rank_at[place] == (uint32_t)o->stdin_rank)
                c->reader = node;
    c->relay = ft_relay_new(c->base, c->stdio, &relay);
    return c->relay ? 0 : ft_err_set(e, FT_ENOMEM, "out of memory");
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
    ft_stdio_memory_free(c->stdio);
    c->say.copy = NULL;
    ft_files_free(c->files);
}
