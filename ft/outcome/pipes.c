/* SPDX-License-Identifier: BSD-3-Clause */
/* Who is killed in a call on a pipe leaves no trace there: the other end may have read what was written, and what was read is gone.
   The design had two ways out, tee before reading and the count of written bytes in /proc of the dead. The first leaves open whether
   the read after it was made; the second needs the agent, and tells nothing once two writes were under way.

   Here each byte goes through a pipe of the library's own, the scratch. It is in the descriptor table, so it outlives the rank, and
   nobody else touches it. splice moves whole buffers from pipe to pipe: each is in one or in the other, whenever the rank is killed.

     write   FILL  the program's bytes into the empty scratch
             SEND  from the scratch to the pipe: what is in the scratch (FIONREAD) is what is not sent
             ENDED it could not all be sent, result and error say so: the scratch is emptied
     read    MOVE  from the pipe to the scratch: note[0] bytes are in the record; what is in the scratch comes after them
             TAKE  from the scratch into the record: when the scratch is empty these are note[1]

   A write of at most PIPE_BUF bytes fills one buffer, so it stays whole among those of other writers. Buffers that are moved do not
   merge in the pipe, of which Linux counts buffers: many short lines fill it early. A pipe that is full so is made larger. */
#include "ft/outcome/pipes.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include "ft/base/util.h"
#include "ft/outcome/descriptors.h"
#include "ft/outcome/pieces.h"
#include "ft/outcome/real.h"
#include "ft/outcome/record.h"
#include "ft/outcome/signals.h"

enum {
    MOST = 64 << 10,       /* what the scratch takes at once, at most: 16 buffers of a page */
    GROWN = 1 << 20,       /* a pipe is not made larger than that */
    PLACES = 256           /* threads that use pipes at a time */
};

enum step { NOTHING, FILL, SEND, ENDED, MOVE, TAKE };

static size_t room;         /* of a scratch: less where a user has many pipes */

/* What a thread uses: the scratch of writes, and of reads. */
struct scratch {
    int writes[2], reads[2];
};

/* Those there are: of main, and of others that want one at the same time. */
static struct place {
    struct scratch scratch;
    uint32_t user;          /* a thread's number + 1; 0: nobody */
} places[PLACES];
static int nplaces;
static pthread_key_t key;   /* its destructor gives a thread's back */

static _Thread_local struct scratch *mine __attribute__((tls_model("initial-exec")));

static bool open_pipe(int scratch[2])
{
    int ends[2];

    if (syscall(SYS_pipe2, ends, O_CLOEXEC) < 0)
        return false;
    scratch[0] = ft_descriptors_own(ends[0]);
    scratch[1] = ft_descriptors_own(ends[1]);
    return scratch[0] >= 0 && scratch[1] >= 0;
}

static bool open_scratch(struct scratch *s) { return open_pipe(s->writes) && open_pipe(s->reads); }

static void give_back(void *arg)
{
    struct place *p = arg;

    ft_threads_lock();
    if (p->user == ft_thread.number + 1)
        p->user = 0; /* in a replay it may be the next one's already */
    ft_threads_unlock();
    mine = NULL;
}

static void use(struct place *p)
{
    p->user = ft_thread.number + 1;
    mine = &p->scratch;
}

bool ft_pipes_open(void)
{
    long bytes;

    if (!open_scratch(&places[0].scratch) || pthread_key_create(&key, give_back) != 0)
        return false;
    nplaces = 1;
    use(&places[0]);
    bytes = syscall(SYS_fcntl, mine->writes[1], F_GETPIPE_SZ);
    room = bytes > 0 ? ft_min((uint64_t)bytes, MOST) : PIPE_BUF;
    return true;
}

static void adopt(const struct scratch *s)
{
    const int fds[] = {s->writes[0], s->writes[1], s->reads[0], s->reads[1]};

    for (size_t i = 0; i < sizeof fds / sizeof fds[0]; i++)
        ft_descriptors_adopt(fds[i]);
}

static int free_place(void)
{
    int i = 0;

    while (i < nplaces && places[i].user)
        i++;
    return i;
}

/* A thread's first call on a pipe: which one it uses is recorded, for that outlives it. note[0]: its place. What was under way is swept away. */
static void take_scratch(void)
{
    struct ft_recorded c;
    int error = errno, i;

    if (mine)
        return;
    if (ft_call_begin(&c, FT_CALL_SCRATCH, 0, sizeof(struct scratch))) {
        i = (int)c.record->note[0];
        memcpy(&places[i].scratch, ft_call_data(&c), sizeof(struct scratch));
        adopt(&places[i].scratch);
        nplaces = i >= nplaces ? i + 1 : nplaces;
        use(&places[i]);
        ft_call_give(&c);
    } else {
        i = free_place();
        if (i == PLACES || (i == nplaces && !open_scratch(&places[i].scratch))) {
            ft_recorder_end("more than %d thread%s of it use pipes at a time", i, ft_plural((uint64_t)i));
            i = 0;
        }
        nplaces = i == nplaces ? i + 1 : nplaces;
        use(&places[i]);
        if (c.record) {
            c.record->note[0] = i;
            memcpy(ft_call_data(&c), &places[i].scratch, sizeof(struct scratch));
        }
        ft_call_end(&c, 0, sizeof(struct scratch));
    }
    pthread_setspecific(key, &places[i]);
    errno = error;
}

