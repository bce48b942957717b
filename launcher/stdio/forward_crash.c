/* SPDX-License-Identifier: BSD-3-Clause */
/* Output exactly once, whatever instruction the agent dies at (launcher/stdio/forward.h, spool.h). A process that forwards
   output, marks cuts and returns to them, is run one instruction at a time, killed at one of them, and succeeded by another over the
   same memory; that one may be killed, too. What has been written in the end is what an undisturbed process writes, byte for byte.

   Instructions that change nothing a successor looks at make no difference: a first run finds those that do.

   forward_crash [KILLS [KIND]]: so many kills for each kind of output (default 8; FT_TIER=full: 40), 0: before and after each of those instructions.
   Which ones is decided by seed 1; FT_TIER=full: by any, which is printed, or FT_SEED. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <malloc.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "launcher/stdio/forward.h"
#include "launcher/stdio/spool.h"

/* Streams: 0 is rank 0's stdout, 3 rank 1's stderr. */
enum deed { TAKE, SHOW, MARK, RETURN };
static const struct {
    enum deed deed;
    uint32_t stream;
    const char *text;
} script[] = {
    {TAKE, 0, "alpha\nbe"}, {TAKE, 3, "one\ntw"}, {TAKE, 0, "ta\nname? "}, {SHOW, 0, ""}, {MARK, 0, ""}, {MARK, 3, ""},
    {TAKE, 3, "o\n\nm"}, {TAKE, 0, "you\nsince"}, {RETURN, 0, ""}, {RETURN, 3, ""},
    {TAKE, 0, "you\nsi"}, {TAKE, 3, "o\n\nmo"}, {TAKE, 0, "nce\n"}, {TAKE, 3, "re\nlong, unfin"}, {TAKE, 3, "ished"},
}, again[] = {
    {TAKE, 0, "alpha\nbeta\nname? you\nsince\nend"}, {TAKE, 3, "one\ntwo\n\nmore\nlong, unfinished and finished\n"},
};
enum { MOST = 4096 };
enum { NSCRIPT = sizeof script / sizeof script[0], NAGAIN = sizeof again / sizeof again[0] };

static const char plain[] = "alpha\none\nbeta\nname? \ntwo\n\nyou\nsince\nmore\nlong, unfinished and finished\nend";
static const char tagged[] = "[1,0]<stdout>:alpha\n[1,1]<stderr>:one\n[1,0]<stdout>:beta\n[1,0]<stdout>:name? \n[1,1]<stderr>:two\n[1,1]<stderr>:\n"
                             "you\n[1,0]<stdout>:since\n[1,1]<stderr>:more\n[1,1]<stderr>:long, unfinished and finished\n[1,0]<stdout>:end\n";

enum kind { PIPE, FILE_, APPEND, NULL_, TAGGED, DIR_, NKINDS };
static const char *const kinds[] = {"a pipe", "a file", "a file opened for appending", "/dev/null", "a pipe, tagged", "a directory"};

struct scene {
    enum kind kind;
    struct ft_stdio_memory *m;
    int out, reader;             /* reader: of what was written to out, -1: none */
    int pipes[NSCRIPT];
    volatile int *done;          /* deeds: in shared memory, as what tells a successor which mark is good */
    char dir[64];
};

static void die(const char *what)
{
    perror(what);
    exit(99);
}

static int full_pipe(const char *text)
{
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) < 0 || write(ends[1], text, strlen(text)) < 0)
        die("pipe");
    close(ends[1]);
    return ends[0];
}

static void open_out(struct scene *s)
{
    char path[] = "/tmp/forward-XXXXXX";
    int ends[2], fd;

    s->reader = -1;
    if (s->kind == NULL_) {
        s->out = open("/dev/null", O_WRONLY);
    } else if (s->kind == FILE_ || s->kind == APPEND) {
        fd = mkstemp(path);
        s->out = open(path, O_WRONLY | (s->kind == APPEND ? O_APPEND : 0));
        s->reader = fd;
        unlink(path);
    } else {
        if (pipe(ends) < 0)
            die("pipe");
        fcntl(ends[0], F_SETFL, O_NONBLOCK);
        fcntl(ends[1], F_SETPIPE_SZ, 1 << 20); /* each sendfile takes a slot of it */
        s->reader = ends[0];
        s->out = ends[1];
    }
}

