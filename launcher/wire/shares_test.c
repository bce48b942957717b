/* SPDX-License-Identifier: BSD-3-Clause */
/* Between an ftrun and its starters: what is said comes out as it went in, and what a login there prints besides is nothing to us. */
#include "config.h"
#include "launcher/wire/shares.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/options/options.h"

static struct ft_share_word out;
static struct ft_error e;

static void there_and_back(const struct ft_share_word *in)
{
    char *line = ft_share_write(in);
    size_t len;

    cr_assert(line);
    len = strlen(line);
    cr_assert(len && line[len - 1] == '\n' && strchr(line, '\n') == line + len - 1, "one line: %s", line);
    cr_assert_eq(ft_share_read(&out, line, len - 1, &e), 0, "%s", e.text);
    cr_expect_eq(out.kind, in->kind);
    cr_expect_eq(out.node, in->node);
    free(line);
}

Test(shares, what_is_said_comes_out)
{
    char *args[] = {"-p", "2222", "a b\"\\", NULL};
    struct ft_share_word begin = {.kind = FT_SHARE_BEGIN, .node = 3, .launcher = "exec:/go \xff", .path = "/opt/ft mpi/bin/ftrun", .args = args,
                                  .nnodes = 4, .width = 2, .start_ms = 60000};

    there_and_back(&begin);
    cr_expect_str_eq(out.launcher, begin.launcher);
    cr_expect_str_eq(out.path, begin.path);
    for (int i = 0; i < 4; i++)
        cr_expect(args[i] ? !strcmp(out.args[i], args[i]) : !out.args[i], "word %d", i);
    cr_expect(out.nnodes == 4 && out.width == 2 && out.start_ms == 60000);
    ft_share_free(&out);
    begin.launcher = NULL;
    there_and_back(&begin);
    cr_expect_null(out.launcher);
    ft_share_free(&out);
    for (int status = -1; status <= 0xff00; status += 0x7f) {
        there_and_back(&(struct ft_share_word){.kind = FT_SHARE_ENDED, .node = 4095, .status = status, .text = "ssh: \xc3\xa4\xe4\t\"no\""});
        cr_expect_eq(out.status, status);
        cr_expect_str_eq(out.text, "ssh: \xc3\xa4\xe4\t\"no\"");
        ft_share_free(&out);
    }
    for (int kind = FT_SHARE_ALL; kind <= FT_SHARE_READY; kind++) {
        there_and_back(&(struct ft_share_word){.kind = (enum ft_share_kind)kind, .node = 7});
        ft_share_free(&out);
    }
}

/* Hosts that come by themselves (--rdzv). */
Test(shares, what_hosts_that_come_say)
{
    there_and_back(&(struct ft_share_word){.kind = FT_SHARE_COME, .text = "h2", .slots = 4, .id = 0xfedcba9876543210});
    cr_expect_str_eq(out.text, "h2");
    cr_expect(out.slots == 4 && out.id == 0xfedcba9876543210);
    ft_share_free(&out);
    there_and_back(&(struct ft_share_word){.kind = FT_SHARE_WELCOME, .text = "h1", .lease_ms = 3000});
    cr_expect(out.lease_ms == 3000 && !strcmp(out.text, "h1"));
    ft_share_free(&out);
    there_and_back(&(struct ft_share_word){.kind = FT_SHARE_START, .node = 3, .text = "h2", .id = 7});
    cr_expect_eq(out.id, 7);
    ft_share_free(&out);
    there_and_back(&(struct ft_share_word){.kind = FT_SHARE_OVER, .status = 143});
    cr_expect_eq(out.status, 143);
    ft_share_free(&out);
    there_and_back(&(struct ft_share_word){.kind = FT_SHARE_LEAVE});
    ft_share_free(&out);
}

Test(shares, hosts_that_come_and_are_none)
{
    static const char *const others[] = {"{\"starter\":\"come\",\"node\":0}", "{\"starter\":\"welcome\",\"node\":0}",
                                         "{\"starter\":\"come\",\"text\":\"h\",\"slots\":0,\"id\":1,\"ftmpi\":\"" PACKAGE_VERSION "\"}",
                                         "{\"starter\":\"come\",\"text\":\"h\",\"slots\":1,\"id\":0,\"ftmpi\":\"" PACKAGE_VERSION "\"}",
                                         "{\"starter\":\"come\",\"text\":\"\",\"slots\":1,\"id\":1,\"ftmpi\":\"" PACKAGE_VERSION "\"}",
                                         "{\"starter\":\"come\",\"text\":\"h\",\"slots\":1,\"id\":1,\"ftmpi\":\"0.0.7\"}"};

    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        cr_expect_eq(ft_share_read(&out, others[i], strlen(others[i]), &e), FT_EINVAL, "%s", others[i]);
        ft_share_free(&out);
    }
}

Test(shares, what_is_something_else_is_not_taken_for_one)
{
    static const char *const others[] = {"", "{", "{}", "[]", "null", "Welcome to alpha!", "{\"starter\":\"dance\"}", "{\"starter\":7}", "{\"starter\":\"ended\",\"node\":1}",
                                         "{\"starter\":\"start\",\"node\":1}", "{\"starter\":\"begin\",\"node\":0}",
                                         "{\"starter\":\"begin\",\"ftmpi\":\"" PACKAGE_VERSION "\",\"node\":9,\"nodes\":9,\"width\":2,\"args\":[],\"path\":\"x\"}",
                                         "{\"starter\":\"begin\",\"ftmpi\":\"" PACKAGE_VERSION "\",\"node\":0,\"nodes\":9,\"width\":0,\"args\":[],\"path\":\"x\"}"};
    const char *old = "{\"starter\":\"begin\",\"ftmpi\":\"0.0.7\"}", *nobody = "{\"starter\":\"up\",\"node\":-1}";

    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        cr_expect_eq(ft_share_read(&out, others[i], strlen(others[i]), &e), FT_EINVAL, "%s", others[i]);
        ft_share_free(&out);
    }
    cr_expect_eq(ft_share_read(&out, old, strlen(old), &e), FT_EINVAL);
    cr_expect(strstr(e.text, "that of the job is 0.0.7"), "%s", e.text);
    ft_share_free(&out);
    /* a node that is no number is nobody's */
    cr_expect_eq(ft_share_read(&out, nobody, strlen(nobody), &e), 0);
    cr_expect_eq(out.node, UINT32_MAX);
    ft_share_free(&out);
}
