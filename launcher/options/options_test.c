/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line as users of mpirun write it, and one clear line for what is wrong. */
#include "config.h"
#include "launcher/options/options.h"
#include "launcher/options/test_line.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/options/settings.h"

#include "launcher/options/parse.h"

#include "launcher/options/identity.h"
#include "launcher/options/map.h"
#include "launcher/options/values.h"

static struct ft_options o;
static struct ft_error e;

static int parse(const char *line) { return parse_line(&o, line, &e); }

static void expect_error(const char *line, const char *part)
{
    cr_expect_eq(parse(line), FT_EINVAL, "%s is accepted", line);
    cr_expect(strstr(e.text, part), "%s: \"%s\" does not say \"%s\"", line, e.text, part);
    cr_expect_not(strchr(e.text, '\n'));
    ft_options_free(&o);
}

Test(options, every_spelling_of_the_count)
{
    const char *const lines[] = {"ftrun -n 4 a", "ftrun -np 4 a", "ftrun --np 4 a", "ftrun --n 4 a", "ftrun -c 4 a",
                                 "ftrun --np=4 a", "ftrun --n=4 -- a"};

    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        cr_expect_eq(parse(lines[i]), 0, "%s: %s", lines[i], e.text);
        cr_expect_eq(o.nranks, 4);
        cr_expect_str_eq(o.contexts->argv[0], "a");
        ft_options_free(&o);
    }
}

Test(options, defaults)
{
    cr_expect_eq(parse("ftrun a"), 0);
    cr_expect_eq(o.nranks, 1);
    cr_expect_eq(o.max_restarts, UINT64_MAX);
    cr_expect(o.restart_on.signal);
    cr_expect_eq(o.place.bind, FT_UNIT_NONE);
    cr_expect_eq(o.log_limit, 0);
}

Test(options, they_end_at_the_program)
{
    cr_expect_eq(parse("ftrun -q a -n 5 --quiet --nonesuch"), 0);
    cr_expect_eq(o.nranks, 1);
    cr_expect_str_eq(o.contexts->argv[1], "-n");
    ft_options_free(&o);
    cr_expect_eq(parse("ftrun -- -a"), 0);
    cr_expect_str_eq(o.contexts->argv[0], "-a");
    ft_options_free(&o);
}

Test(options, several_programs)
{
    cr_expect_eq(parse("ftrun -n 2 -wdir /tmp a 1 : -n 3 -x A=1 b : c --"), 0, "%s", e.text);
    cr_expect_eq(o.ncontexts, 3);
    cr_expect_eq(o.nranks, 6);
    cr_expect_eq(o.contexts[1].first, 2);
    cr_expect_eq(o.contexts[2].first, 5);
    cr_expect_eq(o.contexts[2].nranks, 1);
    cr_expect_str_eq(o.contexts[0].argv[1], "1");
    cr_expect_null(o.contexts[0].argv[2]);
    cr_expect_null(o.contexts[1].argv[1]);
    cr_expect_str_eq(o.contexts[2].argv[1], "--");
    cr_expect_eq(o.contexts[0].nexports, 0);
    cr_expect_eq(o.contexts[1].nexports, 1);
    cr_expect_null(o.contexts[1].wdir);
    cr_expect_str_eq(ft_options_context(&o, 1)->argv[0], "a");
    cr_expect_str_eq(ft_options_context(&o, 2)->argv[0], "b");
    cr_expect_str_eq(ft_options_context(&o, 5)->argv[0], "c");
    ft_options_free(&o);
    expect_error("ftrun a :", "in part 2");
    expect_error("ftrun : a", "in part 1");
    expect_error("ftrun -n 4000 a : -n 97 b", "too many");
    expect_error("ftrun --stdin 2 -n 2 a", "no such rank");
}

Test(options, snapshots)
{
    cr_expect_eq(parse("ftrun --snapshot 0.25 a"), 0, "%s", e.text);
    cr_expect_eq(o.snapshot_ms, 250);
    ft_options_free(&o);
    cr_expect_eq(parse("ftrun --snapshot off a"), 0);
    cr_expect_eq(o.snapshot_ms, 0);
    ft_options_free(&o);
    cr_expect_eq(parse("ftrun --snapshot=auto a"), 0);
    cr_expect_eq(o.snapshot_ms, FT_SNAPSHOT_AUTO);
    ft_options_free(&o);
}

Test(options, exports_keep_their_order)
{
    cr_expect_eq(parse("ftrun -x A=1 -x B -x A=2=3 a"), 0);
    cr_expect_eq(o.contexts->nexports, 3);
    cr_expect_str_eq(o.contexts->exports[0], "A=1");
    cr_expect_str_eq(o.contexts->exports[2], "A=2=3");
    ft_options_free(&o);
}

