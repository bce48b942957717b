/* SPDX-License-Identifier: BSD-3-Clause */
/* The rows of calls.table about sockets. One process has both ends, so no call may wait for ever. */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdint.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include "ft/outcome/test/calls.h"

static char text[70000];

static struct sockaddr *any_of(void *address) { return address; }

static struct sockaddr_in loopback(void)
{
    return (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

static struct sockaddr_un path(const char *name)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};

    strcpy(a.sun_path, name);
    return a;
}

/* A listener; its name in *a. */
static int listener(struct sockaddr_in *a)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    socklen_t n = sizeof *a;

    *a = loopback();
    if (bind(fd, any_of(a), sizeof *a) || listen(fd, 5) || getsockname(fd, any_of(a), &n))
        SAY(-1);
    return fd;
}

/* Two ends. */
static void connected(int end[2])
{
    struct sockaddr_in a;
    int l = listener(&a);

    end[0] = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(end[0], any_of(&a), sizeof a))
        SAY(-1);
    end[1] = accept(l, NULL, NULL);
    close(l);
}

static void do_socket(void)
{
    int a, b;

    SAY(a = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    SAY(b = socket(AF_INET6, SOCK_STREAM | SOCK_NONBLOCK, 0));
    SAY(close(a));
    SAY(a = socket(AF_UNIX, SOCK_STREAM, 0));
    SAY(fcntl(b, F_GETFL) & O_NONBLOCK);
    SAY(close(b));
    SAY(b = socket(AF_INET, SOCK_DGRAM, 0));
    SAY(close(a));
    SAY(close(b));
}

static void do_bind(void)
{
    struct sockaddr_un u = path("bound");
    struct sockaddr_in a = loopback();
    int s = socket(AF_INET, SOCK_STREAM, 0), t = socket(AF_UNIX, SOCK_STREAM, 0);

    SAY(bind(s, any_of(&a), sizeof a));
    SAY(bind(s, any_of(&a), sizeof a));
    SAY(bind(t, any_of(&u), sizeof u));
    SAY(bind(t, any_of(&u), sizeof u));
    SAY(unlink("bound"));
    close(s);
    close(t);
}

static void do_listen(void)
{
    struct sockaddr_in a = loopback();
    int s = socket(AF_INET, SOCK_STREAM, 0);

    bind(s, any_of(&a), sizeof a);
    SAY(listen(s, 3));
    SAY(listen(s, 4));
    close(s);
    SAY(listen(s, 4));
}

static void do_accept(void)
{
    struct sockaddr_un u = path("listener");
    struct sockaddr_in a, peer;
    socklen_t n = sizeof peer, m = 5;
    int l = listener(&a), k = socket(AF_UNIX, SOCK_STREAM, 0), c = socket(AF_INET, SOCK_STREAM, 0), d = socket(AF_UNIX, SOCK_STREAM, 0), e;

    SAY(fcntl(l, F_SETFL, O_NONBLOCK));
    SAY(accept(l, NULL, NULL));
    SAY(connect(c, any_of(&a), sizeof a));
    SAY(e = accept(l, any_of(&peer), &n));
    SAY(n);
    calls_told(&peer, sizeof peer);
    SAY(write(c, "accepted", 8));
    SAY(read(e, text, 8));
    SAY(close(c));
    SAY(close(e));
    SAY(bind(k, any_of(&u), sizeof u));
    SAY(listen(k, 1));
    SAY(connect(d, any_of(&u), sizeof u));
    SAY(e = accept4(k, any_of(&peer), &m, SOCK_CLOEXEC));
    SAY(m);
    SAY(write(e, "accepted", 8));
    SAY(read(d, text, 8));
    SAY(unlink("listener"));
    close(d);
    close(e);
    close(k);
    close(l);
}

static void do_connect(void)
{
    struct sockaddr_un u = path("nobody");
    struct sockaddr_in a, closed;
    socklen_t n = sizeof closed;
    int l = listener(&a), c = socket(AF_INET, SOCK_STREAM, 0), d = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), e, error = 0;
    struct pollfd p = {d, POLLOUT, 0};

    SAY(connect(c, any_of(&a), sizeof a));
    SAY(connect(c, any_of(&a), sizeof a));
    SAY(connect(d, any_of(&a), sizeof a));
    SAY(poll(&p, 1, 1000));
    SAY(p.revents);
    SAY(close(c));
    SAY(close(d));
    c = socket(AF_INET, SOCK_STREAM, 0);
    closed = loopback();
    bind(c, any_of(&closed), sizeof closed);
    getsockname(c, any_of(&closed), &n);
    d = socket(AF_INET, SOCK_STREAM, 0);
    SAY(connect(d, any_of(&closed), sizeof closed));
    SAY(connect(d, any_of(&a), sizeof a));
    SAY(close(d));
    d = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    SAY(connect(d, any_of(&closed), sizeof closed));
    p.fd = d;
    SAY(poll(&p, 1, 1000));
    e = socket(AF_UNIX, SOCK_STREAM, 0);
    SAY(connect(e, any_of(&u), sizeof u));
    calls_told(&error, sizeof error);
    close(c);
    close(d);
    close(e);
    close(l);
}

