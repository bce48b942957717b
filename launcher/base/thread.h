/* SPDX-License-Identifier: BSD-3-Clause */
/* A thread beside the launcher's loop, for what may wait in the kernel. Signals are the loop's; SIGPIPE and SIGXFSZ are nobody's. */
#ifndef LAUNCHER_BASE_THREAD_H
#define LAUNCHER_BASE_THREAD_H

#include <pthread.h>

/* It runs when this returns, so that a fork copies no thread that is just being made: in one, gcc 12's AddressSanitizer may hold its
   allocator's lock, and the copy waits for that for ever (compat-tests/hosts/controller.sh, twice of three times under load).
   0, or what pthread_create says. */
int ft_thread_start(pthread_t *id, void *(*run)(void *), void *arg);

#endif
