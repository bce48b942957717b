/* SPDX-License-Identifier: BSD-3-Clause */
/* A pipe and a socket pair of its own: WHAT is "always" (something is in them at any time), "between" (they are gone when MPI is
   called) or "later" (from the middle to three quarters of the rounds). */
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "rounds.h"

struct channels {
    int pipe[2], pair[2];
};

static void open_them(struct rounds *r, struct channels *c)
{
    MUST(r, pipe(c->pipe) == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, c->pair) == 0);
}

/* What was sent in the last round is received in this one, but for the last. */
static void use(struct rounds *r, const struct channels *c, bool first, bool last)
{
    uint64_t in = rounds_draw(r, 0), out = 0;
    MUST(r, write(c->pipe[1], &in, sizeof in) == sizeof in && write(c->pair[0], &r->sum, sizeof r->sum) == sizeof r->sum);
    if (!first) MUST(r, read(c->pipe[0], &out, sizeof out) == sizeof out);
    rounds_mix(r, out);
    if (!first) MUST(r, read(c->pair[1], &out, sizeof out) == sizeof out);
    rounds_mix(r, out);
    if (!last) return;
    MUST(r, read(c->pipe[0], &out, sizeof out) == sizeof out && read(c->pair[1], &in, sizeof in) == sizeof in);
    rounds_mix(r, in ^ out);
}

static void close_them(struct rounds *r, const struct channels *c)
{
    MUST(r, close(c->pipe[0]) == 0 && close(c->pipe[1]) == 0 && close(c->pair[0]) == 0 && close(c->pair[1]) == 0);
}

int main(int argc, char **argv)
{
    struct rounds r;
    struct channels c;

    rounds_begin(&r, argc, argv);
    while (rounds_more(&r)) {
        bool first = r.at == 1, last = r.at == r.n;
        if (!strcmp(r.what, "between")) first = last = true;
        else if (!strcmp(r.what, "later")) {
            if (r.at < r.n / 2 || r.at > r.n / 4 * 3) continue;
            first = r.at == r.n / 2;
            last = r.at == r.n / 4 * 3;
        } else MUST(&r, !strcmp(r.what, "always"));
        if (first) open_them(&r, &c);
        use(&r, &c, first, last);
        if (last) close_them(&r, &c);
    }
    return rounds_end(&r);
}
