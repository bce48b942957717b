/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/net/handshake.h"

#include <errno.h>
#include <event2/event.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ft/shm/random.h"
#include "ft/base/util.h"
#include "launcher/base/timer.h"

enum { NONCE_BYTES = 32 };

/* What each side sends first. Zeros must be zeros: a later version may say something there. */
struct hello {
    char magic[8];
    unsigned char kind, zero[23];
    unsigned char nonce[NONCE_BYTES];
};
_Static_assert(sizeof(struct hello) == FT_HELLO_BYTES, "a hello has no padding");

static const char magic[8] = "ftmpi1";

enum state {
    CONNECTING,      /* caller */
    HELLO,           /* the other's is awaited */
    PROOF,           /* the same */
    LAST_WORDS       /* answerer: all is proved, our proof is not sent yet */
};

struct ft_handshake {
    struct ft_handshake_config config;
    int fd;
    enum state state;
    struct hello mine, theirs;
    unsigned char proof[FT_PROOF_BYTES];                 /* theirs */
    unsigned char out[FT_HELLO_BYTES + FT_PROOF_BYTES];  /* to be sent */
    size_t in_done, out_done, out_end;
    struct event *readable, *writable, *limit;
};

/* ---- what is sent ---- */

static void make_hello(struct hello *h, unsigned kind)
{
    *h = (struct hello){.kind = (unsigned char)kind};
    memcpy(h->magic, magic, sizeof magic);
    FT_INVARIANT(ft_random(h->nonce, sizeof h->nonce) == 0, "the kernel gives random bytes");
}

/* NULL, or what is wrong. */
static const char *check_hello(const struct hello *h, unsigned kinds)
{
    static const unsigned char zero[sizeof h->zero];

    if (memcmp(h->magic, magic, sizeof magic))
        return "it does not speak ftmpi's protocol";
    if (memcmp(h->zero, zero, sizeof zero))
        return "it speaks another version of ftmpi's protocol";
    if (h->kind == 0 || h->kind >= FT_AUTH_KINDS || !(kinds >> h->kind & 1))
        return "it asks for something that this host does not have";
    return NULL;
}

static void make_proof(const unsigned char *secret, const char *role, const struct hello *caller, const struct hello *answerer,
                       unsigned char proof[FT_PROOF_BYTES])
{
    unsigned char text[16 + 1 + 2 * NONCE_BYTES] = {0};
    unsigned n = FT_PROOF_BYTES;

    strncpy((char *)text, role, 16);
    text[16] = caller->kind;
    memcpy(text + 17, caller->nonce, NONCE_BYTES);
    memcpy(text + 17 + NONCE_BYTES, answerer->nonce, NONCE_BYTES);
    FT_INVARIANT(HMAC(EVP_sha256(), secret, FT_SECRET_BYTES, text, sizeof text, proof, &n) && n == FT_PROOF_BYTES,
                 "libcrypto has HMAC-SHA256");
}

static void my_proof(const struct ft_handshake *h, unsigned char proof[FT_PROOF_BYTES])
{
    if (h->config.caller)
        make_proof(h->config.secret, "caller", &h->mine, &h->theirs, proof);
    else
        make_proof(h->config.secret, "answerer", &h->theirs, &h->mine, proof);
}

static bool is_proved(const struct ft_handshake *h)
{
    unsigned char proof[FT_PROOF_BYTES];

    if (h->config.caller)
        make_proof(h->config.secret, "answerer", &h->mine, &h->theirs, proof);
    else
        make_proof(h->config.secret, "caller", &h->theirs, &h->mine, proof);
    return CRYPTO_memcmp(proof, h->proof, sizeof proof) == 0;
}

/* ---- the end ---- */

/* Returns its descriptor. */
static int forget(struct ft_handshake *h)
{
    int fd = h->fd;

    ft_timer_free(h->readable);
    ft_timer_free(h->writable);
    ft_timer_free(h->limit);
    free(h);
    return fd;
}

void ft_handshake_free(struct ft_handshake *h)
{
    if (h)
        close(forget(h));
}

/* why NULL: it is proved. */
static void finish(struct ft_handshake *h, const char *why)
{
    enum ft_auth_kind kind = (enum ft_auth_kind)(h->config.caller ? h->mine.kind : h->theirs.kind);
    ft_handshake_done *done = h->config.done;
    void *arg = h->config.arg;

    done(arg, forget(h), kind, why);
}

/* ---- what is said and heard ---- */

static void say_more(struct ft_handshake *h, const void *data, size_t n)
{
    memcpy(h->out + h->out_end, data, n);
    h->out_end += n;
}

static void say_proof(struct ft_handshake *h)
{
    unsigned char proof[FT_PROOF_BYTES];

    my_proof(h, proof);
    say_more(h, proof, sizeof proof);
}

