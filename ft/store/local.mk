# SPDX-License-Identifier: BSD-3-Clause
# Checkpoint files: ftrun's alone, so that no library is needed under users' programs.
noinst_LTLIBRARIES += libftstore.la
libftstore_la_SOURCES = \
	ft/store/disk.h ft/store/disk.c \
	ft/store/ckpt_header.h ft/store/ckpt_header.c \
	ft/store/ckpt_file.h ft/store/ckpt_file.c \
	ft/store/ckpt_dir.h ft/store/ckpt_dir.c
libftstore_la_CFLAGS = $(AM_CFLAGS) $(XXHASH_CFLAGS)
libftstore_la_LIBADD = $(XXHASH_LIBS)

# The power fails at every system call of the writer; damaged files.
check_PROGRAMS += ckpt_power ckpt_damage
TESTS += ckpt_power ckpt_damage
ckpt_power_SOURCES = ft/test/ckpt_power.c ft/test/ckpt_models.h
ckpt_power_LDADD = libftstore.la libft.la
ckpt_damage_SOURCES = ft/test/ckpt_damage.c ft/test/ckpt_models.h
ckpt_damage_CFLAGS = $(AM_CFLAGS) $(XXHASH_CFLAGS)
ckpt_damage_LDADD = libftstore.la libft.la $(XXHASH_LIBS)
