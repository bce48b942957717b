/* SPDX-License-Identifier: BSD-3-Clause */
/* Two OpenMP threads from the first round on; they stay. Without OpenMP it says so with 77. */
#ifdef _OPENMP
#include <omp.h>

#include "rounds.h"

int main(int argc, char **argv)
{
    struct rounds r;
    uint64_t cells[64] = {0};

    rounds_begin(&r, argc, argv);
    omp_set_dynamic(0);
    omp_set_num_threads(2);
    while (rounds_more(&r)) {
#pragma omp parallel for schedule(static)
        for (int i = 0; i < 64; i++) cells[i] = (cells[i] + rounds_draw(&r, (unsigned)i)) * 0x9e3779b97f4a7c15u;
        for (int i = 0; i < 64; i++) rounds_mix(&r, cells[i]);
    }
    return rounds_end(&r);
}
#else
int main(void)
{
    return 77;
}
#endif
