/* SPDX-License-Identifier: BSD-3-Clause */
/* Bytes of a connection can neither be read nor sent a second time. But the kernel counts them, and a connection outlives the rank that
   was killed in a call on it. note[0] is what had been received, or sent, before the call; the difference to what the kernel counts now
   is what that call has done.

     received   bytes_received, less what waits to be read, less one for the end (FIN), which counts as a byte
     sent       bytes_acked, and what waits to be acknowledged. Retransmissions change neither

   Bytes are received straight into the record. So those that the killed call has received are there, in the order of the stream.

   The end is told by the state. A closed connection (CLOSED) has had one, or was reset: then an error waits to be told. If that was
   told to the killed call, the count is one less than can be.

   The counts are kept here as long as nobody else uses the connection, as offsets of files are (descriptors.h). */
#include "ft/outcome/tcp.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "ft/base/util.h"
#include "ft/outcome/counts.h"
#include "ft/outcome/descriptors.h"
#include "ft/outcome/pieces.h"
#include "ft/outcome/real.h"
#include "ft/outcome/record.h"
#include "ft/outcome/signals.h"

/* note[1] of a call, before it is made: of a connection that is CLOSED, whether an error waits. */
enum { OPEN, CLOSED, CLOSED_BY_ERROR };

/* `step` of a call: the kernel has told it this error, after it had done something. The next call is told that. */
static int owes(const struct ft_outcome *o) { return o->step > 1 ? o->step - 1 : 0; }

enum { LOOK_MS = 100 };

struct counts {
    struct tcp_info info;
    int64_t received;   /* with the end, if that has come */
    int64_t sent;
};

static int asked(int fd, unsigned long request)
{
    int n = 0;

    syscall(SYS_ioctl, fd, request, &n);
    return n;
}

static void read_info(int fd, struct tcp_info *info)
{
    socklen_t bytes = sizeof *info;

    memset(info, 0, sizeof *info);
    syscall(SYS_getsockopt, fd, IPPROTO_TCP, TCP_INFO, info, &bytes);
}

/* As of one moment: again, until nothing has come meanwhile. */
static void look(int fd, struct counts *c)
{
    struct tcp_info before;

    read_info(fd, &c->info);
    do {
        before = c->info;
        c->received = (int64_t)before.tcpi_bytes_received - asked(fd, FIONREAD);
        c->sent = (int64_t)before.tcpi_bytes_acked + asked(fd, SIOCOUTQ) + (before.tcpi_state == FT_TCP_SYN_SENT); /* what opens it counts, too */
        read_info(fd, &c->info);
    } while (before.tcpi_bytes_received != c->info.tcpi_bytes_received || before.tcpi_bytes_acked != c->info.tcpi_bytes_acked ||
             before.tcpi_state != c->info.tcpi_state);
}

int ft_tcp_state(int fd)
{
    struct tcp_info info;

    read_info(fd, &info);
    return info.tcpi_state;
}

bool ft_tcp_has_error(int fd)
{
    struct pollfd p = {fd, 0, 0};

    return syscall(SYS_poll, &p, 1, 0) > 0 && p.revents & POLLERR;
}

/* Of one that is not CLOSED. */
static bool has_ended(int state)
{
    return state == FT_TCP_CLOSE_WAIT || state == FT_TCP_LAST_ACK || state == FT_TCP_CLOSING || state == FT_TCP_TIME_WAIT;
}

bool ft_tcp_gives(int fd)
{
    ft_signals_give(); /* the next record is this call's */
    return ft_recorder_replays() ? ft_recorder_next() == FT_CALL_TCP_RECEIVE : ft_descriptors_kind(fd) == FT_DESCRIPTOR_TCP;
}

bool ft_tcp_takes(int fd)
{
    ft_signals_give();
    return ft_recorder_replays() ? ft_recorder_next() == FT_CALL_TCP_SEND : ft_descriptors_kind(fd) == FT_DESCRIPTOR_TCP;
}

/* ---- receiving ---- */

