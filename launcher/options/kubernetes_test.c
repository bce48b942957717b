/* SPDX-License-Identifier: BSD-3-Clause */
/* What operators of Kubernetes' tell pods that all start the same command, word for word; and damaged. */
#include "config.h"
#include "launcher/options/kubernetes.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static struct ft_kubernetes k;
static struct ft_error e;

/* Names and values, NULL at the end. */
static const char *get(void *arg, const char *name)
{
    for (const char *const *v = arg; *v; v += 2)
        if (!strcmp(v[0], name))
            return v[1];
    return NULL;
}

static int read_in(const char *const *env, const char *own, uint32_t per_host)
{
    e.text[0] = 0;
    memset(&k, 0, sizeof k);
    return ft_kubernetes_read(&k, own, per_host, get, (void *)env, &e);
}

static void expect(const char *const *env, const char *own, uint32_t per_host, const char *url, uint32_t nodes, uint32_t ranks)
{
    cr_expect_eq(read_in(env, own, per_host), 1, "%s: %s", url, e.text);
    cr_expect_str_eq(k.url, url, "%s", k.url);
    cr_expect_eq(k.nodes, nodes, "%s: %u pods", url, k.nodes);
    cr_expect_eq(k.per_host, ranks, "%s: %u ranks each", url, k.per_host);
}

static void expect_error(const char *const *env, uint32_t per_host, const char *part)
{
    cr_expect_eq(read_in(env, "own", per_host), FT_EINVAL, "accepted: %s", part);
    cr_expect(strstr(e.text, part), "\"%s\" does not say \"%s\"", e.text, part);
    cr_expect_not(strchr(e.text, '\n'));
}

/* training-operator v1, XGBoostJob "iris" with a master and two workers: the second worker. */
Test(kubernetes, xgboostjob)
{
    static const char *const env[] = {"MASTER_PORT", "9991", "MASTER_ADDR", "iris-master-0", "WORLD_SIZE", "3", "RANK", "2",
                                      "PYTHONUNBUFFERED", "1", "WORKER_PORT", "9991", "WORKER_ADDRS", "iris-worker-0,iris-worker-1", NULL};

    expect(env, "iris-worker-1", 0, "rdzv://iris-master-0:29400/iris-master-0", 3, 1);
    expect(env, "iris-worker-1", 4, "rdzv://iris-master-0:29400/iris-master-0", 3, 4);
    cr_expect_str_eq(k.contract, "MASTER_ADDR, WORLD_SIZE, RANK");
}

/* PyTorchJob of the same, before it had PET_*; its master was told "localhost". */
Test(kubernetes, pytorchjob)
{
    static const char *const master[] = {"MASTER_PORT", "23456", "MASTER_ADDR", "localhost", "WORLD_SIZE", "2", "RANK", "0", NULL},
                      *const worker[] = {"MASTER_PORT", "23456", "MASTER_ADDR", "net-master-0", "WORLD_SIZE", "2", "RANK", "1", NULL};

    expect(master, "net-master-0", 0, "rdzv://net-master-0:29400/net-master-0", 2, 1);
    expect(worker, "net-worker-0", 0, "rdzv://net-master-0:29400/net-master-0", 2, 1);
}

/* Trainer v2, its runtime for XGBoost; then with four GPUs in each pod. */
Test(kubernetes, trainjob_xgboost)
{
    static const char *const env[] = {"DMLC_TRACKER_URI", "trees-node-0-0.trees", "DMLC_TRACKER_PORT", "29500", "DMLC_TASK_ID", "1",
                                      "DMLC_NUM_WORKER", "2", "JOB_COMPLETION_INDEX", "1", NULL},
                      *const gpus[] = {"DMLC_TRACKER_URI", "trees-node-0-0.trees", "DMLC_TRACKER_PORT", "29500", "DMLC_TASK_ID", "1",
                                       "DMLC_NUM_WORKER", "8", NULL};

    expect(env, "trees-node-0-1", 0, "rdzv://trees-node-0-0.trees:29400/trees-node-0-0", 2, 1);
    expect(gpus, "trees-node-0-1", 4, "rdzv://trees-node-0-0.trees:29400/trees-node-0-0", 2, 4);
    expect_error(gpus, 3, "DMLC_NUM_WORKER is 8, which is no multiple of the 3 ranks that each pod takes (-N)");
}

/* The program's port is left to it. */
Test(kubernetes, ports)
{
    static const char *const env[] = {"MASTER_PORT", "29400", "MASTER_ADDR", "a", "WORLD_SIZE", "2", "RANK", "1", NULL};

    expect(env, "b", 0, "rdzv://a:29401/a", 2, 1);
    cr_expect_eq(ft_kubernetes_port(NULL), 29400);
    cr_expect_eq(ft_kubernetes_port("29401"), 29400);
    cr_expect_eq(ft_kubernetes_port("any"), 29400);
}

