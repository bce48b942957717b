/* SPDX-License-Identifier: BSD-3-Clause */
/* The handshake (launcher/net/auth.h) with friends and with every kind of stranger, over IPv4 and IPv6: whatever a stranger does, the loop
   goes on turning, friends get through, nothing is left open and hardly anything is said. */
#include "config.h"

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "launcher/base/say.h"
#include "launcher/net/auth.h"

enum { FLOOD = 2000, KINDS = 1 << FT_AUTH_LINK | 1 << FT_AUTH_FETCH, EXCHANGE = FT_HELLO_BYTES + FT_PROOF_BYTES };

static struct event_base *base;
static struct ft_say say;
static struct ft_auth *auth;
static struct ft_address at;
static unsigned long nlines;             /* said */
static char last_line[512];
static int came = -1, went = -1;         /* what was handed out last: to who was called, to who called */
static int ncame, nwent, nfailed;
static char why[FT_ERROR_TEXT];
static const unsigned char secret[FT_SECRET_BYTES] = "a secret that nobody can guess.";
static const unsigned char other[FT_SECRET_BYTES] = "a secret of some other job.....";

static void fail(const char *file, int line, const char *what)
{
    fprintf(stderr, "%s:%d: %s (last line: %s)\n", file, line, what, last_line);
    exit(1);
}
#define CHECK(cond) do { if (!(cond)) fail(__FILE__, __LINE__, #cond); } while (0)

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void on_line(void *arg, int stream, const char *line, size_t len)
{
    (void)arg;
    (void)stream;
    nlines++;
    snprintf(last_line, sizeof last_line, "%.*s", (int)len - 1, line);
}

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void on_came(void *arg, int fd, enum ft_auth_kind kind, const struct ft_error *e)
{
    (void)arg;
    (void)e;
    CHECK(fd >= 0 && (1 << kind & KINDS));
    CHECK(fcntl(fd, F_GETFL) & O_NONBLOCK && fcntl(fd, F_GETFD) & FD_CLOEXEC);
    close_fd(&came);
    came = fd;
    ncame++;
}

static void on_went(void *arg, int fd, enum ft_auth_kind kind, const struct ft_error *e)
{
    (void)arg;
    CHECK(kind < FT_AUTH_KINDS);
    CHECK((fd < 0) == (e != NULL));
    if (e)
        snprintf(why, sizeof why, "%s", e->text);
    nwent += fd >= 0;
    nfailed += fd < 0;
    if (fd >= 0) {
        close_fd(&went);
        went = fd;
    }
}

static void turn(void)
{
    double before = seconds();

    event_base_loop(base, EVLOOP_NONBLOCK);
    CHECK(seconds() - before < 60); /* nobody stalls it; a busy machine may, for a while */
}

/* Turns until *counter has come to n. */
static void await(const int *counter, int n)
{
    double until = seconds() + 120;

    while (*counter < n) {
        CHECK(seconds() < until);
        turn();
        poll(NULL, 0, *counter < n);
    }
}