static void do_shutdown(void)
{
    int s[2];

    connected(s);
    SAY(shutdown(s[0], SHUT_WR));
    SAY(recv(s[1], text, 10, 0));
    SAY(send(s[0], text, 10, MSG_NOSIGNAL));
    SAY(send(s[1], text, 10, 0));
    SAY(shutdown(s[1], SHUT_RDWR));
    SAY(recv(s[0], text, 20, 0));
    SAY(recv(s[0], text, 20, 0));
    SAY(close(s[0]));
    SAY(shutdown(s[0], SHUT_RD));
    close(s[1]);
}

static void do_name(void)
{
    struct sockaddr_in a;
    socklen_t n = sizeof a;
    int s[2];

    connected(s);
    SAY(getsockname(s[0], any_of(&a), &n));
    calls_told(&a, sizeof a);
    SAY(getpeername(s[0], any_of(&a), &n));
    SAY(n);
    calls_told(&a, sizeof a);
    n = 3;
    SAY(getsockname(s[1], any_of(&a), &n));
    SAY(n);
    close(s[0]);
    SAY(getpeername(s[0], any_of(&a), &n));
    close(s[1]);
}

static void do_option(void)
{
    int one = 1, value = 0, s[2];
    socklen_t n = sizeof value;

    connected(s);
    SAY(setsockopt(s[0], IPPROTO_TCP, TCP_NODELAY, &one, sizeof one));
    SAY(getsockopt(s[0], IPPROTO_TCP, TCP_NODELAY, &value, &n));
    SAY(value);
    SAY(getsockopt(s[0], SOL_SOCKET, SO_ERROR, &value, &n));
    SAY(value);
    SAY(setsockopt(s[0], SOL_SOCKET, -5, &one, sizeof one));
    n = sizeof text;
    SAY(getsockopt(s[0], SOL_SOCKET, SO_SNDBUF, text, &n));
    SAY(n);
    close(s[0]);
    close(s[1]);
}

/* Another's bytes, while they are sent. */
static void fill(char c)
{
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (char)(c + (char)(i % 61));
}

