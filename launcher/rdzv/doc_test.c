/* SPDX-License-Identifier: BSD-3-Clause */
/* What stands in the store: read back as it was written, and nothing else is read; and its size, which torchelastic bounds. Seals. */
#include "config.h"
#include "launcher/rdzv/doc.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/rdzv/seal.h"

Test(doc, names_are_compared_as_people_read_them)
{
    static const char *const order[] = {"a", "a0", "a1", "a01", "a2", "a10", "a10b", "b", "host2", "host2.x", "host10", "host10.x", "x2y3", "x2y10"};
    size_t n = sizeof order / sizeof *order;

    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++) {
            int want = i < k ? -1 : i > k, got = ft_rdzv_compare(order[i], order[k]);

            if (strcmp(order[i], "a01") == 0 || strcmp(order[k], "a01") == 0 || strcmp(order[i], "a1") == 0)
                cr_assert_eq(got != 0, i != k);
            else
                cr_assert_eq((got > 0) - (got < 0), want, "%s %s", order[i], order[k]);
        }
    cr_assert_lt(ft_rdzv_compare("a01", "a1"), 0); /* some order, always the same */
    cr_assert_gt(ft_rdzv_compare("a1", "a01"), 0);
}

Test(doc, a_state_comes_back)
{
    struct ft_rdzv_state s = {FT_RDZV_FROZEN, 1ULL << 41, 3, UINT64_MAX, 5, 0xfedcba9876543210u, 2, 4, 3, 7, 1, 255, 1ULL << 40}, r;
    char text[FT_RDZV_LINE];

    cr_assert(ft_rdzv_read_state(ft_rdzv_print_state(text, &s), &r));
    cr_assert(r.phase == s.phase && r.version == s.version && r.change == s.change && r.list == s.list && r.term == s.term && r.by == s.by);
    cr_assert(r.min == s.min && r.max == s.max && r.members == s.members && r.come == s.come && r.spares == s.spares &&
              r.code == s.code && r.ended == s.ended);
}

Test(doc, damaged_ones_are_none)
{
    struct ft_rdzv_state s = {FT_RDZV_FINAL, 3, 4, 5, 6, 7, 1, 2, 2, 2, 0, 0, 5}, r;
    struct ft_rdzv_member m = {.name = "host1", .address = "192.0.2.1:1", .slots = 4, .id = 9, .confirmed = 3, .lease = 2}, got;
    char good[FT_RDZV_LINE], text[FT_RDZV_LINE + 2];
    uint64_t term, version;
    const char *address;

    ft_rdzv_print_state(good, &s);
    for (size_t n = 0; n < strlen(good) - 1; n++) {
        snprintf(text, sizeof text, "%.*s", (int)n, good);
        cr_assert_not(ft_rdzv_read_state(text, &r), "%s", text);
    }
    ft_rdzv_print_member(good, &m);
    for (size_t n = 0; n < strlen(good); n++) {
        snprintf(text, sizeof text, "%.*s", (int)n, good);
        cr_assert_not(ft_rdzv_read_member(text, &got), "%s", text);
    }
    snprintf(text, sizeof text, "%s ", good);
    cr_assert_not(ft_rdzv_read_member(text, &got));
    cr_assert_not(ft_rdzv_read_controller(strcpy(text, "controller 1 5 7 a b"), &term, &version, &address));
    cr_assert_not(ft_rdzv_read_controller(strcpy(text, "controller 2 5 7 a"), &term, &version, &address));
    cr_assert(ft_rdzv_read_controller(strcpy(text, "controller 1 5 7 a:1"), &term, &version, &address));
}

Test(doc, any_bytes)
{
    static const char parts[] = "state list member leader 1 2 0 99999999999999999999 joinable final lost \n 00000000000000ff a";
    char text[400];

    srand(1);
    for (int i = 0; i < 200000; i++) {
        size_t n = 0;
        struct ft_rdzv_state s;
        struct ft_rdzv_member m;
        char copy[400];

        while (n < 300 && rand() % 12) {
            size_t at = (size_t)rand() % (sizeof parts - 2), len = 1 + (size_t)rand() % 9;

            n += (size_t)snprintf(text + n, sizeof text - n, "%.*s", (int)len, parts + at);
        }
        text[n] = 0;
        ft_rdzv_read_state(text, &s);
        ft_rdzv_read_member(strcpy(copy, text), &m);
        ft_rdzv_read_leader(strcpy(copy, text), &m);
        ft_rdzv_list_drop(ft_rdzv_read_list(text));
    }
}

