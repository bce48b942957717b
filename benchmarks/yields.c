/* SPDX-License-Identifier: BSD-3-Clause */
/* What giving way takes: processes, by turns one for each of two processors, that do nothing else. With more ranks than processors each of them must run once
   in a barrier or an allreduce, and a rank that waits gives way: no operation in which all do is faster than one round of these. No MPI.

     yields [-r ROUNDS] [-t MICROSECONDS] PROCESSES...

   For each number of PROCESSES the median of ROUNDS (7) measurements of MICROSECONDS (200,000): until each has run once, and for one switch. */
#include <getopt.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MAX_PROCESSES = 256, MAX_ROUNDS = 99 };

struct word { _Alignas(128) _Atomic uint64_t n; };
static struct word *ran, *over;     /* ran[i]: how often process i did */

static double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static void pin(int cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)cpu, &set);
    sched_setaffinity(0, sizeof set, &set);
}

static void give_way(int i)
{
    pin(i % 2);
    while (!over->n) {
        ran[i].n++;
        sched_yield();
    }
    _exit(0);
}

static double round_us(int count, double us)
{
    uint64_t before[MAX_PROCESSES], least = UINT64_MAX;
    over->n = 0;
    for (int i = 0; i < count; i++) {
        pid_t pid = fork();
        if (pid < 0) {
            perror("yields: fork");
            over->n = 1;
            exit(2);
        }
        if (!pid) give_way(i);
    }
    usleep(20000);
    double began = now_us();
    for (int i = 0; i < count; i++) before[i] = ran[i].n;
    usleep((useconds_t)us);
    for (int i = 0; i < count; i++) least = ran[i].n - before[i] < least ? ran[i].n - before[i] : least;
    double took = now_us() - began;
    over->n = 1;
    for (int i = 0; i < count; i++) wait(NULL);
    return least ? took / (double)least : took;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    double us = 200000, found[MAX_ROUNDS];
    int rounds = 7, c, bad = 0;
    while ((c = getopt(argc, argv, "r:t:")) != -1) {
        if (c == 'r') rounds = atoi(optarg);
        else if (c == 't') us = atof(optarg);
        else bad = 1;
    }
    for (int i = optind; i < argc; i++) bad |= atoi(argv[i]) < 2 || atoi(argv[i]) > MAX_PROCESSES;
    if (bad || optind == argc || rounds < 1 || rounds > MAX_ROUNDS || us < 1 || us > 1e7) {
        fputs("usage: yields [-r ROUNDS] [-t MICROSECONDS] PROCESSES...\n", stderr);
        return 2;
    }
    ran = mmap(NULL, (MAX_PROCESSES + 1) * sizeof *ran, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (ran == MAP_FAILED) {
        perror("yields: memory");
        return 2;
    }
    over = &ran[MAX_PROCESSES];
    printf("processes   each once      a switch   microseconds (smallest to largest)\n");
    for (int i = optind; i < argc; i++) {
        int count = atoi(argv[i]);
        for (int r = 0; r < rounds; r++) found[r] = round_us(count, us);
        qsort(found, (size_t)rounds, sizeof *found, by_value);
        printf("%9d %11.2f %13.3f   (%.2f to %.2f)\n", count, found[rounds / 2], found[rounds / 2] / ((count + 1) / 2), found[0], found[rounds - 1]);
        fflush(stdout);
    }
    return 0;
}
