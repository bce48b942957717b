/* SPDX-License-Identifier: BSD-3-Clause */
/* What Slurm says of an allocation, as it says it and damaged. */
#include "config.h"
#include "launcher/options/slurm.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/options/map.h"
#include "launcher/options/nodelist.h"
#include "launcher/options/test_line.h"

static struct ft_options o;
static struct ft_error e;

/* The names that a list has, each with a space after it. NULL: it is refused. */
static const char *names(const char *list)
{
    static char text[1 << 17];
    struct ft_hosts hosts = {0};
    size_t used = 0;
    int err;

    ft_options_defaults(&o);
    err = ft_nodelist_names(&o, list, "SLURM_JOB_NODELIST", &hosts, &e);
    text[0] = 0;
    for (size_t i = 0; i < hosts.n; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s ", hosts.list[i].name);
    ft_options_free(&o);
    return err < 0 ? NULL : text;
}

Test(slurm, lists_of_nodes)
{
    const char *const cases[][2] = {
        {"n1", "n1 "}, {"n1,n2", "n1 n2 "}, {"n[1-3]", "n1 n2 n3 "}, {"n[1-3,07-10],gpu1", "n1 n2 n3 n07 n08 n09 n10 gpu1 "},
        {"n[8-11]", "n8 n9 n10 n11 "}, {"n[098-101]", "n098 n099 n100 n101 "}, {"a[1]-ib,b", "a1-ib b "},
        {"rack[0-1]n[2-3]", "rack0n2 rack0n3 rack1n2 rack1n3 "}, {"[1-2]", "1 2 "}, {"x.y_z-1", "x.y_z-1 "}};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *got = names(cases[i][0]);

        cr_expect(got && !strcmp(got, cases[i][1]), "%s: %s", cases[i][0], got ? got : e.text);
    }
    cr_expect(names("n[0001-4096]"), "%s", e.text);
}

Test(slurm, lists_that_are_damaged)
{
    static char *const lists[] = {"", ",", "n1,", ",n1", "n[", "n[1", "n[]", "n[1-]", "n[-1]", "n[3-1]",
                                  "n[1-3", "n[1,]", "n[,1]", "n[1;2]", "n[1-2-3]", "n[[1]]", "n1]", "n[a-b]", "n[1-3]]", "n 1", "n1,n1", "n[1-3],n2", "user@n1",
                                  "n1:4", "n[1 -3]", "-n1", "n\n1", "n[1-99999999999999999999]", "n[0-4096]", "n[0-999999999]", "a[0-99]b[0-99]c[0-99]d[0-99]e[0-99]"};
    char name[400] = "";

    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        e.text[0] = 0;
        cr_expect_null(names(lists[i]), "\"%s\" is accepted", lists[i]);
        cr_expect(strstr(e.text, "SLURM_JOB_NODELIST is "), "%s", e.text);
    }
    memset(name, 'n', sizeof name - 1);
    cr_expect_null(names(name), "a long name");
    snprintf(name + 250, sizeof name - 250, "[100000-100001]");
    cr_expect_null(names(name), "a name that becomes too long");
}

Test(slurm, numbers_for_nodes)
{
    const struct {
        const char *text;
        size_t n;
        uint32_t numbers[6];
    } cases[] = {{"2", 1, {2}}, {"2(x3),1", 4, {2, 2, 2, 1}}, {"3,1(x2)", 3, {3, 1, 1}},
                 {"4096(x2)", 2, {4096, 4096}}, {"1(x999999999)", 999999999, {1, 1, 1, 1, 1, 1}}};
    static const char *const damaged[] = {"", ",", "2,", ",2", "2(", "2(x", "2(x)", "2(x3", "2(x0)", "2(3)", "0",
                                          "4097", "2(x3)1", "-1", "2 ", "two", "2(x-1)", "99999999999999999999", "2(x99999999999)"};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint32_t numbers[6] = {0};
        size_t n;

        cr_expect_eq(ft_nodelist_numbers(cases[i].text, "T", numbers, 6, &n, &e), 0, "%s: %s", cases[i].text, e.text);
        cr_expect_eq(n, cases[i].n, "%s: %zu", cases[i].text, n);
        cr_expect_eq(memcmp(numbers, cases[i].numbers, sizeof numbers), 0, "%s", cases[i].text);
    }
    for (size_t i = 0; i < sizeof damaged / sizeof damaged[0]; i++) {
        uint32_t numbers[6];
        size_t n;

        cr_expect_eq(ft_nodelist_numbers(damaged[i], "T", numbers, 6, &n, &e), FT_EINVAL, "\"%s\" is accepted", damaged[i]);
        cr_expect(strstr(e.text, "T is \""), "%s", e.text);
    }
}