static void do_tcp(void)
{
    struct iovec pieces[2] = {{text, 5}, {text + 5, 5}}, out[2] = {{text + 40, 3}, {text + 43, 7}};
    struct msghdr m = {.msg_iov = pieces, .msg_iovlen = 2}, in = {.msg_iov = out, .msg_iovlen = 2};
    struct linger linger = {1, 0};
    int s[2], file;
    off_t at = 2;

    connected(s);
    fill('0');
    SAY(send(s[0], text, 10, 0));
    SAY(sendmsg(s[0], &m, MSG_NOSIGNAL));
    SAY(writev(s[0], pieces, 2));
    SAY(recv(s[1], text + 20, 4, MSG_PEEK));
    SAY(recv(s[1], text + 20, 7, 0));
    SAY(recvmsg(s[1], &in, MSG_WAITALL));
    SAY(recvfrom(s[1], text + 27, 13, MSG_WAITALL, NULL, NULL));
    calls_say_bytes("received", text + 20, 30);
    SAY(recv(s[1], text, 1, MSG_DONTWAIT));
    SAY(write(s[1], "back", 4));
    out[0].iov_len = 4;
    SAY(readv(s[0], out, 2));
    fill('A');
    SAY(send(s[1], text, sizeof text, 0));
    memset(text, 0, sizeof text);
    SAY(recv(s[0], text, sizeof text, MSG_WAITALL));
    calls_say_bytes("much", text, sizeof text);
    file = calls_file("sent", "the file that is sent");
    SAY(sendfile(s[1], file, NULL, 8));
    SAY(lseek(file, 0, SEEK_CUR));
    SAY(sendfile(s[1], file, &at, 100));
    SAY(at);
    SAY(recv(s[0], text, 27, MSG_WAITALL));
    calls_say_bytes("of a file", text, 27);
    close(file);
    SAY(send(s[0], "end", 3, MSG_DONTWAIT));
    SAY(shutdown(s[0], SHUT_WR));
    SAY(recv(s[1], text, 10, MSG_WAITALL));
    SAY(read(s[1], text, 10));
    SAY(close(s[1]));
    SAY(recv(s[0], text, 10, 0));
    SAY(close(s[0]));
    connected(s);
    SAY(setsockopt(s[1], SOL_SOCKET, SO_LINGER, &linger, sizeof linger));
    SAY(close(s[1]));
    SAY(recv(s[0], text, 10, 0) < 0);
    SAY(send(s[0], text, 10, MSG_NOSIGNAL));
    SAY(close(s[0]));
}

/* The peer is gone: what came of it, then the error, once. */
static void do_reset(void)
{
    struct linger linger = {1, 0};
    struct sockaddr_in a;
    int s[2], l = listener(&a);

    for (int peek = 0; peek < 2; peek++) {
        connected(s);
        setsockopt(s[1], SOL_SOCKET, SO_LINGER, &linger, sizeof linger);
        send(s[1], "part", 4, 0);
        close(s[1]);
        SAY(recv(s[0], text, 10, MSG_WAITALL));
        SAY(recv(s[0], text, 10, peek ? MSG_PEEK : 0));
        SAY(recv(s[0], text, 10, 0));
        close(s[0]);
    }
    connected(s); /* told to a call that sends: by this error, not by the one of later calls */
    setsockopt(s[1], SOL_SOCKET, SO_LINGER, &linger, sizeof linger);
    close(s[1]);
    SAY(send(s[0], text, 10, MSG_NOSIGNAL));
    SAY(send(s[0], text, 10, MSG_NOSIGNAL));
    SAY(recv(s[0], text, 10, 0));
    close(s[0]);
    s[0] = socket(AF_INET, SOCK_STREAM, 0);
    connect(s[0], any_of(&a), sizeof a);
    setsockopt(s[0], SOL_SOCKET, SO_LINGER, &linger, sizeof linger);
    close(s[0]);
    SAY(s[1] = accept(l, NULL, NULL));
    SAY(recv(s[1], text, 10, 0));
    close(s[1]);
    close(l);
    socketpair(AF_UNIX, SOCK_STREAM, 0, s);
    write(s[0], "unread", 6);
    write(s[1], "part", 4);
    close(s[1]);
    SAY(recv(s[0], text, 10, 0));
    SAY(recv(s[0], text, 10, 0));
    SAY(recv(s[0], text, 10, 0));
    close(s[0]);
}