static void note_received(struct ft_recorded *c, int fd)
{
    int64_t count = ft_counts_get(fd, FT_COUNT_RECEIVED);
    struct counts now;

    if (count >= 0) {
        ft_call_note(c, count, OPEN);
        return;
    }
    look(fd, &now);
    if (now.info.tcpi_state == FT_TCP_CLOSED)
        ft_call_note(c, now.received, ft_tcp_has_error(fd) ? CLOSED_BY_ERROR : CLOSED);
    else
        ft_call_note(c, now.received - has_ended(now.info.tcpi_state), OPEN);
}

/* What the killed call has received is in the record: so many bytes. -1: it was told that the connection is lost. */
static int64_t already_received(const struct ft_outcome *o, int fd)
{
    struct counts now;
    int64_t more;
    bool error;

    look(fd, &now);
    more = now.received - o->note[0];
    if (now.info.tcpi_state != FT_TCP_CLOSED)
        return more - has_ended(now.info.tcpi_state);
    error = ft_tcp_has_error(fd);
    if (o->note[1] == OPEN)
        return more == 0 && error ? 0 : error ? INT64_MAX : more - 1;
    return o->note[1] == CLOSED_BY_ERROR && more == 0 && !error ? -1 : more;
}

/* n: room for so many. */
static int64_t take_up(const struct ft_outcome *o, int fd, size_t n)
{
    int64_t k = already_received(o, fd);

    if (k < -1 || k > (int64_t)n)
        ft_recorder_lost("it was killed while it received from descriptor %d, and how much it had received cannot be told", fd);
    return k;
}

static bool is_lasting(int error) { return error != EAGAIN && error != EINTR; }

void ft_tcp_owes(struct ft_recorded *c, int fd, int error)
{
    if (!is_lasting(error))
        return;
    ft_counts_set(fd, FT_COUNT_OWED, error);
    if (c->record)
        c->record->step = (uint16_t)(1 + error); /* so it outlives this process */
}

void ft_tcp_given(const struct ft_recorded *c, int fd)
{
    ft_counts_set(fd, FT_COUNT_OWED, owes(c->record) ? owes(c->record) : -1); /* what was owed before was told to this one */
}

/* Told now, if there is one: to a call that has not reached the kernel. */
static bool is_owed(struct ft_recorded *c, int fd)
{
    int64_t error = ft_counts_get(fd, FT_COUNT_OWED);

    if (error <= 0 || ft_call_noted(c))
        return false;
    ft_counts_set(fd, FT_COUNT_OWED, -1);
    errno = (int)error;
    return true;
}

void ft_tcp_failed(int fd, int error)
{
    if (!is_lasting(error))
        return;
    ft_counts_set(fd, FT_COUNT_RECEIVED, -1);
    ft_counts_set(fd, FT_COUNT_SENT, -1);
}

/* Waits for the rest as the kernel does, but leaves an error that comes to the next call: were it taken here, and this process killed before
   that is recorded, nobody would know of it. */
static size_t receive_rest(int fd, char *to, size_t n, int flags)
{
    struct timeval time = {0};
    socklen_t bytes = sizeof time;
    int64_t left;
    size_t got = 0;

    syscall(SYS_getsockopt, fd, SOL_SOCKET, SO_RCVTIMEO, &time, &bytes);
    left = time.tv_sec || time.tv_usec ? time.tv_sec * 1000 + time.tv_usec / 1000 : INT64_MAX;
    while (got < n) {
        int state = ft_tcp_state(fd); /* before it is asked what there is */
        struct pollfd p = {fd, POLLIN, 0};
        ssize_t more;

        if (asked(fd, FIONREAD) == 0) {
            if (state == FT_TCP_CLOSED || has_ended(state) || left <= 0 || (FT_WAITING(syscall(SYS_poll, &p, 1, LOOK_MS)) < 0 && errno == EINTR))
                break;
            left -= left == INT64_MAX || p.revents ? 0 : LOOK_MS;
            continue;
        }
        more = ft_real()->recvfrom(fd, to + got, n - got, (flags & ~MSG_WAITALL) | MSG_DONTWAIT, NULL, NULL);
        if (more <= 0)
            break;
        got += (size_t)more;
    }
    return got;
}

