/* SPDX-License-Identifier: BSD-3-Clause */
/* Rendezvous as torchelastic states it, statement 11: the URL; and torchrun's environment. */
#include "config.h"
#include "launcher/rdzv/settings.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static struct ft_rdzv_settings s;
static struct ft_error e;

static int url(const char *text)
{
    ft_rdzv_settings_init(&s);
    e.text[0] = 0;
    return ft_rdzv_settings_url(&s, text, &e) < 0 ? -1 : ft_rdzv_settings_check(&s, &e);
}

Test(statement_11, all_of_it)
{
    cr_assert_eq(url("etcd://a:1234,b,[::1]:7/job_id?min_workers=2&max_workers=5&timeout=60&last_call_timeout=0.25&etcd_prefix=/x/y/&protocol=https"
                     "&cacert=/c%20a&cert=/b&key=/k&lease=3"), 0, "%s", e.text);
    cr_assert_not(s.embedded);
    cr_assert_eq(s.n, 3);
    cr_assert_str_eq(s.endpoints[0].host, "a");
    cr_assert_eq(s.endpoints[0].port, 1234);
    cr_assert_eq(s.endpoints[1].port, 2379);
    cr_assert_str_eq(s.endpoints[2].host, "::1");
    cr_assert_eq(s.endpoints[2].port, 7);
    cr_assert_str_eq(s.job, "job_id");
    cr_assert_eq(s.min, 2);
    cr_assert_eq(s.max, 5);
    cr_assert_eq(s.timeout_ms, 60000);
    cr_assert_eq(s.last_call_ms, 250);
    cr_assert_eq(s.lease_ms, 3000);
    cr_assert_str_eq(s.prefix, "/x/y");
    cr_assert(s.tls);
    cr_assert_str_eq(s.cacert, "/c a");
    cr_assert_str_eq(s.cert, "/b");
    cr_assert_str_eq(s.key, "/k");
}

Test(statement_11, what_is_not_said)
{
    cr_assert_eq(url("etcd://a/j"), 0);
    cr_assert_eq(s.min, 1);
    cr_assert_eq(s.max, 1);
    cr_assert_eq(s.timeout_ms, 600000);
    cr_assert_eq(s.last_call_ms, 30000);
    cr_assert_eq(s.lease_ms, 10000);
    cr_assert_eq(url("etcd://a/j?min_workers=3"), 0);
    cr_assert_eq(s.max, 3); /* max defaults to min */
    cr_assert_eq(url("rdzv://a/j"), 0);
    cr_assert(s.embedded);
    cr_assert_eq(s.endpoints[0].port, 29400);
    cr_assert_eq(url("etcds://a/j"), 0);
    cr_assert(s.tls);
}

Test(statement_11, users)
{
    char text[128] = "etcd://me:se%40cret@a:1/j", shown[128];

    cr_assert_eq(url(text), 0, "%s", e.text);
    cr_assert_str_eq(s.user, "me");
    cr_assert_str_eq(s.password, "se@cret");
    cr_assert_null(strstr(ft_rdzv_settings_print(&s, shown, sizeof shown), "cret"));
    ft_rdzv_settings_hide(text);
    cr_assert_str_eq(text, "etcd://me:xxxxxxxxx@a:1/j");
    cr_assert_lt(url("etcd://me:pass@/j"), 0);
    cr_assert_null(strstr(e.text, "pass"), "%s", e.text);
}

Test(statement_11, what_is_none)
{
    static const char *const bad[] = {
        "", "etcd", "etcd:/a/j", "http://a/j", "etcd:///j", "etcd://a", "etcd://a/", "etcd://a/j/k", "etcd://a:0/j", "etcd://a:65536/j", "etcd://a:x/j",
        "etcd://[::1/j", "etcd://[::1]x/j", "etcd://a,/j", "etcd://@a/j", "rdzv://me@a/j", "rdzv://a,b/j", "etcd://a/j?min_workers", "etcd://a/j?min_workers=",
        "etcd://a/j?min_workers=0", "etcd://a/j?min_workers=-1", "etcd://a/j?min_workers=99999", "etcd://a/j?min_workers=3&max_workers=2",
        "etcd://a/j?timeout=1e9", "etcd://a/j?timeout=1.x", "etcd://a/j?nosuch=1", "etcd://a/j?timeout=0", "etcd://a/j?timeout=0.0", "etcd://a/j?lease=0", "etcd://a/j?lease=1.5", "etcd://a/j?protocol=ftp",
        "etcd://a/j?etcd_prefix=x", "etcds://a/j?cert=/a", "etcd://a/j?cacert=/a", "rdzv://a/j?protocol=https", "etcd://a/%00", "etcd://a/%zz", "etcd://a/a%2",
        "etcd://a/a b", "etcd://a/j?=1", "etcd://a b/j"};

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        cr_assert_lt(url(bad[i]), 0, "%s", bad[i]);
        cr_assert_neq(e.text[0], 0, "%s", bad[i]);
    }
}

Test(settings, any_bytes)
{
    static const char parts[] = "etcdrv:/[]@?&=%,.0192minworks\"\n\x80";
    char text[200];

    srand(1);
    for (int i = 0; i < 200000; i++) {
        size_t n = (size_t)rand() % (sizeof text - 1), head = (size_t)rand() % 3;

        for (size_t k = 0; k < n; k++)
            text[k] = parts[(size_t)rand() % (sizeof parts - 1)];
        text[n] = 0;
        if (n > 16 && head)
            memcpy(text, head == 1 ? "etcd://a/j?" : "rdzv://", head == 1 ? 11 : 7);
        url(text);
        ft_rdzv_settings_hide(text);
    }
}

