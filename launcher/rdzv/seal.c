/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/rdzv/seal.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ft/base/util.h"

#define NO_SECRET "ftmpi-has-no-secret"

/* Of parts, each with its length before it, so that none can be taken for another. */
static void mac(const unsigned char key[FT_SEAL_KEY], const void *const *parts, const size_t *lens, size_t n, unsigned char out[FT_SEAL_KEY])
{
    unsigned char inner[FT_SEAL_KEY];
    unsigned len = 0;
    EVP_MD_CTX *c = EVP_MD_CTX_new();
    bool good = c && EVP_DigestInit_ex(c, EVP_sha256(), NULL);

    for (size_t i = 0; good && i < n; i++) {
        uint64_t bytes = lens[i];

        good = EVP_DigestUpdate(c, &bytes, sizeof bytes) && EVP_DigestUpdate(c, parts[i], lens[i]);
    }
    good = good && EVP_DigestFinal_ex(c, inner, NULL) && HMAC(EVP_sha256(), key, FT_SEAL_KEY, inner, sizeof inner, out, &len);
    EVP_MD_CTX_free(c);
    FT_INVARIANT(good && len == FT_SEAL_KEY, "libcrypto makes an HMAC");
}

static void print_hex(const unsigned char bytes[FT_SEAL_KEY], char hex[FT_SEAL_HEX])
{
    for (int i = 0; i < FT_SEAL_KEY; i++)
        snprintf(hex + 2 * i, 3, "%02x", bytes[i]);
}

/* ---- the secret ---- */

static ssize_t read_all(int fd, char *text, size_t size)
{
    size_t n = 0;

    while (n < size) {
        ssize_t got = read(fd, text + n, size - n);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -1;
        if (!got)
            break;
        n += (size_t)got;
    }
    return (ssize_t)n;
}

static int read_secret(struct ft_rdzv_secret *s, int fd, const char *path, struct ft_error *e)
{
    char text[FT_SECRET_MOST + 1];
    struct stat st;
    ssize_t n;

    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        return ft_err_set(e, FT_EINVAL, "the secret file %s is no regular file", path);
    if (st.st_mode & (S_IWGRP | S_IWOTH))
        return ft_err_set(e, FT_EINVAL, "the secret file %s can be written by others (chmod go-w %s)", path, path);
    n = read_all(fd, text, sizeof text);
    if (n < 0)
        return ft_err_set(e, FT_ESYS, "cannot read the secret file %s: %s", path, strerror(errno));
    if (n > FT_SECRET_MOST)
        return ft_err_set(e, FT_EINVAL, "the secret file %s has more than 4096 bytes", path);
    while (n && strchr(" \t\r\n", text[n - 1]))
        n--;
    if (n < FT_SECRET_LEAST)
        return ft_err_set(e, FT_EINVAL, "the secret file %s has less than 16 bytes (openssl rand -hex 32 >%s)", path, path);
    SHA256((const unsigned char *)text, (size_t)n, s->key);
    OPENSSL_cleanse(text, sizeof text);
    return 0;
}

int ft_rdzv_secret_read(struct ft_rdzv_secret *s, const char *path, struct ft_error *e)
{
    int fd, err;

    *s = (struct ft_rdzv_secret){.is_known = path == NULL};
    if (!path) {
        SHA256((const unsigned char *)NO_SECRET, sizeof NO_SECRET - 1, s->key);
        return 0;
    }
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return ft_err_set(e, FT_ESYS, "cannot read the secret file %s: %s", path, strerror(errno));
    err = read_secret(s, fd, path, e);
    close(fd);
    return err;
}

void ft_rdzv_secret_forget(struct ft_rdzv_secret *s) { OPENSSL_cleanse(s->key, sizeof s->key); }

void ft_rdzv_secret_derive(const struct ft_rdzv_secret *s, const char *what, char hex[FT_SEAL_HEX])
{
    const void *const parts[] = {"derive", what};
    const size_t lens[] = {6, strlen(what)};
    unsigned char out[FT_SEAL_KEY];

    mac(s->key, parts, lens, 2, out);
    print_hex(out, hex);
}

/* ---- values ---- */

static void seal_of(const struct ft_rdzv_secret *s, const char *key, const unsigned char *value, size_t n, char hex[FT_SEAL_HEX])
{
    const void *const parts[] = {"entry", key, value};
    const size_t lens[] = {5, strlen(key), n};
    unsigned char out[FT_SEAL_KEY];

    mac(s->key, parts, lens, 3, out);
    print_hex(out, hex);
}

unsigned char *ft_rdzv_seal(const struct ft_rdzv_secret *s, const char *key, const unsigned char *value, size_t n, size_t *sealed)
{
    unsigned char *to = malloc(n + FT_SEAL_HEX);
    char hex[FT_SEAL_HEX];

    if (!to)
        return NULL;
    seal_of(s, key, value, n, hex);
    memcpy(to, hex, FT_SEAL_HEX - 1);
    to[FT_SEAL_HEX - 1] = ' ';
    if (n)
        memcpy(to + FT_SEAL_HEX, value, n);
    *sealed = n + FT_SEAL_HEX;
    return to;
}

const unsigned char *ft_rdzv_unseal(const struct ft_rdzv_secret *s, const char *key, const unsigned char *value, size_t sealed, size_t *n)
{
    char hex[FT_SEAL_HEX];

    if (sealed < FT_SEAL_HEX || value[FT_SEAL_HEX - 1] != ' ')
        return NULL;
    *n = sealed - FT_SEAL_HEX;
    seal_of(s, key, value + FT_SEAL_HEX, *n, hex);
    return CRYPTO_memcmp(hex, value, FT_SEAL_HEX - 1) == 0 ? value + FT_SEAL_HEX : NULL;
}