/* n bytes at most, straight into the record. */
static ssize_t receive_now(struct ft_recorded *c, int fd, size_t n, int flags)
{
    char *data = ft_call_data(c);
    ssize_t got = 0;
    int64_t k = 0;

    if (!ft_call_noted(c))
        note_received(c, fd);
    else if (flags & MSG_PEEK)
        k = already_received(c->record, fd) < 0 ? -1 : 0;
    else
        k = take_up(c->record, fd, n);
    errno = c->error;
    if (k < 0) {
        errno = ECONNRESET;
        return -1;
    }
    if (k == 0)
        got = FT_WAITING(ft_real()->recvfrom(fd, data, n, flags, NULL, NULL));
    else if (k < (int64_t)n && flags & MSG_WAITALL && ft_tcp_waits(fd, flags))
        got = (ssize_t)receive_rest(fd, data + k, n - (size_t)k, flags);
    if (got < 0) {
        ft_counts_set(fd, FT_COUNT_RECEIVED, -1);
        ft_tcp_failed(fd, errno);
        return -1;
    }
    k += got;
    if (!(flags & MSG_PEEK)) /* after an end nothing comes */
        ft_counts_set(fd, FT_COUNT_RECEIVED, k > 0 && c->record->note[1] == OPEN ? c->record->note[0] + k : -1);
    errno = c->error;
    return k;
}

/* n bytes at most, to where `skip` bytes are already. */
static ssize_t receive_piece(int fd, const struct iovec *to, int pieces, size_t skip, size_t n, int flags)
{
    struct ft_recorded c;
    ssize_t got;

    if (ft_call_begin_wait(&c, FT_CALL_TCP_RECEIVE, ft_what(fd, (int64_t)n, flags), n)) {
        ft_pieces_fill(to, (size_t)pieces, skip, ft_call_data(&c), ft_call_bytes(&c));
        ft_tcp_given(&c, fd);
        return ft_call_give(&c);
    }
    if (is_owed(&c, fd))
        return ft_call_end(&c, -1, 0);
    if (!c.record)
        return ft_call_end(&c, ft_real()->recvfrom(fd, to->iov_base, to->iov_len, flags, NULL, NULL), 0);
    ft_counts_enter(fd, FT_COUNT_RECEIVED);
    got = receive_now(&c, fd, n, flags);
    ft_counts_leave(fd, FT_COUNT_RECEIVED);
    if (got > 0)
        ft_pieces_fill(to, (size_t)pieces, skip, ft_call_data(&c), (size_t)got);
    return ft_call_end(&c, got, got > 0 ? (size_t)got : 0);
}

ssize_t ft_tcp_receive(int fd, const struct iovec *to, int n, int flags)
{
    size_t total = ft_pieces_total(to, (size_t)n), done = 0;

    do {
        size_t piece = ft_min(total - done, FT_OUTCOME_PIECE);
        ssize_t got = receive_piece(fd, to, n, done, piece, flags);

        if (got < 0)
            return done ? (ssize_t)done : got;
        done += (size_t)got;
        if ((size_t)got < piece)
            break;
    } while (done < total && (flags & (MSG_WAITALL | MSG_PEEK)) == MSG_WAITALL);
    return (ssize_t)done;
}

/* ---- sending ---- */

static int64_t sent_and_state(int fd, int *note)
{
    int64_t count = ft_counts_get(fd, FT_COUNT_SENT);
    struct counts now;

    *note = OPEN; /* it has been told no error, if that is counted */
    if (count >= 0)
        return count;
    look(fd, &now);
    if (now.info.tcpi_state == FT_TCP_CLOSED)
        *note = ft_tcp_has_error(fd) ? CLOSED_BY_ERROR : CLOSED;
    return now.sent;
}

int64_t ft_tcp_sent(int fd)
{
    int note;

    return sent_and_state(fd, &note);
}

