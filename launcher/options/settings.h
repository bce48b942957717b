/* SPDX-License-Identifier: BSD-3-Clause */
/* The one table of what can be set. A row with a type other than FT_COMMAND is a setting: --log-limit SIZE on the command
   line is FTMPI_LOG_LIMIT in the environment and "log-limit = SIZE" in a configuration file (configure.h). The command line,
   --help, ftmpi_info and the test of the man page are made from this table. */
#ifndef LAUNCHER_OPTIONS_SETTINGS_H
#define LAUNCHER_OPTIONS_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

#include "launcher/options/options.h"

enum ft_setting_type {
    FT_HEADING,   /* of --help: text */
    FT_COMMAND,   /* on the command line only: concerns one job, or one program of it */
    FT_FLAG, FT_NUMBER, FT_SIZE, FT_SECONDS, FT_TEXT, FT_LIST,
};

struct ft_word;

struct ft_setting {
    const char *names;     /* without dashes, separated by one space; the first is the setting's; --help shows those before " |" */
    const char *arg;       /* of --help; NULL: takes none */
    enum ft_setting_type type;
    size_t offset;         /* of its field in struct ft_options, if read is NULL */
    /* 0, or FT_EINVAL with e filled, or e left empty for "not a valid value" */
    int (*read)(struct ft_options *o, const struct ft_word *w, struct ft_error *e);
    const char *fallback;  /* what holds when nobody sets it, for people; NULL for FT_COMMAND */
    const char *text;      /* one line, or several where it does not fit */
    bool two;              /* takes two arguments */
};

/* All rows, headings and commands included, in the order of --help. NULL after the last. */
const struct ft_setting *ft_settings_at(size_t i);

bool ft_settings_is_setting(const struct ft_setting *s);

/* "number", "size", ... */
const char *ft_settings_type(const struct ft_setting *s);

/* The setting's own name, "log-limit", or its variable, "FTMPI_LOG_LIMIT"; in text, which is returned. */
const char *ft_settings_name(const struct ft_setting *s, char *text, size_t size);
const char *ft_settings_variable(const struct ft_setting *s, char *text, size_t size);

/* By one of its names, without dashes. NULL: there is none. */
const struct ft_setting *ft_settings_find(const char *name, size_t len);

/* A setting by its own name or by the variable's. */
const struct ft_setting *ft_settings_find_name(const char *name, size_t len);
const struct ft_setting *ft_settings_find_variable(const char *name, size_t len);

/* The name closest to what was written; among settings only, or all options. "": hardly half of it is like any. */
const char *ft_settings_nearest(const char *name, size_t len, bool settings_only, char *text, size_t size);

/* Reads a value into o and notes where it is from. Strings are not copied. FT_EINVAL with one line. */
int ft_settings_read(struct ft_options *o, const struct ft_setting *s, const struct ft_word *w, const char *source, struct ft_error *e);

/* The value that s has in o. */
struct ft_origin ft_settings_origin(const struct ft_options *o, const struct ft_setting *s);

#endif