Test(options, as_open_mpi_and_hydra_write_them)
{
    cr_expect_eq(parse("ftrun -timeout 1.5 -tag-output -stdin none -genv A 1 -x B=2 -mca btl self,tcp --gmca x y a"), 0, "%s", e.text);
    cr_expect_eq(o.timeout_ms, 1500);
    cr_expect(o.tag_output);
    cr_expect_eq(o.stdin_rank, -1);
    cr_expect_str_eq(o.contexts->exports[0], "A=1");
    cr_expect_str_eq(o.contexts->exports[1], "B=2");
    cr_expect_eq(o.nnotices, 1);
    cr_expect_str_eq(o.notices[0], "-mca btl and others are ignored: ftmpi has no such parameters");
    ft_options_free(&o);
    cr_expect_eq(parse("ftrun --output tag,timestamp,dir=/tmp/x -l=no --l=no a"), FT_EINVAL);
    ft_options_free(&o);
    cr_expect_eq(parse("ftrun --output tag,timestamp,dir=/tmp/x --tag-output=no a"), 0, "%s", e.text);
    cr_expect(!o.tag_output && o.timestamp_output);
    cr_expect_str_eq(o.output_dir, "/tmp/x");
    ft_options_free(&o);
}

Test(options, placement)
{
    cr_expect_eq(parse("ftrun -bind-to-core --bysocket --pernode --display map,bind a"), 0, "%s", e.text);
    cr_expect_eq(o.place.bind, FT_UNIT_CORE);
    cr_expect_eq(o.place.map, FT_UNIT_SOCKET);
    cr_expect(o.display_map && o.report_bindings);
    ft_options_free(&o);
    cr_expect_eq(parse("ftrun --map-by ppr:2:NUMA:PE=3,OVERSUBSCRIBE --rank-by slot --bind-to Package:overload-allowed -n 1 a"), 0, "%s", e.text);
    cr_expect_eq(o.place.map, FT_UNIT_NUMA);
    cr_expect_eq(o.place.each, 2);
    cr_expect_eq(o.place.cores, 3);
    cr_expect_eq(o.place.bind, FT_UNIT_SOCKET);
    cr_expect(o.place.overload && o.oversubscribe);
    ft_options_free(&o);
    expect_error("ftrun --display topo a", "\"topo\" is not valid");
}

Test(options, none_undoes)
{
    cr_expect_eq(parse("ftrun --report r --output-filename d --report none --output-filename ./none a"), 0, "%s", e.text);
    cr_expect_null(o.report);
    cr_expect_str_eq(o.output_dir, "./none");
    ft_options_free(&o);
}

Test(options, slots_are_the_default_count)
{
    const struct {
        const char *line;
        uint32_t nranks;
    } cases[] = {{"ftrun -H localhost a", 1},
                 {"ftrun --host localhost:3 a", 3},
                 {"ftrun -host 127.0.0.1,localhost a", 2},
                 {"ftrun -H [::1]:4,::1 a", 5},
                 {"ftrun -H localhost:3 -n 2 a", 2},
                 {"ftrun -N 2 a", 2},
                 {"ftrun -ppn 4 -n 3 a", 3},
                 {"ftrun -H localhost:2 a : -H localhost:3 b", 5}};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cr_expect_eq(parse(cases[i].line), 0, "%s: %s", cases[i].line, e.text);
        cr_expect_eq(o.nranks, cases[i].nranks, "%s: %u", cases[i].line, o.nranks);
        cr_expect_eq(o.nnotices, 0);
        ft_options_free(&o);
    }
    cr_expect_eq(parse("ftrun -H localhost:2 -n 3 a"), 0);
    cr_expect_eq(o.nnotices, 1); /* too few slots are no reason to fail */
    ft_options_free(&o);
}

Test(options, accepted_for_the_sake_of_scripts)
{
    cr_expect_eq(parse("ftrun --allow-run-as-root --oversubscribe -wdir /tmp --bind-to none a"), 0);
    cr_expect_str_eq(o.contexts->wdir, "/tmp");
    ft_options_free(&o);
}