static char *list_of(uint32_t n)
{
    struct ft_rdzv_member *m = calloc(n, sizeof *m);
    char *names = calloc(n, 64), *text;

    for (uint32_t i = 0; i < n; i++) {
        snprintf(names + 64 * (size_t)i, 64, "job-worker-0-%u.job.namespace", i);
        m[i] = (struct ft_rdzv_member){.name = names + 64 * (size_t)i, .address = "10.123.123.123:45678,[2001:db8::1234]:45678", .slots = 64,
                                       .id = 0x123456789abcdefu + i, .lost = i % 100 == 7};
    }
    text = ft_rdzv_print_list(1ULL << 41, 77, m, n);
    free(names);
    free(m);
    return text;
}

Test(doc, a_list_comes_back)
{
    char *text = list_of(300);
    struct ft_rdzv_list *list = ft_rdzv_read_list(text);

    cr_assert_not_null(list);
    cr_assert(list->n == 300 && list->stamp == 77 && list->version == 1ULL << 41);
    cr_assert_str_eq(list->members[299].name, "job-worker-0-299.job.namespace");
    cr_assert(list->members[7].lost && !list->members[8].lost);
    cr_assert_eq(ft_rdzv_list_find(list, "job-worker-0-8.job.namespace", 0x123456789abcdefu + 8), 8);
    cr_assert_eq(ft_rdzv_list_find(list, "job-worker-0-7.job.namespace", 0x123456789abcdefu + 7), -1);
    ft_rdzv_list_drop(list);
    text[strlen(text) - 1] = 0;
    cr_assert_null(ft_rdzv_read_list(text));
    free(text);
}

/* "At most 2 KB for 10 hosts, 1.6 MB for 10,000"; and etcd takes 1.5 MB at once. */
Test(doc, its_size)
{
    char *ten = list_of(10), *many = list_of(10000);

    printf("LIST with long names and two addresses each: 10 hosts %zu bytes, 10,000 hosts %zu\n", strlen(ten), strlen(many));
    cr_assert_leq(strlen(ten), 2000);
    cr_assert_leq(strlen(many), 1500000);
    free(ten);
    free(many);
}

/* ---- seals ---- */

static struct ft_rdzv_secret secret_of(const char *text)
{
    char path[] = "/tmp/ftmpi-secret.XXXXXX";
    struct ft_rdzv_secret s;
    struct ft_error e;
    int fd = mkstemp(path);

    cr_assert_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    cr_assert_eq(ft_rdzv_secret_read(&s, path, &e), 0, "%s", e.text);
    close(fd);
    unlink(path);
    return s;
}

Test(seal, opens_with_the_secret_and_under_the_key)
{
    struct ft_rdzv_secret a = secret_of("0123456789abcdef"), same = secret_of("0123456789abcdef\n"), other = secret_of("0123456789abcdeF");
    size_t sealed, n;
    unsigned char *v = ft_rdzv_seal(&a, "/k", (const unsigned char *)"value", 5, &sealed);

    cr_assert_not_null(ft_rdzv_unseal(&same, "/k", v, sealed, &n));
    cr_assert_eq(n, 5);
    cr_assert_null(ft_rdzv_unseal(&other, "/k", v, sealed, &n));
    cr_assert_null(ft_rdzv_unseal(&a, "/l", v, sealed, &n));
    for (size_t i = 0; i < sealed; i++) {
        v[i] ^= 1;
        cr_assert_null(ft_rdzv_unseal(&a, "/k", v, sealed, &n), "byte %zu", i);
        v[i] ^= 1;
        cr_assert_null(ft_rdzv_unseal(&a, "/k", v, i, &n), "%zu bytes", i);
    }
    free(v);
}

Test(seal, secret_files)
{
    char path[] = "/tmp/ftmpi-secret.XXXXXX", a[FT_SEAL_HEX], b[FT_SEAL_HEX];
    struct ft_rdzv_secret s;
    struct ft_error e;
    int fd = mkstemp(path);

    cr_assert_eq(ft_rdzv_secret_read(&s, NULL, &e), 0);
    cr_assert(s.is_known);
    cr_assert_eq(ft_rdzv_secret_read(&s, "/nonexistent", &e), FT_ESYS);
    cr_assert_eq(ft_rdzv_secret_read(&s, "/tmp", &e), FT_EINVAL);
    cr_assert_eq(ft_rdzv_secret_read(&s, path, &e), FT_EINVAL); /* empty */
    cr_assert_eq(write(fd, "0123456789abcdef\n", 17), 17);
    cr_assert_eq(ft_rdzv_secret_read(&s, path, &e), 0);
    cr_assert_not(s.is_known);
    ft_rdzv_secret_derive(&s, "a", a);
    ft_rdzv_secret_derive(&s, "b", b);
    cr_assert_str_neq(a, b);
    fchmod(fd, 0666);
    cr_assert_eq(ft_rdzv_secret_read(&s, path, &e), FT_EINVAL);
    fchmod(fd, 0644);
    cr_assert_eq(ftruncate(fd, 5000), 0);
    cr_assert_eq(ft_rdzv_secret_read(&s, path, &e), FT_EINVAL);
    close(fd);
    unlink(path);
}
