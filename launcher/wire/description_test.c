/* SPDX-License-Identifier: BSD-3-Clause */
/* What a controller writes for a node is what the node reads; anything else is refused with one line. */
#include "config.h"
#include "launcher/wire/description.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/options/parse.h"

static struct ft_options job, node;
static struct ft_description d, got;
static struct ft_error e;

/* Three nodes, ranks dealt out in turn: 0 3 | 1 4 | 2. Ranks 0-2 run one program, 3 and 4 another. */
static uint32_t first[] = {0, 2, 4, 5}, rank_at[] = {0, 3, 1, 4, 2}, incarnations[] = {7, 0};
static char *controllers[] = {(char *)"10.0.0.1", (char *)"fe80::1", NULL};
static char *env[] = {(char *)"FTMPI_A=b", (char *)"FTMPI_L\xe4ut=\xff\x01\"\\\n", NULL};

static void make(uint32_t which)
{
    static char words[][24] = {"ftrun", "--log-limit=64M", "--survive", "host", "--report", "r.json", "--stdin", "1", "--tag-output", "-n", "3", "-x", "FT_T",
                               "-x", "FT_U", "./a", "b c", "\xc3\xa4\xe4", ":", "-n", "2", "-wdir", "/tmp", "-genvnone", "d"};
    static char *argv[26];
    int argc = sizeof words / sizeof words[0];

    for (int i = 0; i < argc; i++)
        argv[i] = words[i];
    setenv("FT_T", "\xe9t\xe9", 1);
    unsetenv("FT_U");
    cr_assert_eq(ft_options_parse(&job, argc, argv, &e), 0, "%s", e.text);
    d = (struct ft_description){.node = which, .nnodes = 3, .world = 5, .incarnation = 2, .epoch = 1, .first = first, .rank_at = rank_at,
                                .incarnations = incarnations, .controllers = controllers, .port = 4711, .host = (char *)"h\xf6st", .master = (char *)"first",
                                .cwd = (char *)"/a b", .env = env};
    for (int i = 0; i < FT_JOB_SECRET_BYTES; i++)
        d.secret[i] = (unsigned char)(i * 9);
}

static int read_back(void)
{
    char *text = ft_description_write(&job, &d);
    int err;

    cr_assert(text);
    cr_expect_not(strchr(text, '\n'), "it is one line");
    err = ft_description_read(&got, &node, text, strlen(text), &e);
    free(text);
    return err;
}

static void done(void)
{
    ft_description_free(&got);
    ft_options_free(&node);
    ft_options_free(&job);
}

Test(description, comes_back_as_it_was)
{
    make(0);
    cr_assert_eq(read_back(), 0, "%s", e.text);
    cr_expect_eq(got.node, 0);
    cr_expect_eq(got.nnodes, 3);
    cr_expect_eq(got.world, 5);
    cr_expect_eq(got.incarnation, 2);
    cr_expect_eq(got.epoch, 1);
    cr_expect_eq(got.port, 4711);
    cr_expect_arr_eq(got.first, first, sizeof first);
    cr_expect_arr_eq(got.rank_at, rank_at, sizeof rank_at);
    cr_expect_arr_eq(got.incarnations, incarnations, sizeof incarnations);
    cr_expect_arr_eq(got.secret, d.secret, sizeof d.secret);
    cr_expect_str_eq(got.controllers[1], "fe80::1");
    cr_expect_null(got.controllers[2]);
    cr_expect_str_eq(got.host, d.host);
    cr_expect_str_eq(got.master, d.master);
    cr_expect_str_eq(got.cwd, "/a b");
    cr_expect_str_eq(got.env[1], env[1]);
    cr_expect_null(got.env[2]);
    cr_expect_eq(node.node, &got);
    cr_expect_str_eq(node.job_id, job.job_id);
    done();
}

