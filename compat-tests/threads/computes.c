/* SPDX-License-Identifier: BSD-3-Clause */
/* computes LINES GO: threads that make no call and wait for a signal's handler. First another thread than main's, which main sends one when there is
   GO.1; then main's, which gets one from outside. LINES says how far it is. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t caught, ends;
static const char *lines, *go;

static void on_signal(int number) { caught += number == SIGUSR1; }

static int tell(const char *line)
{
    int fd = open(lines, O_WRONLY | O_CREAT | O_APPEND, 0666);
    ssize_t n = (ssize_t)strlen(line);

    return fd < 0 || write(fd, line, (size_t)n) != n || close(fd) != 0;
}

static void *compute(void *arg)
{
    while (!caught)
        ;
    return arg;
}

static int is_there(void)
{
    char name[4096];

    snprintf(name, sizeof name, "%s.1", go);
    return access(name, F_OK) == 0;
}

/* Snapshots are made at its calls. */
static void *make_calls(void *arg)
{
    while (!ends)
        usleep(1000);
    return arg;
}

int main(int argc, char **argv)
{
    sigset_t set;
    pthread_t thread;

    if (argc != 3)
        return 2;
    lines = argv[1], go = argv[2];
    if (sigaction(SIGUSR1, &(struct sigaction){.sa_handler = on_signal, .sa_flags = SA_RESTART}, NULL) != 0 ||
        pthread_create(&thread, NULL, compute, NULL) != 0 || tell("it computes\n") != 0)
        return 1;
    while (!is_there())
        usleep(1000);
    if (pthread_kill(thread, SIGUSR1) != 0 || pthread_join(thread, NULL) != 0)
        return 1;
    printf("another thread: %d\n", (int)caught);
    fflush(stdout);

    caught = 0;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    if (pthread_create(&thread, NULL, make_calls, NULL) != 0 || tell("main computes\n") != 0)
        return 1;
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    compute(NULL);
    ends = 1;
    pthread_join(thread, NULL);
    printf("main: %d\n", (int)caught);
    return 0;
}