static int ndescriptors(void)
{
    int n = 0;

    for (int fd = 0; fd < 4096; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

static int stranger(void)
{
    int fd = socket(at.s.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

    CHECK(fd >= 0 && connect(fd, (struct sockaddr *)&at.s, at.len) == 0);
    return fd;
}

static void put(int fd, const void *data, size_t n)
{
    CHECK(send(fd, data, n, MSG_NOSIGNAL) == (ssize_t)n);
}

/* Turns until n bytes have come; false: the connection has ended before. */
static bool get(int fd, void *to, size_t n)
{
    double until = seconds() + 120;

    for (size_t done = 0; done < n;) {
        ssize_t got = recv(fd, (char *)to + done, n - done, MSG_DONTWAIT);

        if (got == 0 || (got < 0 && errno != EAGAIN))
            return false;
        if (got > 0)
            done += (size_t)got;
        CHECK(seconds() < until);
        turn();
    }
    return true;
}

static void is_turned_away(int fd)
{
    char c;

    CHECK(!get(fd, &c, 1));
    close(fd);
}

static void hello(unsigned char text[FT_HELLO_BYTES], unsigned kind)
{
    memset(text, 0, FT_HELLO_BYTES);
    memcpy(text, "ftmpi1", 6);
    text[8] = (unsigned char)kind;
    for (int i = 32; i < FT_HELLO_BYTES; i++)
        text[i] = (unsigned char)rand();
}

static void friends_get_through(void)
{
    int c = ncame, w = nwent;
    char text[8] = "";

    CHECK(ft_auth_dial(auth, &at, 1, FT_AUTH_LINK, on_went, NULL));
    await(&ncame, c + 1);
    await(&nwent, w + 1);
    put(went, "hello", 6); /* who has called is the last to know, so what he says comes behind his proof */
    CHECK(get(came, text, 6) && !strcmp(text, "hello"));
    put(came, "again", 6);
    CHECK(get(went, text, 6) && !strcmp(text, "again"));
}

/* What follows the proof in the same packet is for who gets the socket. */
static void nothing_behind_the_proof_is_read(void)
{
    int c = ncame, w = nwent;
    CHECK(ft_auth_dial(auth, &at, 1, FT_AUTH_FETCH, on_went, NULL));
    await(&nwent, w + 1);
    await(&ncame, c + 1);
    put(came, "x", 1);
    poll(&(struct pollfd){.fd = went, .events = POLLIN}, 1, 120000);
    CHECK(recv(went, &(char[2]){0}, 2, MSG_DONTWAIT) == 1);
}

static void wrong_secret(void)
{
    struct ft_auth *them = ft_auth_new(base, other, &say);
    int f = nfailed, c = ncame;

    CHECK(them && ft_auth_dial(them, &at, 1, FT_AUTH_LINK, on_went, NULL));
    await(&nfailed, f + 1);
    CHECK(strstr(why, "of another job") && !strchr(why, '\n') && ncame == c);
    ft_auth_free(them);
}

static void wrong_kind(void)
{
    int f = nfailed, c = ncame;

    CHECK(ft_auth_dial(auth, &at, 1, FT_AUTH_CONTROL, on_went, NULL));
    await(&nfailed, f + 1);
    CHECK(ncame == c);
}

/* The next address is tried when one does not answer, and done comes later than the call. */
static void addresses_in_turn(void)
{
    struct ft_address list[3];
    int w = nwent, f = nfailed;

    CHECK(ft_address_parse(&list[0], "127.0.0.1", 1) && ft_address_parse(&list[1], "::1", 1));
    list[2] = at;
    CHECK(ft_auth_dial(auth, list, 3, FT_AUTH_LINK, on_went, NULL) && nwent == w);
    await(&nwent, w + 1);
    CHECK(ft_auth_dial(auth, list, 2, FT_AUTH_LINK, on_went, NULL) && nfailed == f);
    await(&nfailed, f + 1);
    CHECK(strstr(why, "Connection refused") || strstr(why, "unreachable") || strstr(why, "Cannot assign"));
    CHECK(ft_auth_dial(auth, list, 0, FT_AUTH_LINK, on_went, NULL));
    await(&nfailed, f + 2);
    ft_auth_hang_up(ft_auth_dial(auth, &at, 1, FT_AUTH_LINK, on_went, NULL));
    for (int i = 0; i < 20; i++)
        turn();
    CHECK(nwent == w + 1 && nfailed == f + 2);
}

/* Random bytes, and hellos with one byte that is not as it must be. */
static void garbage(void)
{
    unsigned char text[EXCHANGE];
    int c = ncame, fd;

    for (int i = 0; i < 50; i++) {
        fd = stranger();
        for (size_t j = 0; j < sizeof text; j++)
            text[j] = (unsigned char)rand();
        put(fd, text, sizeof text);
        is_turned_away(fd);
    }
    for (int i = 0; i < 32; i++) {
        fd = stranger();
        hello(text, FT_AUTH_LINK);
        text[i] ^= i == 8 ? 0x80 : 1 + rand() % 255;
        put(fd, text, FT_HELLO_BYTES);
        is_turned_away(fd);
    }
    CHECK(ncame == c);
}

/* It leaves at each byte; also with a proof that is a guess. */
static void half_said(void)
{
    unsigned char text[EXCHANGE], answer[FT_HELLO_BYTES];
    int c = ncame;

    for (size_t n = 0; n <= EXCHANGE; n++) {
        int fd = stranger();

        hello(text, FT_AUTH_LINK);
        memset(text + FT_HELLO_BYTES, rand(), FT_PROOF_BYTES);
        put(fd, text, n);
        if (n >= FT_HELLO_BYTES)
            CHECK(get(fd, answer, sizeof answer));
        if (n == EXCHANGE) {
            is_turned_away(fd);
        } else {
            if (n % 2)
                setsockopt(fd, SOL_SOCKET, SO_LINGER, &(struct linger){1, 0}, sizeof(struct linger)); /* by a reset */
            close(fd);
        }
        turn();
    }
    CHECK(ncame == c);
}

/* Between a friend and us, noting what it says, and the first frame behind it. */
static void replayed(void)
{
    static const char frame[] = "a frame";
    unsigned char said[EXCHANGE + sizeof frame], heard[EXCHANGE];
    struct ft_address middle, list[FT_ADDRESSES];
    struct ft_error e;
    size_t n;
    int listener = ft_address_listen("127.0.0.1", NULL, list, &n, &e), a, b, c = ncame, w = nwent, f = nfailed;

    CHECK(listener >= 0 && n == 1);
    middle = list[0];
    CHECK(ft_auth_dial(auth, &middle, 1, FT_AUTH_LINK, on_went, NULL));
    while ((a = accept(listener, NULL, NULL)) < 0)
        turn();
    b = stranger();
    CHECK(get(a, said, FT_HELLO_BYTES));
    put(b, said, FT_HELLO_BYTES);
    CHECK(get(b, heard, FT_HELLO_BYTES));
    put(a, heard, FT_HELLO_BYTES);
    CHECK(get(a, said + FT_HELLO_BYTES, FT_PROOF_BYTES));
    put(b, said + FT_HELLO_BYTES, FT_PROOF_BYTES);
    CHECK(get(b, heard + FT_HELLO_BYTES, FT_PROOF_BYTES));
    put(a, heard + FT_HELLO_BYTES, FT_PROOF_BYTES);
    await(&nwent, w + 1);
    CHECK(ncame == c + 1);
    CHECK(write(went, frame, sizeof frame) == sizeof frame);
    CHECK(get(a, said + EXCHANGE, sizeof frame) && !memcmp(said + EXCHANGE, frame, sizeof frame));
    close(a);
    close(b);

    b = stranger(); /* the recording, to who is called */
    put(b, said, sizeof said);
    CHECK(get(b, heard, FT_HELLO_BYTES));
    is_turned_away(b);
    CHECK(ncame == c + 1);

    CHECK(ft_auth_dial(auth, &middle, 1, FT_AUTH_LINK, on_went, NULL)); /* and to who calls */
    while ((a = accept(listener, NULL, NULL)) < 0)
        turn();
    put(a, heard, EXCHANGE);
    await(&nfailed, f + 1);
    CHECK(nwent == w + 1);
    close(a);
    close(listener);
}

/* It sends back what it hears: our hello with our proof, and, of two connections, the challenge of one in the other. */
static void reflected(void)
{
    unsigned char text[EXCHANGE], theirs[FT_HELLO_BYTES], mine[FT_HELLO_BYTES];
    struct ft_address list[FT_ADDRESSES];
    struct ft_error e;
    size_t n;
    int listener = ft_address_listen("127.0.0.1", NULL, list, &n, &e), a, b, f = nfailed, c = ncame, w = nwent;

    CHECK(listener >= 0);
    CHECK(ft_auth_dial(auth, list, 1, FT_AUTH_LINK, on_went, NULL));
    while ((a = accept(listener, NULL, NULL)) < 0)
        turn();
    CHECK(get(a, text, FT_HELLO_BYTES));
    put(a, text, FT_HELLO_BYTES);
    CHECK(get(a, text + FT_HELLO_BYTES, FT_PROOF_BYTES));
    put(a, text + FT_HELLO_BYTES, FT_PROOF_BYTES);
    await(&nfailed, f + 1);
    close(a);

    a = stranger();
    hello(mine, FT_AUTH_LINK);
    put(a, mine, sizeof mine);
    CHECK(get(a, theirs, sizeof theirs));
    b = stranger();
    put(b, theirs, sizeof theirs); /* its own challenge is what it is to prove */
    CHECK(get(b, text, FT_HELLO_BYTES));
    for (int i = 0; i < 20; i++)
        turn();
    CHECK(recv(b, text, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN); /* no proof for who has given none */
    put(b, text, FT_PROOF_BYTES);
    is_turned_away(b);
    close(a);
    CHECK(ncame == c && nwent == w);
    close(listener);
}

/* More connections than can be, all silent: the oldest go, a friend gets through in the midst of them, descriptors stay few. */
static void flood(void)
{
    int *fds = malloc(FLOOD * sizeof *fds), before = ndescriptors(), own = 0;
    unsigned long lines = nlines;
    double begin = seconds();

    CHECK(fds);
    for (int i = 0; i < FLOOD; i++) {
        fds[i] = stranger();
        own++;
        if (i % 8 == 7)
            turn();
        if (i >= 200)
            own--, close(fds[i - 200]);
        if (i == FLOOD / 2)
            friends_get_through();
    }
    for (int i = 0; i < 20; i++)
        turn();
    CHECK(ndescriptors() <= before + own + FT_STRANGERS + 2);
    for (int i = FLOOD - 200; i < FLOOD; i++)
        close(fds[i]);
    for (int i = 0; i < 20; i++)
        turn();
    CHECK(ndescriptors() <= before + 2);
    CHECK(nlines <= lines + 2 + (unsigned long)(seconds() - begin)); /* one a second (it once was 30, and the machine slow) */
    free(fds);
}

/* Who is slow, since all nodes connect at once to a busy process, is not taken for a flood. */
static void many_friends(void)
{
    enum { FRIENDS = 100 };
    int fds[FT_STRANGERS + FRIENDS + 1];
    double begin = seconds();
    char c;

    ft_auth_expect(auth, FRIENDS);
    for (int i = 0; i <= FT_STRANGERS + FRIENDS; i++) {
        fds[i] = stranger();
        turn();
        if (i == FT_STRANGERS + FRIENDS - 1 && seconds() - begin < 4) /* it has 5 seconds */
            CHECK(recv(fds[0], &c, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN);
    }
    is_turned_away(fds[0]);
    for (int i = 1; i <= FT_STRANGERS + FRIENDS; i++)
        close(fds[i]);
    for (int i = 0; i < 20; i++)
        turn();
    ft_auth_expect(auth, 0);
}

/* No descriptor is left for who connects: it waits, or the oldest stranger goes; then all is as before. */
static void no_descriptors(void)
{
    struct rlimit old, low;
    int fds[8], c = ncame, w = nwent;

    CHECK(getrlimit(RLIMIT_NOFILE, &old) == 0);
    for (int i = 0; i < 8; i++)
        fds[i] = stranger();
    low = (struct rlimit){.rlim_cur = (rlim_t)fds[7] + 1, .rlim_max = old.rlim_max};
    CHECK(setrlimit(RLIMIT_NOFILE, &low) == 0);
    for (double until = seconds() + 0.3; seconds() < until;)
        turn();
    CHECK(setrlimit(RLIMIT_NOFILE, &old) == 0);
    for (int i = 0; i < 8; i++)
        close(fds[i]);
    CHECK(ft_auth_dial(auth, &at, 1, FT_AUTH_LINK, on_went, NULL));
    await(&nwent, w + 1);
    await(&ncame, c + 1);
}

/* It says nothing, or a byte now and then; or takes the call and says nothing. All have their 5 seconds together. */
static void silence(void)
{
    unsigned char text[FT_HELLO_BYTES];
    struct ft_address list[FT_ADDRESSES];
    struct ft_error e;
    size_t n;
    int listener = ft_address_listen("127.0.0.1", NULL, list, &n, &e), silent = stranger(), slow = stranger(), f = nfailed;
    double begin = seconds();
    char c;

    CHECK(listener >= 0 && ft_auth_dial(auth, list, 1, FT_AUTH_LINK, on_went, NULL));
    hello(text, FT_AUTH_LINK);
    for (int i = 0; i < 45; i++) {
        CHECK(send(slow, text + i, 1, MSG_NOSIGNAL) == 1);
        for (double until = seconds() + 0.1; seconds() < until;) {
            turn();
            poll(NULL, 0, 10);
        }
        if (seconds() - begin < 4.5)
            CHECK(recv(silent, &c, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN);
        if (seconds() - begin > 4.4)
            break;
    }
    is_turned_away(silent);
    is_turned_away(slow);
    await(&nfailed, f + 1);
    CHECK(seconds() - begin >= 4.9 && strstr(why, "5 seconds"));
    close(listener);
}

static void serve(const char *where, bool patient)
{
    struct ft_address list[FT_ADDRESSES];
    struct ft_error e;
    size_t n;
    int listener = ft_address_listen(where, NULL, list, &n, &e), before;

    if (listener < 0 && where && strchr(where, ':')) {
        printf("no IPv6 here: %s\n", e.text);
        return;
    }
    CHECK(listener >= 0 && n >= 1);
    at = list[n - 1]; /* of all: loopback */
    base = event_base_new();
    auth = ft_auth_new(base, secret, &say);
    CHECK(base && auth && ft_auth_listen(auth, listener, KINDS, on_came, NULL) == 0);
    friends_get_through();
    before = ndescriptors();
    nothing_behind_the_proof_is_read();
    wrong_secret();
    wrong_kind();
    addresses_in_turn();
    garbage();
    half_said();
    replayed();
    reflected();
    flood();
    many_friends();
    no_descriptors();
    if (patient)
        silence();
    friends_get_through();
    for (int i = 0; i < 20; i++)
        turn();
    CHECK(ndescriptors() <= before);
    stranger(); /* whoever is there when it ends */
    CHECK(ft_auth_dial(auth, &at, 1, FT_AUTH_LINK, on_went, NULL));
    turn();
    ft_auth_free(auth);
    close(listener);
    close_fd(&came);
    close_fd(&went);
    event_base_free(base);
}

int main(void)
{
    double begin = seconds();

    say = (struct ft_say){.tap = on_line};
    serve("127.0.0.1", true);
    serve("::1", false);
    serve(NULL, false);
    CHECK(nlines >= 1 && nlines <= 6 + (unsigned long)(seconds() - begin)); /* one a second, and each of the three begins anew */
    return 0;
}
