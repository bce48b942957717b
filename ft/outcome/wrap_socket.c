/* SPDX-License-Identifier: BSD-3-Clause */
/* Sockets are made, named, connected and asked. A connection outlives the rank that was killed, so each is made once. Under way, the socket
   itself says whether the call was made: it is there, has a name, a peer. What is read and written is wrap_send.c's.

   Followed are TCP and UDP of IPv4 and IPv6, and streams of one host. Of others the ways back are closed when one is made. */
#include "ft/outcome/real.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include "ft/base/util.h"
#include "ft/outcome/counts.h"
#include "ft/outcome/descriptor_kind.h"
#include "ft/outcome/descriptors.h"
#include "ft/outcome/once.h"
#include "ft/outcome/record.h"
#include "ft/outcome/signals.h"
#include "ft/outcome/tcp.h"

enum call { MADE = -1, BIND = -2, LISTEN = -3, ACCEPT = -4, CONNECT = -5, NAME = -6, PEER = -7, GET_OPTION = -8, SET_OPTION = -9, SHUTDOWN = -10 };

/* A name, as it stands in a record. */
struct name {
    socklen_t bytes;
    struct sockaddr_storage of;
};

static uint64_t what_of(int fd, enum call call, int64_t rest) { return ft_what(fd, call, rest); }

static bool has_name(int fd)
{
    struct name n = {sizeof n.of, {0}};

    if (syscall(SYS_getsockname, fd, &n.of, &n.bytes) < 0)
        return false;
    if (n.of.ss_family == AF_UNIX)
        return n.bytes > sizeof n.of.ss_family;
    return ((struct sockaddr_in *)(void *)&n.of)->sin_port != 0; /* in both versions at the same place */
}

static bool has_peer(int fd)
{
    struct name n = {sizeof n.of, {0}};

    return syscall(SYS_getpeername, fd, &n.of, &n.bytes) == 0;
}

/* A name that a record has, for the caller: as much of it as there is room for. What is behind it is zero: there are programs that send the
   whole structure (gloo), with what else was on the stack. */
static void put_name(const struct name *n, struct sockaddr *to, socklen_t *bytes)
{
    if (!to || !bytes)
        return;
    memcpy(to, &n->of, ft_min(*bytes, sizeof n->of));
    *bytes = n->bytes;
}

/* ---- made ---- */

struct made {
    int domain, type;
};

/* A fresh one. */
static bool is_made(int fd, const void *arg)
{
    const struct made *m = arg;

    return ft_descriptors_option(fd, SO_DOMAIN) == m->domain && ft_descriptors_option(fd, SO_TYPE) == m->type && !has_name(fd) && !has_peer(fd);
}

int socket(int domain, int type, int protocol)
{
    struct made made = {domain, type & ~(SOCK_NONBLOCK | SOCK_CLOEXEC)};
    struct ft_recorded c;
    int fd = -1;

    if (!ft_recording())
        return ft_real()->socket(domain, type, protocol);
    if (ft_recorder.sockets_off || ft_descriptor_kind_of_socket(domain, type, protocol) == FT_DESCRIPTOR_OTHER)
        return FT_CLOSED(ft_real()->socket(domain, type, protocol), ft_recorder.sockets_off ? "it has opened a socket (--sockets=off)" :
                         "it has opened a socket that is neither TCP nor UDP nor a stream of this host");
    if (ft_call_begin(&c, FT_CALL_SOCKET, what_of(domain, MADE, (int64_t)type << 32 | protocol), 0))
        return ft_call_give_fd(&c);
    if (c.under_way)
        fd = ft_descriptors_stray(is_made, &made);
    errno = c.error;
    return ft_call_end_fd(&c, fd >= 0 ? fd : ft_real()->socket(domain, type, protocol));
}

/* ---- named ---- */

