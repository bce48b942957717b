/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/options/help.h"

#include <stdio.h>
#include <string.h>

#include "launcher/options/settings.h"

enum { LEFT = 29 /* columns for the option */, WIDTH = 79 };

/* From column `at` on, in lines that begin at column `left`. */
static void print_wrapped(const char *text, int at, int left)
{
    for (size_t n; *text; text += n + strspn(text + n, " ")) {
        n = strcspn(text, " ");
        if (at > left && at + 1 + (int)n > WIDTH) {
            printf("\n%*s", left, "");
            at = left;
        }
        at += printf("%s%.*s", at > left ? " " : "", (int)n, text);
    }
    putchar('\n');
}

/* "-n, -np N": one letter has one dash, and so has -np, which everybody writes like that. */
static void print_option(const struct ft_setting *s)
{
    char left[96];
    size_t used = 0;

    for (const char *n = s->names; *n && *n != '|';) {
        size_t len = strcspn(n, " ");
        bool shorter = len == 1 || (len <= 4 && strchr("npg", *n) && !memchr(n, '-', len));

        used += (size_t)snprintf(left + used, sizeof left - used, "%s%s%.*s", used ? ", " : "", shorter ? "-" : "--", (int)len, n);
        n += len + (n[len] == ' ');
    }
    if (!used)
        return; /* all its names are for old scripts */
    if (s->arg)
        used += (size_t)snprintf(left + used, sizeof left - used, " %s", s->arg);
    printf("  %-*s", LEFT, left);
    if (used > LEFT - 1)
        printf("\n%*s", LEFT + 2, "");
    print_wrapped(s->text, LEFT + 2, LEFT + 2);
}

static const char *const notes[] = {
    "SIZE: bytes, or with K, M, G, T. SECONDS: may have a fraction. Long options may be written with one dash. Options end at the program, or at --.",
    "Most options can be set for good: --log-limit 2G is FTMPI_LOG_LIMIT=2G in the environment, and log-limit = 2G in ~/.config/ftmpi/ftmpi.conf or "
    SYSCONFDIR "/ftmpi.conf (ftmpi_info lists them).",
    "Exit code: 0 if every rank left with 0; else the code of the rank that ended the job, or 128 + signal if it died for good or ftrun was told to "
    "stop; 1 if ftrun cannot go on, a rank left without MPI_Finalize, or nobody used --rabit; 2 bad usage; 110 --timeout; 126 the program cannot be "
    "run; 127 there is none.",
    "Commands about jobs that run: ftrun list --help. All there is: man ftrun.",
};

void ft_help_print(void)
{
    const struct ft_setting *s;

    puts("Usage: ftrun [OPTION]... PROGRAM [ARGUMENT]...\n"
         "       ftrun [OPTION]... PROGRAM [ARGUMENT]... : [OPTION]... PROGRAM...\n"
         "       ftrun list | status | stop | wait | attach [JOB]\n"
         "Runs an MPI program, as mpirun does. A rank that is killed comes back where it\n"
         "was, and the others do not notice.\n"
         "\nExamples:\n"
         "  ftrun -n 4 ./program input\n"
         "      4 ranks on this host.\n"
         "  ftrun --host a:2,b:2,c:2 -n 4 --spares 1 --survive host ./program\n"
         "      2 ranks on a and 2 on b; c waits, to replace the one that is lost.\n"
         "  ftrun -n 4 --ckpt-dir ckpt --resume=auto ./program\n"
         "      Goes on from the last checkpoint when everything was lost.\n"
         "  ftrun -n 4 --report report.json --timeline job.svg ./program\n"
         "      What happened to the job, as numbers and as a picture.\n"
         "  ftrun status --watch\n"
         "      Where each rank of the job is, every second.");
    for (size_t i = 0; (s = ft_settings_at(i)); i++)
        if (s->type == FT_HEADING)
            printf("\n%s:\n", s->text);
        else
            print_option(s);
    for (size_t i = 0; i < sizeof notes / sizeof notes[0]; i++) {
        putchar('\n');
        print_wrapped(notes[i], 0, 0);
    }
}
