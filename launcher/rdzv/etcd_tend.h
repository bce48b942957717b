/* SPDX-License-Identifier: BSD-3-Clause */
/* The process that tends one etcd of the job's own (etcd_own.h): it starts it, and again when it ends, until it is told to stop. */
#ifndef LAUNCHER_RDZV_ETCD_TEND_H
#define LAUNCHER_RDZV_ETCD_TEND_H

#include "launcher/rdzv/settings.h"

/* What it says: lines for people, and this one, once etcd is to be started by it and by no other process of this host. */
#define FT_ETCD_SERVES "serves"

/* Does not return. out: where it says lines. dir: the etcd's own, which is locked. By SIGTERM it ends, and takes dir along; if it is killed
   etcd is, too, and what it has on disk stays for who comes next. */
void ft_etcd_tend(const struct ft_rdzv_settings *s, uint32_t self, const char *dir, int out) __attribute__((noreturn));

#endif