Test(options, mistakes_get_one_line)
{
    expect_error("ftrun", "no program");
    expect_error("ftrun -n 0 a", "at least one rank");
    expect_error("ftrun -n -1 a", "not a valid value");
    expect_error("ftrun -n 4x a", "not a valid value");
    expect_error("ftrun -n 100000 a", "too many");
    expect_error("ftrun -n 99999999999999999999 a", "not a valid value");
    expect_error("ftrun -n", "needs a value");
    expect_error("ftrun --maxrestarts 3 a", "did you mean --max-restarts?");
    expect_error("ftrun --frobnicate a", "unknown option --frobnicate (ftrun --help lists all)"); /* --job-name was proposed */
    expect_error("ftrun --raabit a", "did you mean --rabit?");
    expect_error("ftrun --log_limit=1G a", "did you mean --log-limit?");
    expect_error("ftrun --bind-to sokcet a", "not a valid value");
    expect_error("ftrun --cores perhaps a", "wanted: auto|near|far");
    expect_error("ftrun --allreduce quartered a", "wanted: doubled|halved");
    expect_error("ftrun --bind-to core:tight a", "\"tight\" is not understood");
    expect_error("ftrun --map-by ppr:2 a", "not a valid value");
    expect_error("ftrun --map-by seq a", "\"seq\" is not a valid value; wanted: slot, node,");
    expect_error("ftrun --map-by core:PE=0 a", "not understood");
    expect_error("ftrun --rabit=maybe a", "yes or no");
    expect_error("ftrun --allow-run-as-root=1 a", "takes no value");
    expect_error("ftrun -n4 a", "unknown option -n4");
    expect_error("ftrun -genv A", "needs two values");
    expect_error("ftrun -genv A=1 b c", "not the name of a variable");
    expect_error("ftrun --stdin all a", "one rank only");
    expect_error("ftrun --output tag,xml a", "\"xml\" is not valid");
    expect_error("ftrun --timeout -3 a", "not a valid value");
    expect_error("ftrun --timeout inf a", "not a valid value");
    expect_error("ftrun -H localhost:x a", "is not a host");
    expect_error("ftrun -n 4 -N 2 a", "need 2 hosts");
    expect_error("ftrun --hostfile /nonexistent a", "No such file");
    expect_error("ftrun --log-limit 0 a", "needs some memory");
    expect_error("ftrun --log-limit 1Q a", "not a valid value");
    expect_error("ftrun --restart-on 0 a", "not a valid value");
    expect_error("ftrun --snapshot never a", "not a valid value");
    expect_error("ftrun --snapshot 0 a", "not a valid value");
    expect_error("ftrun --snapshot -1 a", "not a valid value");
    expect_error("ftrun --grace soon a", "not a valid value");
    expect_error("ftrun -x =3 a", "not a valid value");
}

/* "a:0,1 b:2": nodes and their ranks. */
static void expect_map(const char *line, const char *expected)
{
    char text[512] = "";
    size_t n = 0;

    cr_assert_eq(parse(line), 0, "%s: %s", line, e.text);
    for (uint32_t node = 0; o.map && node < o.map->nnodes; node++) {
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%s:", node ? " " : "", o.map->hosts.list[o.map->host[node]].name);
        for (uint32_t place = o.map->first[node]; place < o.map->first[node + 1]; place++)
            n += (size_t)snprintf(text + n, sizeof text - n, "%s%u", place > o.map->first[node] ? "," : "", o.map->rank_at[place]);
    }
    cr_expect_str_eq(text, expected, "%s: %s", line, text);
    ft_options_free(&o);
}