bool ft_pipes_gives(int fd)
{
    bool gives;

    ft_signals_give(); /* the next record is this call's */
    if (ft_recorder_replays())
        gives = ft_recorder_next() == FT_CALL_PIPE_READ || ft_recorder_next() == FT_CALL_SCRATCH;
    else
        gives = ft_descriptors_kind(fd) == FT_DESCRIPTOR_PIPE;
    if (gives)
        take_scratch();
    return gives;
}

bool ft_pipes_takes(int fd)
{
    enum ft_descriptor_kind kind;
    bool takes;

    ft_signals_give();
    if (ft_recorder_replays()) {
        takes = ft_recorder_next() == FT_CALL_PIPE_WRITE || ft_recorder_next() == FT_CALL_SCRATCH;
    } else {
        kind = ft_descriptors_kind(fd);
        takes = kind == FT_DESCRIPTOR_PIPE || kind == FT_DESCRIPTOR_TERMINAL;
    }
    if (takes)
        take_scratch();
    return takes;
}

/* The note comes before the step that it is for: the process may end between any two stores. */
static void set_step(struct ft_outcome *o, enum step step)
{
    atomic_signal_fence(memory_order_seq_cst);
    o->step = (uint16_t)step;
    atomic_signal_fence(memory_order_seq_cst);
}

static size_t bytes_in(int pipe)
{
    int n = 0;

    syscall(SYS_ioctl, pipe, FIONREAD, &n);
    return (size_t)n;
}

static ssize_t move(int from, int to, size_t n, unsigned flags)
{
    return (ssize_t)syscall(SYS_splice, from, NULL, to, NULL, n, flags);
}

/* The C library's own: a thread that waits here can be cancelled, as in the call whose place this takes. */
static ssize_t move_and_wait(int from, int to, size_t n) { return ft_real()->splice(from, NULL, to, NULL, n, 0); }

static void empty(int scratch)
{
    char text[4096];

    while (bytes_in(scratch) > 0 && syscall(SYS_read, scratch, text, sizeof text) > 0)
        ;
}

/* ---- writing ---- */

/* It is full of buffers that are not full themselves: room for more of them. */
static bool grow(int pipe)
{
    int bytes = (int)syscall(SYS_fcntl, pipe, F_GETPIPE_SZ);

    return bytes > 0 && bytes < GROWN && bytes_in(pipe) < (size_t)bytes / 2 &&
           syscall(SYS_fcntl, pipe, F_SETPIPE_SZ, ft_min((uint64_t)bytes * 4, GROWN)) > 0;
}

/* There are files to which this kernel does not move: then what one process wrote last may be written twice. */
static ssize_t move_by_hand(int fd)
{
    char text[4096];
    ssize_t n = (ssize_t)syscall(SYS_read, mine->writes[0], text, sizeof text), done = 0, some;

    while (done < n && (some = ft_real()->write(fd, text + done, (size_t)(n - done))) > 0)
        done += some;
    return done == n ? n : -1;
}

/* Until `left` bytes are sent, or a call fails. Returns how many are left. */
static size_t send_on(int fd, size_t left)
{
    while (left > 0) {
        ssize_t n = move(mine->writes[0], fd, left, SPLICE_F_NONBLOCK);

        if (n < 0 && errno == EAGAIN && !grow(fd))
            n = FT_WAITING(move_and_wait(mine->writes[0], fd, left)); /* or does not, as the descriptor says */
        else if (n < 0 && errno == EAGAIN)
            continue;
        else if (n < 0 && errno == EINVAL)
            n = move_by_hand(fd);
        if (n < 0 && errno == EINTR && bytes_in(fd) + left <= MOST)
            continue; /* a plain write would not have waited, so no signal would have interrupted it */
        if (n <= 0)
            break;
        left -= (size_t)n;
    }
    return left;
}

static void say(struct ft_recorded *c, ssize_t result)
{
    c->record->result = result;
    c->record->error = result < 0 ? errno : c->error;
    set_step(c->record, ENDED);
}

/* note[0]: so many bytes were filled in. */
static void send_all(struct ft_recorded *c, int fd, const struct iovec *from, int n)
{
    struct ft_outcome *o = c->record;
    ssize_t filled;
    size_t left;

    if (o->step == SEND) {
        left = bytes_in(mine->writes[0]);
    } else {
        empty(mine->writes[0]);
        set_step(o, FILL);
        filled = ft_real()->writev(mine->writes[1], from, n);
        if (filled < 0) {
            say(c, filled);
            return;
        }
        o->note[0] = filled;
        set_step(o, SEND);
        left = (size_t)filled;
    }
    left = send_on(fd, left);
    say(c, left == 0 || o->note[0] > (int64_t)left ? o->note[0] - (int64_t)left : -1);
    if (left > 0)
        empty(mine->writes[0]);
}

