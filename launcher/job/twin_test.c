/* SPDX-License-Identifier: BSD-3-Clause */
/* What becomes of the twin (launcher/job/twin.h) when there is no memory for it. */
#include <criterion/criterion.h>

#include <fcntl.h>
#include <unistd.h>

#include "launcher/base/shared.h"
#include "launcher/job/twin.h"

/* In place of shared.c: there is none. */
void *ft_shared_new(size_t bytes)
{
    (void)bytes;
    return NULL;
}

void ft_shared_free(void *memory, size_t bytes)
{
    (void)memory;
    (void)bytes;
}

/* Its descriptors were 0 until it was made, and it closed them. */
Test(twin, without_memory_standard_input_stays_open)
{
    struct ft_twin *twin;
    struct ft_error e;
    int null = open("/dev/null", O_RDONLY);

    cr_assert_eq(dup2(null, STDIN_FILENO), STDIN_FILENO);
    cr_assert_eq(ft_twin_new(&twin, 3, &e), FT_ENOMEM);
    cr_assert(fcntl(STDIN_FILENO, F_GETFD) >= 0);
}