Test(options, ranks_go_to_hosts)
{
    expect_map("ftrun -H localhost:2 -n 4 a", "");
    expect_map("ftrun -H far:2,away:3 a", "far:0,1 away:2,3,4");
    expect_map("ftrun -H far:2,away:3 -n 3 a", "far:0,1 away:2");
    expect_map("ftrun -H far:2,away:3 -n 1 a", "far:0");
    expect_map("ftrun -H far:2,away:3 -n 4 --map-by node a", "far:0,2 away:1,3");
    expect_map("ftrun -H far:2,away:3 -n 4 --map-by slot a", "far:0,1 away:2,3"); /* was mapped by node */
    expect_map("ftrun -H far:2,away:3 -n 4 --map-by board a", "far:0,1 away:2,3"); /* this, too */
    expect_map("ftrun -H far:1,away:3 -n 4 --map-by node a", "far:0 away:1,2,3");
    expect_map("ftrun -H far,away -n 5 a", "far:0,2,4 away:1,3");
    expect_map("ftrun -H far:2,away:2 -n 7 a", "far:0,1,4,5 away:2,3,6");
    expect_map("ftrun -H far,away,far a", "far:0,1 away:2");
    expect_map("ftrun -H far:8,away:8 -ppn 2 a", "far:0,1 away:2,3");
    expect_map("ftrun -H far:8,away:8 -N 2 -n 3 a", "far:0,1 away:2");
    expect_map("ftrun -H far:8,away:8 --map-by ppr:2:node a", "far:0,1 away:2,3");
    expect_map("ftrun -H far,away,spare --spares 1 a", "far:0 away:1");
    expect_map("ftrun -H far -n 1 a : -H away:2 b", "far:0 away:1,2");
    expect_map("ftrun -H far:2,away:2 -n 1 a : -H far:2,away:2 -n 2 b", "far:0,1 away:2");
    expect_map("ftrun -H localhost,127.0.0.1,far -n 3 a", "localhost:0,1 far:2");
    expect_map("ftrun --launcher exec:x -H 127.0.0.1,127.0.0.2 a", "127.0.0.1:0 127.0.0.2:1");
    expect_map("ftrun -H [fe80::1]:2,fe80::2 a", "fe80::1:0,1 fe80::2:2");
    expect_error("ftrun -H far,away -N 2 -n 5 a", "need 3 hosts; there are 2");
    expect_error("ftrun -H far --spares 1 a", "no host of 1 is left");
    expect_error("ftrun -H far:4096 -n 4097 a", "at most 4096 run on one host");
    expect_error("ftrun -H far a : b", "on which host?");
    expect_error("ftrun -H -far a", "is not a host");
}

