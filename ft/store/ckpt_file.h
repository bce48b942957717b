/* SPDX-License-Identifier: BSD-3-Clause */
/* One checkpoint file, written and read. */
#ifndef FT_STORE_CKPT_FILE_H
#define FT_STORE_CKPT_FILE_H

#include "ft/store/ckpt_header.h"
#include "ft/store/disk.h"

/* Where the models are that are written. */
struct ft_ckpt_models {
    /* n bytes at `at` of a section. 0, or -1 and errno. */
    int (*get)(void *arg, uint32_t section, uint64_t at, void *to, size_t n);
    int (*taken)(void *arg);   /* all has been read, and they may change from now on. 0, or -1 and errno: it is no good. May be NULL */
    void *arg;
};

/* Where a file is read from: its length, and n bytes of it. 0, or -1 and errno (0: there are not that many). */
struct ft_ckpt_source {
    uint64_t bytes;
    int (*read)(void *arg, uint64_t at, void *to, size_t n);
    void *arg;
};

/* Where models go that are read. 0, or FT_* with a line. */
struct ft_ckpt_sink {
    int (*begin)(void *arg, const struct ft_ckpt_header *h, struct ft_error *e);  /* what was put before is void */
    int (*put)(void *arg, uint32_t section, uint64_t at, const void *data, size_t n, struct ft_error *e);
    void *arg;
};

/* Writes h and the models to a file of that name in dir. The bytes of h's sections say how long each is; their hashes are set here. The
   name shows the whole file, on disk, or what it showed before: through `spare`, another name in the same directory, which is gone
   afterwards. Blocks as long as the disk needs. FT_ESYS, FT_ENOMEM: nothing has changed, unless the line says so. */
int ft_ckpt_file_write(const struct ft_disk *disk, int dir, const char *name, const char *spare, struct ft_ckpt_header *h,
                       const struct ft_ckpt_models *models, struct ft_error *e);

/* Reads and checks the header. After 0, ft_ckpt_header_free. FT_EDAMAGED; FT_EINVAL: of a newer ftmpi; FT_ESYS, FT_ENOMEM. */
int ft_ckpt_file_header(const struct ft_ckpt_source *source, struct ft_ckpt_header *h, struct ft_error *e);

/* Reads and checks the models. They are good only if this returns 0. FT_EDAMAGED, FT_ESYS, FT_ENOMEM, or what the sink returns. */
int ft_ckpt_file_models(const struct ft_ckpt_source *source, const struct ft_ckpt_header *h, const struct ft_ckpt_sink *sink,
                        struct ft_error *e);

#endif
