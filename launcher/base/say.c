/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/base/say.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

enum { LINE_MAX_BYTES = 2048, TIME_BYTES = 48 };

/* As --timestamp-output has it before the ranks' lines (launcher/stdio/format.c). */
static size_t put_time(char *line)
{
    time_t now = time(NULL);
    struct tm local;

    return strftime(line, TIME_BYTES, "%a %b %e %H:%M:%S %Y<stderr>:", localtime_r(&now, &local));
}

void ft_say_line(const struct ft_say *s, const char *text, size_t len)
{
    char line[TIME_BYTES + LINE_MAX_BYTES];
    size_t head = s->timestamp ? put_time(line) : 0;

    if (len > LINE_MAX_BYTES)
        len = LINE_MAX_BYTES;
    memcpy(line + head, text, len);
    len += head;
    if (s->copy)
        s->copy(s->copy_arg, line, len);
    if (s->put) {
        s->put(s->put_arg, line, len);
    } else if (write(2, line, len) < 0) {
        /* nobody is left to tell */
    }
    if (s->tap)
        s->tap(s->tap_arg, 1, line, len);
}

static void say(const struct ft_say *s, const char *format, va_list args)
{
    char line[LINE_MAX_BYTES] = "ftrun: ";
    int head = 7, n = vsnprintf(line + head, sizeof line - (size_t)head - 1, format, args);
    size_t len = (size_t)head + (size_t)(n < 0 ? 0 : n);

    if (len > sizeof line - 2)
        len = sizeof line - 2;
    line[len++] = '\n';
    ft_say_line(s, line, len);
}

#define SAY()                       \
    va_list args;                   \
    va_start(args, format);         \
    say(s, format, args);           \
    va_end(args)

void ft_say(const struct ft_say *s, const char *format, ...)
{
    SAY();
}

void ft_say_notice(const struct ft_say *s, const char *format, ...)
{
    if (!s->quiet) {
        SAY();
    }
}

void ft_say_detail(const struct ft_say *s, const char *format, ...)
{
    if (s->verbose >= 1) {
        SAY();
    }
}

void ft_say_step(const struct ft_say *s, const char *format, ...)
{
    if (s->verbose >= 2) {
        SAY();
    }
}

void ft_say_debug(const struct ft_say *s, const char *format, ...)
{
    if (s->verbose >= 3) {
        SAY();
    }
}

static const char *known_as;

void ft_say_set_host(const char *name)
{
    known_as = name;
}

const char *ft_say_host(void)
{
    static struct utsname name; /* filled once, the same for ever */

    if (known_as)
        return known_as;
    if (!name.nodename[0])
        uname(&name);
    return name.nodename;
}
