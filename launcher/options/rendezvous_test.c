/* SPDX-License-Identifier: BSD-3-Clause */
/* --rdzv and what goes with it, from options, FTMPI_* and torchrun's PET_*: the same settings; and one clear line for what does not fit. */
#include "config.h"
#include "launcher/options/rendezvous.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launcher/options/map.h"
#include "launcher/options/settings.h"
#include "launcher/options/test_line.h"

static struct ft_options o;
static struct ft_error e;

static int parse(const char *line) { return parse_line(&o, line, &e); }

static const struct ft_rendezvous *accepted(const char *line)
{
    cr_assert_eq(parse(line), 0, "%s: %s", line, e.text);
    return o.rendezvous;
}

static void expect_error(const char *line, const char *part)
{
    cr_expect_eq(parse(line), FT_EINVAL, "%s is accepted", line);
    cr_expect(strstr(e.text, part), "%s: \"%s\" does not say \"%s\"", line, e.text, part);
    cr_expect_not(strchr(e.text, '\n'));
    ft_options_free(&o);
}

Test(rendezvous, by_options)
{
    const struct ft_rendezvous *r = accepted("ftrun --rdzv rdzv://node-0:29401/train?lease=4 --nodes 2:3 --rdzv-secret-file s -n 6 a b");
    char name[256];

    cr_assert(r);
    cr_expect(r->settings.embedded);
    cr_expect_str_eq(r->settings.endpoints[0].host, "node-0");
    cr_expect_eq(r->settings.endpoints[0].port, 29401);
    cr_expect_str_eq(r->settings.job, "train");
    cr_expect_eq(r->settings.min, 2);
    cr_expect_eq(r->settings.max, 3);
    cr_expect_eq(r->settings.lease_ms, 4000);
    cr_expect_str_eq(r->secret_file, "s");
    gethostname(name, sizeof name);
    cr_expect_str_eq(r->name, name);
    cr_expect_gt(r->slots, 0);
    cr_expect_eq(o.contexts[0].nranks, 6);
    cr_expect_null(o.map, "hosts are known later");
    cr_expect_eq(o.wait_ms, 600000);
    ft_options_free(&o);
}

Test(rendezvous, slots_are_what_a_host_is_told_to_take)
{
    cr_expect_eq(accepted("ftrun --rdzv rdzv://h/j -N 3 a")->slots, 3);
    ft_options_free(&o);
}

Test(rendezvous, without_it_nothing_changes)
{
    cr_expect_null(accepted("ftrun -n 2 a"));
    cr_expect_eq(o.nranks, 2);
    ft_options_free(&o);
}

Test(rendezvous, the_option_counts_and_not_the_parameter)
{
    const struct ft_rendezvous *r = accepted("ftrun --nodes 4 --rdzv rdzv://h/j?min_workers=2&max_workers=3 a");

    cr_expect_eq(r->settings.min, 4);
    cr_expect_eq(r->settings.max, 4);
    ft_options_free(&o);
}

Test(rendezvous, by_the_environment)
{
    const struct ft_rendezvous *r;

    setenv("FTMPI_RDZV", "etcd://me:abc@etcd-0/train", 1);
    setenv("FTMPI_NODES", "3", 1);
    setenv("FTMPI_SECRET_FILE", "/run/secret", 1);
    setenv("FTMPI_RDZV_PASSWORD", "guarded", 1);
    r = accepted("ftrun a");
    cr_assert(r);
    cr_expect_eq(r->settings.min, 3);
    cr_expect_str_eq(r->settings.user, "me");
    cr_expect_str_eq(r->settings.password, "abc");
    cr_expect_str_eq(r->password, "guarded");
    cr_expect_str_eq(r->secret_file, "/run/secret");
    cr_expect_null(getenv("FTMPI_RDZV_PASSWORD"), "ranks have it");
    cr_expect_str_eq(getenv("FTMPI_RDZV"), "etcd://me:xxx@etcd-0/train");
    ft_options_free(&o);
    cr_expect_null(accepted("ftrun -H localhost:2 a"), "who names hosts means those");
    ft_options_free(&o);
    setenv("FTMPI_JOB", "j", 1);
    setenv("FTMPI_RANK", "0", 1);
    cr_expect_null(accepted("ftrun a"), "what a rank starts is a job of its own");
    ft_options_free(&o);
}

