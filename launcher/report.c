/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/report.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launcher/say.h"
#include "launcher/shared.h"

int ft_report_open(struct ft_report *r, const char *path, char **argv, uint32_t nranks, uint64_t now_ns, struct ft_error *e)
{
    memset(r, 0, sizeof *r);
    r->fd = -1;
    r->argv = argv;
    r->nranks = nranks;
    r->begin_ns = now_ns;
    r->ranks = ft_shared_new(nranks * sizeof *r->ranks);
    r->restarts = ft_shared_new(FT_RESTARTS_MAX * sizeof *r->restarts);
    if (!r->ranks || !r->restarts)
        return ft_err_set(e, FT_ENOMEM, "out of memory");
    if (path) {
        r->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
        if (r->fd < 0) {
            ft_err_set(e, 0, "--report %s: %s", path, strerror(errno));
            ft_report_close(r);
            return FT_ESYS;
        }
    }
    return 0;
}

struct ft_restart *ft_report_restart(struct ft_report *r)
{
    return r->nrestarts < FT_RESTARTS_MAX ? &r->restarts[r->nrestarts++] : NULL;
}

struct ft_restart *ft_report_last(struct ft_report *r, uint32_t rank)
{
    for (uint64_t i = r->nrestarts; i-- > 0;)
        if (r->restarts[i].rank == rank)
            return &r->restarts[i];
    return NULL;
}

static json_t *seconds(uint64_t from_ns, uint64_t to_ns)
{
    return json_real(((double)to_ns - (double)from_ns) / 1e9);
}

static void add_death(json_t *object, int signal, int code)
{
    if (signal)
        json_object_set_new(object, "signal", json_integer(signal));
    else
        json_object_set_new(object, "exit_code", json_integer(code));
}

static json_t *restarts(const struct ft_report *r)
{
    json_t *list = json_array();

    for (uint64_t i = 0; i < r->nrestarts; i++) {
        const struct ft_restart *from = &r->restarts[i];
        json_t *to = json_object();

        json_object_set_new(to, "rank", json_integer(from->rank));
        json_object_set_new(to, "pid", json_integer(from->pid));
        add_death(to, from->signal, from->code);
        json_object_set_new(to, "at_seconds", seconds(r->begin_ns, from->died_ns));
        json_object_set_new(to, "respawn_seconds", from->started_ns ? seconds(from->died_ns, from->started_ns) : json_null());
        json_object_set_new(to, "recover_seconds", from->live_ns ? seconds(from->died_ns, from->live_ns) : json_null());
        json_object_set_new(to, "replayed_units", json_integer((json_int_t)from->replayed));
        json_array_append_new(list, to);
    }
    return list;
}

static json_t *ranks(const struct ft_report *r)
{
    json_t *list = json_array();

    for (uint32_t i = 0; i < r->nranks; i++) {
        const struct ft_rank_total *from = &r->ranks[i];
        json_t *to = json_object();
        uint64_t replayed = 0;

        for (uint64_t k = 0; k < r->nrestarts; k++)
            replayed += r->restarts[k].rank == i ? r->restarts[k].replayed : 0;
        json_object_set_new(to, "rank", json_integer(i));
        json_object_set_new(to, "pid", json_integer(from->pid));
        add_death(to, from->signal, from->code);
        json_object_set_new(to, "restarts", json_integer(from->restarts));
        json_object_set_new(to, "units", json_integer((json_int_t)from->units));
        json_object_set_new(to, "replayed_units", json_integer((json_int_t)replayed));
        json_array_append_new(list, to);
    }
    return list;
}

static json_t *command(const struct ft_report *r)
{
    json_t *list = json_array();

    for (char **arg = r->argv; *arg; arg++) {
        json_t *text = json_string(*arg); /* NULL if it is not UTF-8 */

        json_array_append_new(list, text ? text : json_string("(not UTF-8)"));
    }
    return list;
}

int ft_report_write(struct ft_report *r, int exit_code, uint64_t now_ns, struct ft_error *e)
{
    json_t *all;
    int failed;

    if (r->fd < 0)
        return 0;
    all = json_object();
    json_object_set_new(all, "command", command(r));
    json_object_set_new(all, "host", json_string(ft_say_host()));
    json_object_set_new(all, "ranks", json_integer(r->nranks));
    json_object_set_new(all, "exit_code", json_integer(exit_code));
    json_object_set_new(all, "wall_seconds", seconds(r->begin_ns, now_ns));
    json_object_set_new(all, "log_bytes", json_integer((json_int_t)r->log_bytes));
    json_object_set_new(all, "spilled_bytes", json_integer((json_int_t)r->spilled_bytes));
    json_object_set_new(all, "peak_memory_bytes", json_integer((json_int_t)r->peak_memory_bytes));
    json_object_set_new(all, "restarts", restarts(r));
    json_object_set_new(all, "per_rank", ranks(r));
    failed = json_dumpfd(all, r->fd, JSON_INDENT(2) | JSON_REAL_PRECISION(9)) < 0 || write(r->fd, "\n", 1) != 1;
    json_decref(all);
    return failed ? ft_err_set(e, FT_ESYS, "--report: the report could not be written: %s", strerror(errno)) : 0;
}

void ft_report_close(struct ft_report *r)
{
    if (r->fd >= 0)
        close(r->fd);
    ft_shared_free(r->restarts, FT_RESTARTS_MAX * sizeof *r->restarts);
    ft_shared_free(r->ranks, r->nranks * sizeof *r->ranks);
    *r = (struct ft_report){.fd = -1};
}
