/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank's stdout, stderr and stdin at its checkpoints (launcher/stdio/output.h, input.h): a process that copies its input to both
   is marked while it stands still, killed, started again, and goes on from its last mark, again and again; agents succeed each other
   meanwhile. Whatever the order, what is printed is what an undisturbed process prints.

   marks [SEED [TIMES]] */
#include "config.h"

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "launcher/stdio/input.h"
#include "launcher/stdio/output.h"

enum { ASK = 3, ANSWER, NFDS }; /* descriptors of a rank */
enum { DEATHS = 12, BEGINNING = 20 /* bytes, before it loads */, SMALL = 300, BIG = 200000, PIECE = 4096, WAIT_S = 120 };
enum stdin_kind { FROM_FILE, FROM_PIPE, FROM_SOCKET, NKINDS };
enum leaves { READS_ALL, MOVES, CLOSES, REPLACES, NLEAVES, ASKS }; /* what the rank does with its stdin in the end */

/* In shared memory: of the job, not of an incarnation. */
struct story {
    unsigned seed, lives, deaths;
    enum leaves leaves;
    bool saved;              /* there is a checkpoint: */
    int which;               /*   its mark, */
    size_t done;             /*   and so many bytes are copied */
};

enum deed { MARK, RETURN, NDEEDS };

struct request {
    enum deed deed;
    int which;
};

static struct story *story;
static int ndone[NDEEDS], nrestarted;
static unsigned char *text;  /* the input */
static size_t ntext, nread;  /* nread: how much of it the rank reads */

struct agent {
    struct event_base *base;
    struct ft_stdio_memory *memory;
    struct ft_output *output;
    struct ft_input *input;
    struct event *asked;
    int ask[2], answer[2];
    pid_t rank;
    int pidfd;
    struct event *gone;
    bool over;
};

static void check(bool good, const char *what)
{
    if (good)
        return;
    dprintf(9, "FAIL: %s (%s), seed %u, life %u\n", what, strerror(errno), story->seed, story->lives);
    _exit(1);
}

static void too_long(int signal)
{
    (void)signal;
    check(false, "nothing happens any more");
}

/* --- the rank --- */

static void put(int fd, const unsigned char *data, size_t len, int change)
{
    unsigned char piece[PIECE];

    for (size_t i = 0; i < len; i++)
        piece[i] = (unsigned char)(data[i] == '\n' ? '\n' : data[i] ^ change);
    check(write(fd, piece, len) == (ssize_t)len, "a rank cannot write");
}

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

static void new_life(void)
{
    srand(story->seed * 1000 + ++story->lives);
}

/* Stands still until the agent has done it. */
static void ask(enum deed deed, int which)
{
    struct request r = {.deed = deed, .which = which};
    char c;

    check(write(ASK, &r, sizeof r) == sizeof r && read(ANSWER, &c, 1) == 1, "a cut");
}

static void maybe_die(void)
{
    if (story->leaves != ASKS && story->deaths < DEATHS && rand() % 12 == 0) {
        story->deaths++;
        raise(SIGKILL);
    }
}

static void leave_input(void)
{
    if (story->leaves == CLOSES)
        close(0);
    else if (story->leaves == REPLACES)
        check(close(0) == 0 && open("/dev/null", O_RDONLY) == 0, "/dev/null");
}

/* In the mark that is not the last one's, as with ft/checkpoint.c. */
static void checkpoint(size_t done)
{
    int which = !story->which;

    ask(MARK, which);
    maybe_die();
    story->which = which;
    story->done = done;
    story->saved = true;
}

/* Asks a question, and its checkpoint is made before that can have been seen. */
static void question(void)
{
    char c;

    if (story->saved) {
        ask(RETURN, story->which);
    } else {
        put(1, (const unsigned char *)"name? ", 6, 0);
        checkpoint(0);
    }
    if (story->deaths && story->lives == 1)
        raise(SIGKILL);
    check(read(0, &c, 1) == 1, "an answer");
    put(1, (const unsigned char *)"\n", 1, 0);
    _exit(0);
}