Test(rendezvous, passwords_are_written_over)
{
    cr_assert(accepted("ftrun --rdzv etcd://me:abc@etcd-0/train a"));
    cr_expect_str_eq(o.rendezvous->settings.password, "abc");
    cr_expect_str_eq(ft_settings_origin(&o, ft_settings_find("rdzv", 4)).value, "etcd://me:xxx@etcd-0/train");
    ft_options_free(&o);
}

Test(rendezvous, by_torchrun)
{
    const struct ft_rendezvous *r;

    setenv("PET_NNODES", "2:4", 1);
    setenv("PET_RDZV_ENDPOINT", "etcd-0:2379", 1);
    setenv("PET_RDZV_BACKEND", "etcd", 1);
    setenv("PET_RDZV_ID", "train", 1);
    setenv("PET_NPROC_PER_NODE", "2", 1);
    setenv("PET_MAX_RESTARTS", "7", 1);
    r = accepted("ftrun a");
    cr_assert(r);
    cr_expect_not(r->settings.embedded);
    cr_expect_str_eq(r->settings.job, "train");
    cr_expect_eq(r->settings.min, 2);
    cr_expect_eq(r->settings.max, 4);
    cr_expect_eq(r->slots, 2);
    cr_expect_eq(o.max_restarts, 7);
    ft_options_free(&o);
    r = accepted("ftrun --nodes 3 --max-restarts 1 -n 5 a");
    cr_expect_eq(r->settings.max, 3);
    cr_expect_eq(o.max_restarts, 1);
    cr_expect_eq(o.contexts[0].per_host, 0, "-n counts");
    ft_options_free(&o);
    cr_expect_str_eq(accepted("ftrun --rdzv rdzv://h/other a")->settings.job, "other");
    ft_options_free(&o);
    cr_expect_null(accepted("ftrun -H localhost a"));
    ft_options_free(&o);
    setenv("PET_NPROC_PER_NODE", "auto", 1);
    cr_expect_gt(accepted("ftrun a")->slots, 0);
    ft_options_free(&o);
    setenv("PET_NPROC_PER_NODE", "gpu", 1);
    expect_error("ftrun a", "PET_NPROC_PER_NODE is \"gpu\"");
}

/* Lines were of options that nobody had given, or there was none and each host a job of its own. */
Test(rendezvous, by_torchrun_damaged)
{
    static const char *const nodes[] = {"x", "0", "-1", "2:1", "1:", ":", "99999999999", "2 "};

    setenv("PET_MASTER_ADDR", "a", 1);
    for (size_t i = 0; i < sizeof nodes / sizeof nodes[0]; i++) {
        char text[64];

        snprintf(text, sizeof text, "PET_NNODES is \"%s\", which is no number of hosts, or MIN:MAX", nodes[i]);
        setenv("PET_NNODES", nodes[i], 1);
        expect_error("ftrun a", text);
    }
    setenv("PET_NNODES", "2", 1);
    setenv("PET_MASTER_PORT", "x", 1);
    expect_error("ftrun a", "PET_MASTER_PORT is \"x\", which is no port");
    setenv("PET_MASTER_PORT", "65536", 1);
    expect_error("ftrun a", "PET_MASTER_PORT is \"65536\"");
    setenv("PET_NNODES", "", 1);
    expect_error("ftrun a", "PET_NNODES is empty: which hosts a job has is said by PET_MASTER_ADDR, PET_NNODES and PET_NODE_RANK together");
    cr_expect_null(accepted("ftrun -H localhost a"));
    ft_options_free(&o);
    unsetenv("PET_NNODES");
    cr_expect_null(accepted("ftrun a"), "an address alone: torchrun would take one host");
    ft_options_free(&o);
    setenv("PET_NODE_RANK", "1", 1);
    expect_error("ftrun a", "PET_NNODES is not set: ");
    setenv("FTMPI_JOB", "j", 1);
    setenv("FTMPI_RANK", "0", 1);
    cr_expect_null(accepted("ftrun a"), "in a rank nothing of it is read");
    ft_options_free(&o);
}

