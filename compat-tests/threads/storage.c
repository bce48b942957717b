/* SPDX-License-Identifier: BSD-3-Clause */
/* Thread-local storage of a library that torture loads: in the static block, or allocated when a thread first comes here (-ftls-model). */
#include <stdint.h>

__attribute__((visibility("default"))) uint64_t *storage_of_thread(void);

static _Thread_local uint64_t words[4] = {7, 7, 7, 7};

uint64_t *storage_of_thread(void) { return words; }
