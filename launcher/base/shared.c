/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/base/shared.h"

#include <sys/mman.h>

void *ft_shared_new(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    return memory == MAP_FAILED ? NULL : memory;
}

void ft_shared_free(void *memory, size_t bytes)
{
    if (memory)
        munmap(memory, bytes);
}
