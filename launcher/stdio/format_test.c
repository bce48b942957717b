/* SPDX-License-Identifier: BSD-3-Clause */
/* Tags (launcher/stdio/format.h): what they look like, and that each line gets one, once. */
#include "config.h"
#include "launcher/stdio/format.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static char got[1000];

static void put(void *arg, const char *data, size_t len)
{
    (void)arg;
    strncat(got, data, len);
}

static const char *format(bool begins, bool last, const char *data)
{
    got[0] = 0;
    ft_format_lines("<tag>", 5, begins, last, data, strlen(data), put, NULL);
    return got;
}

Test(format, tags_are_open_mpis)
{
    struct tm time = {.tm_year = 126, .tm_mon = 10, .tm_mday = 2, .tm_hour = 3, .tm_min = 4, .tm_sec = 5, .tm_wday = 1};
    char tag[FT_TAG_BYTES];
    size_t n;

    n = ft_format_tag(tag, true, NULL, 12, 0);
    cr_expect_str_eq(tag, "[1,12]<stdout>:");
    cr_expect_eq(n, strlen(tag));
    n = ft_format_tag(tag, true, &time, 3, 1);
    cr_expect_str_eq(tag, "Mon Nov  2 03:04:05 2026[1,3]<stderr>:");
    cr_expect_eq(n, strlen(tag));
    ft_format_tag(tag, false, &time, 3, 0);
    cr_expect_str_eq(tag, "Mon Nov  2 03:04:05 2026<stdout>:");
    cr_expect_lt(ft_format_tag(tag, true, &time, UINT32_MAX, 1), FT_TAG_BYTES);
}

Test(format, every_line_is_tagged_once)
{
    cr_expect_str_eq(format(true, false, "one\n\nthree\n"), "<tag>one\n<tag>\n<tag>three\n");
    cr_expect_str_eq(format(true, false, "name? "), "<tag>name? ");
    cr_expect_str_eq(format(false, false, "you\nnext\n"), "you\n<tag>next\n");
}

Test(format, a_last_line_that_is_unfinished_is_finished)
{
    cr_expect_str_eq(format(true, true, "last words"), "<tag>last words\n");
    cr_expect_str_eq(format(false, true, " and more"), " and more\n");
    cr_expect_str_eq(format(true, true, "whole\n"), "<tag>whole\n");
}
