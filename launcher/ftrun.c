/* SPDX-License-Identifier: BSD-3-Clause */
/* ftrun: starts the ranks of a job and brings back those that die. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "launcher/options/parse.h"

#include "launcher/agent/agent.h"
#include "launcher/base/say.h"
#include "launcher/control/client.h"
#include "launcher/controller/controller.h"
#include "launcher/join/join.h"
#include "launcher/node/node.h"
#include "launcher/options/help.h"
#include "launcher/options/options.h"
#include "launcher/options/program.h"
#include "launcher/start/starter.h"
#include "launcher/tune/tune.h"

/* A descriptor opened later must not become somebody's stdin, stdout or stderr. Where stdout is closed, what is written to it is
   lost, and that is told: nothing can be written to the one that takes its place. */
static void fill_standard_descriptors(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == STDOUT_FILENO ? O_RDONLY : O_RDWR) < 0)
            return;
}

/* What has come up in reading the options. */
static void tell_first(const struct ft_options *o)
{
    struct ft_say say = {.quiet = o->quiet, .verbose = o->verbose, .timestamp = o->timestamp_output};
    const char *job = getenv("FTMPI_JOB"), *rank = getenv("FTMPI_RANK");

    for (size_t i = 0; i < o->nnotices; i++)
        ft_say_notice(&say, "%s", o->notices[i]);
    if (job && rank)
        ft_say_detail(&say, "started by rank %s of job %s; this is a job of its own, %s", rank, job, o->job_id);
}

/* "ftrun statsu": no program of that name, and a word of ours that is near. */
static bool is_misspelt(const char *word)
{
    const char *meant = strchr(word, '/') || *word == '-' || ft_program_exists(word) ? NULL : ft_client_nearest(word);

    if (meant)
        ft_say(&(struct ft_say){0}, "%s: command not found; did you mean ftrun %s?", word, meant);
    return meant;
}

/* "ftrun help", "ftrun help status". */
static int help(const char *word)
{
    if (word && !ft_client_is_command(word)) {
        ft_say(&(struct ft_say){0}, "help %.80s: there is no such command (ftrun help list has those about jobs, ftrun help all options)",
               word);
        return FT_CODE_USAGE;
    }
    if (word)
        ft_client_help();
    else
        ft_help_print();
    return 0;
}

/* --tty: what ranks hear of the terminal. A rank that starts ftrun has heard of another one. */
static void describe_terminal(const struct ft_options *o)
{
    struct winsize size = {.ws_col = 80, .ws_row = 24}, real;
    char text[32];

    for (int fd = STDERR_FILENO; fd >= STDIN_FILENO; fd--)
        if (ioctl(fd, TIOCGWINSZ, &real) == 0 && real.ws_col && real.ws_row)
            size = real;
    snprintf(text, sizeof text, "%hux%hu", size.ws_col, size.ws_row);
    if (!o->tty)
        unsetenv("FTMPI_TERMINAL");
    else if (setenv("FTMPI_TERMINAL", text, 1) < 0)
        ft_say(&(struct ft_say){0}, "out of memory");
}

static int run(int argc, char **argv)
{
    struct ft_options options;
    struct ft_error e;
    int code = 0;

    if (argc > 1 && ft_client_is_command(argv[1]))
        return ft_client_run(argv + 1);
    if ((argc == 2 || argc == 3) && !strcmp(argv[1], "help"))
        return help(argv[2]);
    if (argc > 1 && is_misspelt(argv[1]))
        return FT_CODE_NOT_FOUND;
    if (argc == 2 && !strcmp(argv[1], "--node"))
        return ft_node_main();
    if (argc == 2 && !strcmp(argv[1], "--starter"))
        return ft_starter_main();
    if (ft_options_parse(&options, argc, argv, &e) < 0) {
        ft_say(&(struct ft_say){0}, "%s", e.text);
        code = FT_CODE_USAGE;
    } else if (options.help) {
        ft_help_print();
    } else if (options.version) {
        puts("ftrun (ftmpi) " PACKAGE_VERSION);
    } else if (options.tune) {
        code = ft_tune_run();
    } else {
        tell_first(&options);
        describe_terminal(&options);
        code = options.rendezvous ? ft_join_run(&options) : options.map ? ft_controller_run(&options, NULL) : ft_agent_run(&options, NULL);
    }
    ft_options_free(&options);
    return code;
}

int main(int argc, char **argv)
{
    int code;

    fill_standard_descriptors();
    code = run(argc, argv);
    errno = EIO;
    if ((!fflush(stdout) && !ferror(stdout)) || errno == EPIPE) /* what ftrun itself prints: the ranks' output goes other ways */
        return code;
    ft_say(&(struct ft_say){0}, "output was lost: cannot write to %s: %s", "stdout", strerror(errno));
    return code ? code : FT_CODE_JOB;
}
