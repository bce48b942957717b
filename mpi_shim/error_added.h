/* SPDX-License-Identifier: BSD-3-Clause */
/* Of an error code that the program has added: its class, or -1; how messages name that class, if it was added, too; its text, which is
   empty until it gets one. NULL of all other codes. */
#ifndef FTMPI_ERROR_ADDED_H
#define FTMPI_ERROR_ADDED_H

#pragma GCC visibility push(hidden)

int shim_added_class(int code);
const char *shim_added_name(int code);
const char *shim_added_text(int code);

#pragma GCC visibility pop

#endif