/* Copies the next piece. */
static size_t copy(int in, size_t done, size_t end)
{
    size_t n = (size_t)rand() % (ntext < BIG ? 30 : PIECE) + 1;
    unsigned char piece[PIECE];
    ssize_t got;

    if (done < nread) {
        got = read(in, piece, least(n, least(nread, end) - done));
        check(got > 0, "a rank cannot read");
        n = (size_t)got;
    } else { /* made, not read */
        n = least(n, end - done);
        memcpy(piece, text + done, n);
    }
    maybe_die();
    put(1, piece, n, 0);
    maybe_die();
    put(2, piece, n, 1);
    if (done + n == nread)
        leave_input();
    return done + n;
}

/* Standard input begins anew: what was read before the checkpoint is read again. */
static size_t load(int in, size_t done)
{
    unsigned char piece[PIECE];
    ssize_t n;

    ask(RETURN, story->which);
    for (; done < least(story->done, nread); done += (size_t)n) {
        n = read(in, piece, least(sizeof piece, least(story->done, nread) - done));
        check(n > 0, "a rank cannot read again");
    }
    if (story->done >= nread)
        leave_input();
    return story->done;
}

static void live(void)
{
    size_t done = 0;
    int in = 0;
    char c;

    new_life();
    if (story->leaves == ASKS)
        question();
    if (story->leaves == MOVES) {
        in = dup(0);
        close(0);
    }
    while (done < BEGINNING)
        done = copy(in, done, BEGINNING);
    if (story->saved)
        done = load(in, done);
    while (done < ntext) {
        done = copy(in, done, ntext);
        if (rand() % 6 == 0)
            checkpoint(done);
        maybe_die();
    }
    if (story->leaves <= MOVES)
        check(read(in, &c, 1) == 0, "end of input");
    _exit(0);
}

/* --- the agent --- */

static bool chance(int n)
{
    return story->leaves != ASKS && rand() % n == 0;
}

static void no_difference(void *arg, uint32_t rank, int stream, uint64_t line)
{
    (void)arg;
    (void)rank;
    (void)stream;
    (void)line;
    check(false, "a replayed line differs");
}

static void room(void *arg)
{
    ft_output_resume(((struct agent *)arg)->output);
}

static void ended(void *arg) { (void)arg; }

static void failed(void *arg, const struct ft_error *e)
{
    (void)arg;
    check(false, e->text);
}

static void become_agent(struct agent *a)
{
    struct ft_output_config out = {.prompts = 0, .alone = true, .differs = no_difference, .room = room, .failed = failed, .arg = a};
    struct ft_input_config in = {.ended = ended, .failed = failed, .arg = a};

    a->output = ft_output_new(a->base, a->memory, &out);
    a->input = ft_input_new(a->base, a->memory, &in);
    check(a->output && a->input, "no agent");
}

/* Another agent goes on with copies of the descriptors, without those of the input if the rank is dead. */
static void succeed(struct agent *a, bool dead)
{
    int read[2] = {dup(ft_output_fd(a->output, 0, 0)), dup(ft_output_fd(a->output, 0, 1))};
    int in = ft_input_fd(a->input);

    in = in < 0 || dead ? -1 : dup(in);
    ft_output_free(a->output);
    ft_input_free(a->input);
    become_agent(a);
    ft_output_adopt(a->output, 0, read);
    ft_input_adopt(a->input, in);
}

static void do_deed(struct agent *a, const struct request *r)
{
    if (r->deed == MARK)
        ft_output_mark(a->output, 0, r->which);
    else
        ft_output_return(a->output, 0, r->which);
}

static void on_asked(evutil_socket_t fd, short what, void *arg)
{
    struct agent *a = arg;
    struct request r;

    (void)what;
    check(read(fd, &r, sizeof r) == sizeof r, "read");
    if (chance(20))
        kill(a->rank, SIGKILL); /* it may be dead already, or not */
    do_deed(a, &r);
    if (chance(4)) {
        succeed(a, false);
        do_deed(a, &r);
    }
    ndone[r.deed]++;
    check(write(a->answer[1], "", 1) == 1, "write");
}

static void on_gone(evutil_socket_t fd, short what, void *arg);

static void watch(struct agent *a)
{
    a->pidfd = (int)syscall(SYS_pidfd_open, a->rank, 0);
    a->gone = event_new(a->base, a->pidfd, EV_READ, on_gone, a);
    check(a->pidfd >= 0 && a->gone && event_priority_set(a->gone, 0) == 0 && event_add(a->gone, NULL) == 0, "pidfd");
}