/* One of the three is the program's, for something else. */
Test(kubernetes, nothing_is_said)
{
    static const char *const none[] = {"JOB_COMPLETION_INDEX", "2", NULL},
                      *const one[] = {"MASTER_ADDR", "a", "MASTER_PORT", "1", "DMLC_TRACKER_URI", "b", "DMLC_ROLE", "worker", NULL},
                      *const empty[] = {"RANK", "", "DMLC_TASK_ID", "", NULL}, *const bad[] = {"JOB_COMPLETION_INDEX", "two", NULL};

    cr_expect_eq(read_in(none, "own", 0), 0);
    cr_expect_eq(read_in(one, "own", 0), 0);
    cr_expect_eq(read_in(empty, "own", 0), 0);
    cr_expect_eq(ft_kubernetes_alone(get, (void *)none), 2);
    cr_expect_eq(ft_kubernetes_alone(get, (void *)bad), -1);
    cr_expect_eq(ft_kubernetes_alone(get, (void *)one), -1);
}

/* Each pod was once a job of its own, without a word. */
Test(kubernetes, half_of_what_is_to_be_said)
{
    static const char *const no_rank[] = {"MASTER_ADDR", "a", "WORLD_SIZE", "2", NULL},
                      *const no_size[] = {"MASTER_ADDR", "a", "RANK", "1", NULL},
                      *const no_first[] = {"WORLD_SIZE", "2", "RANK", "1", NULL},
                      *const empty[] = {"MASTER_ADDR", "", "WORLD_SIZE", "2", "RANK", "1", NULL},
                      *const all_empty[] = {"MASTER_ADDR", "", "WORLD_SIZE", "", "RANK", "", NULL},
                      *const no_task[] = {"DMLC_TRACKER_URI", "a", "DMLC_TRACKER_PORT", "1", "DMLC_NUM_WORKER", "2", NULL},
                      *const whole[] = {"MASTER_ADDR", "a", "WORLD_SIZE", "2", "DMLC_TRACKER_URI", "b", "DMLC_NUM_WORKER", "2",
                                        "DMLC_TASK_ID", "1", NULL};

    expect_error(no_rank, 0, "RANK is not set: which hosts a job has is said by MASTER_ADDR, WORLD_SIZE and RANK together; set it, or say "
                             "-H localhost for a job on this host alone");
    expect_error(no_size, 0, "WORLD_SIZE is not set: ");
    expect_error(no_first, 0, "MASTER_ADDR is not set: ");
    expect_error(empty, 0, "MASTER_ADDR is empty: ");
    expect_error(all_empty, 0, "WORLD_SIZE is empty: ");
    expect_error(no_task, 0, "DMLC_TASK_ID is not set: which hosts a job has is said by DMLC_TRACKER_URI, "
                             "DMLC_NUM_WORKER and DMLC_TASK_ID together");
    expect(whole, "own", 0, "rdzv://b:29400/b", 2, 1);
}

Test(kubernetes, variables_that_are_damaged)
{
    static const char *const size[] = {"MASTER_ADDR", "a", "WORLD_SIZE", "two", "RANK", "1", NULL},
                      *const none[] = {"MASTER_ADDR", "a", "WORLD_SIZE", "0", "RANK", "0", NULL},
                      *const many[] = {"MASTER_ADDR", "a", "WORLD_SIZE", "99999999999", "RANK", "0", NULL},
                      *const rank[] = {"MASTER_ADDR", "a", "WORLD_SIZE", "2", "RANK", "-1", NULL},
                      *const beyond[] = {"MASTER_ADDR", "a", "WORLD_SIZE", "2", "RANK", "2", NULL},
                      *const name[] = {"MASTER_ADDR", "a/b?c", "WORLD_SIZE", "2", "RANK", "1", NULL},
                      *const user[] = {"MASTER_ADDR", "me@a", "WORLD_SIZE", "2", "RANK", "1", NULL},
                      *const six[] = {"MASTER_ADDR", "fd77::1", "WORLD_SIZE", "2", "RANK", "1", NULL};
    char longer[300] = "";
    const char *const length[] = {"MASTER_ADDR", longer, "WORLD_SIZE", "2", "RANK", "1", NULL};

    memset(longer, 'a', sizeof longer - 1);
    expect_error(size, 0, "WORLD_SIZE is \"two\"");
    expect_error(none, 0, "WORLD_SIZE is \"0\"");
    expect_error(many, 0, "WORLD_SIZE is \"99999999999\"");
    expect_error(rank, 0, "RANK is \"-1\"");
    expect_error(beyond, 0, "RANK is 2, and there are only 2 pods (WORLD_SIZE)");
    expect_error(name, 0, "MASTER_ADDR is \"a/b?c\", which is not the name of a pod");
    expect_error(user, 0, "MASTER_ADDR is \"me@a\"");
    expect_error(six, 0, "MASTER_ADDR is \"fd77::1\"");
    expect_error(length, 0, "MASTER_ADDR is \"aaaa");
}

/* curl, or the rendezvous, said something odd of them, or nothing. */
Test(kubernetes, names_that_are_none)
{
    static const char *const names[] = {".foo", ".", "a..b", "-a", "a.-b", "a-.b", "a b", "a_b"},
                      *const sound[] = {"a", "a.b.", "10.0.0.7", "a--b.c"};
    const char *env[] = {"MASTER_ADDR", NULL, "WORLD_SIZE", "2", "RANK", "1", NULL};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        env[1] = names[i];
        expect_error(env, 0, "which is not the name of a pod");
    }
    for (size_t i = 0; i < sizeof sound / sizeof sound[0]; i++) {
        env[1] = sound[i];
        cr_expect_eq(read_in(env, "own", 0), 1, "%s: %s", sound[i], e.text);
    }
}
