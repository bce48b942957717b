/* SPDX-License-Identifier: BSD-3-Clause */
/* A program without MPI for ftrun --check-replay (check_kills.sh). Each rank prints 100 lines, 2 ms apart.

     ticks same     of the clock, of chance and its process number: all of that is told again in a replay
     ticks fails    the same, and rank 0 leaves with code 3
     ticks other    rank 1 also prints what the processor counts: nobody records that, so a replay differs
     ticks race     rank 1 has two threads besides, which draw numbers by an atomic counter and print them: nothing says who draws first
     ticks lost     rank 1 makes now more calls, now less, and has appended to a file that was there (TICKS_FILE): it may not begin anew
     ticks shared   rank 1 has memory that it may share with others: it cannot be put back */
#include <pthread.h>
#include <stdatomic.h>
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

/* So long as nobody says again in a replay: not by the C library, whose calls are recorded. */
static void pause_somehow(void)
{
    struct timespec t = {.tv_nsec = counted() % 200000};
#if defined(__x86_64__)
    long number = 35; /* nanosleep */

    __asm__ volatile("syscall" : "+a"(number) : "D"(&t), "S"(NULL) : "rcx", "r11", "memory");
#else
    register long number __asm__("x8") = 101;
    register const void *first __asm__("x0") = &t;
    register const void *second __asm__("x1") = NULL;

    __asm__ volatile("svc 0" : "+r"(first) : "r"(number), "r"(second) : "memory");
#endif
}

/* What no start from the beginning may do again; then calls that no replay makes as they were. */
static void lose(void)
{
    FILE *f = fopen(getenv("TICKS_FILE"), "a");

    if (!f || fputs("ticks\n", f) < 0 || fclose(f))
        exit(6);
    for (int i = 0; i < 200; i++)
        if (access(counted() / 64 % 2 ? "/" : "/dev", F_OK))
            exit(7);
}

static _Atomic int drawn;

static void *draw(void *name)
{
    for (int i = 0; i < 200; i++) {
        char line[32];

        pause_somehow();
        snprintf(line, sizeof line, "1 draw %s %05d\n", (const char *)name, atomic_fetch_add(&drawn, 1));
        pause_somehow();
        fputs(line, stdout);
        fflush(stdout);
    }
    return NULL;
}

static void race(void)
{
    pthread_t threads[2];

    if (pthread_create(&threads[0], NULL, draw, "a") || pthread_create(&threads[1], NULL, draw, "b"))
        exit(5);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
}

int main(int argc, char **argv)
{
    int rank = atoi(getenv("RANK"));

    if (argc != 2)
        return 2;
    if (rank == 1 && !strcmp(argv[1], "shared") && mmap(NULL, 4096, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0) == MAP_FAILED)
        return 3;
    if (rank == 1 && !strcmp(argv[1], "race"))
        race();
    if (rank == 1 && !strcmp(argv[1], "lost"))
        lose();
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
    return rank == 0 && !strcmp(argv[1], "fails") ? 3 : 0;
}