/* note[1]: the hash of the bytes, after the kernel has said that they can be read. */
static ssize_t write_piece(int fd, const struct iovec *from, int n, size_t total)
{
    struct ft_recorded c;
    int64_t result;

    if (ft_call_begin_wait(&c, FT_CALL_PIPE_WRITE, ft_what(fd, (int64_t)total, 0), 0)) {
        if (c.record->result > 0 && (uint64_t)c.record->note[1] != ft_pieces_hash(from, total))
            ft_recorder_tell("what it writes again to descriptor %d differs from before, and is dropped", fd);
        return ft_call_give(&c);
    }
    if (!c.record || total == 0)
        return ft_call_end(&c, ft_real()->writev(fd, from, n), 0);
    if (c.record->step == ENDED)
        empty(mine->writes[0]);
    else
        send_all(&c, fd, from, n);
    result = c.record->result;
    if (result > 0)
        c.record->note[1] = (int64_t)ft_pieces_hash(from, total);
    errno = c.record->error;
    return ft_call_end(&c, result, 0);
}

ssize_t ft_pipes_write(int fd, const struct iovec *from, int n)
{
    struct iovec pieces[n > 0 ? n : 1]; /* IOV_MAX of them are all the stack that a thread may have */
    size_t total = ft_pieces_total(from, (size_t)n), done = 0;

    if (total <= room)
        return write_piece(fd, from, n, total);
    while (done < total) {
        size_t some = ft_min(total - done, room);
        ssize_t sent = write_piece(fd, pieces, ft_pieces_part(from, done, some, pieces), some);

        if (sent < 0)
            return done ? (ssize_t)done : sent;
        done += (size_t)sent;
        if ((size_t)sent < some)
            break;
    }
    return (ssize_t)done;
}

/* ---- reading ---- */

/* Whoever uses it next finds nothing in it. */
static void empty_after(void *scratch) { empty(*(int *)scratch); }

static ssize_t move_to_read(int fd, size_t n, bool waits)
{
    ssize_t got;

    if (!waits)
        return move(fd, mine->reads[1], n, SPLICE_F_NONBLOCK);
    pthread_cleanup_push(empty_after, &mine->reads[0]);
    got = FT_WAITING(move_and_wait(fd, mine->reads[1], n));
    pthread_cleanup_pop(0);
    return got;
}

/* From the scratch, which has note[1] - note[0] bytes, to where they belong in the record. */
static void take(struct ft_outcome *o)
{
    char *data = ft_outcome_data(o);

    set_step(o, TAKE);
    while (o->note[0] < o->note[1]) {
        ssize_t n = (ssize_t)syscall(SYS_read, mine->reads[0], data + o->note[0], (size_t)(o->note[1] - o->note[0]));

        FT_INVARIANT(n > 0, "what was moved into the scratch is there");
        o->note[0] += n;
    }
    set_step(o, MOVE);
}

/* What the predecessor has moved and not taken is in the scratch; what it has taken and not noted is in the record. */
static void take_up(struct ft_outcome *o)
{
    size_t left = bytes_in(mine->reads[0]);

    if (o->step == TAKE)
        o->note[0] = o->note[1] - (int64_t)left;
    else
        o->note[1] = o->note[0] + (int64_t)left;
    take(o);
}

ssize_t ft_pipes_read(int fd, void *to, size_t n, bool waits)
{
    struct ft_recorded c;
    struct ft_outcome *o;
    ssize_t got;

    n = ft_min(n, FT_OUTCOME_PIECE);
    if (ft_call_begin_wait(&c, FT_CALL_PIPE_READ, ft_what(fd, (int64_t)n, 0), n)) {
        memcpy(to, ft_call_data(&c), ft_call_bytes(&c));
        return ft_call_give(&c);
    }
    o = c.record;
    if (!o || n == 0)
        return ft_call_end(&c, FT_WAITING(ft_real()->read(fd, to, n)), 0);
    if (o->step != NOTHING)
        take_up(o);
    set_step(o, MOVE);
    got = 0;
    while (o->note[0] < (int64_t)n) {
        if (o->note[0] && bytes_in(fd) == 0)
            break; /* an error of a socket is told to the next call */
        got = move_to_read(fd, n - (size_t)o->note[0], waits && !o->note[0]);
        if (got <= 0)
            break;
        o->note[1] = o->note[0] + got;
        take(o);
    }
    if (o->note[0] == 0)
        return ft_call_end(&c, got, 0);
    memcpy(to, ft_outcome_data(o), (size_t)o->note[0]);
    errno = c.error;
    return ft_call_end(&c, (ssize_t)o->note[0], (size_t)o->note[0]);
}
