/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions of the C library that write past every name: neither by `write`, nor by a stream's table. All of each is done here. */
#include <errno.h>
#include <execinfo.h>
#include <mntent.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <wchar.h>

#include "ft/outcome/real.h"
#include "ft/outcome/record.h"

static int write_all(int fd, const char *text, size_t n)
{
    for (size_t done = 0; done < n;) {
        ssize_t some = write(fd, text + done, n - done);

        if (some < 0)
            return -1;
        done += (size_t)some;
    }
    return (int)n;
}

int vdprintf(int fd, const char *format, va_list args)
{
    char *text;
    int n;

    if (!ft_recording())
        return ft_real()->vdprintf(fd, format, args);
    n = vasprintf(&text, format, args);
    if (n < 0)
        return n;
    n = write_all(fd, text, (size_t)n);
    free(text);
    return n;
}

int dprintf(int fd, const char *format, ...)
{
    va_list args;
    int n;

    va_start(args, format);
    n = vdprintf(fd, format, args);
    va_end(args);
    return n;
}

/* What a fortified program calls. */
int __dprintf_chk(int fd, int flag, const char *format, ...);
int __vdprintf_chk(int fd, int flag, const char *format, va_list args);

int __vdprintf_chk(int fd, int flag, const char *format, va_list args)
{
    (void)flag;
    return vdprintf(fd, format, args);
}

int __dprintf_chk(int fd, int flag, const char *format, ...)
{
    va_list args;
    int n;

    (void)flag;
    va_start(args, format);
    n = vdprintf(fd, format, args);
    va_end(args);
    return n;
}

/* The C library's duplicates a stream that has no orientation yet, so as not to give it one: it writes to the descriptor instead. */
static void complain(const char *text)
{
    if (fwide(stderr, 0) == 0)
        write_all(fileno(stderr), text, strlen(text));
    else if (fwide(stderr, 0) < 0)
        fputs(text, stderr);
    else
        fwprintf(stderr, L"%s", text);
}

void perror(const char *what)
{
    char text[1024], reason[256];
    int error = errno;

    if (!ft_recording()) {
        ft_real()->perror(what);
        return;
    }
    snprintf(text, sizeof text, "%s%s%s\n", what && *what ? what : "", what && *what ? ": " : "",
             strerror_r(error, reason, sizeof reason));
    complain(text);
    errno = error;
}

/* As psignal, which uses the stream: what more the C library's says of a signal is left out. */
void psiginfo(const siginfo_t *info, const char *what)
{
    if (ft_recording())
        psignal(info->si_signo, what);
    else
        ft_real()->psiginfo(info, what);
}

void backtrace_symbols_fd(void *const *frames, int n, int fd)
{
    char **names;

    if (!ft_recording()) {
        ft_real()->backtrace_symbols_fd(frames, n, fd);
        return;
    }
    names = backtrace_symbols(frames, n);
    for (int i = 0; names && i < n; i++)
        dprintf(fd, "%s\n", names[i]);
    free(names);
}

/* Its stream is opened inside the C library. */
FILE *setmntent(const char *name, const char *mode)
{
    char text[16];

    if (!ft_recording())
        return ft_real()->setmntent(name, mode);
    snprintf(text, sizeof text, "%se", mode);
    return fopen64(name, text);
}
