/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank of streams.sh: its children. Each adds one line to a file, so that one that was made twice, or not at all, is seen there; how each ended,
   and what it wrote into a pipe, is printed.

     children DIRECTORY ROUNDS */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { AT_ONCE = 3 };

extern char **environ;

static const char *dir;
static volatile sig_atomic_t told;

static void on_child(int signal) { told += signal == SIGCHLD; }

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int handled;

static void before_fork(void) { pthread_mutex_lock(&mutex); }

static void after_fork(void)
{
    handled++;
    pthread_mutex_unlock(&mutex);
}

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static const char *command(const char *format, int round, int k)
{
    static char text[600];
    char line[60];

    snprintf(line, sizeof line, format, round, k);
    snprintf(text, sizeof text, "echo %s >> %s/log; echo %s; exit %d", line, dir, line, (round + k) % 7);
    return text;
}

/* All at once, waited for in any order: what is printed is sorted by their numbers. */
static void several(int round)
{
    pid_t pids[AT_ONCE];
    int status, codes[AT_ONCE];

    for (int k = 0; k < AT_ONCE; k++) {
        pids[k] = fork();
        if (pids[k] < 0)
            die("fork");
        if (pids[k] == 0) {
            if (k == 2) { /* never becomes another program */
                int fd = open(command("fork-%d-%d", round, k) ? dir : "", O_DIRECTORY | O_RDONLY), log = openat(fd, "log", O_WRONLY | O_APPEND | O_CREAT, 0666);

                dprintf(log, "alone-%d\n", round);
                _exit(40 + round % 3);
            }
            dup2(2, 1);
            execl("/bin/sh", "sh", "-c", command("fork-%d-%d", round, k), (char *)NULL);
            _exit(127);
        }
    }
    for (int n = 0; n < AT_ONCE;) {
        pid_t pid = round % 2 ? wait(&status) : waitpid(-1, &status, round % 4 ? WNOHANG : 0);

        if (pid == 0)
            poll(NULL, 0, 1);
        else if (pid < 0 && errno != EINTR)
            die("wait");
        for (int k = 0; pid > 0 && k < AT_ONCE; k++)
            if (pids[k] == pid) {
                codes[k] = status;
                n++;
            }
    }
    for (int k = 0; k < AT_ONCE; k++)
        printf("%d: child %d: %x\n", round, k, (unsigned)codes[k]);
}

static void shell(int round)
{
    FILE *f = popen(command("popen-%d-%d", round, 0), "r");
    char line[200];

    if (!f)
        die("popen");
    while (fgets(line, sizeof line, f))
        printf("%d: read %s", round, line);
    printf("%d: pclose %x\n", round, (unsigned)pclose(f));
    f = popen("cat >&2", "w");
    fprintf(f, "to cat %d\n", round);
    printf("%d: pclose %x\n", round, (unsigned)pclose(f));
    fflush(stdout);
    printf("%d: system %x\n", round, (unsigned)system(command("system-%d-%d", round, 1)));
}

/* It is killed, and looked at before it is taken. */
static void killed(int round)
{
    siginfo_t info = {.si_code = 0};
    struct rusage usage = {.ru_nivcsw = -1};
    int status = -1;
    pid_t pid = fork();

    if (pid == 0) {
        for (;;)
            pause();
    }
    kill(pid, SIGTERM);
    if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) < 0 || info.si_pid != pid)
        die("waitid");
    printf("%d: %d by %d\n", round, info.si_code, info.si_status);
    if (wait4(pid, &status, 0, &usage) != pid || usage.ru_nivcsw < 0)
        die("wait4");
    printf("%d: status %x, then %d\n", round, (unsigned)status, waitpid(pid, NULL, 0) < 0 ? errno : 0);
}

/* Until the handler has run. */
static void told_of(int round)
{
    sigset_t child, before;
    int had = told;
    pid_t pid;

    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child, &before);
    pid = fork();
    if (pid == 0)
        _exit(round % 5);
    while (told == had)
        sigsuspend(&before);
    sigprocmask(SIG_SETMASK, &before, NULL);
    printf("%d: told, %d\n", round, waitpid(pid, NULL, 0) == pid);
}

int main(int argc, char **argv)
{
    struct sigaction handler = {.sa_handler = on_child, .sa_flags = SA_RESTART};

    if (argc != 3)
        return 2;
    dir = argv[1];
    sigaction(SIGCHLD, &handler, NULL);
    pthread_atfork(before_fork, after_fork, after_fork);
    for (int round = 0; round < atoi(argv[2]); round++) {
        several(round);
        shell(round);
        killed(round);
        told_of(round);
    }
    printf("%d, %d forks\n", wait(NULL) < 0 && errno == ECHILD, handled);
    return 0;
}
