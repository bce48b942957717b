/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/outcome/output.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool is_output(int fd)
{
    const char *inode = getenv("FTMPI_OUTPUT");
    struct stat st;

    if (inode && fd == STDERR_FILENO)
        inode = strchr(inode, ',') ? strchr(inode, ',') + 1 : NULL;
    else if (fd != STDOUT_FILENO)
        return false;
    return inode && syscall(SYS_fstat, fd, &st) == 0 && S_ISFIFO(st.st_mode) && strtoull(inode, NULL, 10) == st.st_ino;
}

void ft_output_by_lines(void)
{
    if (is_output(STDOUT_FILENO))
        setvbuf(stdout, NULL, _IOLBF, 0);
}

bool ft_output_is_terminal(int fd, struct winsize *size)
{
    const char *text = getenv("FTMPI_TERMINAL");
    unsigned short columns, lines;

    if (!text || !is_output(fd) || sscanf(text, "%hux%hu", &columns, &lines) != 2)
        return false;
    if (size)
        *size = (struct winsize){.ws_col = columns, .ws_row = lines};
    return true;
}

bool ft_output_lines_wanted(int fd)
{
    int (*is_initialized)(void);

    if (fd != STDOUT_FILENO)
        return false;
    *(void **)&is_initialized = dlsym(RTLD_DEFAULT, "Py_IsInitialized");
    return is_initialized && !is_initialized() && is_output(fd);
}