/* In the child: the descriptors of a rank, nothing else but 9 for messages. */
static void become_rank(const struct agent *a, int in, const int write[2])
{
    const int from[NFDS] = {in, write[0], write[1], a->ask[1], a->answer[0]};
    int high[NFDS];

    for (int i = 0; i < NFDS; i++)
        check((high[i] = fcntl(from[i], F_DUPFD, 200)) >= 0, "dup");
    for (int i = 0; i < NFDS; i++)
        check(dup2(high[i], i) == i, "dup2");
    syscall(SYS_close_range, NFDS, 8, 0);
    syscall(SYS_close_range, 10, ~0u, 0);
    live();
}

static void start(struct agent *a)
{
    struct ft_error e;
    int write[2], in = -1;

    check(ft_output_open(a->output, 0, write, &e) == 0 && (in = ft_input_open(a->input)) >= 0, "pipes");
    a->rank = fork();
    check(a->rank >= 0, "fork");
    if (a->rank == 0)
        become_rank(a, in, write);
    close(write[0]);
    close(write[1]);
    close(in);
    watch(a);
}

/* Answers that nobody has read, and requests that nothing comes of. */
static void empty(int pipe)
{
    struct pollfd p = {.fd = pipe, .events = POLLIN};
    char c[sizeof(struct request)];

    while (poll(&p, 1, 0) > 0)
        check(read(pipe, c, sizeof c) > 0, "read");
}

static void on_gone(evutil_socket_t fd, short what, void *arg)
{
    struct agent *a = arg;
    int status;

    (void)what;
    event_free(a->gone);
    empty(a->ask[0]);
    empty(a->answer[0]);
    check(waitpid(a->rank, &status, 0) == a->rank, "waitpid");
    close(fd);
    if (chance(4))
        succeed(a, true);
    if (WIFEXITED(status)) {
        check(WEXITSTATUS(status) == 0, "a rank has failed");
        ft_output_retire(a->output, 0, false);
        a->over = true;
    } else {
        ft_output_restart(a->output, 0);
        nrestarted++;
        start(a);
    }
}

/* --- one job --- */

static int temporary(void)
{
    char path[] = "/tmp/marks-XXXXXX";
    int fd = mkstemp(path);

    check(fd >= 0, "mkstemp");
    unlink(path);
    return fd;
}

static pid_t feed(enum stdin_kind kind)
{
    int ends[2];
    pid_t pid = 0;

    if (kind == FROM_FILE) {
        ends[0] = temporary();
        check(write(ends[0], text, ntext) == (ssize_t)ntext && lseek(ends[0], 0, SEEK_SET) == 0, "write");
    } else {
        check((kind == FROM_PIPE ? pipe(ends) : socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) == 0, "pipe");
        pid = fork();
        if (pid == 0) {
            signal(SIGPIPE, SIG_DFL); /* nobody reads all of it */
            close(ends[0]);
            close(0);
            for (size_t done = 0; done < ntext;) {
                ssize_t n = write(ends[1], text + done, ntext - done);

                check(n > 0, "write");
                done += (size_t)n;
            }
            _exit(0);
        }
        close(ends[1]);
    }
    dup2(ends[0], 0);
    close(ends[0]);
    return pid;
}

static void expect(int fd, int change, const char *what)
{
    unsigned char *got = malloc(2 * ntext);
    ssize_t n = pread(fd, got, 2 * ntext, 0);
    bool same = n == (ssize_t)ntext;

    for (size_t i = 0; same && i < ntext; i++)
        same = got[i] == (text[i] == '\n' ? '\n' : text[i] ^ change);
    if (!same) {
        dprintf(9, "%zd bytes instead of %zu\n", n, ntext);
        check(false, what);
    }
    free(got);
}

