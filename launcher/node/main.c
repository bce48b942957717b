/* SPDX-License-Identifier: BSD-3-Clause */
/* `ftrun --node`: what this process is to be comes as one line on standard input, from the ftrun that has started it here. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launcher/options/parse.h"

#include "launcher/agent/agent.h"
#include "launcher/base/say.h"
#include "launcher/node/node.h"
#include "launcher/options/options.h"

enum { BLOCK = 64 << 10 };

/* The first line of standard input, without its newline; the caller's. NULL: there is none. */
static char *read_line(size_t *len)
{
    char *text = NULL;
    size_t room = 0;

    *len = 0;
    for (;;) {
        char *end, *more = room - *len < BLOCK ? realloc(text, room += 2 * BLOCK) : text;
        ssize_t n = more ? read(0, more + *len, BLOCK) : -1;

        text = more ? more : text;
        if (n < 0 && more && errno == EINTR)
            continue;
        if (n <= 0 || *len > FT_DESCRIPTION_MAX)
            break;
        end = memchr(text + *len, '\n', (size_t)n);
        *len += (size_t)n;
        if (end) {
            *len = (size_t)(end - text);
            return text;
        }
    }
    free(text);
    return NULL;
}

/* What is on them is the starter's: a program that is no job of its own must not read or hold it. */
static void leave_starter(void)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    if (null < 0)
        return;
    dup2(null, 0);
    dup2(null, 1);
    close(null);
}

static int enter(const struct ft_description *d, struct ft_error *e)
{
    for (char **v = d->env; v && *v; v++)
        if (putenv(*v))
            return ft_err_set(e, FT_ENOMEM, "out of memory");
    if (chdir(d->cwd) < 0)
        return ft_err_set(e, FT_EINVAL, "cannot go to %.300s: %s (--wdir names another directory)", d->cwd, strerror(errno));
    return 0;
}

/* What is said to people by all nodes, or written in one place, is the controller's. */
static void leave_to_controller(struct ft_options *o, const struct ft_description *d)
{
    o->node = d;
    o->timeout_ms = 0;
    o->tag_output = o->timestamp_output = false;
    o->report = o->timeline = o->events = o->output_dir = o->ckpt_dir = NULL;
}

int ft_node_main(void)
{
    struct ft_description d = {0};
    struct ft_options o;
    struct ft_error e;
    size_t len;
    char *line = isatty(0) ? NULL : read_line(&len);
    int code = FT_CODE_USAGE;

    if (!line) {
        ft_say(&(struct ft_say){0}, "--node is for ftrun itself, which starts its nodes with it and tells them on standard input what they are");
        return code;
    }
    if (ft_description_read(&d, &o, line, len, &e) < 0 || enter(&d, &e) < 0) {
        ft_say(&(struct ft_say){0}, "%s", e.text);
    } else {
        leave_starter();
        leave_to_controller(&o, &d);
        ft_say_set_host(d.host);
        code = ft_agent_run(&o, &ft_node_above);
    }
    explicit_bzero(line, len); /* the secret */
    free(line);
    ft_options_free(&o);
    ft_description_free(&d);
    return code;
}
