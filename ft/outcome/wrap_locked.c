/* SPDX-License-Identifier: BSD-3-Clause */
/* Streams that several threads use. The C library locks a stream in each of its calls, by no name that could be interposed, and it may
   write meanwhile: a thread would wait for its turn with a lock that nobody knows of. So each call is made with flockfile, which is
   recorded; the C library locks once more. As long as there is one thread nothing happens here. */
#include "ft/outcome/stdio.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <wchar.h>

#include "ft/outcome/lock.h"
#include "ft/outcome/real.h"

static int take(FILE *f)
{
    ft_real()->flockfile(f);
    return 0;
}

static void hold(FILE *f) { (void)FT_LOCK_TAKES(FT_LOCK_STREAM, ft_lock_at(f), take(f), take(f), ft_real()->funlockfile(f)); }

/* True: `let` is to follow. */
FT_CALLED bool holds(FILE *f)
{
    if (!ft_locks())
        return false;
    hold(f);
    return true;
}

static void let(FILE *f, bool held)
{
    if (held)
        ft_real()->funlockfile(f);
}

void flockfile(FILE *f)
{
    if (ft_locks())
        hold(f);
    else
        ft_real()->flockfile(f);
}

int ftrylockfile(FILE *f)
{
    if (!ft_locks())
        return ft_real()->ftrylockfile(f);
    return FT_LOCK_TAKES(FT_LOCK_TRY, ft_lock_at(f), ft_real()->ftrylockfile(f), take(f), ft_real()->funlockfile(f));
}

/* ---- calls ---- */

/* X(result, name, parameters, arguments, stream) */
#define CALLS(X)                                                                                                    \
    X(int, fputc, (int c, FILE *f), (c, f), f)                                                                      \
    X(int, fputs, (const char *s, FILE *f), (s, f), f)                                                              \
    X(int, puts, (const char *s), (s), stdout)                                                                      \
    X(size_t, fwrite, (const void *from, size_t size, size_t n, FILE *f), (from, size, n, f), f)                    \
    X(int, fgetc, (FILE * f), (f), f)                                                                               \
    X(char *, fgets, (char *to, int n, FILE *f), (to, n, f), f)                                                     \
    X(char *, __fgets_chk, (char *to, size_t size, int n, FILE *f), (to, size, n, f), f)                            \
    X(size_t, fread, (void *to, size_t size, size_t n, FILE *f), (to, size, n, f), f)                               \
    X(size_t, __fread_chk, (void *to, size_t room, size_t size, size_t n, FILE *f), (to, room, size, n, f), f)      \
    X(ssize_t, getline, (char **to, size_t *n, FILE *f), (to, n, f), f)                                             \
    X(ssize_t, __getdelim, (char **to, size_t *n, int end, FILE *f), (to, n, end, f), f)                            \
    X(int, ungetc, (int c, FILE *f), (c, f), f)                                                                     \
    X(int, fseek, (FILE * f, long offset, int whence), (f, offset, whence), f)                                      \
    X(int, fseeko64, (FILE * f, off_t offset, int whence), (f, offset, whence), f)                                  \
    X(long, ftell, (FILE * f), (f), f)                                                                              \
    X(off_t, ftello64, (FILE * f), (f), f)                                                                          \
    X(int, fgetpos64, (FILE * f, fpos64_t *to), (f, to), f)                                                         \
    X(int, fsetpos64, (FILE * f, const fpos64_t *to), (f, to), f)                                                   \
    X(int, setvbuf, (FILE * f, char *buffer, int mode, size_t n), (f, buffer, mode, n), f)                          \
    X(wint_t, fputwc, (wchar_t c, FILE *f), (c, f), f)                                                              \
    X(int, fputws, (const wchar_t *s, FILE *f), (s, f), f)                                                          \
    X(wint_t, fgetwc, (FILE * f), (f), f)                                                                           \
    X(wchar_t *, fgetws, (wchar_t *to, int n, FILE *f), (to, n, f), f)                                              \
    X(wint_t, ungetwc, (wint_t c, FILE *f), (c, f), f)

#define X(result, name, parameters, arguments, stream) \
    result name parameters                             \
    {                                                  \
        FILE *held = stream;                           \
        bool is_held = holds(held);                    \
        result given = ft_real()->name arguments;      \
                                                       \
        let(held, is_held);                            \
        return given;                                  \
    }
CALLS(X)
#undef X