/* Outside of a pod these are not Kubernetes'. */
Test(rendezvous, half_of_what_an_operator_says)
{
    setenv("MASTER_ADDR", "a", 1);
    setenv("WORLD_SIZE", "2", 1);
    cr_expect_null(accepted("ftrun a"));
    ft_options_free(&o);
    setenv("KUBERNETES_SERVICE_HOST", "10.96.0.1", 1);
    expect_error("ftrun a", "RANK is not set: which hosts a job has is said by MASTER_ADDR, WORLD_SIZE and RANK together");
    cr_expect_null(accepted("ftrun -H localhost a"));
    ft_options_free(&o);
    cr_expect_str_eq(accepted("ftrun --rdzv rdzv://h/other --nodes 2 a")->settings.job, "other");
    ft_options_free(&o);
    unsetenv("WORLD_SIZE");
    cr_expect_null(accepted("ftrun a"), "a program's own");
    ft_options_free(&o);
}

Test(rendezvous, by_slurm)
{
    const struct ft_rendezvous *r;

    expect_error("ftrun --rdzv slurm a", "--rdzv slurm: this is no step of Slurm's");
    setenv("SLURM_JOB_ID", "77", 1);
    setenv("SLURM_STEP_ID", "3", 1);
    setenv("SLURM_STEP_NODELIST", "n[3-5]", 1);
    setenv("SLURM_STEP_NUM_TASKS", "3", 1);
    setenv("SLURMD_NODENAME", "n4", 1);
    r = accepted("ftrun --rdzv slurm -n 6 a");
    cr_expect_str_eq(r->settings.endpoints[0].host, "n3");
    cr_expect_str_eq(r->settings.job, "slurm-77-3");
    cr_expect_eq(r->settings.min, 3);
    cr_expect_eq(r->settings.max, 3);
    cr_expect_str_eq(r->name, "n4");
    ft_options_free(&o);
    r = accepted("ftrun --rdzv slurm --nodes 2 a");
    cr_expect_eq(r->settings.max, 2, "the third is a spare");
    ft_options_free(&o);
    setenv("SLURM_STEP_NUM_TASKS", "6", 1);
    expect_error("ftrun --rdzv slurm a", "srun has started 6 tasks on 3 nodes; one on each is wanted");
    setenv("SLURM_STEP_NODELIST", "n[3-", 1);
    expect_error("ftrun --rdzv slurm a", "SLURM_STEP_NODELIST");
}

Test(rendezvous, who_only_joins_needs_no_program)
{
    cr_assert(accepted("ftrun --rdzv rdzv://h/j --join"));
    cr_expect(o.join);
    ft_options_free(&o);
    expect_error("ftrun --join", "--join does nothing without --rdzv URL");
    expect_error("ftrun --rdzv rdzv://h/j", "no program given");
}

Test(rendezvous, what_does_not_fit)
{
    char password[FT_RDZV_TEXT + 1] = "";

    expect_error("ftrun --nodes 3 a", "--nodes does nothing without --rdzv URL");
    expect_error("ftrun --rdzv-secret-file f a", "--rdzv-secret-file does nothing without");
    expect_error("ftrun --rdzv rdzv://h/j -H b:2 a", "--rdzv and --host");
    expect_error("ftrun --rdzv rdzv://h/j --spares 1 a", "--spares does nothing with --rdzv");
    expect_error("ftrun --rdzv rdzv://h/j --launcher ssh a", "--launcher does nothing with --rdzv");
    expect_error("ftrun --rdzv rdzv://h/j --launch-arg -v a", "--launch-arg does nothing");
    expect_error("ftrun --rdzv rdzv://h/j --nodes 3:2 a", "--nodes: \"3:2\" is no number of hosts");
    expect_error("ftrun --rdzv rdzv://h/j --nodes 0 a", "--nodes: \"0\"");
    expect_error("ftrun --rdzv ftp://h/j a", "none of rdzv");
    expect_error("ftrun --rdzv rdzv://h a", "no name of a job");
    expect_error("ftrun --rdzv= a", "--rdzv: \"\" is not a valid value");
    memset(password, 'x', sizeof password - 1);
    setenv("FTMPI_RDZV_PASSWORD", password, 1);
    expect_error("ftrun --rdzv etcd://h/j a", "FTMPI_RDZV_PASSWORD is too long");
}