Test(options, sizes)
{
    uint64_t n;

    cr_expect(ft_values_size("0", &n) == 0 && n == 0);
    cr_expect(ft_values_size("4096", &n) == 0 && n == 4096);
    cr_expect(ft_values_size("64K", &n) == 0 && n == 65536);
    cr_expect(ft_values_size("64k", &n) == 0 && n == 65536);
    cr_expect(ft_values_size("1.5G", &n) == 0 && n == 3ull << 29);
    cr_expect(ft_values_size("2GiB", &n) == 0 && n == 2ull << 30);
    cr_expect(ft_values_size("3MB", &n) == 0 && n == 3ull << 20);
    const char *const bad[] = {"", "G", "-1", "1GG", "1 G", "0x10", "nan", "1e300", "9999999T", "1,5G"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        cr_expect_eq(ft_values_size(bad[i], &n), FT_EINVAL, "%s is accepted", bad[i]);
}

static bool has(const struct ft_restart_on *on, int code)
{
    return on->codes[code / 64] >> (code % 64) & 1;
}

Test(options, restart_on)
{
    struct ft_restart_on on;

    cr_expect_eq(ft_values_restart_on("signal,129-159", &on), 0);
    cr_expect(on.signal && has(&on, 129) && has(&on, 159) && !has(&on, 128) && !has(&on, 160));
    cr_expect_eq(ft_values_restart_on("none", &on), 0);
    cr_expect(!on.signal && !has(&on, 129));
    cr_expect_eq(ft_values_restart_on("3,7-9,255", &on), 0);
    cr_expect(!on.signal && has(&on, 3) && has(&on, 8) && has(&on, 255) && !has(&on, 4));
    const char *const bad[] = {"", ",", "signal,", "0", "256", "9-3", "1-", "-3", "signals", "none,3", "3 ", "1-2-3"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        cr_expect_eq(ft_values_restart_on(bad[i], &on), FT_EINVAL, "%s is accepted", bad[i]);
}

/* Everything --help lists is in the man page, and every setting says what holds without it. */
Test(settings, are_in_the_man_page)
{
    const char *top = getenv("top_srcdir");
    char path[4096], *page = calloc(1, 1 << 20);
    const struct ft_setting *s;
    FILE *f;

    snprintf(path, sizeof path, "%s/docs/ftrun.1", top ? top : ".");
    f = fopen(path, "r");
    cr_assert(f, "%s", path);
    cr_assert(fread(page, 1, (1 << 20) - 1, f) > 1000);
    fclose(f);
    for (size_t i = 0; (s = ft_settings_at(i)); i++) {
        cr_expect(!ft_settings_is_setting(s) || s->fallback, "%s has no default", s->names);
        for (const char *n = s->names; s->type != FT_HEADING && *n && *n != '|';) {
            size_t len = strcspn(n, " "), used = 0;
            char name[128];

            used += (size_t)snprintf(name, sizeof name, len > 4 || (len > 1 && n[0] == 'w') ? "\\-\\-" : "\\-");
            for (size_t k = 0; k < len; k++)
                used += (size_t)snprintf(name + used, sizeof name - used, n[k] == '-' ? "\\-" : "%c", n[k]);
            cr_expect(strstr(page, name), "the man page does not have %s", name);
            n += len + (n[len] == ' ');
        }
    }
    free(page);
}

/* What checkpoints are known by. */
static void expect_identity(const char *line, const char *identity)
{
    char text[64];

    cr_assert_eq(parse(line), 0, "%s: %s", line, e.text);
    cr_expect_str_eq(ft_identity(&o, text, sizeof text), identity, "%s is \"%s\"", line, text);
    ft_options_free(&o);
}

Test(options, identity_of_a_job)
{
    char first[64], second[64];

    expect_identity("ftrun -n 3 ./bin/train --rounds 10 data", "train");
    expect_identity("ftrun -n 3 ./bin/train --rounds 20 data", "train");
    expect_identity("ftrun /usr/bin/python3.11 -u -m pdb", "python3.11 pdb");
    expect_identity("ftrun python3 dir/train.py --rounds 10", "python3 train.py");
    expect_identity("ftrun pythonic dir/train.py", "pythonic");
    expect_identity("ftrun sh", "sh");
    expect_identity("ftrun -n 2 a/b : -n 3 perl c/d x", "2 b : 3 perl d");
    expect_identity("ftrun a\tb", "a?b");

    cr_expect_eq(parse("ftrun a-name-that-is-longer-than-there-is-room-for-in-the-text-and-ends-with-1"), 0);
    ft_identity(&o, first, sizeof first);
    ft_options_free(&o);
    cr_expect_eq(parse("ftrun a-name-that-is-longer-than-there-is-room-for-in-the-text-and-ends-with-2"), 0);
    ft_identity(&o, second, sizeof second);
    ft_options_free(&o);
    cr_expect(strcmp(first, second) && strlen(first) < sizeof first, "\"%s\", \"%s\"", first, second);
}

Test(options, threads_of_ranks_with_snapshots)
{
    cr_expect_eq(parse("ftrun a"), 0);
    cr_expect_not(o.one_thread);
    ft_options_free(&o);
    cr_expect_eq(parse("ftrun --snapshot-threads off a"), 0);
    cr_expect(o.one_thread);
    ft_options_free(&o);
    cr_expect_eq(parse("ftrun --snapshot-threads=off --snapshot-threads=on a"), 0);
    cr_expect_not(o.one_thread);
    ft_options_free(&o);
    expect_error("ftrun --snapshot-threads=no a", "\"no\" is not a valid value; wanted: on|off");
}

Test(options, replays_that_are_checked)
{
    static const struct { const char *line; bool on; uint64_t seed; } cases[] = {
        {"ftrun a", false, 0}, {"ftrun --check-replay a", true, 1}, {"ftrun --check-replay=no a", false, 0}, {"ftrun --check-replay=12 a", true, 12},
        {"ftrun --check-replay=compare a", true, 0}, {"ftrun --check-replay=7 --check-replay=compare a", true, 0},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cr_expect_eq(parse(cases[i].line), 0);
        cr_expect(o.check_replay == cases[i].on && o.check_seed == cases[i].seed, "%s", cases[i].line);
        ft_options_free(&o);
    }
    expect_error("ftrun --check-replay=often a", "wanted: yes, no, compare or a number");
}

Test(options, checkpoints)
{
    cr_expect_eq(parse("ftrun a"), 0);
    cr_expect(!o.ckpt_dir && o.ckpt_versions == 1 && !o.ckpt_ms && o.resume == FT_RESUME_NO);
    ft_options_free(&o);
    cr_expect_eq(parse("ftrun --ckpt-dir d --ckpt-every 10 --resume a"), 0);
    cr_expect(o.ckpt_versions == 10 && !o.ckpt_ms && o.resume == FT_RESUME_YES);
    cr_expect_str_eq(o.ckpt_dir, "d");
    ft_options_free(&o);
    cr_expect_eq(parse("ftrun --ckpt-dir d --ckpt-every 10 --ckpt-every 1.5s --resume=auto a"), 0);
    cr_expect(o.ckpt_versions == 1 && o.ckpt_ms == 1500 && o.resume == FT_RESUME_AUTO);
    ft_options_free(&o);
    cr_expect_eq(parse("ftrun --ckpt-dir d --resume --resume=no a"), 0);
    cr_expect(o.resume == FT_RESUME_NO);
    ft_options_free(&o);
    expect_error("ftrun --resume a", "--ckpt-dir names the directory");
    expect_error("ftrun --ckpt-every 18446744073709551616 a", "not a valid value");
    expect_error("ftrun --ckpt-every 99999999999999999999999999999999s a", "not a valid value");
}
