/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of outcome_locks with OpenMP. */
#include "ft/outcome/test/locks.h"

#ifdef _OPENMP
#include <omp.h>
#include <stdint.h>

enum { ROUNDS = 600, WORK = 20000, PARTS = 1500, THREADS = 3 };

static struct chain a = {.name = 'A'}, b = {.name = 'B'}, c = {.name = 'C'};

static void run_critical(void)
{
    omp_nest_lock_t nest;

    omp_init_nest_lock(&nest);
#pragma omp parallel num_threads(THREADS)
    {
        unsigned me = (unsigned)omp_get_thread_num(), seed = me + 1;

        for (int i = 0; i < ROUNDS * 3; i++) {
            locks_work(&seed, WORK);
#pragma omp critical
            locks_step(&a, me);
            if (i % 3 == 0) {
#pragma omp critical(named)
                locks_step(&b, me);
            }
            if (i % 4 == 0) {
                int depth = 0;

                omp_set_nest_lock(&nest);
                depth += omp_test_nest_lock(&nest);
                locks_step(&c, me + (unsigned)depth); /* 2 */
                omp_unset_nest_lock(&nest);
                omp_unset_nest_lock(&nest);
            }
        }
    }
    locks_say("end", a.steps + b.steps + c.steps);
}

static void run_loops(void)
{
    static int who[PARTS], guided[PARTS];
    unsigned long singles = 0;
    omp_lock_t lock;

    omp_init_lock(&lock);
    for (int round = 0; round < 5; round++) {
        uint64_t hash = 0;

#pragma omp parallel num_threads(THREADS)
        {
            unsigned me = (unsigned)omp_get_thread_num();

#pragma omp for schedule(dynamic, 7)
            for (int i = 0; i < PARTS; i++) {
                unsigned seed = (unsigned)i * 2654435761u;

                locks_work(&seed, WORK);
                who[i] = (int)me;
                if (i % 5 == 0) {
                    omp_set_lock(&lock);
                    locks_step(&a, me);
                    omp_unset_lock(&lock);
                }
            }
#pragma omp for schedule(guided)
            for (int i = 0; i < PARTS; i++)
                guided[i] = (int)me;
#pragma omp single
            {
                singles = singles * 3 + me;
                locks_say("singles", (long)(singles & 0xffffff));
            }
#pragma omp for ordered schedule(dynamic, 2)
            for (int i = 0; i < 100; i++) {
                unsigned seed = (unsigned)i;

                locks_work(&seed, WORK);
#pragma omp ordered
                locks_step(&b, me);
            }
#pragma omp for ordered(1) schedule(dynamic, 3)
            for (int i = 0; i < 100; i++) {
                unsigned seed = (unsigned)i;

                locks_work(&seed, WORK / 4);
#pragma omp ordered depend(sink : i - 2)
                if (i % 2 == 0)
                    locks_step(&c, me);
#pragma omp ordered depend(source)
            }
#pragma omp sections
            {
#pragma omp section
                {
                    omp_set_lock(&lock);
                    locks_step(&a, me);
                    omp_unset_lock(&lock);
                }
#pragma omp section
                {
                    while (!omp_test_lock(&lock))
                        ;
                    locks_step(&a, me);
                    omp_unset_lock(&lock);
                }
            }
        }
        for (int i = 0; i < PARTS; i++)
            hash = hash * 31 + (uint64_t)who[i] * 3 + (uint64_t)guided[i];
        locks_say("by whom", (long)(hash & 0xfffffff));
    }
    locks_say("end", a.steps + b.steps + c.steps);
}

const struct locks_row locks_of_openmp[] = {{"critical", run_critical}, {"loops", run_loops}, {0}};
#else
const struct locks_row locks_of_openmp[] = {{0}};
#endif