/* The same under other names, which a macro of the C library's may have. */
#undef putc
#undef getc
#undef putchar
#undef getchar
#undef putwc
#undef getwc
#undef putwchar
#undef getwchar
int _IO_putc(int c, FILE *f);
int _IO_getc(FILE *f);
int putc(int c, FILE *f) __attribute__((alias("fputc")));
int _IO_putc(int c, FILE *f) __attribute__((alias("fputc"), nonnull(2)));
int getc(FILE *f) __attribute__((alias("fgetc")));
int _IO_getc(FILE *f) __attribute__((alias("fgetc")));
wint_t putwc(wchar_t c, FILE *f) __attribute__((alias("fputwc")));
wint_t getwc(FILE *f) __attribute__((alias("fgetwc")));
ssize_t getdelim(char **to, size_t *n, int end, FILE *f) __attribute__((alias("__getdelim")));
int fseeko(FILE *f, off_t offset, int whence) __attribute__((alias("fseeko64")));
off_t ftello(FILE *f) __attribute__((alias("ftello64")));

int __vprintf_chk(int flag, const char *format, va_list args);
int __vwprintf_chk(int flag, const wchar_t *format, va_list args);
int __isoc99_vscanf(const char *format, va_list args);

/* Headers have the names with __isoc99 in place of those without: here they are what they are. */
int old_vfscanf(FILE *f, const char *format, va_list args) __asm__("vfscanf");
int old_vscanf(const char *format, va_list args) __asm__("vscanf");
int old_scanf(const char *format, ...) __asm__("scanf");
int old_fscanf(FILE *f, const char *format, ...) __asm__("fscanf");

#define OF_STANDARD(result, name, parameters, arguments, stream, of) \
    result name parameters                                           \
    {                                                                \
        FILE *held = stream;                                         \
        bool is_held = holds(held);                                  \
        result given = ft_real()->of arguments;                      \
                                                                     \
        let(held, is_held);                                          \
        return given;                                                \
    }
OF_STANDARD(int, fgetpos, (FILE * f, fpos_t *to), (held, (fpos64_t *)(void *)to), f, fgetpos64)
OF_STANDARD(int, fsetpos, (FILE * f, const fpos_t *to), (held, (const fpos64_t *)(const void *)to), f, fsetpos64)
OF_STANDARD(int, putchar, (int c), (c, held), stdout, fputc)
OF_STANDARD(int, getchar, (void), (held), stdin, fgetc)
OF_STANDARD(wint_t, putwchar, (wchar_t c), (c, held), stdout, fputwc)
OF_STANDARD(wint_t, getwchar, (void), (held), stdin, fgetwc)
OF_STANDARD(int, vfprintf, (FILE * f, const char *format, va_list args), (held, format, args), f, vfprintf)
OF_STANDARD(int, vprintf, (const char *format, va_list args), (held, format, args), stdout, vfprintf)
OF_STANDARD(int, __vfprintf_chk, (FILE * f, int flag, const char *format, va_list args), (held, flag, format, args), f, __vfprintf_chk)
OF_STANDARD(int, __vprintf_chk, (int flag, const char *format, va_list args), (held, flag, format, args), stdout, __vfprintf_chk)
OF_STANDARD(int, vfwprintf, (FILE * f, const wchar_t *format, va_list args), (held, format, args), f, vfwprintf)
OF_STANDARD(int, vwprintf, (const wchar_t *format, va_list args), (held, format, args), stdout, vfwprintf)
OF_STANDARD(int, __vfwprintf_chk, (FILE * f, int flag, const wchar_t *format, va_list args), (held, flag, format, args), f, __vfwprintf_chk)
OF_STANDARD(int, __vwprintf_chk, (int flag, const wchar_t *format, va_list args), (held, flag, format, args), stdout, __vfwprintf_chk)
OF_STANDARD(int, old_vfscanf, (FILE * f, const char *format, va_list args), (held, format, args), f, vfscanf)
OF_STANDARD(int, old_vscanf, (const char *format, va_list args), (held, format, args), stdin, vfscanf)
OF_STANDARD(int, __isoc99_vfscanf, (FILE * f, const char *format, va_list args), (held, format, args), f, __isoc99_vfscanf)
OF_STANDARD(int, __isoc99_vscanf, (const char *format, va_list args), (held, format, args), stdin, __isoc99_vfscanf)

void rewind(FILE *f)
{
    bool held = holds(f);

    ft_real()->rewind(f);
    let(f, held);
}

void psignal(int number, const char *what)
{
    bool held = holds(stderr);

    ft_real()->psignal(number, what);
    let(stderr, held);
}

/* ---- with arguments of any number ---- */

/* parameters: all but those; arguments: of the same function with a list of them, `args`. */
#define OF_LIST(name, last, parameters, stream, of, arguments) \
    int name parameters                                        \
    {                                                          \
        FILE *held = stream;                                   \
        bool is_held = holds(held);                            \
        va_list args;                                          \
        int given;                                             \
                                                               \
        va_start(args, last);                                  \
        given = ft_real()->of arguments;                       \
        va_end(args);                                          \
        let(held, is_held);                                    \
        return given;                                          \
    }

