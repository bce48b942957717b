/* SPDX-License-Identifier: BSD-3-Clause */
/* WHAT MiB of memory (16), all of which each round writes: nothing of it is shared with a copy for long. */
#include <stdlib.h>

#include "rounds.h"

enum { STEP = 512 }; /* words: each page is written */

int main(int argc, char **argv)
{
    struct rounds r;
    uint64_t *words, sum;
    size_t n;

    rounds_begin(&r, argc, argv);
    n = (size_t)(atoi(r.what) > 0 ? atoi(r.what) : 16) << 17;
    words = calloc(n, sizeof *words);
    MUST(&r, words);
    while (rounds_more(&r)) {
        sum = 0;
        for (size_t i = r.at % STEP; i < n; i += STEP) {
            sum = sum * 31 + words[i - r.at % STEP];
            words[i - r.at % STEP] += r.sum ^ i;
            words[i] = sum;
        }
        rounds_mix(&r, sum);
    }
    for (size_t i = 0; i < n; i++) rounds_mix(&r, words[i]);
    free(words);
    return rounds_end(&r);
}
