/* SPDX-License-Identifier: BSD-3-Clause */
/* A directory of checkpoint files: "checkpoint-0000000012.ftmpi" is version 12. */
#ifndef FT_STORE_CKPT_DIR_H
#define FT_STORE_CKPT_DIR_H

#include <stdbool.h>

#include "ft/store/ckpt_file.h"

enum { FT_CKPT_NAME = 40, FT_CKPT_KEPT = 2 /* versions that stay */ };
#define FT_CKPT_SPARE "checkpoint.tmp"

void ft_ckpt_dir_name(char name[FT_CKPT_NAME], uint64_t version);

/* The version that a file of this name has; 0: it is none of ours. */
uint64_t ft_ckpt_dir_version(const char *name);

/* Opens the directory, made for its owner only if it is not there, and keeps other jobs out of it until the last copy of the descriptor is
   closed. Waits up to 2 s for a job that ends. FT_ESYS; FT_EINVAL: another job is using it. */
int ft_ckpt_dir_open(const char *path, struct ft_error *e);

/* *dir was opened by this path. If that leads elsewhere now (it was removed, made again, mounted anew), it is opened as at first, made again if
   need be, and *dir is that one. 1: it is; 0: it was the same; FT_*, with *dir as it was: also if there are checkpoints of another
   series than this. */
int ft_ckpt_dir_follow(int *dir, const char *path, const char *series, struct ft_error *e);

/* The versions that it has files of, newest first; free *versions. The number, or FT_ESYS, FT_ENOMEM. */
int ft_ckpt_dir_list(const struct ft_disk *disk, int dir, uint64_t **versions, struct ft_error *e);

/* Writes version h->version, then removes all others but `before`, the last good one (0: there is none). As ft_ckpt_file_write; a file
   that cannot be removed is left. */
int ft_ckpt_dir_write(const struct ft_disk *disk, int dir, struct ft_ckpt_header *h, uint64_t before,
                      const struct ft_ckpt_models *models, struct ft_error *e);

/* What is looked for, and who hears why a newer file was passed over. */
struct ft_ckpt_wanted {
    const char *program;
    uint32_t nranks;
    void (*passed)(void *arg, const char *line);
    void *arg;
};

/* The newest good version, its models put into sink; damaged files are passed over. 1: found, and then ft_ckpt_header_free. 0: there is no
   file. FT_EINVAL: no good one is left, or the newest is of another program, number of ranks or a newer ftmpi, or there are files of
   several jobs. FT_ESYS, FT_ENOMEM. Whatever is returned, parts of others may have been put into the sink before. */
int ft_ckpt_dir_load(int dir, const struct ft_ckpt_wanted *wanted, struct ft_ckpt_header *h, const struct ft_ckpt_sink *sink,
                     struct ft_error *e);

#endif
