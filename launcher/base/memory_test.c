/* SPDX-License-Identifier: BSD-3-Clause */
/* What bounds a process's memory (launcher/base/memory.h), in trees of files that look like control groups of both versions. */
#include "launcher/base/memory.h"

#include <criterion/criterion.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MIB (1ull << 20)
#define V1 "7:cpu,cpuacct:/elsewhere\n4:memory:/job/step\n0::/\n"
#define V2 "0::/job/step\n"

static char root[64];

static void make(const char *dir)
{
    char path[256];

    snprintf(path, sizeof path, "%s/%s", root, dir);
    cr_assert(mkdir(path, 0700) == 0);
}

static void put(const char *file, const char *text)
{
    char path[256];
    FILE *f;

    snprintf(path, sizeof path, "%s/%s", root, file);
    f = fopen(path, "w");
    cr_assert(f && fputs(text, f) >= 0 && fclose(f) == 0);
}

static void set_up(void)
{
    strcpy(root, "/tmp/ftmpi-memory-XXXXXX");
    cr_assert(mkdtemp(root));
}

static int drop(const char *path, const struct stat *st, int type, struct FTW *where)
{
    (void)st;
    (void)type;
    (void)where;
    return remove(path);
}

static void tear_down(void) { nftw(root, drop, 16, FTW_DEPTH | FTW_PHYS); }

TestSuite(memory, .init = set_up, .fini = tear_down, .timeout = 60);

static void make_v2(void)
{
    make("job");
    make("job/step");
    put("job/memory.max", "104857600\n"); /* 100 MiB */
    put("job/memory.current", "83886080\n"); /* 80 */
    put("job/memory.stat", "anon 1\nfile 62914560\ninactive_file 20971520\nactive_file 20971520\nfile_dirty 10485760\nfile_writeback 0\n");
    put("job/step/memory.max", "max\n");
    put("job/step/memory.current", "83886080\n");
    put("job/step/memory.events", "low 0\noom 9\noom_kill 9\n");
    put("job/step/memory.events.local", "low 0\noom 1\noom_kill 2\noom_group_kill 0\n");
}

static void make_v1(void)
{
    make("memory");
    make("memory/job");
    make("memory/job/step");
    put("memory/memory.limit_in_bytes", "9223372036854771712\n");
    put("memory/memory.usage_in_bytes", "1\n");
    put("memory/job/memory.limit_in_bytes", "104857600\n");
    put("memory/job/memory.usage_in_bytes", "83886080\n");
    put("memory/job/memory.stat", "inactive_file 0\nactive_file 0\ndirty 0\ntotal_inactive_file 31457280\ntotal_active_file 0\n"
                                  "total_dirty 1048576\ntotal_writeback 1048576\n");
    put("memory/job/step/memory.limit_in_bytes", "209715200\n");
    put("memory/job/step/memory.usage_in_bytes", "83886080\n");
    put("memory/job/step/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n");
}

static struct ft_memory look(const char *text)
{
    struct ft_memgroup g;
    struct ft_memory m;

    ft_memgroup_read(&g, text, root);
    ft_memory_look(&g, &m);
    return m;
}

/* Shared memory is not given back, and pages that are still to be written are not yet. */
Test(memory, version_2)
{
    struct ft_memory m;

    make_v2();
    m = look(V2);
    cr_expect(m.group && !m.all && m.limit == 100 * MIB && m.used == 50 * MIB, "%llu of %llu", (unsigned long long)m.used,
              (unsigned long long)m.limit);
    cr_expect(ft_memory_left(&m) == 50 * MIB);
}

Test(memory, the_tightest_on_the_way_up)
{
    struct ft_memory m;

    make_v2();
    put("job/step/memory.high", "89128960\n"); /* 85 MiB, 5 left: that group has no files of its own to give back */
    m = look(V2);
    cr_expect(m.limit == 85 * MIB && ft_memory_left(&m) == 5 * MIB);
    put("job/step/memory.high", "1048576\n"); /* it is above it already */
    m = look(V2);
    cr_expect(ft_memory_left(&m) == 0);
}

Test(memory, a_group_that_is_killed_as_a_whole)
{
    make_v2();
    put("job/step/memory.oom.group", "0\n");
    cr_expect_not(look(V2).all);
    put("job/memory.oom.group", "1\n");
    cr_expect(look(V2).all);
}

Test(memory, version_1)
{
    struct ft_memory m;

    make_v1();
    m = look(V1);
    cr_expect(m.group && m.limit == 100 * MIB && m.used == 52 * MIB, "%llu of %llu", (unsigned long long)m.used,
              (unsigned long long)m.limit);
}

/* A container sees its own group at the mount, and perhaps the path that it has outside. */
Test(memory, in_a_container)
{
    put("memory.max", "1048576\n");
    put("memory.current", "524288\n");
    cr_expect(look("0::/\n").limit == MIB);
    cr_expect(look("0::/docker/0123456789\n").limit == MIB);
    cr_expect(look("0::/../../elsewhere\n").limit == MIB);
}

Test(memory, no_limit_but_the_machines)
{
    struct ft_memory m;

    make("job");
    put("job/memory.max", "max\n");
    put("job/memory.current", "524288\n");
    m = look("0::/job\n");
    cr_expect(!m.group && m.limit > m.used && m.used > 0);
    m = look("");
    cr_expect(!m.group && m.limit > m.used && m.used > 0);
}

Test(memory, kills_of_the_very_group)
{
    struct ft_memgroup g, other;

    make_v2();
    ft_memgroup_read(&g, V2, root);
    cr_expect(ft_memgroup_kills(&g) == 2);
    ft_memgroup_read(&other, "0::/job\n", root);
    cr_expect(ft_memgroup_kills(&other) == 0); /* nobody counts them */
    cr_expect(!ft_memgroup_is(&g, &other));
    make_v1();
    ft_memgroup_read(&g, V1, root);
    cr_expect(ft_memgroup_kills(&g) == 3);
    other = g;
    cr_expect(ft_memgroup_is(&g, &other));
}

/* Anybody may make himself more likely to be killed, and take that back. */
Test(memory, who_is_killed_first)
{
    int before = ft_memory_score(getpid(), 4711);

    cr_assert(before != 4711);
    ft_memory_set_score(getpid(), 1000);
    cr_expect(ft_memory_score(getpid(), 0) == 1000);
    ft_memory_set_score(getpid(), before);
    cr_expect(ft_memory_score(getpid(), 4711) == before);
    cr_expect(ft_memory_score(1 << 30, 4711) == 4711);
}
