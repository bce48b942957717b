/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/start/remote_words.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launcher/options/hosts.h"
#include "launcher/options/options.h"

enum { WORDS_BEFORE = 24 };

static bool is(const struct ft_remote_words *w, const char *launcher)
{
    return !strcmp(ft_options_launcher(w->options), launcher);
}

/* For a shell: in single quotes. */
static void quote(const char *path, char *text, size_t size)
{
    size_t n = 0;

    text[n++] = '\'';
    for (; *path && n + 6 < size; path++) {
        if (*path == '\'') {
            memcpy(text + n, "'\\'", 3);
            n += 3;
        }
        text[n++] = *path;
    }
    text[n++] = '\'';
    text[n] = 0;
}

/* ssh never asks anybody anything, and knows in 10 seconds that a host is not there. */
static size_t ssh_words(const char **w)
{
    static const char *const words[] = {"ssh", "-x", "-a", "-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10", "-o", "ServerAliveInterval=15"};

    memcpy(w, words, sizeof words);
    return sizeof words / sizeof words[0];
}

/* A step of its own on that node, with all that the allocation has there, whatever other steps do: so a node is started, lost and replaced
   alone. The agent sees to processors, memory and PMI itself. */
static size_t srun_words(const char **w)
{
    static const char *const words[] = {"srun", "--nodes=1", "--ntasks=1", "--overlap", "--mem=0", "--cpu-bind=none", "--mpi=none",
                                        "--export=ALL"};

    memcpy(w, words, sizeof words);
    return sizeof words / sizeof words[0];
}

/* srun obeys these where no word of ours says otherwise. Some sbatch exports, of what the whole job has; some users do, for their own calls
   of srun. The first makes srun's own failures what they are with ssh. */
char *const *ft_remote_words_env(const struct ft_remote_words *w)
{
    static char *const env[] = {
        "SLURM_EXIT_ERROR=255", "SLURM_CONSTRAINT", "SLURM_CPUS_PER_GPU", "SLURM_DEBUG", "SLURM_EXACT", "SLURM_EXCLUSIVE", "SLURM_GPUS",
        "SLURM_GPUS_PER_NODE", "SLURM_GPUS_PER_SOCKET", "SLURM_GPUS_PER_TASK", "SLURM_GRES", "SLURM_IMMEDIATE", "SLURM_LABELIO",
        "SLURM_NO_KILL", "SLURM_NTASKS_PER_GPU", "SLURM_RESV_PORTS", "SLURM_STDERRMODE", "SLURM_STDINMODE", "SLURM_TIMELIMIT",
        "SRUN_CPUS_PER_TASK", NULL};

    return is(w, "srun") ? env : NULL;
}

static size_t exec_words(struct ft_remote_words *w)
{
    size_t n = 0;

    strcpy(w->command, strchr(ft_options_launcher(w->options), ':') + 1);
    for (char *save = NULL, *word = strtok_r(w->command, " \t", &save); word; word = strtok_r(NULL, " \t", &save))
        w->words[n++] = word;
    return n;
}

static size_t words_before(struct ft_remote_words *w)
{
    return is(w, "ssh") ? ssh_words(w->words) : is(w, "srun") ? srun_words(w->words) : exec_words(w);
}

const char **ft_remote_words_make(struct ft_remote_words *w, const struct ft_host *host, const char *mode, bool directly)
{
    const struct ft_options *o = w->options;
    size_t n = directly ? 0 : words_before(w);

    for (size_t i = 0; !directly && i < o->nlaunch_args; i++)
        w->words[n++] = o->launch_args[i];
    if (!directly && is(w, "srun"))
        w->words[n++] = "--nodelist";
    if (!directly)
        w->words[n++] = host->name;
    if (!directly && is(w, "ssh")) {
        strcpy(w->quoted, "exec ");
        quote(w->path, w->quoted + 5, sizeof w->quoted - 5);
        w->words[n++] = w->quoted;
    } else {
        w->words[n++] = directly ? w->own : w->path;
    }
    w->words[n++] = mode;
    w->words[n] = NULL;
    return w->words;
}

int ft_remote_words_open(struct ft_remote_words *w, const struct ft_options *o, const char *path, struct ft_error *e)
{
    const char *command = o->launcher ? o->launcher : "";
    ssize_t n = readlink("/proc/self/exe", w->own, sizeof w->own - 1);

    if (n < 0)
        return ft_err_set(e, FT_ESYS, "cannot find out where ftrun is: %s", strerror(errno));
    w->own[n] = 0;
    w->options = o;
    w->command = malloc(strlen(command) + 1);
    w->words = calloc(WORDS_BEFORE + o->nlaunch_args + strlen(command), sizeof *w->words);
    if (!w->command || !w->words)
        return ft_err_set(e, FT_ENOMEM, "out of memory");
    snprintf(w->path, sizeof w->path, o->prefix && !path ? "%s/bin/ftrun" : "%s", path ? path : o->prefix ? o->prefix : w->own);
    return 0;
}

void ft_remote_words_close(struct ft_remote_words *w)
{
    free(w->command);
    free(w->words);
}
