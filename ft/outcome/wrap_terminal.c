/* SPDX-License-Identifier: BSD-3-Clause */
/* Terminals. Under way, what is asked is asked again, and what is set is set again. */
#include <errno.h>
#include <string.h>
#include <termios.h>

#include "ft/outcome/output.h"
#include "ft/outcome/real.h"
#include "ft/outcome/record.h"

enum { ISATTY, GETATTR, SETATTR, NAME };

int isatty(int fd)
{
    if (ft_output_lines_wanted(fd) || ft_output_is_terminal(fd, NULL))
        return 1;
    if (!ft_recording())
        return ft_real()->isatty(fd);
    return (int)FT_CALL_PLAIN(FT_CALL_TERMINAL, ft_what(ISATTY, fd, 0), ft_real()->isatty(fd));
}

int tcgetattr(int fd, struct termios *to)
{
    if (!ft_recording())
        return ft_real()->tcgetattr(fd, to);
    return (int)FT_CALL_FILLS(FT_CALL_TERMINAL, ft_what(GETATTR, fd, 0), to, ft_real()->tcgetattr(fd, to));
}

int tcsetattr(int fd, int when, const struct termios *to)
{
    if (!ft_recording())
        return ft_real()->tcsetattr(fd, when, to);
    return (int)FT_CALL_PLAIN(FT_CALL_TERMINAL, ft_what(SETATTR, fd, when), ft_real()->tcsetattr(fd, when, to));
}

/* Its result is an error's number. */
int ttyname_r(int fd, char *to, size_t n)
{
    struct ft_recorded c;
    size_t bytes = 0;
    int error;

    if (!ft_recording() || n > FT_OUTCOME_PIECE)
        return ft_real()->ttyname_r(fd, to, n);
    if (ft_call_begin(&c, FT_CALL_TERMINAL, ft_what(NAME, fd, (int64_t)n), n)) {
        memcpy(to, ft_call_data(&c), ft_call_bytes(&c));
        return (int)ft_call_give(&c);
    }
    ft_inside();
    error = ft_real()->ttyname_r(fd, to, n);
    ft_outside();
    if (error == 0 && c.record) {
        bytes = strlen(to) + 1;
        memcpy(ft_call_data(&c), to, bytes);
    }
    return (int)ft_call_end(&c, error, bytes);
}

int __ttyname_r_chk(int fd, char *to, size_t n, size_t room);

int __ttyname_r_chk(int fd, char *to, size_t n, size_t room)
{
    (void)room;
    return ttyname_r(fd, to, n);
}

char *ttyname(int fd)
{
    static char name[256];
    int error;

    if (!ft_recording())
        return ft_real()->ttyname(fd);
    error = ttyname_r(fd, name, sizeof name);
    if (error == 0)
        return name;
    errno = error;
    return NULL;
}