static void set_up(struct scene *s, enum kind kind)
{
    struct ft_stdio_config config = {.nranks = 2, .keep = true};
    char dir[80];
    struct ft_error e;

    *s = (struct scene){.kind = kind, .dir = "/tmp/forward-XXXXXX"};
    if (kind == DIR_ && !mkdtemp(s->dir))
        die("mkdtemp");
    snprintf(dir, sizeof dir, "%s:nocopy", s->dir);
    config.output_dir = kind == DIR_ ? dir : NULL;
    s->m = ft_stdio_memory_new(&config, &e);
    if (!s->m) {
        puts(e.text);
        exit(99);
    }
    if (kind == DIR_ && ft_output_dir_make(&s->m->dir, &e) < 0) {
        puts(e.text);
        exit(99);
    }
    s->m->dir.text = s->dir;
    s->m->one_sink = true;
    open_out(s);
    s->done = mmap(NULL, sizeof *s->done, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (s->done == MAP_FAILED)
        die("mmap");
    for (int i = 0; i < NSCRIPT; i++)
        s->pipes[i] = full_pipe(script[i].text);
}

static void nothing(void *arg, const struct ft_error *e)
{
    (void)arg;
    puts(e->text);
    exit(1);
}

static struct ft_forward *become_agent(struct scene *s)
{
    struct ft_forward_config config = {.tag = s->kind == TAGGED, .failed = nothing};
    struct ft_forward *f;

    f = ft_forward_new(s->m, &config);
    ft_spool_adopt(&s->m->spools[0], s->out);
    return f;
}

static void flush(struct scene *s)
{
    while (ft_spool_pending(&s->m->spools[0]) && ft_spool_write(&s->m->spools[0], s->out, 7) > 0) {
    }
}

static void take(struct scene *s, struct ft_forward *f, uint32_t stream, int fd)
{
    while (ft_forward_take(f, stream, fd) > 0)
        flush(s);
}

static void act(struct scene *s, struct ft_forward *f, int i)
{
    uint32_t stream = script[i].stream;

    switch (script[i].deed) {
    case TAKE:
        take(s, f, stream, s->pipes[i]);
        break;
    case SHOW:
        ft_forward_show(f, stream, false);
        break;
    case MARK:
        ft_forward_mark(f, stream, 1);
        break;
    case RETURN:
        ft_forward_return(f, stream, 1);
        break;
    }
}

/* What an agent does, the first one or a successor: the last deed may be done twice. */
static void forward(struct scene *s)
{
    struct ft_forward *f = become_agent(s);

    while (*s->done < NSCRIPT) {
        act(s, f, *s->done);
        ft_stdio_order();
        ++*s->done;
    }
    flush(s);
    ft_forward_free(f);
}

/* The ranks have been restarted; nobody dies here. */
static void replay(struct scene *s)
{
    struct ft_forward *f = become_agent(s);

    for (int i = 0; i < NAGAIN; i++) {
        int fd = full_pipe(again[i].text);

        ft_forward_restart(f, again[i].stream);
        take(s, f, again[i].stream, fd);
        close(fd);
    }
    ft_forward_show(f, 0, true);
    flush(s);
    ft_forward_free(f);
}

/* What a successor looks at. */
struct look {
    char shared[sizeof(struct ft_stdio_shared) + 4 * sizeof(struct ft_stream_state)];
    struct ft_lines_mark marks[4 * FT_MARKS];
    off_t intake, spool, out;
    int done;
};

static struct look look_at(const struct scene *s)
{
    struct look look;

    memset(&look, 0, sizeof look);
    memcpy(look.shared, s->m->shared, sizeof look.shared);
    memcpy(look.marks, s->m->marks, sizeof look.marks);
    look.done = *s->done;
    look.intake = lseek(s->m->intake_fd, 0, SEEK_CUR);
    look.spool = lseek(s->m->spools[0].fd, 0, SEEK_CUR);
    look.out = lseek(s->out, 0, SEEK_CUR);
    return look;
}

/* Numbers of instructions after which something had changed. */
struct changes {
    long at[MOST];
    int n;
};

static void note_change(const struct scene *s, struct look *before, long at, struct changes *changes)
{
    struct look now = look_at(s);

    if (!memcmp(before, &now, sizeof now) || changes->n == MOST)
        return;
    *before = now;
    changes->at[changes->n++] = at;
}

/* Lets an agent run so many instructions, or to its end, then kills it. */
static void run_some(struct scene *s, long most, struct changes *changes)
{
    struct look before = look_at(s);
    pid_t pid = fork();
    int status;

    if (pid == 0) {
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)
            _exit(99);
        raise(SIGSTOP);
        forward(s);
        _exit(0);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
        die("cannot trace a child");
    for (long n = 1; n <= most; n++) {
        if (ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL) < 0 || waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
            return;
        if (changes)
            note_change(s, &before, n, changes);
    }
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
}

static bool is_text(const char *what, int fd, const char *want)
{
    char got[1024];
    ssize_t n = read(fd, got, sizeof got - 1);

    got[n < 0 ? 0 : n] = 0;
    if (!strcmp(got, want))
        return true;
    printf("FAIL: %s: \"%s\" instead of \"%s\"\n", what, got, want);
    return false;
}

static bool is_file(const struct scene *s, const char *name, const char *want)
{
    char path[128];
    bool good;
    int fd;

    snprintf(path, sizeof path, "%s/%s", s->dir, name);
    fd = open(path, O_RDONLY);
    good = is_text(path, fd, want);
    close(fd);
    return good;
}

static bool is_right(struct scene *s)
{
    struct ft_stream_state *streams = s->m->shared->streams;

    if (streams[0].lines.differs || streams[3].lines.differs) {
        printf("FAIL: %s: a replayed line differs\n", kinds[s->kind]);
        return false;
    }
    if (s->kind == DIR_)
        return is_file(s, "rank.0/stdout", "alpha\nbeta\nname? you\nsince\nend") &&
               is_file(s, "rank.1/stderr", "one\ntwo\n\nmore\nlong, unfinished and finished\n");
    return s->reader < 0 || is_text(kinds[s->kind], s->reader, s->kind == TAGGED ? tagged : plain);
}

static void clean_up(struct scene *s)
{
    static const char *const names[] = {"rank.0/stdout", "rank.0/stderr", "rank.0", "rank.1/stdout", "rank.1/stderr", "rank.1", ""};
    char path[128];

    for (size_t i = 0; s->kind == DIR_ && i < sizeof names / sizeof names[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", s->dir, names[i]);
        remove(path);
    }
    for (int i = 0; i < NSCRIPT; i++)
        close(s->pipes[i]);
    munmap((void *)s->done, sizeof *s->done);
    close(s->out);
    if (s->reader >= 0)
        close(s->reader);
    ft_stdio_memory_free(s->m);
}

/* One job whose agents die after that many instructions, the first and (if it is not 0) the second. */
static void try(enum kind kind, long first, long second, struct changes *changes)
{
    struct scene s;

    set_up(&s, kind);
    run_some(&s, first, changes);
    if (second)
        run_some(&s, second, NULL);
    forward(&s);
    replay(&s);
    if (!is_right(&s)) {
        printf("  killed after %ld and %ld instructions, output to %s\n", first, second, kinds[kind]);
        exit(1);
    }
    clean_up(&s);
}

/* The two processes take turns: waking one on another processor takes ten times as long. */
static void stay_here(void)
{
    cpu_set_t one;

    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    sched_setaffinity(0, sizeof one, &one);
}

/* struct ft_forward comes from pages that nobody has to clear: its 64 KiB, an instruction a byte when traced, were six of seven instructions. */
static void fresh_pages(void)
{
    mallopt(M_MMAP_THRESHOLD, 32 << 10);
    mallopt(M_TOP_PAD, 0);
    malloc_trim(0);
}

int main(int argc, char **argv)
{
    const char *tier = getenv("FT_TIER");
    bool full = tier && strcmp(tier, "full") == 0;
    int kills = argc > 1 ? atoi(argv[1]) : full ? 40 : 8;
    const char *chosen = getenv("FT_SEED");
    unsigned seed = chosen ? (unsigned)atoi(chosen) : full ? (unsigned)time(NULL) : 1;

    stay_here();
    fresh_pages();
    srand(seed);
    setvbuf(stdout, NULL, _IOLBF, 0);
    printf("FT_SEED=%u\n", seed);
    for (int kind = argc > 2 ? atoi(argv[2]) : 0; kind < (argc > 2 ? atoi(argv[2]) + 1 : NKINDS); kind++) {
        static struct changes changes;
        int step;

        changes.n = 0;
        try(kind, LONG_MAX, 0, &changes);
        step = kills ? changes.n / kills + 1 : 1;
        printf("%s: %d instructions of %ld change something\n", kinds[kind], changes.n, changes.at[changes.n - 1]);
        for (int i = rand() % step; i < changes.n; i += step)
            try(kind, changes.at[i], rand() % 3 ? 0 : changes.at[rand() % changes.n], NULL);
    }
    if (argc == 1 && !full && seed == 1)
        puts("searched whole");
    return 0;
}