static void set_up(struct agent *a, enum stdin_kind kind)
{
    struct ft_stdio_config config = {.nranks = 1, .keep = true, .store_dir = "/tmp"};
    struct ft_error e;

    *a = (struct agent){.base = event_base_new()};
    event_base_priority_init(a->base, 2); /* deaths and requests before what was printed: that must be taken then */
    for (int i = 1; i < 3; i++) {
        int fd = temporary();

        dup2(fd, i);
        close(fd);
    }
    check(pipe2(a->ask, O_CLOEXEC) == 0 && pipe2(a->answer, O_CLOEXEC) == 0, "pipe");
    a->memory = ft_stdio_memory_new(&config, &e);
    check(a->memory != NULL, "memory");
    check(a->memory->store.kind == (kind == FROM_FILE ? FT_STORE_FILE : kind == FROM_PIPE ? FT_STORE_PIPE : FT_STORE_OTHER), "kind of input");
    become_agent(a);
    a->asked = event_new(a->base, a->ask[0], EV_READ | EV_PERSIST, on_asked, a);
    event_priority_set(a->asked, 0);
    event_add(a->asked, NULL);
}

static void tear_down(struct agent *a)
{
    event_free(a->asked);
    ft_output_free(a->output);
    ft_input_free(a->input);
    ft_stdio_memory_free(a->memory);
    event_base_free(a->base);
    for (int i = 0; i < 2; i++) {
        close(a->ask[i]);
        close(a->answer[i]);
    }
}

static void try(unsigned seed)
{
    enum stdin_kind kind = seed % NKINDS;
    struct agent a;
    pid_t feeder;

    *story = (struct story){.seed = seed, .leaves = seed / NKINDS % NLEAVES};
    srand(seed);
    ntext = seed / NKINDS / NLEAVES % 2 ? BIG : SMALL;
    for (size_t i = 0; i < ntext; i++)
        text[i] = rand() % (seed % 5 ? 30 : 3000) ? (unsigned char)('a' + rand() % 26) : '\n';
    nread = story->leaves <= MOVES ? ntext : ntext / 3;
    feeder = feed(kind);
    set_up(&a, kind);
    alarm(WAIT_S);
    start(&a);
    while (!a.over)
        event_base_loop(a.base, EVLOOP_ONCE);
    ft_output_finish(a.output);
    alarm(0);
    expect(1, 0, "stdout");
    expect(2, 1, "stderr");
    tear_down(&a);
    close(0);
    check(open("/dev/null", O_RDONLY) == 0, "/dev/null");
    if (feeder)
        check(waitpid(feeder, NULL, 0) == feeder, "waitpid");
}

/* A question is shown although the user has yet to answer it. */
static void try_question(bool dies)
{
    char got[16] = "";
    struct agent a;
    int ends[2];

    *story = (struct story){.leaves = ASKS, .deaths = dies};
    check(pipe2(ends, O_CLOEXEC) == 0 && dup2(ends[0], 0) == 0, "pipe");
    close(ends[0]);
    set_up(&a, FROM_PIPE);
    alarm(WAIT_S);
    start(&a);
    while (pread(1, got, sizeof got, 0) < 6 || story->lives < (dies ? 2 : 1)) /* it may not have died yet when it has asked */
        event_base_loop(a.base, EVLOOP_ONCE);
    check(story->lives == (dies ? 2 : 1) && write(ends[1], "x", 1) == 1, "the question");
    close(ends[1]);
    while (!a.over)
        event_base_loop(a.base, EVLOOP_ONCE);
    alarm(0);
    check(pread(1, got, sizeof got, 0) == 7 && !memcmp(got, "name? \n", 7), "question and answer");
    tear_down(&a);
}

int main(int argc, char **argv)
{
    const char *tier = getenv("FT_TIER"), *chosen = argc > 1 ? argv[1] : getenv("FT_SEED");
    bool full = tier && !strcmp(tier, "full");
    unsigned seed = chosen ? (unsigned)atoi(chosen) : full ? (unsigned)time(NULL) % 100000 : 1;
    int times = argc > 2 ? atoi(argv[2]) : argc > 1 ? 1 : 2 * NKINDS * NLEAVES;

    if (dup2(1, 9) < 0)
        return 99;
    signal(SIGPIPE, SIG_IGN);
    signal(SIGALRM, too_long);
    story = mmap(NULL, sizeof *story, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    text = malloc(BIG);
    if (story == MAP_FAILED || !text)
        return 99;
    try_question(false);
    try_question(true);
    for (int i = 0; i < times; i++)
        try(seed + (unsigned)i);
    dprintf(9, "%d jobs from seed %u: %d marks, %d returns to them, %d starts again\n", times, seed, ndone[MARK],
            ndone[RETURN], nrestarted);
    return 0;
}
