/* SPDX-License-Identifier: BSD-3-Clause */
/* again: does something to a file F in the working directory, as its argument says; then has no copy any more that it could go on from (a
   socket), and is killed. What a second start of it prints is F's content and the file it has read.

     again WHAT */
#include <fcntl.h>
#include <mpi.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static char seen[64];

static int opened(const char *name, int flags)
{
    int fd = open(name, flags, 0600);

    if (fd < 0)
        exit(3);
    return fd;
}

static void put(int fd, const char *text)
{
    if (write(fd, text, strlen(text)) != (ssize_t)strlen(text))
        exit(4);
}

static void look(int fd)
{
    ssize_t n = read(fd, seen, sizeof seen - 1);

    seen[n < 0 ? 0 : n] = 0;
}

static void put_and_close(const char *name, int flags, const char *text)
{
    int fd = opened(name, flags);

    put(fd, text);
    close(fd);
}

static void look_and_close(const char *name)
{
    int fd = opened(name, O_RDONLY);

    look(fd);
    close(fd);
}

/* ---- what can be done twice ---- */

static void own(void)
{
    put_and_close("F", O_WRONLY | O_CREAT | O_TRUNC, "own ");
    put_and_close("F", O_WRONLY | O_APPEND, "and more");
    look_and_close("F");
    put_and_close("F", O_RDWR, "OWN");
}

static void emptied(void)
{
    int fd = opened("F", O_RDWR);

    if (ftruncate(fd, 0) < 0)
        exit(5);
    put(fd, "new");
    lseek(fd, 0, SEEK_SET);
    look(fd);
    put(fd, " text");
}

static void over(void) { put_and_close("F", O_RDWR, "FIRST"); }

static void replaced(void)
{
    put_and_close("T", O_WRONLY | O_CREAT | O_TRUNC, "new");
    rename("T", "F");
    look_and_close("F");
}

static void removed(void)
{
    unlink("F");
    put_and_close("F", O_WRONLY | O_CREAT | O_EXCL, "made");
}

static void only_read(void) { look_and_close("F"); }

/* Of the process alone. ("It has read, and then written to, /proc/123/coredump_filter": the job ended.) */
static void process(void)
{
    int fd = opened("/proc/self/coredump_filter", O_RDWR);

    look(fd);
    put(fd, "0x1");
    only_read();
}

/* No name: an error, as without ftrun. By pointers: what the declarations say of NULL is what is broken here. */
static void null_name(void)
{
    int (*volatile removes)(const char *) = unlink;
    int (*volatile renames)(const char *, const char *) = rename;
    int (*volatile opens)(const char *, int, ...) = open;
    const char *volatile none = NULL;

    if (removes(none) == 0 || renames(none, "T") == 0 || opens(none, O_WRONLY | O_TRUNC) >= 0)
        exit(5);
    only_read();
}

/* ---- and what not ---- */

static void append(void) { put_and_close("F", O_WRONLY | O_APPEND, " more"); }

static void by_stream(void)
{
    FILE *f = fopen("F", "a");

    fputs(" more", f);
    fclose(f);
}

static void turned(void)
{
    int fd = opened("F", O_WRONLY), other = dup(fd);

    fcntl(fd, F_SETFL, O_APPEND);
    put(other, " more");
}

static void at_end(void)
{
    int fd = opened("F", O_RDWR);

    lseek(fd, 0, SEEK_END);
    put(fd, " more");
}

static void update(void)
{
    int fd = opened("F", O_RDWR);

    look(fd);
    put(fd, seen);
}

static void beside(void)
{
    int fd = opened("F", O_WRONLY);

    look_and_close("F");
    put(fd, "other");
}

static void rewrite(void)
{
    look_and_close("F");
    put_and_close("F", O_WRONLY | O_TRUNC, "other");
}

static void rename_over(void)
{
    look_and_close("F");
    replaced();
}

static void consume(void)
{
    look_and_close("F");
    unlink("F");
}

static void move(void) { rename("F", "T"); }

static void cut(void)
{
    look_and_close("F");
    if (truncate("F", 2) < 0)
        exit(5);
}

static void map(void)
{
    int fd = opened("F", O_RDWR);
    char *at = mmap(NULL, 5, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    if (at == MAP_FAILED)
        exit(5);
    at[0]++;
    munmap(at, 5);
}

static void doubled(void)
{
    int fd = opened("F", O_RDWR), other = dup(fd);

    look(fd);
    lseek(fd, 0, SEEK_SET);
    put(other, "other");
}

static void longer(void)
{
    int fd = opened("F", O_RDWR);

    look(fd);
    if (posix_fallocate(fd, 0, 64) != 0)
        exit(5);
}

static void look_by_append(void)
{
    int fd = opened("F", O_RDWR | O_APPEND);

    look(fd);
    close(fd);
    put_and_close("F", O_WRONLY | O_TRUNC, "other");
}

static void keep_and_replace(void)
{
    unlink("F.bak");
    if (link("F", "F.bak") < 0)
        exit(5);
    replaced();
}

static void nameless(void)
{
    int fd = opened(".", O_TMPFILE | O_RDWR);

    put(fd, "one");
    lseek(fd, 0, SEEK_SET);
    look(fd);
    put(fd, " two");
}

static void connected(void)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int l = socket(AF_INET, SOCK_STREAM, 0), s = socket(AF_INET, SOCK_STREAM, 0);
    socklen_t n = sizeof a;

    if (bind(l, (struct sockaddr *)&a, n) < 0 || listen(l, 1) < 0 || getsockname(l, (struct sockaddr *)&a, &n) < 0 ||
        connect(s, (struct sockaddr *)&a, n) < 0)
        exit(6);
    close(s);
    close(l);
}

static void *look_at_root(void *arg)
{
    close(open("/", O_RDONLY));
    return arg;
}

/* A second thread's call has ended the recording before. */
static void connected_late(void)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, look_at_root, NULL) || pthread_join(thread, NULL))
        exit(7);
    connected();
}

static const struct {
    const char *name;
    void (*run)(void);
} all[] = {{"own", own}, {"emptied", emptied}, {"over", over}, {"replaced", replaced}, {"removed", removed}, {"only_read", only_read}, {"null_name", null_name},
         {"process", process},
           {"append", append}, {"by_stream", by_stream}, {"turned", turned}, {"at_end", at_end}, {"update", update}, {"beside", beside},
           {"rewrite", rewrite}, {"rename_over", rename_over}, {"consume", consume}, {"move", move}, {"cut", cut}, {"map", map},
           {"doubled", doubled}, {"longer", longer}, {"look_by_append", look_by_append}, {"keep_and_replace", keep_and_replace},
           {"nameless", nameless}, {"connected", connected}, {"connected_late", connected_late}};

int main(int argc, char **argv)
{
    const char *incarnation = getenv("FTMPI_INCARNATION");
    int one = 1, sum;

    MPI_Init(&argc, &argv);
    for (size_t i = 0; argc > 1 && i < sizeof all / sizeof *all; i++)
        if (!strcmp(argv[1], all[i].name))
            all[i].run();
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (incarnation && !strcmp(incarnation, "0") && socket(AF_UNIX, SOCK_DGRAM, 0) >= 0)
        raise(SIGKILL);
    printf("seen: %s\n", seen);
    MPI_Finalize();
    return 0;
}