/* note[0]: it had a name before. */
int bind(int fd, const struct sockaddr *address, socklen_t bytes)
{
    struct ft_recorded c;
    int result = -1;

    if (!ft_recording())
        return ft_real()->bind(fd, address, bytes);
    if (ft_call_begin(&c, FT_CALL_SOCKET, what_of(fd, BIND, (int64_t)ft_what_bytes(address, bytes)), 0))
        return (int)ft_call_give(&c);
    if (!ft_call_noted(&c))
        ft_call_note(&c, has_name(fd), 0);
    else if (!c.record->note[0] && has_name(fd))
        result = 0;
    errno = c.error;
    return (int)ft_call_end(&c, result == 0 ? 0 : ft_real()->bind(fd, address, bytes), 0);
}

int listen(int fd, int most)
{
    if (!ft_recording())
        return ft_real()->listen(fd, most);
    return (int)FT_CALL_PLAIN(FT_CALL_SOCKET, what_of(fd, LISTEN, most), ft_real()->listen(fd, most));
}

/* call: NAME or PEER. */
FT_CALLED int do_name(int fd, struct sockaddr *to, socklen_t *bytes, enum call call)
{
    struct name n = {sizeof n.of, {0}};
    struct ft_recorded c;
    int result;

    if (!ft_recording() || !bytes)
        return call == NAME ? ft_real()->getsockname(fd, to, bytes) : ft_real()->getpeername(fd, to, bytes);
    if (ft_call_begin(&c, FT_CALL_SOCKET, what_of(fd, call, *bytes), sizeof n)) {
        if (ft_call_bytes(&c) == sizeof n)
            put_name(ft_call_data(&c), to, bytes);
        return (int)ft_call_give(&c);
    }
    result = call == NAME ? ft_real()->getsockname(fd, (struct sockaddr *)&n.of, &n.bytes) : ft_real()->getpeername(fd, (struct sockaddr *)&n.of, &n.bytes);
    if (result == 0)
        put_name(&n, to, bytes);
    return (int)ft_call_end_struct(&c, result, &n, sizeof n);
}

int getsockname(int fd, struct sockaddr *restrict to, socklen_t *restrict bytes) { return do_name(fd, to, bytes, NAME); }
int getpeername(int fd, struct sockaddr *restrict to, socklen_t *restrict bytes) { return do_name(fd, to, bytes, PEER); }

/* ---- connected ---- */

/* A connection to that listener: it has its name. */
static bool is_accepted(int fd, const void *arg)
{
    struct name a = {sizeof a.of, {0}}, b = a;
    int listener = *(const int *)arg;

    if (ft_descriptors_option(fd, SO_ACCEPTCONN) != 0 || syscall(SYS_getsockname, fd, &a.of, &a.bytes) < 0 ||
        syscall(SYS_getsockname, listener, &b.of, &b.bytes) < 0 || a.of.ss_family != b.of.ss_family)
        return false;
    if (a.of.ss_family == AF_UNIX)
        return a.bytes == b.bytes && !memcmp(&a.of, &b.of, a.bytes);
    return ((struct sockaddr_in *)(void *)&a.of)->sin_port == ((struct sockaddr_in *)(void *)&b.of)->sin_port;
}

/* Of the listener's kind. */
static void nobody(int listener, struct name *n)
{
    n->bytes = sizeof n->of;
    syscall(SYS_getsockname, listener, &n->of, &n->bytes);
    memset((char *)&n->of + sizeof n->of.ss_family, 0, sizeof n->of - sizeof n->of.ss_family);
}

