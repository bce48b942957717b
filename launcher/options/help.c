/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/options/help.h"

#include <stdio.h>
#include <string.h>

#include "launcher/options/settings.h"

enum { LEFT = 29 /* columns for the option */ };

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
    for (const char *t = s->text; *t; t++)
        if (*t == '\n')
            printf("\n%*s", LEFT + 2, "");
        else
            putchar(*t);
    putchar('\n');
}

void ft_help_print(void)
{
    const struct ft_setting *s;

    puts("Usage: ftrun [OPTION]... [--] PROGRAM [ARGUMENT]... [: [OPTION]... PROGRAM [ARGUMENT]...]...\n"
         "Runs N ranks of an MPI program on this host. A rank that is killed comes back; the others do not notice.");
    for (size_t i = 0; (s = ft_settings_at(i)); i++)
        if (s->type == FT_HEADING)
            printf("\n%s:\n", s->text);
        else
            print_option(s);
    puts("\nSIZE: bytes, or with K, M, G, T. SECONDS: with a fraction if need be. Long options may be written with one dash.\n"
         "Options but those of one program and one job can be set for good: --log-limit 2G is FTMPI_LOG_LIMIT=2G in the\n"
         "environment, and a line log-limit = 2G in ~/.config/ftmpi/ftmpi.conf or " SYSCONFDIR "/ftmpi.conf.\n"
         "\nJobs that run: ftrun list | status | stop | wait | attach [JOB] (ftrun list --help).\n"
         "\nExit code: 0 when every rank left with 0; the code of the rank that ended the job, or\n"
         "128 + signal if it died for good; 1 for a rank that left without MPI_Finalize, for\n"
         "--rabit when nobody used it and when ftrun cannot go on; 2 bad usage; 110 --timeout; 126 the\n"
         "program cannot be run, 127 there is none; 128 + signal when ftrun was told to stop.");
}
