/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "ft/store/ckpt_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "ft/base/util.h"

enum { BLOCK = 1 << 20 };

static int write_all(const struct ft_disk *disk, int fd, const char *data, size_t n, uint64_t at)
{
    while (n) {
        ssize_t done = disk->write(disk->arg, fd, data, n, at);

        if (done == 0)
            errno = ENOSPC;
        if (done == 0 || (done < 0 && errno != EINTR))
            return -1;
        if (done > 0) {
            data += done;
            at += (uint64_t)done;
            n -= (size_t)done;
        }
    }
    return 0;
}

/* One section to `at` in the file. */
static int write_section(const struct ft_disk *disk, int fd, uint64_t at, uint32_t i, struct ft_ckpt_section *section,
                         const struct ft_ckpt_models *models, char *block)
{
    XXH3_state_t *hash = XXH3_createState();
    int err = hash ? 0 : -1;

    if (hash)
        XXH3_64bits_reset(hash);
    for (uint64_t done = 0; !err && done < section->bytes;) {
        size_t n = ft_min(BLOCK, section->bytes - done);

        if (models->get(models->arg, i, done, block, n) < 0 || write_all(disk, fd, block, n, at + done) < 0)
            err = -1;
        else
            XXH3_64bits_update(hash, block, n);
        done += n;
    }
    if (!err)
        section->hash = XXH3_64bits_digest(hash);
    XXH3_freeState(hash);
    return err;
}

static int write_header(const struct ft_disk *disk, int fd, const struct ft_ckpt_header *h)
{
    size_t n = ft_ckpt_header_bytes(h);
    char *bytes = malloc(n);
    int err;

    if (!bytes)
        return -1;
    ft_ckpt_header_encode(h, bytes);
    err = write_all(disk, fd, bytes, n, 0);
    free(bytes);
    return err;
}

/* The whole content; the header last, because it has the hashes. */
static int fill(const struct ft_disk *disk, int fd, struct ft_ckpt_header *h, const struct ft_ckpt_models *models)
{
    uint64_t at = ft_ckpt_header_bytes(h);
    char *block = malloc(BLOCK);
    int err = block && disk->reserve(disk->arg, fd, ft_ckpt_header_file_bytes(h)) == 0 ? 0 : -1;

    for (uint32_t i = 0; !err && i < ft_ckpt_header_sections(h); i++) {
        err = write_section(disk, fd, at, i, &h->sections[i], models, block);
        at += h->sections[i].bytes;
    }
    free(block);
    if (err)
        return err;
    if (models->taken && models->taken(models->arg) < 0)
        return -1;
    if (write_header(disk, fd, h) < 0)
        return -1;
    return disk->sync(disk->arg, fd);
}

int ft_ckpt_file_write(const struct ft_disk *disk, int dir, const char *name, const char *spare, struct ft_ckpt_header *h,
                       const struct ft_ckpt_models *models, struct ft_error *e)
{
    int fd, err, error;

    if (disk->remove(disk->arg, dir, spare) < 0 && errno != ENOENT) /* whoever was writing it is dead */
        return ft_err_set(e, FT_ESYS, "cannot remove %s: %s", spare, strerror(errno));
    fd = disk->create(disk->arg, dir, spare);
    if (fd < 0)
        return ft_err_set(e, FT_ESYS, "cannot create %s: %s", spare, strerror(errno));
    err = fill(disk, fd, h, models);
    error = errno;
    if (disk->close(disk->arg, fd) < 0 && !err) {
        err = -1; /* file systems of networks tell it now */
        error = errno;
    }
    if (!err && disk->rename(disk->arg, dir, spare, name) < 0) {
        err = -1;
        error = errno;
    }
    if (err) {
        disk->remove(disk->arg, dir, spare);
        return ft_err_set(e, FT_ESYS, "cannot write %s: %s", name, strerror(error));
    }
    if (disk->sync(disk->arg, dir) < 0)
        return ft_err_set(e, FT_ESYS, "%s is written, but may not survive a power failure: %s", name, strerror(errno));
    return 0;
}

static int unreadable(struct ft_error *e)
{
    if (!errno)
        return ft_err_set(e, FT_EDAMAGED, "it is shorter than it should be");
    return ft_err_set(e, FT_ESYS, "it cannot be read: %s", strerror(errno));
}

int ft_ckpt_file_header(const struct ft_ckpt_source *source, struct ft_ckpt_header *h, struct ft_error *e)
{
    char prefix[FT_CKPT_PREFIX], *bytes;
    size_t n;
    int err;

    if (source->bytes < sizeof prefix)
        return ft_err_set(e, FT_EDAMAGED, "it has %llu byte%s: no checkpoint is that short",
                          (unsigned long long)source->bytes, ft_plural(source->bytes));
    if (source->read(source->arg, 0, prefix, sizeof prefix) < 0)
        return unreadable(e);
    if ((err = ft_ckpt_header_length(prefix, source->bytes, &n, e)) < 0)
        return err;
    bytes = malloc(n);
    if (!bytes)
        return ft_err_set(e, FT_ENOMEM, "out of memory");
    if (source->read(source->arg, 0, bytes, n) < 0)
        err = unreadable(e);
    else if (memcmp(bytes, prefix, sizeof prefix) != 0)
        err = ft_err_set(e, FT_EDAMAGED, "it changes while it is read");
    else
        err = ft_ckpt_header_decode(h, bytes, n, source->bytes, e);
    free(bytes);
    return err;
}

static int section_damaged(uint32_t i, uint32_t nranks, struct ft_error *e)
{
    if (i > nranks)
        return ft_err_set(e, FT_EDAMAGED, "what it has of the messages of rank %u is damaged (checksum)", i - 1 - nranks);
    return i ? ft_err_set(e, FT_EDAMAGED, "the model of rank %u in it is damaged (checksum)", i - 1)
             : ft_err_set(e, FT_EDAMAGED, "the global model in it is damaged (checksum)");
}

static int read_section(const struct ft_ckpt_source *source, uint64_t at, uint32_t i, const struct ft_ckpt_header *h,
                        const struct ft_ckpt_sink *sink, char *block, struct ft_error *e)
{
    const struct ft_ckpt_section *section = &h->sections[i];
    XXH3_state_t *hash = XXH3_createState();
    int err = hash ? 0 : ft_err_set(e, FT_ENOMEM, "out of memory");

    if (hash)
        XXH3_64bits_reset(hash);
    for (uint64_t done = 0; !err && done < section->bytes;) {
        size_t n = ft_min(BLOCK, section->bytes - done);

        if (source->read(source->arg, at + done, block, n) < 0) {
            err = unreadable(e);
        } else {
            XXH3_64bits_update(hash, block, n);
            err = sink->put(sink->arg, i, done, block, n, e);
        }
        done += n;
    }
    if (!err && XXH3_64bits_digest(hash) != section->hash)
        err = section_damaged(i, h->nranks, e);
    XXH3_freeState(hash);
    return err;
}

int ft_ckpt_file_models(const struct ft_ckpt_source *source, const struct ft_ckpt_header *h, const struct ft_ckpt_sink *sink,
                        struct ft_error *e)
{
    uint64_t at = ft_ckpt_header_bytes(h);
    char *block = malloc(BLOCK);
    int err = block ? sink->begin(sink->arg, h, e) : ft_err_set(e, FT_ENOMEM, "out of memory");

    for (uint32_t i = 0; !err && i < ft_ckpt_header_sections(h); i++) {
        err = read_section(source, at, i, h, sink, block, e);
        at += h->sections[i].bytes;
    }
    free(block);
    return err;
}
