/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/node/hear.h"

#include <signal.h>

#include "launcher/agent/act.h"
#include "launcher/agent/sweep.h"
#include "launcher/node/durable.h"
#include "launcher/node/input.h"
#include "launcher/node/job.h"
#include "launcher/node/lease.h"
#include "launcher/node/say.h"
#include "launcher/node/store.h"
#include "launcher/node/table.h"
#include "launcher/node/uplink.h"
#include "launcher/ranks/ranks.h"
#include "launcher/stdio/memory.h"
#include "launcher/stdio/sink.h"

static int take_job(struct ft_node *n, const struct ft_wire_frame *f, struct ft_error *e)
{
    struct ft_wire_job m;

    if (ft_wire_get_job(f, &m, e) < 0)
        return FT_EDAMAGED;
    n->shared->code = m.code;
    n->shared->phase = m.phase;
    n->shared->stay = m.stay;
    if (m.phase == FT_JOB_END)
        ft_act(n->agent, &(struct ft_event){.kind = FT_EV_ENDED, .code = m.code});
    else if (m.phase == FT_JOB_FINISH)
        ft_act(n->agent, &(struct ft_event){.kind = FT_EV_ALL_DONE});
    ft_sweep_step(n->agent);
    return 0;
}

static int take_got(struct ft_node *n, const struct ft_wire_frame *f, struct ft_error *e)
{
    uint64_t place;

    if (ft_wire_get_got(f, &place, e) < 0)
        return FT_EDAMAGED;
    if (place > n->job->stdio->spools[0].state->tail)
        return ft_err_set(e, FT_EDAMAGED, "a GOT beyond what there is");
    ft_sink_taken(n->agent->sinks[0], place);
    ft_uplink_flush(n->uplink);
    return 0;
}

/* As loop.c does with its own; but only the ranks are stopped. */
static int take_signal(struct ft_node *n, const struct ft_wire_frame *f, struct ft_error *e)
{
    uint64_t number;
    int signal;

    if (ft_wire_get_signal(f, &number, &signal, e) < 0)
        return FT_EDAMAGED;
    if (number <= n->shared->signals)
        return 0;
    n->shared->signals = number;
    if (signal == SIGTSTP)
        ft_ranks_signal(n->job, SIGSTOP);
    else if (signal == SIGUSR1 || signal == SIGUSR2 || signal == SIGCONT)
        ft_ranks_signal(n->job, signal);
    else
        ft_act(n->agent, &(struct ft_event){.kind = FT_EV_SIGNAL, .signal = signal});
    ft_node_changed(n);
    return 0;
}

int ft_node_hear(void *arg, const struct ft_wire_frame *f, struct ft_error *e)
{
    struct ft_node *n = arg;

    if (n->shared->fenced)
        return ft_err_set(e, FT_EDAMAGED, "too late");
    switch (f->type) {
    case FT_WIRE_TABLE:
        return ft_node_table_take(n, f, e);
    case FT_WIRE_JOB:
        return take_job(n, f, e);
    case FT_WIRE_GOT:
        return take_got(n, f, e);
    case FT_WIRE_SIGNAL:
        return take_signal(n, f, e);
    case FT_WIRE_INPUT_BYTES:
        return ft_node_input_take(n, f, e);
    case FT_WIRE_BEAT:
        return ft_node_lease_answered(n, e);
    case FT_WIRE_ASK:
        ft_node_say_state(n);
        ft_node_say_calls(n);
        return 0;
    case FT_WIRE_HOLD:
    case FT_WIRE_HELD:
    case FT_WIRE_GIVE:
    case FT_WIRE_MODEL:
        return ft_node_durable_take(n, f, e);
    case FT_WIRE_STORE_ANSWER:
        return ft_node_store_take(n, f, e);
    default:
        return ft_err_set(e, FT_EDAMAGED, "a frame that is not for nodes");
    }
}
