/* SPDX-License-Identifier: BSD-3-Clause */
/* ioctl: known requests are in a table, which says how many bytes the kernel fills in. Of any other one nobody here knows what it does:
   no copy of before can be woken, if it succeeds. Under way: made again. */
#include "ft/outcome/real.h"

#include <errno.h>
#include <linux/ethtool.h>
#include <linux/fs.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>
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
    {SIOCGIFNAME, sizeof(struct ifreq)}, {SIOCGIFINDEX, sizeof(struct ifreq)}, {SIOCGIFFLAGS, sizeof(struct ifreq)}, {SIOCGIFADDR, sizeof(struct ifreq)},
    {SIOCGIFNETMASK, sizeof(struct ifreq)}, {SIOCGIFBRDADDR, sizeof(struct ifreq)}, {SIOCGIFMTU, sizeof(struct ifreq)}, {SIOCGIFHWADDR, sizeof(struct ifreq)},
};

static const struct request *find(unsigned long number)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].number == number)
            return &known[i];
    return NULL;
}

/* One that fails does nothing, so that is its outcome. */
static int do_unknown(int fd, unsigned long request, void *arg)
{
    bool is_given;
    struct ft_recorded c;
    int result;

    is_given = ft_call_begin(&c, FT_CALL_IOCTL, ft_what(fd, (int64_t)request, 0), 0);
    if (is_given && c.record->result < 0)
        return (int)ft_call_give(&c);
    if (is_given || c.under_way)
        ft_recorder_lost("it called ioctl with request 0x%lx, whose outcome is not kept", request);
    result = (int)ft_call_end(&c, ft_real()->ioctl(fd, request, arg), 0);
    if (result >= 0)
        ft_recorder_close("it calls ioctl with request 0x%lx, whose outcome is not kept", request);
    return result;
}

/* How fast an interface is, asked by libraries of communication: what is filled in is where the argument points to. 0: not known. */
static size_t ethtool_fills(const void *data)
{
    struct ethtool_link_settings link;
    uint32_t command;

    memcpy(&command, data, sizeof command);
    switch (command) {
    case ETHTOOL_GSET:
        return sizeof(struct ethtool_cmd);
    case ETHTOOL_GLINK:
        return sizeof(struct ethtool_value);
    case ETHTOOL_GDRVINFO:
        return sizeof(struct ethtool_drvinfo);
    case ETHTOOL_GLINKSETTINGS:
        memcpy(&link, data, sizeof link);
        return sizeof link + (link.link_mode_masks_nwords > 0 ? 3 * sizeof(uint32_t) * (size_t)link.link_mode_masks_nwords : 0);
    default:
        return 0;
    }
}

static int do_ethtool(int fd, struct ifreq *arg)
{
    size_t fills = ethtool_fills(arg->ifr_data);
    struct ft_recorded c;

    if (!fills)
        return do_unknown(fd, SIOCETHTOOL, arg);
    if (ft_call_begin(&c, FT_CALL_IOCTL, ft_what(fd, SIOCETHTOOL, (int64_t)ft_what_name(arg->ifr_name)), fills))
        return (int)ft_call_give_struct(&c, arg->ifr_data, fills);
    return (int)ft_call_end_struct(&c, ft_real()->ioctl(fd, SIOCETHTOOL, arg), arg->ifr_data, fills);
}

static int do_ioctl(int fd, unsigned long request, void *arg)
{
    const struct request *r = find(request);
    struct ft_recorded c;

    if (request == SIOCETHTOOL)
        return do_ethtool(fd, arg);
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
