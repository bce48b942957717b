/* SPDX-License-Identifier: BSD-3-Clause */
/* Addresses (launcher/base/address.h): as text and from it, and where there is something to listen at. */
#include "launcher/base/address.h"

#include <criterion/criterion.h>
#include <string.h>
#include <unistd.h>

Test(address, as_text)
{
    struct ft_address a;
    char text[FT_ADDRESS_TEXT];

    cr_expect(ft_address_parse(&a, "192.0.2.1", 80) && !strcmp(ft_address_print(&a, text), "192.0.2.1:80"));
    cr_expect(ft_address_parse(&a, "2001:db8::1", 80) && !strcmp(ft_address_print(&a, text), "[2001:db8::1]:80"));
    cr_expect(ft_address_parse(&a, "::ffff:192.0.2.1", 0) && !strcmp(ft_address_print(&a, text), "192.0.2.1"));
    cr_expect(!ft_address_parse(&a, "localhost", 80) && !ft_address_parse(&a, "", 80) && !ft_address_parse(&a, "1.2.3", 80));
    cr_expect(!ft_address_parse(&a, "::1%no-such-interface", 80) && !ft_address_parse(&a, "1.2.3.4/8", 80));
}

Test(address, where_to_listen)
{
    struct ft_address b, list[FT_ADDRESSES];
    char text[FT_ADDRESS_TEXT];
    struct ft_error e;
    size_t n;
    int fd;

    cr_expect(ft_address_listen("no-such-interface", NULL, list, &n, &e) == FT_EINVAL && strstr(e.text, "no-such-interface"));
    cr_expect(ft_address_listen("192.0.2.0/33", NULL, list, &n, &e) == FT_EINVAL);
    cr_expect(ft_address_listen("240.0.0.0/4", NULL, list, &n, &e) == FT_EINVAL); /* nobody has these */
    cr_expect((fd = ft_address_listen("lo", NULL, list, &n, &e)) >= 0 && n == 1 && close(fd) == 0);
    cr_expect((fd = ft_address_listen("127.0.0.0/8", NULL, list, &n, &e)) >= 0 && n == 1 && close(fd) == 0);
    cr_expect(!strcmp(ft_address_ip(&list[0], text), "127.0.0.1") && ft_address_port(&list[0]));
    cr_expect((fd = ft_address_listen("127.0.1.7", NULL, list, &n, &e)) >= 0 && close(fd) == 0);
    cr_expect(!strcmp(ft_address_ip(&list[0], text), "127.0.1.7"));
    cr_expect(ft_address_parse(&b, "127.0.0.1", 80) && (fd = ft_address_listen(NULL, &b, list, &n, &e)) >= 0 && close(fd) == 0);
    cr_expect(n == 1 && !strncmp(ft_address_ip(&list[0], text), "127.", 4));
}