/* ---- in a pod of Kubernetes' ---- */

static void xgboostjob(void)
{
    setenv("KUBERNETES_SERVICE_HOST", "10.96.0.1", 1);
    setenv("MASTER_PORT", "9991", 1);
    setenv("MASTER_ADDR", "iris-master-0", 1);
    setenv("WORLD_SIZE", "3", 1);
    setenv("RANK", "1", 1);
}

Test(rendezvous, by_kubernetes, .init = xgboostjob)
{
    const struct ft_rendezvous *r = accepted("ftrun -v a");

    cr_assert(r);
    cr_expect(r->settings.embedded);
    cr_expect_str_eq(r->settings.endpoints[0].host, "iris-master-0");
    cr_expect_eq(r->settings.endpoints[0].port, 29400);
    cr_expect_eq(r->settings.min, 3);
    cr_expect_eq(r->settings.max, 3);
    cr_expect_eq(r->slots, 1);
    cr_expect_eq(o.wait_ms, 600000);
    cr_expect_eq(o.nnotices, 1);
    cr_expect(strstr(o.notices[0], "3 pods find each other at iris-master-0, port 29400, with 1 rank each (MASTER_ADDR, WORLD_SIZE, RANK)"), "%s",
              o.notices[0]);
    ft_options_free(&o);
    r = accepted("ftrun -N 4 a");
    cr_assert(r);
    cr_expect_eq(r->slots, 4);
    ft_options_free(&o);
    r = accepted("ftrun --rdzv etcd://e/iris --nodes 2:3 a"); /* what is said goes before */
    cr_assert(r);
    cr_expect_not(r->settings.embedded);
    ft_options_free(&o);
    cr_expect_null(accepted("ftrun -H localhost:2 a"));
    ft_options_free(&o);
    setenv("RANK", "3", 1);
    expect_error("ftrun a", "RANK is 3, and there are only 3 pods (WORLD_SIZE)");
    setenv("WORLD_SIZE", "1", 1);
    setenv("RANK", "0", 1);
    cr_expect_null(accepted("ftrun a"));
    ft_options_free(&o);
}

/* Nor where a program has been told where its ranks meet, outside of Kubernetes, nor in a rank. */
Test(rendezvous, not_by_kubernetes, .init = xgboostjob)
{
    unsetenv("KUBERNETES_SERVICE_HOST");
    cr_expect_null(accepted("ftrun a"));
    ft_options_free(&o);
    setenv("KUBERNETES_SERVICE_HOST", "10.96.0.1", 1);
    setenv("FTMPI_JOB", "abc", 1);
    setenv("FTMPI_RANK", "1", 1);
    cr_expect_null(accepted("ftrun a"));
    ft_options_free(&o);
}

/* Trainer's runtime for PyTorch. */
Test(rendezvous, trainjob_torch)
{
    const struct ft_rendezvous *r;

    setenv("KUBERNETES_SERVICE_HOST", "10.96.0.1", 1);
    setenv("PET_NNODES", "4", 1);
    setenv("PET_NPROC_PER_NODE", "2", 1);
    setenv("PET_NODE_RANK", "1", 1);
    setenv("PET_MASTER_ADDR", "net-node-0-0.net", 1);
    setenv("PET_MASTER_PORT", "29500", 1);
    setenv("JOB_COMPLETION_INDEX", "1", 1);
    r = accepted("ftrun a");
    cr_assert(r);
    cr_expect_str_eq(r->settings.endpoints[0].host, "net-node-0-0.net");
    cr_expect_eq(r->settings.min, 4);
    cr_expect_eq(r->slots, 2);
    cr_expect_eq(o.nnotices, 0);
    ft_options_free(&o);
}

