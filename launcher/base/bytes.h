/* SPDX-License-Identifier: BSD-3-Clause */
/* Strings of any bytes in JSON, which has no place for what is no UTF-8: each byte is the character of its number. */
#ifndef LAUNCHER_BASE_BYTES_H
#define LAUNCHER_BASE_BYTES_H

#include <jansson.h>

/* NULL: no memory. list: NULL at its end. */
json_t *ft_bytes_json(const char *text);
json_t *ft_bytes_json_list(char *const *list);

/* The caller's. NULL: j is not such a string, or list; or no memory. */
char *ft_bytes_read(const json_t *j);
char **ft_bytes_read_list(const json_t *j);

/* list may be NULL. */
void ft_bytes_free_list(char **list);

#endif
