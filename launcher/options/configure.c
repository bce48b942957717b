/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/options/configure.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launcher/options/readers.h"
#include "launcher/options/settings.h"

enum { LINE_BYTES = 8192, NAME_BYTES = 64 };

static char *trim(char *text)
{
    char *end;

    while (isspace((unsigned char)*text))
        text++;
    for (end = text + strlen(text); end > text && isspace((unsigned char)end[-1]); end--)
        end[-1] = 0;
    return text;
}

/* A comment begins at the start of a line or after a space: values may hold a "#". */
static void cut_comment(char *line)
{
    for (char *c = line; *c; c++)
        if (*c == '#' && (c == line || isspace((unsigned char)c[-1]))) {
            *c = 0;
            return;
        }
}

static int read_line(struct ft_options *o, char *line, const char *where, struct ft_error *e)
{
    const struct ft_setting *s;
    struct ft_word w;
    char *name, *value, near[NAME_BYTES];

    cut_comment(line);
    name = trim(line);
    if (!*name)
        return 0;
    value = strchr(name, '=');
    if (!value)
        return ft_err_set(e, FT_EINVAL, "%s: \"%.80s\" is not a setting; wanted: name = value", where, name);
    *value++ = 0;
    name = trim(name);
    s = ft_settings_find_name(name, strlen(name));
    if (!s && !*ft_settings_nearest(name, strlen(name), true, near, sizeof near))
        return ft_err_set(e, FT_EINVAL, "%s: there is no setting \"%.80s\" (ftmpi_info lists all)", where, name);
    if (!s)
        return ft_err_set(e, FT_EINVAL, "%s: there is no setting \"%.80s\"; did you mean %s?", where, name, near);
    w = (struct ft_word){.who = ft_options_keep(o, "%s: %s", where, name), .value = ft_options_keep(o, "%s", trim(value))};
    return w.who && w.value ? ft_settings_read(o, s, &w, where, e) : ft_err_set(e, FT_EINVAL, "out of memory");
}

/* "name = value" a line, "#" begins a comment. */
static int read_file(struct ft_options *o, const char *path, struct ft_error *e)
{
    FILE *f = fopen(path, "re");
    char line[LINE_BYTES];
    unsigned number = 0;
    int err = 0;

    if (!f && access(path, F_OK) < 0) /* none, or in a directory that is somebody else's */
        return 0;
    if (!f)
        return ft_err_set(e, FT_EINVAL, "cannot read %s: %s", path, strerror(errno));
    while (!err && fgets(line, sizeof line, f)) {
        const char *where = ft_options_keep(o, "%s:%u", path, ++number);

        if (!where)
            err = ft_err_set(e, FT_EINVAL, "out of memory");
        else if (strlen(line) == sizeof line - 1)
            err = ft_err_set(e, FT_EINVAL, "%s: line too long", where);
        else
            err = read_line(o, line, where, e);
    }
    if (!err && ferror(f))
        err = ft_err_set(e, FT_EINVAL, "cannot read %s: %s", path, strerror(errno));
    fclose(f);
    return err;
}

int ft_configure_files(struct ft_options *o, struct ft_error *e)
{
    const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME"), *path = NULL;
    int err = read_file(o, SYSCONFDIR "/ftmpi.conf", e);

    if (config && *config == '/') /* others are to be ignored, says its specification */
        path = ft_options_keep(o, "%s/ftmpi/ftmpi.conf", config);
    else if (home && *home == '/')
        path = ft_options_keep(o, "%s/.config/ftmpi/ftmpi.conf", home);
    return err || !path ? err : read_file(o, path, e);
}

/* The first are ranks' own, made by ftrun. */
static const char *const others[] = {
    "FTMPI_RANK", "FTMPI_SIZE", "FTMPI_INCARNATION", "FTMPI_APPNUM", "FTMPI_FDS", "FTMPI_PID", "FTMPI_JOB", "FTMPI_HOST",
    "FTMPI_OUTPUT", "FTMPI_TERMINAL", "FTMPI_RECORDED",
    "FTMPI_RUN_DIR", "FTMPI_CC", "FTMPI_CXX", "FTMPI_ALONE", "FTMPI_PYTHON_SWITCH",
    "FTMPI_SECRET_FILE", "FTMPI_RDZV_PASSWORD",
};

/* A name that means something, but is not a setting: "FTMPI_RANK", "FTMPI_CC". */
static bool is_known(const char *name, size_t len)
{
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (strlen(others[i]) == len && !memcmp(others[i], name, len))
            return true;
    return false;
}

static void tell_unknown(struct ft_options *o, const char *name, size_t len)
{
    char lower[NAME_BYTES], near[NAME_BYTES], variable[NAME_BYTES] = "";
    const struct ft_setting *s;
    size_t n = 0;

    for (; n < len - 6 && n < sizeof lower - 1; n++)
        lower[n] = name[6 + n] == '_' ? '-' : (char)tolower((unsigned char)name[6 + n]);
    ft_settings_nearest(lower, n, true, near, sizeof near);
    s = *near ? ft_settings_find_name(near, strlen(near)) : NULL;
    if (s)
        ft_settings_variable(s, variable, sizeof variable);
    ft_options_notice(o, "%.*s is set, but there is no such setting%s%s%s", (int)(len < 80 ? len : 80), name, s ? "; did you mean " : "", variable,
                      s ? "?" : "");
}

static int read_variable(struct ft_options *o, const struct ft_setting *s, const char *variable, const char *value, struct ft_error *e)
{
    struct ft_word w = {.who = variable, .value = value};

    return variable ? ft_settings_read(o, s, &w, variable, e) : ft_err_set(e, FT_EINVAL, "out of memory");
}

int ft_configure_environment(struct ft_options *o, struct ft_error *e)
{
    const char *timeout = getenv("MPIEXEC_TIMEOUT"); /* what Open MPI and Hydra look for */
    int err = 0;

    if (timeout && *timeout)
        err = read_variable(o, ft_settings_find_name("timeout", 7), "MPIEXEC_TIMEOUT", timeout, e);
    for (char **v = environ; *v && !err; v++) {
        size_t len = strcspn(*v, "=");
        const struct ft_setting *s;

        if (strncmp(*v, "FTMPI_", 6) || !(*v)[len] || !(*v)[len + 1] || is_known(*v, len))
            continue;
        s = ft_settings_find_variable(*v, len);
        if (s)
            err = read_variable(o, s, ft_options_keep(o, "%.*s", (int)len, *v), *v + len + 1, e);
        else
            tell_unknown(o, *v, len);
    }
    return err;
}