/* False: the handshake is gone. */
static bool send_out(struct ft_handshake *h)
{
    while (h->out_done < h->out_end) {
        ssize_t n = send(h->fd, h->out + h->out_done, h->out_end - h->out_done, MSG_NOSIGNAL);

        if (n > 0) {
            h->out_done += (size_t)n;
        } else if (n < 0 && errno == EAGAIN) {
            event_add(h->writable, NULL);
            return true;
        } else if (n == 0 || errno != EINTR) {
            finish(h, n < 0 ? strerror(errno) : "it does not listen");
            return false;
        }
    }
    if (h->state == LAST_WORDS) {
        finish(h, NULL);
        return false;
    }
    return true;
}

/* Reads what is missing of n bytes and no more. False: not all is there yet, or the handshake is gone. */
static bool take_in(struct ft_handshake *h, void *to, size_t n)
{
    while (h->in_done < n) {
        ssize_t got = recv(h->fd, (char *)to + h->in_done, n - h->in_done, 0);

        if (got > 0) {
            h->in_done += (size_t)got;
        } else if (got < 0 && errno == EAGAIN) {
            return false;
        } else if (got == 0 || errno != EINTR) {
            finish(h, got < 0 ? strerror(errno) : h->state == PROOF && h->config.caller ? "it broke off; is it of another job?"
                                                                                       : "it broke off");
            return false;
        }
    }
    h->in_done = 0;
    return true;
}

static bool take_hello(struct ft_handshake *h)
{
    const char *wrong;

    if (!take_in(h, &h->theirs, sizeof h->theirs))
        return false;
    wrong = check_hello(&h->theirs, h->config.kinds);
    if (wrong) {
        finish(h, wrong);
        return false;
    }
    h->state = PROOF;
    if (h->config.caller) {
        say_proof(h);
    } else {
        make_hello(&h->mine, h->theirs.kind);
        say_more(h, &h->mine, sizeof h->mine);
    }
    return send_out(h);
}

static void take_proof(struct ft_handshake *h)
{
    if (!take_in(h, h->proof, sizeof h->proof))
        return;
    if (!is_proved(h)) {
        finish(h, "it does not know the job's secret");
    } else if (h->config.caller) {
        finish(h, NULL);
    } else {
        h->state = LAST_WORDS;
        say_proof(h);
        send_out(h);
    }
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
    struct ft_handshake *h = arg;

    (void)fd;
    (void)what;
    if (h->state == HELLO && !take_hello(h))
        return;
    if (h->state == PROOF)
        take_proof(h);
}

static void on_writable(evutil_socket_t fd, short what, void *arg)
{
    struct ft_handshake *h = arg;
    socklen_t size = sizeof(int);
    int error = 0;

    (void)what;
    if (h->state == CONNECTING) {
        getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
        if (error) {
            finish(h, strerror(error));
            return;
        }
        h->state = HELLO;
        event_add(h->readable, NULL);
    }
    send_out(h);
}

/* One limit for all of it: a byte now and then does not prolong it. */
static void on_limit(evutil_socket_t fd, short what, void *arg)
{
    struct ft_handshake *h = arg;

    (void)fd;
    (void)what;
    finish(h, h->state == CONNECTING ? "no answer within 5 seconds" : "it has not proved itself within 5 seconds");
}

/* ---- all of it ---- */

static int make_events(struct ft_handshake *h)
{
    struct timeval limit = {.tv_sec = FT_AUTH_MS / 1000, .tv_usec = FT_AUTH_MS % 1000 * 1000};

    h->readable = event_new(h->config.base, h->fd, EV_READ | EV_PERSIST, on_readable, h);
    h->writable = event_new(h->config.base, h->fd, EV_WRITE, on_writable, h);
    h->limit = evtimer_new(h->config.base, on_limit, h);
    if (!h->readable || !h->writable || !h->limit || event_add(h->limit, &limit) < 0)
        return -1;
    return event_add(h->config.caller ? h->writable : h->readable, NULL);
}

struct ft_handshake *ft_handshake_new(int fd, const struct ft_handshake_config *config)
{
    struct ft_handshake *h = calloc(1, sizeof *h);

    if (!h) {
        close(fd);
        return NULL;
    }
    *h = (struct ft_handshake){.config = *config, .fd = fd, .state = config->caller ? CONNECTING : HELLO};
    if (make_events(h) < 0) {
        ft_handshake_free(h);
        return NULL;
    }
    if (config->caller) {
        make_hello(&h->mine, (unsigned)__builtin_ctz(config->kinds));
        say_more(h, &h->mine, sizeof h->mine); /* goes out once it is connected */
    }
    return h;
}

int ft_handshake_fd(const struct ft_handshake *h)
{
    return h->fd;
}
