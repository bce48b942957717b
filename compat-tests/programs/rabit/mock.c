/* SPDX-License-Identifier: BSD-3-Clause */
#include "mock.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ftmpi.h"

#define MOST 256

static struct { int rank, version, seq, trial; } mocks[MOST];
static int n;

bool mock_parse(const char *argument)
{
    if (strncmp(argument, "mock=", 5) != 0)
        return false;
    if (n == MOST || sscanf(argument + 5, "%d,%d,%d,%d", &mocks[n].rank, &mocks[n].version, &mocks[n].seq, &mocks[n].trial) != 4) {
        fprintf(stderr, "%s: not mock=rank,version,seq,trial, or more than %d of them\n", argument, MOST);
        exit(2);
    }
    n++;
    return true;
}

void mock_here(int rank, int version, int seq)
{
    int trial = 0;

    MPIX_Incarnation(&trial);
    for (int i = 0; i < n; i++) {
        if (mocks[i].rank == rank && mocks[i].version == version && mocks[i].seq == seq && mocks[i].trial == trial)
            kill(getpid(), SIGKILL);
    }
}
