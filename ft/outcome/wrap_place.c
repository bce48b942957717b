/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the process is: its directory, its mask of modes. That is its own, so a replay does it again, and compares what comes of
   it. The directory is held by a descriptor of the library: another one may have its name by then. */
#include "ft/outcome/real.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/syscall.h>

#include "ft/outcome/descriptors.h"
#include "ft/outcome/record.h"

void __chk_fail(void) __attribute__((noreturn));

enum { HELD_MOST = 64 }; /* directories; beyond that they are found by name */

static int hold(void)
{
    static int held;
    int fd = held < HELD_MOST ? (int)syscall(SYS_openat, AT_FDCWD, ".", O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;

    held++;
    return fd < 0 ? -1 : ft_descriptors_own(fd);
}

/* note[0]: the descriptor that holds it, or -1. */
static int go_again(const struct ft_recorded *c, int fd, const char *name)
{
    int held = (int)c->record->note[0];
    long result;

    if (c->record->result < 0)
        return -1;
    if (held >= 0)
        ft_descriptors_adopt(held);
    if (held >= 0)
        result = syscall(SYS_fchdir, held);
    else
        result = name ? syscall(SYS_chdir, name) : syscall(SYS_fchdir, fd);
    if (result < 0)
        ft_recorder_lost("it had gone to directory %s, which cannot be entered any more", name ? name : "(of a descriptor)");
    return 0;
}

static int go(int fd, const char *name)
{
    struct ft_recorded c;
    int result, error;

    if (ft_call_begin(&c, FT_CALL_CHDIR, ft_what(fd, (int64_t)ft_what_name(name), 0), 0)) {
        go_again(&c, fd, name);
        return (int)ft_call_give(&c);
    }
    result = name ? ft_real()->chdir(name) : ft_real()->fchdir(fd);
    error = errno;
    if (c.record)
        c.record->note[0] = result == 0 ? hold() : -1;
    errno = error;
    return (int)ft_call_end(&c, result, 0);
}

int chdir(const char *name) { return ft_recording() ? go(-1, name) : ft_real()->chdir(name); }
int fchdir(int fd) { return ft_recording() ? go(fd, NULL) : ft_real()->fchdir(fd); }

mode_t umask(mode_t mask)
{
    struct ft_recorded c;
    mode_t old;

    if (!ft_recording())
        return ft_real()->umask(mask);
    if (!ft_call_begin(&c, FT_CALL_CHDIR, ft_what(mask, -1, 1), 0))
        return (mode_t)ft_call_end(&c, ft_real()->umask(mask), 0);
    old = ft_real()->umask(mask);
    if (old != (mode_t)c.record->result)
        ft_recorder_lost("a replay had another umask (%03o) than there was (%03o)", (unsigned)old, (unsigned)c.record->result);
    return (mode_t)ft_call_give(&c);
}

/* ---- what the place is called: others may change that, so it is given ---- */

static char *ended(struct ft_recorded *c, const char *text)
{
    size_t bytes = text ? strlen(text) + 1 : 0;
    int error = errno;

    if (text && c->record && bytes <= PATH_MAX)
        memcpy(ft_call_data(c), text, bytes);
    errno = error;
    ft_call_end(c, text ? 0 : -1, bytes <= PATH_MAX ? bytes : 0);
    return (char *)(uintptr_t)text;
}

static char *given(struct ft_recorded *c, char *to, size_t room)
{
    size_t bytes = ft_call_bytes(c);

    if (ft_call_give(c) < 0)
        return NULL;
    if (!to)
        to = malloc(room > bytes ? room : bytes);
    if (to)
        memcpy(to, ft_call_data(c), bytes);
    return to;
}

char *getcwd(char *to, size_t room)
{
    struct ft_recorded c;

    if (!ft_recording())
        return ft_real()->getcwd(to, room);
    if (ft_call_begin(&c, FT_CALL_CHDIR, ft_what((int64_t)room, to != NULL, 2), PATH_MAX))
        return given(&c, to, room);
    return ended(&c, ft_real()->getcwd(to, room));
}

char *__getcwd_chk(char *to, size_t room, size_t has);
char *__getcwd_chk(char *to, size_t room, size_t has)
{
    if (room > has)
        __chk_fail();
    return getcwd(to, room);
}

char *get_current_dir_name(void)
{
    struct ft_recorded c;
    char *text;

    if (!ft_recording())
        return ft_real()->get_current_dir_name();
    if (ft_call_begin(&c, FT_CALL_CHDIR, ft_what(0, 0, 3), PATH_MAX))
        return given(&c, NULL, 0);
    ft_inside();
    text = ft_real()->get_current_dir_name();
    ft_outside();
    return ended(&c, text);
}
