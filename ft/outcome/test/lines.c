/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank of streams.sh: all ways of the C library to make, read and write streams, and standard input echoed. What it prints, and the
   files it leaves in the directory given, are the same in each run.

     lines DIRECTORY ROUNDS */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

static char dir[256];

static const char *in_dir(const char *name)
{
    static char path[512];

    snprintf(path, sizeof path, "%s/%s", dir, name);
    return path;
}

static void need(int ok, const char *what)
{
    if (!ok) {
        printf("FAILED: %s: %s\n", what, strerror(errno));
        exit(1);
    }
}

/* Writes, looks, changes in the middle, reads again. */
static void update(int round)
{
    char line[128];
    FILE *f = fopen(in_dir("update"), round ? "r+" : "w+x");
    long lines = 0;

    need(f != NULL, "update");
    printf("update is descriptor %d\n", fileno(f));
    fseek(f, 0, SEEK_END);
    for (int i = 0; i < 20; i++)
        fprintf(f, "round %d line %d\n", round, i);
    fseek(f, 17 * round, SEEK_SET);
    fputs("<changed>", f);
    rewind(f);
    while (fgets(line, sizeof line, f))
        lines += (long)strlen(line);
    printf("update has %ld bytes, at %ld\n", lines, ftell(f));
    need(fclose(f) == 0, "close");
}

static void append(int round)
{
    FILE *f = fopen(in_dir("append"), round % 2 ? "ae" : "a+");
    char big[3000]; /* no 'r' in it: what is torn begins with one, and only there */

    need(f != NULL, "append");
    for (size_t i = 0; i < sizeof big; i++)
        big[i] = (char)('!' + (i * i + i / 90 + (size_t)round) % 80);
    printf("append begins at %ld\n", ftell(f));
    fprintf(f, "round %d\n", round);
    fwrite(big, 1, sizeof big, f);
    if (round % 3 == 0)
        setvbuf(f, NULL, _IONBF, 0);
    fputs("\nend\n", f);
    fclose(f);
}

static void other_streams(int round)
{
    FILE *f = tmpfile();
    int fd = open(in_dir("fdopen"), O_RDWR | O_CREAT, 0644), c, sum = 0;
    wchar_t wide[64] = L"";

    need(f && fd >= 0, "tmpfile");
    for (int i = 0; i < 3000; i++)
        putc(i % 251, f);
    rewind(f);
    while ((c = getc(f)) != EOF)
        sum += c;
    fclose(f);
    f = fdopen(fd, "r");
    need(f && fscanf(f, "%d", &c) == (round ? 1 : EOF), "fdopen");
    f = freopen(in_dir("fdopen"), "w", f);
    need(f != NULL, "freopen");
    fprintf(f, "%d\n", round);
    printf("sum %d, freopen has descriptor %d\n", sum, fileno(f));
    fclose(f);
    f = fopen(in_dir("wide"), "w,ccs=UTF-8");
    need(f != NULL, "ccs");
    fwprintf(f, L"%d \u00e4\u00f6\n", round);
    fclose(f);
    f = fopen(in_dir("wide"), "rm,ccs=UTF-8");
    need(f && fgetws(wide, 64, f), "wide");
    printf("wide %zu\n", wcslen(wide));
    fclose(f);
    need(!fopen(in_dir("none"), "r") && errno == ENOENT, "none");
    need(!fopen(in_dir("wide"), "wx") && errno == EEXIST, "exclusive");
}

static void memory_streams(int round)
{
    char *text;
    size_t n;
    FILE *f = open_memstream(&text, &n);

    fprintf(f, "memory %d", round);
    fclose(f);
    puts(text);
    free(text);
    fflush(stdout);
    dprintf(1, "by dprintf, round %d\n", round);
    errno = ENOENT;
    perror("by perror");
}

/* The C library reads files of its own for it. */
static void time_zone(int round)
{
    time_t t = 1700000000;

    setenv("TZ", round % 2 ? "Europe/Berlin" : "America/New_York", 1);
    tzset();
    printf("hour %d\n", localtime(&t)->tm_hour);
}

static void echo(void)
{
    char line[256];

    if (fgets(line, sizeof line, stdin))
        printf("input: %s", line);
}

int main(int argc, char **argv)
{
    int rounds = argc > 2 ? atoi(argv[2]) : 10;

    snprintf(dir, sizeof dir, "%s", argc > 1 ? argv[1] : ".");
    for (int round = 0; round < rounds; round++) {
        printf("---- round %d\n", round);
        update(round);
        append(round);
        other_streams(round);
        memory_streams(round);
        time_zone(round);
        echo();
        if (round % 4 == 3)
            fflush(stdout);
    }
    need(freopen(in_dir("stdout"), "w", stdout) && fileno(stdout) == 1, "freopen of stdout");
    puts("the last line goes to a file");
    return 0;
}
