/* SPDX-License-Identifier: BSD-3-Clause */
/* Many short pieces on their way to one place become few long ones. */
#ifndef LAUNCHER_STDIO_STAGE_H
#define LAUNCHER_STDIO_STAGE_H

#include <stddef.h>

enum { FT_STAGE_BYTES = 64 << 10 };

struct ft_stage {
    void (*put)(void *arg, const char *data, size_t len);
    void *arg;
    size_t n;                /* bytes that wait */
    char bytes[FT_STAGE_BYTES];
};

/* stage: a struct ft_stage, as what ft_format_lines hands out to. What is larger than it goes past it. */
void ft_stage_add(void *stage, const char *data, size_t len);

/* Puts what waits. */
void ft_stage_flush(struct ft_stage *s);

#endif