int __printf_chk(int flag, const char *format, ...);
int __fprintf_chk(FILE *f, int flag, const char *format, ...);
int __wprintf_chk(int flag, const wchar_t *format, ...);
int __fwprintf_chk(FILE *f, int flag, const wchar_t *format, ...);
int _IO_printf(const char *format, ...);

OF_LIST(printf, format, (const char *format, ...), stdout, vfprintf, (held, format, args))
OF_LIST(_IO_printf, format, (const char *format, ...), stdout, vfprintf, (held, format, args))
OF_LIST(fprintf, format, (FILE * f, const char *format, ...), f, vfprintf, (held, format, args))
OF_LIST(__printf_chk, format, (int flag, const char *format, ...), stdout, __vfprintf_chk, (held, flag, format, args))
OF_LIST(__fprintf_chk, format, (FILE * f, int flag, const char *format, ...), f, __vfprintf_chk, (held, flag, format, args))
OF_LIST(wprintf, format, (const wchar_t *format, ...), stdout, vfwprintf, (held, format, args))
OF_LIST(fwprintf, format, (FILE * f, const wchar_t *format, ...), f, vfwprintf, (held, format, args))
OF_LIST(__wprintf_chk, format, (int flag, const wchar_t *format, ...), stdout, __vfwprintf_chk, (held, flag, format, args))
OF_LIST(__fwprintf_chk, format, (FILE * f, int flag, const wchar_t *format, ...), f, __vfwprintf_chk, (held, flag, format, args))

int __isoc99_scanf(const char *format, ...);
int __isoc99_fscanf(FILE *f, const char *format, ...);

OF_LIST(old_scanf, format, (const char *format, ...), stdin, vfscanf, (held, format, args))
OF_LIST(old_fscanf, format, (FILE * f, const char *format, ...), f, vfscanf, (held, format, args))
OF_LIST(__isoc99_scanf, format, (const char *format, ...), stdin, __isoc99_vfscanf, (held, format, args))
OF_LIST(__isoc99_fscanf, format, (FILE * f, const char *format, ...), f, __isoc99_vfscanf, (held, format, args))

/* ---- all streams ---- */

static pthread_mutex_t all = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

static int take_all(void) { return ft_real()->pthread_mutex_lock(&all); }

static void let_all(void) { ft_real()->pthread_mutex_unlock(&all); }

static void hold_all(void) { (void)FT_LOCK_TAKES(FT_LOCK_STREAM, ft_lock_at_mutex(&all), take_all(), take_all(), let_all()); }

int ft_stdio_close(FILE *f, bool counted)
{
    int result;

    if (!counted)
        return ft_real()->fclose(f);
    hold_all();
    result = ft_real()->fclose(f);
    let_all();
    return result;
}

enum { NO_WRITES = 8, IN_WRITING = 0x800, /* bits of a stream's flags, libio/libio.h */ STREAMS = 1024 };

/* It has something for the system. */
static bool is_full(const FILE *f)
{
    return f->_mode > 0 ? f->_flags & IN_WRITING : f->_IO_write_ptr > f->_IO_write_base;
}

/* All that are written to. What the C library opens for itself is not. */
static int list_written(FILE **to)
{
    FILE *const *first = dlsym(RTLD_DEFAULT, "_IO_list_all");
    int n = 0;

    ft_real()->_IO_list_lock();
    for (FILE *f = first ? *first : NULL; f && n < STREAMS; f = f->_chain)
        if (!(f->_flags & NO_WRITES))
            to[n++] = f;
    ft_real()->_IO_list_unlock();
    return n;
}

/* The C library's holds a lock on the list of them meanwhile. Here none is closed meanwhile; each is looked at with its lock. */
#pragma GCC diagnostic ignored "-Wframe-larger-than=" /* 8 KiB, and nothing of the program's is below */
static int flush_all(void)
{
    FILE *written[STREAMS];
    int n, result = 0;

    hold_all();
    n = list_written(written);
    for (int i = 0; i < n; i++) {
        hold(written[i]);
        if (is_full(written[i]) && ft_real()->fflush(written[i]) < 0)
            result = EOF;
        ft_real()->funlockfile(written[i]);
    }
    let_all();
    return result;
}

int fflush(FILE *f)
{
    bool held;
    int result;

    if (!f)
        return ft_locks() ? flush_all() : ft_real()->fflush(NULL);
    held = holds(f);
    result = ft_real()->fflush(f);
    let(f, held);
    return result;
}
