/* SPDX-License-Identifier: BSD-3-Clause */
/* Rabit's way of saying where a rank dies: rank,version,seq,trial. seq counts the operations since the last checkpoint (the next
   checkpoint is the last of them), trial the lives of the rank before this one. Below 0 is what a life does once: */
#ifndef RABIT_MOCK_H
#define RABIT_MOCK_H

#include <stdbool.h>

enum mock_seq {
    MOCK_BOOTSTRAP = -1,  /* and -2, -3: the bootstrap operations, in version 0 if they come before the load */
    MOCK_LOAD = -4,
};

/* "mock=1,1,0,0" is noted, and true returned. false: it is something else. */
bool mock_parse(const char *argument);

/* SIGKILL to this process if that was asked for. */
void mock_here(int rank, int version, int seq);

#endif
