/* SPDX-License-Identifier: BSD-3-Clause */
/* --rdzv URL, and torchrun's environment, as settings. Pure.

     rdzv://HOST[:PORT]/JOB?NAME=VALUE&...                   the store is in the ftrun on HOST (port 29400)
     etcd://[USER[:PASSWORD]@]HOST[:PORT][,HOST[:PORT]...]/JOB?...   it is etcd (port 2379)
     etcds://...                                             etcd, by TLS
     etcd-embedded://HOST[:PORT][,HOST,HOST]/JOB?...         etcd, which ftrun starts on the first three of these hosts (or the first one, if
                                                             there are fewer); its members reach each other at the port after PORT

     min_workers, max_workers      hosts; max defaults to min, min to 1
     timeout, last_call_timeout    seconds, 600 and 30; with decimals
     lease                         seconds, 10: who is not heard of for so long is lost
     etcd_prefix                   /ftmpi/rdzv; all keys begin with it and the job's name
     protocol                      http or https
     cacert, cert, key             files, for TLS
     password_file                 holds USER's password, which is not in the URL then, where ps shows it

   c10d:// is another word for rdzv://, etcd-v2:// for etcd://. */
#ifndef LAUNCHER_RDZV_SETTINGS_H
#define LAUNCHER_RDZV_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "ft/base/err.h"

enum {
    FT_RDZV_ENDPOINTS = 16,
    FT_RDZV_TEXT = 256,        /* of a host, a path, a prefix, a user: bytes, at most, their end included */
    FT_RDZV_JOB = 128,
    FT_RDZV_PORT = 29400, FT_RDZV_ETCD_PORT = 2379
};

struct ft_rdzv_endpoint {
    char host[FT_RDZV_TEXT];   /* an IPv6 address without its brackets */
    uint16_t port;
};

struct ft_rdzv_settings {
    bool embedded, tls;
    bool etcds;                /* ftrun starts them: on the n endpoints, one or three */
    uint32_t n;
    struct ft_rdzv_endpoint endpoints[FT_RDZV_ENDPOINTS];
    char job[FT_RDZV_JOB], prefix[FT_RDZV_TEXT];
    char user[FT_RDZV_TEXT], password[FT_RDZV_TEXT], password_file[FT_RDZV_TEXT];
    char cacert[FT_RDZV_TEXT], cert[FT_RDZV_TEXT], key[FT_RDZV_TEXT];
    uint32_t min, max;         /* 0: not said */
    uint64_t timeout_ms, last_call_ms, lease_ms;
};

/* With nothing but the defaults. */
void ft_rdzv_settings_init(struct ft_rdzv_settings *s);

/* FT_EINVAL with a line, which shows no password. */
int ft_rdzv_settings_url(struct ft_rdzv_settings *s, const char *url, struct ft_error *e);

/* --nodes MIN:MAX, or N. */
int ft_rdzv_settings_nodes(struct ft_rdzv_settings *s, const char *nodes, struct ft_error *e);

/* After all has been said: what was not gets its default, and what does not fit together is FT_EINVAL. */
int ft_rdzv_settings_check(struct ft_rdzv_settings *s, struct ft_error *e);

/* What torchrun is told by PET_* (its manifests have them). */
struct ft_rdzv_torchrun {
    char nproc[32];            /* PET_NPROC_PER_NODE: a number, auto, gpu, cpu; empty: not said */
    int64_t node_rank;         /* PET_NODE_RANK; -1 */
    int64_t max_restarts;      /* PET_MAX_RESTARTS; -1 */
};

/* 1: there is a rendezvous, and s has it (checked); 0: there is none; FT_EINVAL with a line. get: getenv, or as it. */
int ft_rdzv_settings_torchrun(struct ft_rdzv_settings *s, struct ft_rdzv_torchrun *t, const char *(*get)(void *arg, const char *name), void *arg,
                              struct ft_error *e);

/* For messages: the first endpoint, "and 2 more"; no password. */
const char *ft_rdzv_settings_print(const struct ft_rdzv_settings *s, char *text, unsigned size);

/* Writes over the password in a URL of the command line, so that ps does not show it. */
void ft_rdzv_settings_hide(char *url);

#endif
