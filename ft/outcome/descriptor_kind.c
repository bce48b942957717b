/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/outcome/descriptor_kind.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <termios.h>
#include <unistd.h>

#include "ft/outcome/record.h"

/* ---- sockets ---- */

enum ft_descriptor_kind ft_descriptor_kind_of_socket(int domain, int type, int protocol)
{
    type &= ~(SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (domain == AF_UNIX && type == SOCK_STREAM)
        return FT_DESCRIPTOR_PIPE;
    if (domain != AF_INET && domain != AF_INET6)
        return FT_DESCRIPTOR_OTHER;
    if (type == SOCK_STREAM && (protocol == 0 || protocol == IPPROTO_TCP))
        return FT_DESCRIPTOR_TCP;
    return type == SOCK_DGRAM && (protocol == 0 || protocol == IPPROTO_UDP) ? FT_DESCRIPTOR_DATAGRAM : FT_DESCRIPTOR_OTHER;
}

/* A stream of this host that has no names, as socketpair makes: it leads nowhere else. */
static bool is_pair(int fd)
{
    struct sockaddr_storage own, peer;
    socklen_t bytes = sizeof own, others = sizeof peer;

    return syscall(SYS_getsockname, fd, &own, &bytes) == 0 && bytes == sizeof own.ss_family &&
           syscall(SYS_getpeername, fd, &peer, &others) == 0 && others == sizeof peer.ss_family;
}

/* Others are not to be followed: --sockets=off. */
static enum ft_descriptor_kind ask_socket(int fd)
{
    int domain = ft_descriptors_option(fd, SO_DOMAIN);

    if (ft_recorder.sockets_off && (domain != AF_UNIX || !is_pair(fd)))
        return FT_DESCRIPTOR_OTHER;
    return ft_descriptor_kind_of_socket(domain, ft_descriptors_option(fd, SO_TYPE), ft_descriptors_option(fd, SO_PROTOCOL));
}

/* ---- all ---- */

/* Terminals and accelerators: nobody but their driver knows their state. Nothing that is read from or written to null, zero, full,
   random or urandom is missed. */
bool ft_descriptor_kind_is_odd(int fd)
{
    struct stat st;

    if (syscall(SYS_fstat, fd, &st) < 0)
        return false;
    if (S_ISCHR(st.st_mode))
        return major(st.st_rdev) != 1 || minor(st.st_rdev) < 3 || minor(st.st_rdev) > 9;
    if (S_ISSOCK(st.st_mode))
        return ask_socket(fd) == FT_DESCRIPTOR_OTHER;
    if (!(st.st_mode & S_IFMT))
        return !ft_descriptors_is_anonymous(fd, "anon_inode:[eventfd]") && !ft_descriptors_is_anonymous(fd, "anon_inode:[eventpoll]");
    return !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode) && !S_ISFIFO(st.st_mode) && !S_ISLNK(st.st_mode);
}

enum ft_descriptor_kind ft_descriptor_kind_ask(int fd)
{
    int flags = (int)syscall(SYS_fcntl, fd, F_GETFL);
    struct termios terminal;
    struct stat st;

    if (flags < 0 || syscall(SYS_fstat, fd, &st) < 0)
        return FT_DESCRIPTOR_UNKNOWN; /* it is none: the call will say so */
    if (S_ISREG(st.st_mode)) /* a write to one that is read only fails, and leaves the offset alone */
        return flags & O_APPEND && (flags & O_ACCMODE) != O_RDONLY ? FT_DESCRIPTOR_APPEND : FT_DESCRIPTOR_FILE;
    if (S_ISFIFO(st.st_mode))
        return FT_DESCRIPTOR_PIPE;
    if (S_ISSOCK(st.st_mode))
        return ask_socket(fd);
    if (!(st.st_mode & S_IFMT) && ft_descriptors_is_anonymous(fd, "anon_inode:[eventfd]"))
        return FT_DESCRIPTOR_EVENT;
    return S_ISCHR(st.st_mode) && syscall(SYS_ioctl, fd, TCGETS, &terminal) == 0 ? FT_DESCRIPTOR_TERMINAL : FT_DESCRIPTOR_OTHER;
}
