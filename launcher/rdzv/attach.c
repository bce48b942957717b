/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/rdzv/attach.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "ft/base/util.h"
#include "launcher/base/say.h"
#include "launcher/rdzv/etcd_own.h"
#include "launcher/rdzv/curl.h"
#include "launcher/rdzv/follow.h"
#include "launcher/rdzv/here.h"

enum {
    TELL_AWAY_MS = 3000,       /* so long without an answer it is not worth a line */
    TELL_STRANGERS_MS = 60000,
    LEAST_PATIENCE_MS = 1000, MOST_PATIENCE_MS = 5000
};

/* ---- the store comes and goes ---- */

static void on_away(void *arg, const char *why)
{
    struct ft_rdzv *r = arg;
    uint64_t now = ft_rdzv_now_ms();

    snprintf(r->why, sizeof r->why, "%s", why);
    if (!r->away_since)
        r->away_since = now;
    if (r->told_away || now - r->away_since < TELL_AWAY_MS || ft_rdzv_round_is_over(r->round))
        return;
    r->told_away = true;
    ft_say_notice(r->config.say, "--rdzv: the store does not answer, and is asked again until it does: %s", why);
}

static void on_back(void *arg)
{
    struct ft_rdzv *r = arg;

    if (r->told_away)
        ft_say_notice(r->config.say, "--rdzv: the store answers again");
    r->told_away = false;
    r->away_since = 0;
    r->why[0] = 0;
}

/* Comes with an answer: from the event loop the round begins anew with what is there. */
static void on_anew(void *arg) { ft_rdzv_wish(arg, FT_WISH_ANEW); }

void ft_rdzv_begin_anew(struct ft_rdzv *r)
{
    if (ft_rdzv_round_is_over(r->round))
        return;
    ft_say_notice(r->config.say, "--rdzv: the store has lost its memory; the round is written into it once more");
    ft_rdzv_store_forget(r->store, r);
    ft_rdzv_store_unwatch(r->watch);
    r->watch = NULL;
    r->looking = r->looking_at_members = false;
    ft_rdzv_tell(r, FT_RV_NEW_STORE, 0);
    ft_rdzv_look(r);
}

static void on_stranger(void *arg, const char *from, const char *what)
{
    struct ft_rdzv *r = arg;
    uint64_t now = ft_rdzv_now_ms();
    char more[64] = "";

    if (r->told_strangers_ms && now - r->told_strangers_ms < TELL_STRANGERS_MS) {
        r->untold++;
        return;
    }
    if (r->untold)
        snprintf(more, sizeof more, " (%llu more since the last such line)", (unsigned long long)r->untold);
    r->told_strangers_ms = now;
    r->untold = 0;
    ft_say_notice(r->config.say, "--rdzv: a stranger connected from %s: %s; it was turned away%s", from, what, more);
}

/* ---- its beginning ---- */

static uint32_t most_connections(const struct ft_rdzv_settings *s)
{
    struct rlimit limit = {.rlim_cur = 1024};

    getrlimit(RLIMIT_NOFILE, &limit);
    return (uint32_t)ft_min(4 * (uint64_t)s->max + 256, limit.rlim_cur / 2);
}

/* Another process of this host may serve already. */
static int serve(struct ft_rdzv *r, const char *token, struct ft_error *e)
{
    const struct ft_rdzv_endpoint *p = &r->config.settings->endpoints[0];
    struct ft_rdzv_server_config c = {.base = r->config.base, .address = "::", .port = p->port, .token = token,
                                      .connections = most_connections(r->config.settings), .seed = r->id * 0x9e3779b97f4a7c15u,
                                      .stranger = on_stranger, .arg = r};

    if (strcmp(p->host, r->name) && !ft_rdzv_is_here(p->host)) /* Slurm has names of its own for hosts */
        return 0;
    if (ft_rdzv_server_new(&r->server, &c, e) < 0 && errno != EADDRINUSE)
        return FT_ESYS;
    return 0;
}

static int read_password(const struct ft_rdzv_config *c, char password[FT_RDZV_TEXT], struct ft_error *e)
{
    const char *path = c->settings->password_file;
    FILE *f;
    size_t n;

    snprintf(password, FT_RDZV_TEXT, "%s", c->password ? c->password : c->settings->password);
    if (!*path)
        return 0;
    f = fopen(path, "re");
    if (!f)
        return ft_err_set(e, FT_ESYS, "--rdzv: cannot read the password file %s: %s", path, strerror(errno));
    n = fread(password, 1, FT_RDZV_TEXT - 1, f);
    fclose(f);
    while (n && strchr("\r\n", password[n - 1]))
        n--;
    password[n] = 0;
    return n && strlen(password) == n ? 0 : ft_err_set(e, FT_EINVAL, "--rdzv: there is no password in %s", path);
}

/* Or each try would fail for it, until the time is up. */
static int check_files(const struct ft_rdzv_settings *s, struct ft_error *e)
{
    const char *const files[] = {s->cacert, s->cert, s->key};

    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (*files[i] && access(files[i], R_OK) < 0)
            return ft_err_set(e, FT_ESYS, "--rdzv: cannot read %s: %s", files[i], strerror(errno));
    return 0;
}

int ft_rdzv_attach(struct ft_rdzv *r, struct ft_error *e)
{
    const struct ft_rdzv_settings *s = r->config.settings;
    char password[FT_RDZV_TEXT], token[FT_SEAL_HEX] = "", mark[FT_RDZV_KEY];
    struct ft_rdzv_store_config c = {.base = r->config.base, .settings = s, .mark = ft_rdzv_key_mark(s, mark), .password = password, .token = token,
                                     .patience_ms = ft_max(LEAST_PATIENCE_MS, ft_min(MOST_PATIENCE_MS, s->lease_ms / 3)),
                                     .away = on_away, .back = on_back, .anew = on_anew, .arg = r};
    int err = ft_curl_load(e);

    if (err == 0)
        err = check_files(s, e);
    if (err == 0)
        err = read_password(&r->config, password, e);
    if (err == 0 && s->embedded) {
        ft_rdzv_secret_derive(&r->secret, "embedded-store", token);
        err = serve(r, token, e);
    }
    if (err == 0)
        err = ft_etcd_own_new(&r->own, s, r->config.base, r->config.say, e);
    if (err == 0 && !(r->store = ft_rdzv_store_new(&c)))
        err = ft_err_set(e, FT_ENOMEM, "out of memory");
    explicit_bzero(password, sizeof password);
    explicit_bzero(token, sizeof token);
    return err;
}