static void do_stream(void)
{
    struct iovec pieces[2] = {{text, 5}, {text + 5, 5}};
    struct msghdr m = {.msg_iov = pieces, .msg_iovlen = 2};
    struct sockaddr_un u = path("stream");
    int s[2], l = socket(AF_UNIX, SOCK_STREAM, 0);

    SAY(socketpair(AF_UNIX, SOCK_STREAM, 0, s));
    memcpy(text, "0123456789", 10);
    SAY(send(s[0], text, 10, 0));
    SAY(sendmsg(s[0], &m, MSG_NOSIGNAL));
    SAY(write(s[1], "back", 4));
    SAY(recv(s[1], text + 20, 3, MSG_PEEK));
    SAY(recv(s[1], text + 20, 7, MSG_DONTWAIT));
    SAY(recvfrom(s[1], text + 27, 13, MSG_WAITALL, NULL, NULL));
    SAY(recv(s[1], text + 40, 1, MSG_DONTWAIT));
    SAY(recv(s[1], text + 40, 1, MSG_PEEK | MSG_DONTWAIT));
    calls_say_bytes("received", text + 20, 20);
    SAY(read(s[0], text, 4));
    SAY(shutdown(s[0], SHUT_WR));
    SAY(recv(s[1], text, 1, 0));
    SAY(close(s[1]));
    SAY(send(s[0], text, 1, MSG_NOSIGNAL));
    SAY(close(s[0]));
    bind(l, any_of(&u), sizeof u);
    listen(l, 1);
    s[0] = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
    SAY(connect(s[0], any_of(&u), sizeof u));
    SAY(s[1] = accept(l, NULL, NULL));
    SAY(send(s[0], "named", 5, MSG_DONTWAIT));
    SAY(recv(s[1], text, 9, 0));
    SAY(recv(s[0], text, 9, MSG_DONTWAIT));
    SAY(unlink("stream"));
    close(l);
    close(s[0]);
    close(s[1]);
}

static void do_udp(void)
{
    struct sockaddr_in a = loopback(), from;
    socklen_t n = sizeof a, m = sizeof from;
    struct iovec pieces[2] = {{text, 3}, {text + 3, 30}};
    struct msghdr in = {.msg_name = &from, .msg_namelen = sizeof from, .msg_iov = pieces, .msg_iovlen = 2};
    int s = socket(AF_INET, SOCK_DGRAM, 0), t = socket(AF_INET, SOCK_DGRAM, 0);

    bind(s, any_of(&a), sizeof a);
    getsockname(s, any_of(&a), &n);
    SAY(recv(s, text, 10, MSG_DONTWAIT));
    /* Under way it may come twice, or be lost: what is received is not said. */
    SAY(sendto(t, "datagram", 8, 0, any_of(&a), sizeof a));
    recvfrom(s, text, sizeof text, MSG_DONTWAIT, any_of(&from), &m);
    SAY(connect(t, any_of(&a), sizeof a));
    SAY(send(t, "more", 4, 0));
    recvmsg(s, &in, MSG_DONTWAIT);
    SAY(write(t, "even more", 9));
    fcntl(s, F_SETFL, O_NONBLOCK);
    if (read(s, text, 5) < 0)
        errno = 0;
    close(s);
    close(t);
}

static void do_resolve(void)
{
    struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM, .ai_flags = AI_CANONNAME}, *list = NULL;
    struct sockaddr_in a = loopback();
    char host[NI_MAXHOST], service[NI_MAXSERV];
    int n = 0;

    SAY(getaddrinfo("localhost", "80", &hints, &list));
    for (struct addrinfo *i = list; i; i = i->ai_next, n++)
        calls_say_bytes(i->ai_canonname ? i->ai_canonname : "no name", i->ai_addr, (long)i->ai_addrlen);
    SAY(n);
    freeaddrinfo(list);
    SAY(-getaddrinfo("no.such.host.invalid", NULL, &(struct addrinfo){.ai_flags = AI_NUMERICHOST}, &list));
    SAY(getnameinfo(any_of(&a), sizeof a, host, sizeof host, service, sizeof service, NI_NUMERICHOST | NI_NUMERICSERV));
    calls_say_bytes(host, service, (long)strlen(service));
}

static void do_other(void)
{
    int fd = calls_file("timer", "text"), s = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);

    SAY(read(s, text, 10));
    SAY(write(fd, "more", 4));
    close(s);
    close(fd);
}

const struct calls_row calls_of_sockets[] = {
    {"socket", do_socket, 0}, {"bind", do_bind, 0}, {"listen", do_listen, 0}, {"accept", do_accept, 0}, {"connect", do_connect, 0},
    {"shutdown", do_shutdown, 0}, {"getsockname", do_name, 0}, {"getsockopt", do_option, 0}, {"TCP", do_tcp, 0}, {"reset", do_reset, 0},
    {"stream of this host", do_stream, 0}, {"UDP", do_udp, 0}, {"getaddrinfo", do_resolve, 0}, {"descriptors of other kinds", do_other, true}, {NULL, NULL, 0},
};
