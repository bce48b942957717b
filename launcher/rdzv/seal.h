/* SPDX-License-Identifier: BSD-3-Clause */
/* Whatever a job puts into the store is sealed: HMAC-SHA256, by the job's secret, over the key and the value. So what strangers write there is
   known as theirs, and nothing of the job's can be put under another key. What it does not keep out: who can write into the store can delete,
   and put back what was there before.

   The secret is a file that each host has (--rdzv-secret-file, FTMPI_SECRET_FILE). Without one the seal is made with a key that everybody
   knows: it keeps accidents out, not people. */
#ifndef LAUNCHER_RDZV_SEAL_H
#define LAUNCHER_RDZV_SEAL_H

#include <stdbool.h>
#include <stddef.h>

#include "ft/base/err.h"

enum { FT_SEAL_KEY = 32, FT_SEAL_HEX = 2 * FT_SEAL_KEY + 1, FT_SECRET_LEAST = 16, FT_SECRET_MOST = 4096 };

struct ft_rdzv_secret {
    unsigned char key[FT_SEAL_KEY];
    bool is_known;             /* to everybody: no file was given */
};

/* path NULL: none was given. White space at the file's end does not count. FT_EINVAL, FT_ESYS: with a line. */
int ft_rdzv_secret_read(struct ft_rdzv_secret *s, const char *path, struct ft_error *e);
void ft_rdzv_secret_forget(struct ft_rdzv_secret *s);

/* Another secret, for what: 64 hexadecimal digits. */
void ft_rdzv_secret_derive(const struct ft_rdzv_secret *s, const char *what, char hex[FT_SEAL_HEX]);

/* The sealed value, of *sealed bytes; the caller's. NULL: no memory. */
unsigned char *ft_rdzv_seal(const struct ft_rdzv_secret *s, const char *key, const unsigned char *value, size_t n, size_t *sealed);

/* What was sealed under key: *n bytes within value. NULL: it is a stranger's. */
const unsigned char *ft_rdzv_unseal(const struct ft_rdzv_secret *s, const char *key, const unsigned char *value, size_t sealed, size_t *n);

#endif