/* Of kinds that are not followed the listener is none either. */
static int do_accept(int fd, struct sockaddr *to, socklen_t *bytes, int flags)
{
    struct ft_recorded c;
    struct name n;
    int result;

    if (ft_call_begin_wait(&c, FT_CALL_SOCKET, what_of(fd, ACCEPT, flags), sizeof n)) {
        if (ft_call_bytes(&c) == sizeof n)
            put_name(ft_call_data(&c), to, bytes);
        return ft_call_give_fd(&c);
    }
    n = (struct name){sizeof n.of, {0}};
    result = c.under_way ? ft_descriptors_stray(is_accepted, &fd) : -1;
    errno = c.error;
    if (result >= 0 && syscall(SYS_getpeername, result, &n.of, &n.bytes) < 0)
        nobody(fd, &n); /* its peer is gone */
    else if (result < 0)
        result = FT_WAITING(ft_real()->accept4(fd, (struct sockaddr *)&n.of, &n.bytes, flags));
    if (result < 0)
        return (int)ft_call_end(&c, -1, 0);
    put_name(&n, to, bytes);
    ft_descriptors_add(result);
    ft_once_connected((struct sockaddr *)&n.of);
    if (c.record)
        memcpy(ft_call_data(&c), &n, sizeof n);
    return (int)ft_call_end(&c, result, sizeof n);
}

/* Of a call that is not recorded any more: a start from the beginning is still to be refused. Its errno stays. */
static int noted(int fd, const struct sockaddr *peer, int result)
{
    int error = errno;

    if (ft_recorder.ended && (result >= 0 || error == EINPROGRESS) && ft_descriptors_option(fd, SO_TYPE) == SOCK_STREAM)
        ft_once_connected(peer);
    errno = error;
    return result;
}

/* Whose connection it is does not matter there. */
static int accept_unrecorded(int fd, struct sockaddr *to, socklen_t *bytes, int flags)
{
    struct name own = {sizeof own.of, {0}};

    if (ft_recorder.ended)
        syscall(SYS_getsockname, fd, &own.of, &own.bytes);
    return noted(fd, (struct sockaddr *)&own.of, ft_real()->accept4(fd, to, bytes, flags));
}

int accept(int fd, struct sockaddr *restrict to, socklen_t *restrict bytes)
{
    return ft_recording() ? do_accept(fd, to, bytes, 0) : accept_unrecorded(fd, to, bytes, 0);
}

int accept4(int fd, struct sockaddr *restrict to, socklen_t *restrict bytes, int flags)
{
    return ft_recording() ? do_accept(fd, to, bytes, flags) : accept_unrecorded(fd, to, bytes, flags);
}

enum { UNCONNECTED, CONNECTED, CONNECTS };

static int connection_of(int fd)
{
    if (ft_descriptors_kind(fd) == FT_DESCRIPTOR_TCP && ft_tcp_state(fd) == FT_TCP_SYN_SENT)
        return CONNECTS;
    return has_peer(fd) ? CONNECTED : UNCONNECTED;
}

/* What the killed call came to; 1: it is made again. One that has failed in the background is told so later. */
static int resume_connect(int fd)
{
    bool waits = !(syscall(SYS_fcntl, fd, F_GETFL) & O_NONBLOCK);
    int now = connection_of(fd);

    if (now == UNCONNECTED && ft_descriptors_kind(fd) == FT_DESCRIPTOR_TCP && ft_tcp_has_error(fd))
        now = waits ? CONNECTED : CONNECTS; /* it has been, and was reset since */
    if (now == UNCONNECTED || (now == CONNECTS && waits))
        return 1;
    if (waits || ft_descriptors_kind(fd) == FT_DESCRIPTOR_PIPE)
        return 0;
    errno = EINPROGRESS;
    return -1;
}

