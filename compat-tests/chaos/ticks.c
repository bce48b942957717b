/* SPDX-License-Identifier: BSD-3-Clause */
/* A program without MPI for ftrun --check-replay (check_kills.sh). Each rank prints 100 lines, 2 ms apart.

     ticks same     of the clock, of chance and its process number: all of that is told again in a replay
     ticks other    rank 1 also prints what the processor counts: nobody records that, so a replay differs
     ticks shared   rank 1 has memory that it may share with others: it cannot be put back */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

static unsigned counted(void)
{
#if defined(__x86_64__)
    return (unsigned)__builtin_ia32_rdtsc();
#else
    unsigned long long n;

    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(n));
    return (unsigned)n;
#endif
}

int main(int argc, char **argv)
{
    int rank = atoi(getenv("RANK"));

    if (argc != 2)
        return 2;
    if (rank == 1 && !strcmp(argv[1], "shared") && mmap(NULL, 4096, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0) == MAP_FAILED)
        return 3;
    for (int i = 0; i < 100; i++) {
        unsigned chance = 0, other = rank == 1 && !strcmp(argv[1], "other") ? counted() : 0;
        struct timespec now, pause = {.tv_nsec = 2000000};

        clock_gettime(CLOCK_REALTIME, &now);
        if (getrandom(&chance, sizeof chance, 0) != sizeof chance)
            return 4;
        printf("%d line %d: %lld.%09ld %u %d %010u\n", rank, i, (long long)now.tv_sec, now.tv_nsec, chance, (int)getpid(), other);
        fflush(stdout);
        nanosleep(&pause, NULL);
    }
    return 0;
}