/* The error that the killed call was told, or 0: then none waits any more. */
static int was_told(const struct ft_outcome *o, int fd)
{
    if (owes(o))
        return owes(o);
    if (o->note[1] != OPEN && o->note[1] != CLOSED_BY_ERROR)
        return 0;
    return ft_tcp_state(fd) == FT_TCP_CLOSED && !ft_tcp_has_error(fd) ? ECONNRESET : 0;
}

size_t ft_tcp_sent_since(int fd, int64_t before, size_t most)
{
    struct counts now;
    int64_t k;

    look(fd, &now);
    k = now.sent - before;
    if (k < 0 || k > (int64_t)most)
        ft_recorder_lost("it was killed while it sent to descriptor %d, and how much it had sent cannot be told", fd);
    return (size_t)k;
}

static ssize_t send_from(int fd, const struct iovec *from, int n, size_t skip, int flags)
{
    struct iovec pieces[n > 0 ? n : 1]; /* IOV_MAX of them are all the stack that a thread may have */
    struct msghdr m = {.msg_iov = pieces};

    m.msg_iovlen = (size_t)ft_pieces_part(from, skip, ft_pieces_total(from, (size_t)n) - skip, pieces);
    return FT_WAITING(ft_real()->sendmsg(fd, &m, flags));
}

bool ft_tcp_waits(int fd, int flags)
{
    return !(flags & MSG_DONTWAIT) && !(syscall(SYS_fcntl, fd, F_GETFL) & O_NONBLOCK);
}

static ssize_t send_now(struct ft_recorded *c, int fd, const struct iovec *from, int n, size_t total, int flags)
{
    size_t already = 0;
    ssize_t sent = 0;
    int error = 0, note;

    if (ft_call_noted(c)) {
        already = ft_tcp_sent_since(fd, c->record->note[0], total);
        error = already < total ? was_told(c->record, fd) : 0;
    } else {
        int64_t before = sent_and_state(fd, &note);

        ft_call_note(c, before, note);
    }
    errno = c->error;
    if (error == 0 && (already == 0 || (already < total && ft_tcp_waits(fd, flags))))
        sent = send_from(fd, from, n, already, flags);
    if (sent < 0 && error == 0)
        error = errno;
    if (error) {
        sent = -1;
        ft_tcp_failed(fd, error);
    }
    if (error && already > 0) {
        ft_tcp_owes(c, fd, error);
        error = c->error;
    }
    sent = sent < 0 && already == 0 ? -1 : (ssize_t)already + (sent < 0 ? 0 : sent);
    ft_counts_set(fd, FT_COUNT_SENT,
                             sent < 0 || !c->record || ft_counts_get(fd, FT_COUNT_OWED) > 0 ? -1 : c->record->note[0] + sent);
    if (sent > 0 && c->record)
        c->record->note[1] = (int64_t)ft_pieces_hash(from, (size_t)sent);
    errno = error ? error : c->error;
    return sent;
}

static __attribute__((noinline)) ssize_t send_pieces(int fd, const struct iovec *from, int n, size_t total, int flags)
{
    struct ft_recorded c;
    ssize_t sent;

    if (ft_call_begin_wait(&c, FT_CALL_TCP_SEND, ft_what(fd, (int64_t)total, flags), 0)) {
        if (c.record->result > 0 && (uint64_t)c.record->note[1] != ft_pieces_hash(from, (size_t)c.record->result))
            ft_recorder_lost("bytes that it sends again to descriptor %d are others than before", fd);
        ft_tcp_given(&c, fd);
        return ft_call_give(&c);
    }
    if (is_owed(&c, fd))
        return ft_call_end(&c, -1, 0);
    ft_counts_enter(fd, FT_COUNT_SENT);
    sent = send_now(&c, fd, from, n, total, flags);
    ft_counts_leave(fd, FT_COUNT_SENT);
    return ft_call_end(&c, sent, 0);
}

ssize_t ft_tcp_send(int fd, const struct iovec *from, int n, int flags)
{
    return send_pieces(fd, from, n, ft_pieces_total(from, (size_t)n), flags);
}
