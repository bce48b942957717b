/* SPDX-License-Identifier: BSD-3-Clause */
/* What stands before each line of a rank: --timestamp-output, --tag-output. Pure. */
#ifndef LAUNCHER_STDIO_FORMAT_H
#define LAUNCHER_STDIO_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

enum { FT_TAG_BYTES = 96 };

/* "[1,3]<stdout>:", with a time before it "Sun Nov 22 00:10:00 2026[1,3]<stdout>:", a time alone "Sun Nov 22 00:10:00
   2026<stdout>:", as Open MPI 4 writes them (its job id within one mpirun is always 1). Returns its length. */
size_t ft_format_tag(char *tag, bool rank_too, const struct tm *time, uint32_t rank, int which);

/* Hands out data with the tag before each line; begins: before the first, too. An unfinished line of a rank that will
   not come back is finished (`last`), so that the next tag starts a line. */
void ft_format_lines(const char *tag, size_t tag_len, bool begins, bool last, const char *data, size_t len,
                     void (*put)(void *arg, const char *data, size_t len), void *arg);

#endif