Test(description, contexts_are_those_of_the_node)
{
    make(0);
    cr_assert_eq(read_back(), 0, "%s", e.text);
    cr_assert_eq(node.ncontexts, 2);
    cr_expect_eq(node.nranks, 2);
    cr_expect_eq(node.contexts[0].first, 0);
    cr_expect_eq(node.contexts[0].nranks, 1);
    cr_expect_str_eq(node.contexts[0].argv[0], "./a");
    cr_expect_str_eq(node.contexts[0].argv[1], "b c");
    cr_expect_str_eq(node.contexts[0].argv[2], "\xc3\xa4\xe4");
    cr_expect_null(node.contexts[0].argv[3]);
    cr_assert_eq(node.contexts[0].nexports, 1, "what is not set here is not passed on");
    cr_expect_str_eq(node.contexts[0].exports[0], "FT_T=\xe9t\xe9");
    cr_expect_null(node.contexts[0].wdir);
    cr_expect_not(node.contexts[0].bare);
    cr_expect_eq(node.contexts[1].number, 1);
    cr_expect_eq(node.contexts[1].first, 1);
    cr_expect_str_eq(node.contexts[1].argv[0], "d");
    cr_expect_str_eq(node.contexts[1].wdir, "/tmp");
    cr_expect(node.contexts[1].bare);
    done();
    make(2);
    cr_assert_eq(read_back(), 0, "%s", e.text);
    cr_expect_eq(node.ncontexts, 1);
    cr_expect_eq(node.contexts[0].number, 0);
    cr_expect_eq(node.nranks, 1);
    done();
    make(2);
    rank_at[3] = 2;
    rank_at[4] = 4;
    cr_assert_eq(read_back(), 0, "%s", e.text);
    cr_expect_eq(node.ncontexts, 1);
    cr_expect_eq(node.contexts[0].number, 1, "the job's number, not the node's");
    done();
}

Test(description, settings_go_along)
{
    make(1);
    cr_assert_eq(read_back(), 0, "%s", e.text);
    cr_expect_eq(node.log_limit, 64u << 20);
    cr_expect(node.survive_host);
    cr_expect_eq(node.stdin_rank, 0, "rank 1 is the first of node 1");
    cr_expect_not(node.tag_output, "the controller does that");
    cr_expect_null(node.report, "and that");
    cr_expect(got.report && !got.timeline, "but it is told what happens");
    done();
    make(0);
    cr_assert_eq(read_back(), 0, "%s", e.text);
    cr_expect_eq(node.stdin_rank, -1, "the rank that reads is elsewhere");
    done();
    make(1);
    d.no_input = true;
    cr_assert_eq(read_back(), 0, "%s", e.text);
    cr_expect_eq(node.stdin_rank, -1, "there is nothing to read");
    done();
}

/* `part` of what a controller writes is replaced. */
static void expect_refused(const char *part, const char *by, const char *line)
{
    char *text, *at, changed[8192];

    make(0);
    text = ft_description_write(&job, &d);
    at = strstr(text, part);
    cr_assert(at, "there is no %s in %s", part, text);
    snprintf(changed, sizeof changed, "%.*s%s%s", (int)(at - text), text, by, at + strlen(part));
    free(text);
    cr_expect_eq(ft_description_read(&got, &node, changed, strlen(changed), &e), FT_EINVAL, "%s for %s is accepted", by, part);
    cr_expect(strstr(e.text, line), "%s for %s: \"%s\"", by, part, e.text);
    done();
}

Test(description, what_is_wrong_is_refused)
{
    expect_refused(PACKAGE_VERSION, "0.0.0-other", "0.0.0-other");
    expect_refused("\"first\":[0,2", "\"first\":[0,0", "damaged");   /* a node without ranks */
    expect_refused("\"first\":[0,2", "\"first\":[1,2", "damaged");
    expect_refused("[0,3,1,4,2]", "[0,3,1,4,4]", "damaged");         /* a rank twice */
    expect_refused("[0,3,1,4,2]", "[3,0,1,4,2]", "damaged");         /* not ascending */
    expect_refused("[0,3,1,4,2]", "[0,3,1,4]", "damaged");
    expect_refused("[0,3,1,4,2]", "[0,3,1,4,5]", "damaged");
    expect_refused("\"nodes\":3", "\"nodes\":4", "damaged");
    expect_refused("\"node\":0", "\"node\":3", "damaged");
    expect_refused("\"port\":4711", "\"port\":70000", "damaged");
    expect_refused("\"secret\":\"00", "\"secret\":\"0g", "damaged");
    expect_refused("\"secret\":\"00", "\"secret\":\"", "damaged");
    expect_refused("\"log-limit\":\"64M\"", "\"log-limit\":\"much\"", "log-limit");
    expect_refused("\"log-limit\"", "\"no-such\"", "damaged");
    expect_refused("\"./a\"", "\"./\\u4711\"", "damaged");           /* not a byte */
    expect_refused("\"ranks\":1", "\"ranks\":2", "damaged");         /* more than the node has */
    expect_refused("{", "", "--node is for ftrun");
}

Test(description, cut_anywhere_is_refused)
{
    char *text;
    size_t len;

    make(0);
    text = ft_description_write(&job, &d);
    len = strlen(text);
    for (size_t n = 0; n < len; n++) {
        cr_expect_eq(ft_description_read(&got, &node, text, n, &e), FT_EINVAL, "%zu bytes of %zu are accepted", n, len);
        ft_description_free(&got);
        ft_options_free(&node);
    }
    free(text);
    ft_options_free(&job);
}
