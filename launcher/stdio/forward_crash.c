/* SPDX-License-Identifier: BSD-3-Clause */
/* Output exactly once, whatever instruction the agent dies at (launcher/stdio/forward.h, spool.h). A process that forwards
   output, marks cuts and returns to them, is run one instruction at a time, killed at one of them, and succeeded by another over the
   same memory; that one may be killed, too. What has been written in the end is what an undisturbed process writes, byte for byte.
   forward_crash [KILLS [KIND]] (instruction.h): kinds of output. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "launcher/stdio/forward.h"
#include "launcher/stdio/instruction.h"
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
static size_t look(void *arg, char *to)
{
    const struct scene *s = arg;
    struct {
        char shared[sizeof(struct ft_stdio_shared) + 4 * sizeof(struct ft_stream_state)];
        struct ft_lines_mark marks[4 * FT_MARKS];
        off_t intake, spool, out;
        int done;
    } *l = (void *)to;

    _Static_assert(sizeof *l <= LOOK_MOST, "there is room");
    memcpy(l->shared, s->m->shared, sizeof l->shared);
    memcpy(l->marks, s->m->marks, sizeof l->marks);
    l->done = *s->done;
    l->intake = lseek(s->m->intake_fd, 0, SEEK_CUR);
    l->spool = lseek(s->m->spools[0].fd, 0, SEEK_CUR);
    l->out = lseek(s->out, 0, SEEK_CUR);
    return sizeof *l;
}

static void run(void *arg) { forward(arg); }

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
static void try(int kind, long first, long second, struct changes *changes)
{
    struct scene s;
    struct stepped stepped = {.run = run, .look = look, .scene = &s};

    set_up(&s, kind);
    run_some(&stepped, first, changes);
    if (second)
        run_some(&stepped, second, NULL);
    forward(&s);
    replay(&s);
    if (!is_right(&s)) {
        printf("  killed after %ld and %ld instructions, output to %s\n", first, second, kinds[kind]);
        exit(1);
    }
    clean_up(&s);
}

int main(int argc, char **argv) { return try_all(argc, argv, kinds, NKINDS, try); }
