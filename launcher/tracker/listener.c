/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/tracker/listener.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "launcher/base/address.h"
#include "launcher/base/say.h"

enum { PORT_FROM = 30000, PORTS = 2700 /* below those that the kernel gives to connections */, BACKLOG = 1024 };

uint16_t ft_tracker_port_for(const char *job_id)
{
    uint32_t n = 0;

    for (; *job_id; job_id++)
        n = n * 31 + (unsigned char)*job_id;
    return (uint16_t)(PORT_FROM + n % PORTS);
}

static int listen_at(const char *ip, uint16_t port)
{
    struct ft_address at;
    int fd, yes = 1, no = 0;

    ft_address_parse(&at, ip, port);
    fd = ft_address_socket(at.s.ss_family);
    if (fd < 0)
        return -1;
    if (port) /* an earlier node on this host may have had it */
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (at.s.ss_family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no);
    if (bind(fd, (struct sockaddr *)&at.s, at.len) == 0 && listen(fd, BACKLOG) == 0)
        return fd;
    no = errno;
    close(fd);
    errno = no;
    return -1;
}

int ft_tracker_listen(bool here, uint16_t port, uint16_t *got, struct ft_error *e)
{
    struct ft_address at = {.len = sizeof at.s};
    int fd = listen_at(here ? "127.0.0.1" : "::", port);

    if (fd < 0 && !here && errno != EADDRINUSE)
        fd = listen_at("0.0.0.0", port); /* a host without IPv6 */
    if (fd < 0 || getsockname(fd, (struct sockaddr *)&at.s, &at.len) < 0)
        return ft_err_set(e, FT_ESYS, "--xgboost-tracker: cannot listen at port %u on %s: %s%s", port, ft_say_host(), strerror(errno),
                          errno == EADDRINUSE ? " (another job draws another port)" : "");
    *got = ft_address_port(&at);
    return fd;
}