Test(settings, nodes)
{
    static const char *const bad[] = {"", ":", "0", "2:1", "1:", ":2", "x", "1:2:3", "-1", "99999"};

    ft_rdzv_settings_init(&s);
    cr_assert_eq(ft_rdzv_settings_nodes(&s, "2:5", &e), 0);
    cr_assert(s.min == 2 && s.max == 5);
    cr_assert_eq(ft_rdzv_settings_nodes(&s, "3", &e), 0);
    cr_assert(s.min == 3 && s.max == 3);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        cr_assert_eq(ft_rdzv_settings_nodes(&s, bad[i], &e), FT_EINVAL, "%s", bad[i]);
}

/* ---- torchrun ---- */

static const char *get(void *arg, const char *name)
{
    const char *const *set = arg;

    for (; set[0]; set += 2)
        if (strcmp(set[0], name) == 0)
            return set[1];
    return NULL;
}

static struct ft_rdzv_torchrun t;

static int torchrun(const char *const *set) { return ft_rdzv_settings_torchrun(&s, &t, get, (void *)set, &e); }

Test(torchrun, a_pytorchjob)
{
    const char *const set[] = {"PET_NNODES", "2:4", "PET_NPROC_PER_NODE", "auto", "PET_NODE_RANK", "1", "PET_MASTER_ADDR", "job-master-0", "PET_MASTER_PORT",
                               "23456", "PET_MAX_RESTARTS", "3", NULL};

    cr_assert_eq(torchrun(set), 1, "%s", e.text);
    cr_assert(s.embedded);
    cr_assert_str_eq(s.endpoints[0].host, "job-master-0");
    cr_assert_eq(s.endpoints[0].port, 23456);
    cr_assert(s.min == 2 && s.max == 4);
    cr_assert_str_eq(t.nproc, "auto");
    cr_assert(t.node_rank == 1 && t.max_restarts == 3);
    cr_assert_str_eq(s.job, "none");
}

Test(torchrun, elastic_with_etcd)
{
    const char *const set[] = {"PET_NNODES", "3", "PET_RDZV_BACKEND", "etcd-v2", "PET_RDZV_ID", "abc", "PET_RDZV_ENDPOINT", "etcd-client:2379",
                               "PET_RDZV_CONF", "timeout=60,last_call_timeout=5,read_timeout=9", NULL};

    cr_assert_eq(torchrun(set), 1, "%s", e.text);
    cr_assert_not(s.embedded);
    cr_assert_eq(s.timeout_ms, 60000);
    cr_assert_eq(s.last_call_ms, 5000);
    cr_assert_str_eq(s.job, "abc");
    cr_assert_eq(t.node_rank, -1);
}

Test(torchrun, c10d_and_its_port)
{
    const char *const set[] = {"PET_NNODES", "1:2", "PET_RDZV_BACKEND", "c10d", "PET_RDZV_ENDPOINT", "head", "PET_RDZV_ID", "j", NULL};

    cr_assert_eq(torchrun(set), 1, "%s", e.text);
    cr_assert(s.embedded);
    cr_assert_eq(s.endpoints[0].port, 29400);
}

Test(torchrun, none_and_wrong_ones)
{
    const char *const none[] = {"PET_NPROC_PER_NODE", "4", NULL}, *const nowhere[] = {"PET_NNODES", "2", NULL},
                      *const backend[] = {"PET_NNODES", "2", "PET_MASTER_ADDR", "a", "PET_RDZV_BACKEND", "zeus", NULL},
                      *const rank[] = {"PET_NODE_RANK", "x", NULL},
                      *const conf[] = {"PET_NNODES", "2", "PET_MASTER_ADDR", "a", "PET_RDZV_CONF", "timeout", NULL},
                      *const value[] = {"PET_NNODES", "2", "PET_MASTER_ADDR", "a", "PET_RDZV_CONF", "timeout=soon", NULL};

    cr_assert_eq(torchrun(none), 0);
    cr_assert_eq(torchrun(nowhere), FT_EINVAL);
    cr_assert_eq(torchrun(backend), FT_EINVAL);
    cr_assert_eq(torchrun(rank), FT_EINVAL);
    cr_assert_eq(torchrun(conf), FT_EINVAL);
    cr_assert_eq(torchrun(value), FT_EINVAL);
}

Test(statement_11, etcds_of_the_jobs_own)
{
    cr_assert_eq(url("etcd-embedded://h1,h2:4001,h3,h4/j"), 0, "%s", e.text);
    cr_assert(s.etcds && !s.embedded && !s.tls);
    cr_assert_eq(s.n, 3);
    cr_assert_eq(s.endpoints[1].port, 4001);
    cr_assert_eq(s.endpoints[2].port, 2379);
    cr_assert_eq(url("etcd-embedded://h1,h2/j"), 0);
    cr_assert_eq(s.n, 1);
    cr_assert_eq(url("etcd://h1,h2/j"), 0);
    cr_assert(!s.etcds && s.n == 2);
    cr_assert_lt(url("etcd-embedded://me@h1/j"), 0);
    cr_assert(strstr(e.text, "neither users nor TLS"));
    cr_assert_lt(url("etcd-embedded://h1/j?protocol=https"), 0);
    cr_assert_lt(url("etcd-embedded://h1:65535/j"), 0);
    cr_assert(strstr(e.text, "takes two ports"));
}
