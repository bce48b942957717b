/* SPDX-License-Identifier: BSD-3-Clause */
/* Where a controller's output goes (launcher/stdio/sink.h). */
#include "config.h"
#include "launcher/stdio/sink.h"

#include <criterion/criterion.h>
#include <event2/event.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "launcher/stdio/memory.h"
#include "launcher/stdio/spool.h"

static struct event_base *base;

static void on_room(void *arg)
{
    const struct ft_spool *spool = arg;

    if (!ft_spool_pending(spool))
        event_base_loopbreak(base);
}

/* A controller was killed when it had published the last of its job's output, and its successor, which had nothing to add to that, waited for
   ever until it was written (compat-tests/hosts/controller.sh, in CI). */
Test(sink, what_a_predecessor_has_published_is_written, .timeout = 60)
{
    static const char line[] = "the last line\n";
    struct ft_stdio_config config = {.nranks = 1};
    struct ft_stdio_memory *m;
    struct ft_spool *spool;
    struct ft_sink *sink;
    FILE *out = tmpfile();
    struct ft_error e;
    char back[sizeof line] = "";

    base = event_base_new();
    m = ft_stdio_memory_new(&config, &e);
    cr_assert(base && m && out);
    spool = &m->spools[0];
    ft_spool_put(spool, 0, line, strlen(line));
    spool->state->tail = strlen(line);

    sink = ft_sink_new(base, spool, fileno(out), on_room, spool);
    cr_assert(sink && ft_sink_apart(sink, base) == 0);
    event_base_dispatch(base);
    cr_assert_eq(pread(fileno(out), back, sizeof back - 1, 0), (ssize_t)strlen(line));
    cr_expect_str_eq(back, line);
    ft_sink_free(sink);
    ft_stdio_memory_free(m);
    event_base_free(base);
    fclose(out);
}
