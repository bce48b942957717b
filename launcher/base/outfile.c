/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/base/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

int ft_outfile_open(const char *option, const char *path, struct ft_error *e)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

    return fd < 0 ? ft_err_set(e, FT_ESYS, "%s %s: %s", option, path, strerror(errno)) : fd;
}

void ft_outfile_rewind(int fd)
{
    if (lseek(fd, 0, SEEK_SET) == 0 && ftruncate(fd, 0) < 0)
        return;
}