/* Bytes of good lists in other places: nothing is read or written beyond, and what is refused has a line. */
Test(slurm, any_bytes)
{
    static const char bytes[] = "n1[-],0(x)9a.";
    unsigned seed = 1;
    char text[24];

    for (int k = 0; k < 50000; k++) {
        uint32_t numbers[4];
        size_t n, len;

        seed = seed * 1103515245 + 12345;
        len = seed >> 16 & 15;
        for (size_t i = 0; i < len; i++) {
            seed = seed * 1103515245 + 12345;
            text[i] = bytes[(seed >> 16) % (sizeof bytes - 1)];
        }
        text[len] = 0;
        e.text[0] = 0;
        cr_assert(ft_nodelist_numbers(text, "T", numbers, 4, &n, &e) == 0 || *e.text);
        e.text[0] = 0;
        cr_assert((strstr(text, "9") && strchr(text, '-')) || names(text) || *e.text); /* (not ranges of thousands, for the sake of time) */
    }
}

/* ---- what becomes of a command line in an allocation ---- */

static int parse(const char *line) { return parse_line(&o, line, &e); }

/* n[1-4] with 2, 2, 2 and 1 slots; on a host outside of it. */
static void allocate(void)
{
    setenv("SLURM_JOB_ID", "7", 1);
    setenv("SLURM_JOB_NODELIST", "n[1-4]", 1);
    setenv("SLURM_TASKS_PER_NODE", "2(x3),1", 1);
    setenv("SLURM_JOB_CPUS_PER_NODE", "4(x4)", 1);
}

static void expect_job(const char *line, uint32_t nranks, uint32_t nnodes, const char *launcher)
{
    cr_expect_eq(parse(line), 0, "%s: %s", line, e.text);
    cr_expect_eq(o.nranks, nranks, "%s: %u ranks", line, o.nranks);
    cr_expect_eq(o.map ? o.map->nnodes : 0, nnodes, "%s: %u nodes", line, o.map ? o.map->nnodes : 0);
    cr_expect_str_eq(ft_options_launcher(&o), launcher, "%s: %s", line, ft_options_launcher(&o));
    ft_options_free(&o);
}

static void expect_error(const char *line, const char *part)
{
    cr_expect_eq(parse(line), FT_EINVAL, "%s is accepted", line);
    cr_expect(strstr(e.text, part), "%s: \"%s\" does not say \"%s\"", line, e.text, part);
    cr_expect_not(strchr(e.text, '\n'));
    ft_options_free(&o);
}

Test(slurm, an_allocation_is_the_host_list, .init = allocate)
{
    expect_job("ftrun a", 7, 4, "srun");
    expect_job("ftrun -n 3 a", 3, 2, "srun");
    expect_job("ftrun --spares 1 a", 6, 3, "srun");
    expect_job("ftrun -N 1 a", 4, 4, "srun");
    expect_job("ftrun --launcher ssh a", 7, 4, "ssh");
    expect_job("ftrun --launcher srun a", 7, 4, "srun");
    expect_job("ftrun --bootstrap slurm --rmk slurm a", 7, 4, "srun");
    expect_job("ftrun -H n2:3,n3 a", 4, 2, "srun");
    expect_job("ftrun -H n2:3,other a", 4, 2, "ssh");
    expect_job("ftrun -H localhost:2 a", 2, 0, "srun");
    expect_job("ftrun -H n1 a : -H n2 b", 2, 2, "srun");
    expect_job("ftrun -H n4 a : -n 2 b", 3, 2, "srun");
    expect_job("ftrun -H other a : -n 2 b", 3, 2, "ssh");
    unsetenv("SLURM_TASKS_PER_NODE");
    expect_job("ftrun a", 16, 4, "srun");
    allocate();
    setenv("SLURMD_NODENAME", "n2", 1); /* of which one this is */
    cr_expect_eq(parse("ftrun a"), 0);
    for (size_t i = 0; i < o.map->hosts.n; i++)
        cr_expect_eq(o.map->hosts.list[i].here, i == 1, "%s", o.map->hosts.list[i].name);
    ft_options_free(&o);
    setenv("SLURM_JOB_NODELIST", "n2", 1);
    setenv("SLURM_TASKS_PER_NODE", "5", 1);
    expect_job("ftrun a", 5, 0, "srun");
}

