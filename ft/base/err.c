/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/base/err.h"

#include <stdarg.h>
#include <stdio.h>

int ft_err_set(struct ft_error *e, int err, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(e->text, sizeof e->text, format, args);
    va_end(args);
    return err;
}
