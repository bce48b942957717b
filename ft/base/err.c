/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/base/err.h"

#include <stdarg.h>
#include <stdio.h>

const char *ft_err_text(int err)
{
    switch (err) {
    case FT_OK: return "success";
#define X(name, value, text) case name: return text;
    FT_ERRORS(X)
#undef X
    }
    return "unknown error";
}

int ft_err_set(struct ft_error *e, int err, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(e->text, sizeof e->text, format, args);
    va_end(args);
    return err;
}
