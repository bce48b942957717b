/* SPDX-License-Identifier: BSD-3-Clause */
/* One binary, run with Open MPI's library and with ours, must print the same: the class of error of each call (abi.sh lists where ours is
   stricter on purpose). Some of them crash Open MPI: said, too. */
#ifndef FTMPI_TEST_CRASHES_H
#define FTMPI_TEST_CRASHES_H

#include <mpi.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

enum { CRASHES_IN_FINALIZE = 9 };

static sigjmp_buf back;

static void crashed(int signal)
{
    (void)signal;
    siglongjmp(back, 1);
}

/* Open MPI, once, on a busy machine: that was taken for one more line of the last case. */
static void crashed_at_the_end(int signal)
{
    (void)signal;
    _exit(CRASHES_IN_FINALIZE);
}

#define CASE(call)                                              \
    do {                                                        \
        if (sigsetjmp(back, 1) == 0) {                          \
            int code_ = (call), class_ = -1;                    \
            MPI_Error_class(code_, &class_);                    \
            printf("%s -> %d\n", #call, class_);                \
        } else {                                                \
            printf("%s -> crash\n", #call);                     \
        }                                                       \
    } while (0)

static inline void start(void)
{
    MPI_Init(NULL, NULL);
    signal(SIGSEGV, crashed);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
}

static inline void end(void)
{
    fflush(stdout);
    signal(SIGSEGV, crashed_at_the_end);
    MPI_Finalize();
}

#endif