/* note[0]: how it was before. */
int connect(int fd, const struct sockaddr *address, socklen_t bytes)
{
    struct ft_recorded c;
    int result;

    if (!ft_recording())
        return noted(fd, address, ft_real()->connect(fd, address, bytes));
    if (ft_call_begin_wait(&c, FT_CALL_SOCKET, what_of(fd, CONNECT, (int64_t)ft_what_bytes(address, bytes)), 0))
        return (int)ft_call_give(&c);
    errno = c.error;
    result = 1;
    if (!ft_call_noted(&c))
        ft_call_note(&c, connection_of(fd), 0);
    else if (c.record->note[0] == UNCONNECTED && ft_descriptors_kind(fd) != FT_DESCRIPTOR_DATAGRAM)
        result = resume_connect(fd);
    ft_counts_set(fd, FT_COUNT_RECEIVED, -1); /* they begin anew */
    ft_counts_set(fd, FT_COUNT_SENT, -1);
    if (result > 0)
        result = FT_WAITING(ft_real()->connect(fd, address, bytes));
    if ((result == 0 || errno == EINPROGRESS) && ft_descriptors_kind(fd) != FT_DESCRIPTOR_DATAGRAM)
        ft_once_connected(address);
    return (int)ft_call_end(&c, result, 0);
}

/* note[0]: it was connected before. One that is closed by now cannot be shut down again, but was. */
int shutdown(int fd, int how)
{
    struct ft_recorded c;
    int result;

    if (!ft_recording())
        return ft_real()->shutdown(fd, how);
    if (ft_call_begin(&c, FT_CALL_SOCKET, what_of(fd, SHUTDOWN, how), 0))
        return (int)ft_call_give(&c);
    if (!ft_call_noted(&c))
        ft_call_note(&c, has_peer(fd), 0);
    errno = c.error;
    result = ft_real()->shutdown(fd, how);
    if (result < 0 && errno == ENOTCONN && c.under_way && c.record->note[0]) {
        errno = c.error;
        result = 0;
    }
    return (int)ft_call_end(&c, result, 0);
}

/* ---- options ---- */

/* What is sent by these is not what the program writes. */
static bool changes_bytes(int level, int option)
{
    return level == IPPROTO_TCP && (option == TCP_ULP || option == TCP_REPAIR);
}

/* note[0]: an error waited. It is told once: whoever was killed when he had been told cannot be told again. */
int getsockopt(int fd, int level, int option, void *restrict to, socklen_t *restrict bytes)
{
    bool error = level == SOL_SOCKET && option == SO_ERROR;
    struct ft_recorded c;
    size_t room;
    int result;

    if (!ft_recording() || !to || !bytes || *bytes > FT_OUTCOME_PIECE)
        return ft_real()->getsockopt(fd, level, option, to, bytes);
    room = *bytes;
    if (ft_call_begin(&c, FT_CALL_SOCKET, what_of(fd, GET_OPTION, (int64_t)ft_what(level, option, (int64_t)room)), room)) {
        if (c.record->result == 0) {
            *bytes = (socklen_t)ft_call_bytes(&c);
            memcpy(to, ft_call_data(&c), *bytes);
        }
        return (int)ft_call_give(&c);
    }
    if (error && !ft_call_noted(&c))
        ft_call_note(&c, ft_tcp_has_error(fd), 0);
    else if (error && c.record->note[0] && !ft_tcp_has_error(fd))
        ft_recorder_lost("it was killed when it was told that descriptor %d had failed, and how cannot be told again", fd);
    errno = c.error;
    result = ft_real()->getsockopt(fd, level, option, to, bytes);
    if (error && result == 0 && *(const int *)to != 0)
        ft_tcp_failed(fd, *(const int *)to);
    return (int)ft_call_end_struct(&c, result, to, ft_min(*bytes, room));
}

int setsockopt(int fd, int level, int option, const void *value, socklen_t bytes)
{
    uint64_t what;

    if (!ft_recording())
        return ft_real()->setsockopt(fd, level, option, value, bytes);
    if (changes_bytes(level, option))
        ft_recorder_close("it has changed what descriptor %d sends (TLS in the kernel, say)", fd);
    what = ft_what(level, option, value ? (int64_t)ft_what_bytes(value, bytes) : 0);
    return (int)FT_CALL_PLAIN(FT_CALL_SOCKET, what_of(fd, SET_OPTION, (int64_t)what), ft_real()->setsockopt(fd, level, option, value, bytes));
}
