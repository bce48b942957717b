/* SPDX-License-Identifier: BSD-3-Clause */
/* Waits for whatever child there is, and takes it for granted that it is one of its own: wait() until ECHILD. */
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rounds.h"

int main(int argc, char **argv)
{
    struct rounds r;
    pid_t pid;
    int status;

    rounds_begin(&r, argc, argv);
    while (rounds_more(&r)) {
        MUST(&r, waitpid(-1, &status, WNOHANG) < 0 && errno == ECHILD); /* nobody else's */
        MUST(&r, waitpid(-1, &status, WNOHANG | __WALL) < 0 && errno == ECHILD);
        if (r.at % 5) continue;
        unsigned kids = (unsigned)(rounds_draw(&r, 0) % 4);
        for (unsigned i = 0; i < kids; i++) {
            pid = fork();
            if (pid == 0) _exit((int)(rounds_draw(&r, 1 + i) % 200));
            MUST(&r, pid > 0);
        }
        uint64_t codes = 0, found = 0;
        while ((pid = wait(&status)) > 0) {
            MUST(&r, WIFEXITED(status));
            codes += (uint64_t)WEXITSTATUS(status);
            found++;
        }
        MUST(&r, errno == ECHILD && found == kids);
        rounds_mix(&r, codes);
    }
    return rounds_end(&r);
}
