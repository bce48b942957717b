/* SPDX-License-Identifier: BSD-3-Clause */
/* The environment that mpi-operator v2beta1 and Trainer v2 give the launcher's pod, word for word; and damaged. */
#include "config.h"
#include "launcher/options/mpirun.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launcher/options/map.h"
#include "launcher/options/test_line.h"

static struct ft_options o;
static struct ft_error e;
static char path[64];

static int parse(const char *line) { return parse_line(&o, line, &e); }

static void hostfile(const char *text)
{
    FILE *f;

    strcpy(path, "/tmp/ftmpi-mpirun.XXXXXX");
    close(mkstemp(path));
    f = fopen(path, "we");
    cr_assert(f && fputs(text, f) >= 0 && fclose(f) == 0);
}

static void unlink_hostfile(void) { unlink(path); }

static void open_mpi(void)
{
    hostfile("pi-worker-0.pi.default.svc slots=2\npi-worker-1.pi.default.svc slots=2\n");
    setenv("K_MPI_JOB_ROLE", "launcher", 1);
    setenv("OMPI_MCA_orte_keep_fqdn_hostnames", "true", 1);
    setenv("OMPI_MCA_orte_default_hostfile", path, 1);
    setenv("OMPI_MCA_orte_set_default_slots", "2", 1);
    setenv("OMPI_MCA_plm_rsh_args", "-o ConnectionAttempts=10", 1);
}

static void mpich(void)
{
    hostfile("pi-worker-0.pi.default.svc:3\npi-worker-1.pi.default.svc:3\n");
    setenv("HYDRA_HOST_FILE", path, 1);
    setenv("HYDRA_LAUNCH_EXTRA_ARGS", "-o ConnectionAttempts=10", 1);
}

static void intel(void)
{
    hostfile("pi-worker-0.pi.default.svc\npi-worker-1.pi.default.svc\n");
    setenv("I_MPI_HYDRA_HOST_FILE", path, 1);
    setenv("I_MPI_HYDRA_BOOTSTRAP_EXEC_EXTRA_ARGS", "-o ConnectionAttempts=10", 1);
    setenv("I_MPI_PERHOST", "4", 1);
}

/* Words for ssh, each with a space before it. */
static void expect_job(const char *line, uint32_t nranks, uint32_t nnodes, const char *ssh)
{
    char text[256] = "";

    cr_expect_eq(parse(line), 0, "%s: %s", line, e.text);
    cr_expect_eq(o.nranks, nranks, "%s: %u ranks", line, o.nranks);
    cr_expect_eq(o.map ? o.map->nnodes : 0, nnodes, "%s: %u nodes", line, o.map ? o.map->nnodes : 0);
    for (size_t i = 0; i < o.nlaunch_args; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), " %s", o.launch_args[i]);
    cr_expect_str_eq(text, ssh, "%s: \"%s\"", line, text);
    ft_options_free(&o);
}

static void expect_error(const char *line, const char *part)
{
    cr_expect_eq(parse(line), FT_EINVAL, "%s is accepted", line);
    cr_expect(strstr(e.text, part), "%s: \"%s\" does not say \"%s\"", line, e.text, part);
    cr_expect_not(strchr(e.text, '\n'));
    ft_options_free(&o);
}

Test(mpirun, open_mpi, .init = open_mpi, .fini = unlink_hostfile)
{
    expect_job("ftrun a", 4, 2, " -o ConnectionAttempts=10");
    expect_job("ftrun -n 3 a", 3, 2, " -o ConnectionAttempts=10");
    expect_job("ftrun -N 1 --launch-arg -p --launch-arg 2222 a", 2, 2, " -p 2222 -o ConnectionAttempts=10");
    expect_job("ftrun --spares 1 a", 2, 1, " -o ConnectionAttempts=10");
    expect_job("ftrun -H x,y a", 2, 2, " -o ConnectionAttempts=10");
    expect_job("ftrun -H localhost:3 a", 3, 0, "");
    expect_job("ftrun --launcher exec:go a", 4, 2, "");
    cr_expect_eq(parse("ftrun -v a"), 0, "%s", e.text);
    cr_expect_eq(o.nnotices, 1);
    cr_expect(strstr(o.notices[0], "(OMPI_MCA_orte_default_hostfile)"), "%s", o.notices[0]);
    cr_expect_str_eq(o.map->hosts.list[1].name, "pi-worker-1.pi.default.svc");
    ft_options_free(&o);
    unlink_hostfile();
    expect_error("ftrun a", "OMPI_MCA_orte_default_hostfile /tmp/ftmpi-mpirun.");
    setenv("OMPI_MCA_orte_default_hostfile", "", 1);
    expect_job("ftrun a", 1, 0, "");
}

/* A host without a number has as many slots as it says. */
Test(mpirun, default_slots, .init = open_mpi, .fini = unlink_hostfile)
{
    unlink_hostfile();
    hostfile("w0\nw1 slots=1\n");
    setenv("OMPI_MCA_orte_default_hostfile", path, 1);
    expect_job("ftrun a", 3, 2, " -o ConnectionAttempts=10");
    setenv("OMPI_MCA_orte_set_default_slots", "cores", 1);
    expect_error("ftrun a", "OMPI_MCA_orte_set_default_slots is \"cores\", which is not a number of slots");
    expect_job("ftrun -H x a", 1, 1, " -o ConnectionAttempts=10");
    unsetenv("OMPI_MCA_orte_set_default_slots");
    expect_job("ftrun a", 2, 2, " -o ConnectionAttempts=10");
}

Test(mpirun, mpich, .init = mpich, .fini = unlink_hostfile)
{
    expect_job("ftrun a", 6, 2, " -o ConnectionAttempts=10");
    unlink_hostfile();
    hostfile("w0\nw1:3\n");
    setenv("HYDRA_HOST_FILE", path, 1);
    expect_job("ftrun a", 4, 2, " -o ConnectionAttempts=10");
}

Test(mpirun, intel, .init = intel, .fini = unlink_hostfile)
{
    expect_job("ftrun a", 8, 2, " -o ConnectionAttempts=10");
}

/* A rank of ours that starts a job of its own. */
Test(mpirun, a_rank_is_on_its_own_host, .init = open_mpi, .fini = unlink_hostfile)
{
    setenv("FTMPI_JOB", "abc", 1);
    setenv("FTMPI_RANK", "0", 1);
    expect_job("ftrun a", 1, 0, "");
}

/* In an allocation of Slurm's a host file that was named goes before its nodes, and ssh's arguments are not srun's. */
Test(mpirun, slurm, .init = open_mpi, .fini = unlink_hostfile)
{
    setenv("SLURM_JOB_ID", "7", 1);
    setenv("SLURM_JOB_NODELIST", "pi-worker-[0-1].pi.default.svc", 1);
    setenv("SLURM_TASKS_PER_NODE", "9(x2)", 1);
    expect_job("ftrun a", 4, 2, "");
    unsetenv("OMPI_MCA_orte_default_hostfile");
    expect_job("ftrun a", 18, 2, "");
}