/* A rank of ours that starts a job of its own; whatever the allocation is. */
Test(slurm, a_rank_is_on_its_own_host, .init = allocate)
{
    setenv("FTMPI_JOB", "abc", 1);
    setenv("FTMPI_RANK", "0", 1);
    setenv("SLURM_JOB_NODELIST", "n[", 1);
    expect_job("ftrun a", 1, 0, "ssh");
}

Test(slurm, steps, .init = allocate)
{
    setenv("SLURM_PROCID", "1", 1);
    setenv("SLURM_STEP_ID", "4294967291", 1); /* the batch script */
    setenv("SLURM_STEP_NUM_TASKS", "7", 1);
    expect_job("ftrun a", 7, 4, "srun");
    setenv("SLURM_STEP_ID", "3", 1);
    expect_error("ftrun a", "srun has started this ftrun as task 1 of 7 (SLURM_STEP_NUM_TASKS)");
    expect_job("ftrun -H localhost:2 a", 2, 0, "srun");
    setenv("SLURM_STEP_NUM_TASKS", "1", 1);
    expect_job("ftrun a", 7, 4, "srun"); /* --preserve-env */
    setenv("SLURM_TASKS_PER_NODE", "1", 1);
    cr_expect_eq(parse("ftrun -n 2 a"), 0, "%s", e.text);
    cr_expect_null(o.map);
    cr_expect_eq(o.nnotices, 1);
    cr_expect(strstr(o.notices[0], "all 4 nodes"), "%s", o.notices[0]);
    ft_options_free(&o);
}

Test(slurm, variables_that_are_damaged, .init = allocate)
{
    setenv("SLURM_JOB_NODELIST", "n[1-", 1);
    expect_error("ftrun a", "SLURM_JOB_NODELIST is \"n[1-\", which is not a list of nodes");
    expect_job("ftrun -H n1:2 a", 2, 1, "ssh");
    setenv("SLURM_JOB_NODELIST", "n[1-3]", 1);
    expect_error("ftrun a", "SLURM_TASKS_PER_NODE is \"2(x3),1\", for 4 nodes, and SLURM_JOB_NODELIST has 3");
    setenv("SLURM_TASKS_PER_NODE", "2(x", 1);
    expect_error("ftrun a", "SLURM_TASKS_PER_NODE is \"2(x\", which is not a number for each node");
    unsetenv("SLURM_TASKS_PER_NODE");
    setenv("SLURM_JOB_CPUS_PER_NODE", "x", 1);
    expect_error("ftrun a", "SLURM_JOB_CPUS_PER_NODE is \"x\"");
    unsetenv("SLURM_JOB_CPUS_PER_NODE");
    expect_error("ftrun a", "neither SLURM_TASKS_PER_NODE nor SLURM_JOB_CPUS_PER_NODE");
    unsetenv("SLURM_JOB_NODELIST");
    expect_error("ftrun a", "SLURM_JOB_NODELIST is not");
    setenv("SLURM_HET_SIZE", "2", 1);
    expect_error("ftrun a", "heterogeneous");
    unsetenv("SLURM_JOB_ID");
    expect_job("ftrun a", 1, 0, "ssh");
    expect_error("ftrun --launcher srun -H n1,n2 a", "--launcher srun: there is no allocation of Slurm's here");
}
