/* SPDX-License-Identifier: BSD-3-Clause */
/* ioctl: known requests are in a table, which says how many bytes the kernel fills in. Of any other one nobody here knows what it does:
   no copy of before can be woken. Under way: made again. */
#include "ft/outcome/real.h"

#include <errno.h>
#include <linux/fs.h>
#include <stdarg.h>
#include <string.h>
#include <termios.h>

#include "ft/outcome/descriptors.h"
#include "ft/outcome/output.h"
#include "ft/outcome/record.h"

enum { TERMIOS = 36 }; /* the kernel's, which is smaller than the C library's */

struct request {
    unsigned long number;
    unsigned char fills;  /* so many bytes at the argument */
};

static const struct request known[] = {
    {FIOCLEX, 0}, {FIONCLEX, 0}, {FIONBIO, 0}, {FIOASYNC, 0}, {FIONREAD, sizeof(int)}, {TIOCOUTQ, sizeof(int)},
    {FIOQSIZE, sizeof(int64_t)},
    {TCGETS, TERMIOS}, {TCSETS, 0}, {TCSETSW, 0}, {TCSETSF, 0}, {TCSBRK, 0}, {TCXONC, 0}, {TCFLSH, 0},
    {TIOCGWINSZ, sizeof(struct winsize)}, {TIOCSWINSZ, 0}, {TIOCGPGRP, sizeof(int)}, {TIOCSPGRP, 0}, {TIOCGSID, sizeof(int)},
    {TIOCGETD, sizeof(int)}, {TIOCMGET, sizeof(int)}, {TIOCEXCL, 0}, {TIOCNXCL, 0}, {TIOCNOTTY, 0}, {TIOCSCTTY, 0},
    {TIOCGPTN, sizeof(int)}, {TIOCSPTLCK, 0}, {TIOCGPTLCK, sizeof(int)},
    {FICLONE, 0}, {FICLONERANGE, 0}, {FS_IOC_GETFLAGS, sizeof(int)}, {FS_IOC_SETFLAGS, 0}, {FS_IOC_GETVERSION, sizeof(int)},
    {FS_IOC_FSGETXATTR, sizeof(struct fsxattr)}, {FS_IOC_FSSETXATTR, 0}, {FIGETBSZ, sizeof(int)}, {BLKGETSIZE, sizeof(long)},
    {BLKGETSIZE64, sizeof(uint64_t)}, {BLKSSZGET, sizeof(int)}, {BLKPBSZGET, sizeof(int)}, {BLKROGET, sizeof(int)},
};

static const struct request *find(unsigned long number)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].number == number)
            return &known[i];
    return NULL;
}

static int do_unknown(int fd, unsigned long request, void *arg)
{
    struct ft_recorded c;
    int result;

    if (ft_call_begin(&c, FT_CALL_IOCTL, ft_what(fd, (int64_t)request, 0), 0) || c.under_way)
        ft_recorder_lost("it called ioctl with request 0x%lx, whose outcome is not kept", request);
    result = (int)ft_call_end(&c, ft_real()->ioctl(fd, request, arg), 0);
    ft_recorder_close("it calls ioctl with request 0x%lx, whose outcome is not kept", request);
    return result;
}

static int do_ioctl(int fd, unsigned long request, void *arg)
{
    const struct request *r = find(request);
    struct ft_recorded c;

    if (!r)
        return do_unknown(fd, request, arg);
    if (ft_call_begin(&c, FT_CALL_IOCTL, ft_what(fd, (int64_t)request, 0), r->fills))
        return (int)(r->fills ? ft_call_give_struct(&c, arg, r->fills) : ft_call_give(&c));
    return (int)ft_call_end_struct(&c, ft_real()->ioctl(fd, request, arg), r->fills ? arg : &c, r->fills);
}

int ioctl(int fd, unsigned long request, ...)
{
    va_list args;
    void *arg;

    va_start(args, request);
    arg = va_arg(args, void *);
    va_end(args);
    if (ft_descriptors_is_own(fd)) {
        errno = EBADF;
        return -1;
    }
    if (request == TIOCGWINSZ && ft_output_is_terminal(fd, arg))
        return 0;
    return ft_recording() ? do_ioctl(fd, request, arg) : ft_real()->ioctl(fd, request, arg);
}