/* training-operator 1.9, PyTorchJob "net" of a master and two workers with two processes each: the first worker. */
Test(rendezvous, pytorchjob)
{
    static const char *const env[][2] = {
        {"KUBERNETES_SERVICE_HOST", "10.96.0.1"}, {"PYTHONUNBUFFERED", "1"}, {"MASTER_PORT", "23456"}, {"MASTER_ADDR", "net-master-0"}, {"WORLD_SIZE", "6"},
        {"RANK", "1"}, {"PET_MASTER_PORT", "23456"}, {"PET_MASTER_ADDR", "net-master-0"}, {"PET_NPROC_PER_NODE", "2"}, {"PET_NODE_RANK", "1"},
        {"PET_NNODES", "3"}};
    const struct ft_rendezvous *r;

    for (size_t i = 0; i < sizeof env / sizeof env[0]; i++)
        setenv(env[i][0], env[i][1], 1);
    r = accepted("ftrun a");
    cr_assert(r);
    cr_expect_str_eq(r->settings.endpoints[0].host, "net-master-0");
    cr_expect_eq(r->settings.endpoints[0].port, 29400, "the program's port is taken");
    cr_expect_eq(r->settings.min, 3);
    cr_expect_eq(r->settings.max, 3);
    cr_expect_eq(r->slots, 2);
    ft_options_free(&o);
    setenv("MASTER_PORT", "23457", 1);
    r = accepted("ftrun a");
    cr_assert(r);
    cr_expect_eq(r->settings.endpoints[0].port, 23456);
    ft_options_free(&o);
}

/* The same, elastic: there is no master. */
Test(rendezvous, pytorchjob_elastic)
{
    static const char *const env[][2] = {
        {"KUBERNETES_SERVICE_HOST", "10.96.0.1"}, {"PET_RDZV_ENDPOINT", "net-worker-0:23456"}, {"PET_RDZV_BACKEND", "c10d"}, {"PET_NNODES", "1:3"},
        {"PET_MAX_RESTARTS", "3"}, {"PET_NPROC_PER_NODE", "2"}, {"PET_RDZV_ID", "net"}, {"PET_RDZV_CONF", "timeout=60,last_call_timeout=5"}};
    const struct ft_rendezvous *r;

    for (size_t i = 0; i < sizeof env / sizeof env[0]; i++)
        setenv(env[i][0], env[i][1], 1);
    r = accepted("ftrun a");
    cr_assert(r);
    cr_expect_str_eq(r->settings.endpoints[0].host, "net-worker-0");
    cr_expect_eq(r->settings.endpoints[0].port, 23456);
    cr_expect_str_eq(r->settings.job, "net");
    cr_expect_eq(r->settings.min, 1);
    cr_expect_eq(r->settings.max, 3);
    cr_expect_eq(r->settings.timeout_ms, 60000);
    cr_expect_eq(o.max_restarts, 3);
    ft_options_free(&o);
}

/* JobSet says nothing of the others: they are told of it, or would each train alone without a word. */
Test(rendezvous, jobset)
{
    setenv("KUBERNETES_SERVICE_HOST", "10.96.0.1", 1);
    setenv("JOB_COMPLETION_INDEX", "1", 1);
    cr_expect_null(accepted("ftrun a"));
    cr_expect_eq(o.nnotices, 1);
    cr_expect(strstr(o.notices[0], "number 1 of an indexed Job"), "%s", o.notices[0]);
    ft_options_free(&o);
    cr_assert(accepted("ftrun --rdzv rdzv://train-workers-0-0.train/train --nodes 2 a"));
    cr_expect_eq(o.nnotices, 0);
    ft_options_free(&o);
}
