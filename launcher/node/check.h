/* SPDX-License-Identifier: BSD-3-Clause */
/* For the tests of what agents say to each other: one job's secret, and checks that end the test at once, with the seed that repeats it. */
#ifndef LAUNCHER_NODE_CHECK_H
#define LAUNCHER_NODE_CHECK_H

#include <stdio.h>
#include <stdlib.h>

#include "launcher/base/say.h"
#include "launcher/net/auth.h"

static const unsigned char secret[FT_SECRET_BYTES] = "a secret that nobody can guess.";
static const struct ft_say say = {.quiet = true};
static unsigned seed = 1;

static inline void fail(const char *file, int line, const char *what)
{
    fprintf(stderr, "%s:%d: seed %u: %s\n", file, line, seed, what);
    exit(1);
}
#define CHECK(cond) do { if (!(cond)) fail(__FILE__, __LINE__, #cond); } while (0)

#endif
