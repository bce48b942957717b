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

# The power fails at every system call of the writer; damaged files; files of arbitrary bytes.
check_PROGRAMS += ft/store/ckpt_power ft/store/ckpt_damage fuzz_checkpoint_plain
TESTS += ft/store/ckpt_power ft/store/ckpt_damage
ft_store_ckpt_power_SOURCES = ft/store/ckpt_power.c ft/store/ckpt_models.h
ft_store_ckpt_power_LDADD = libftstore.la libft.la
ft_store_ckpt_damage_SOURCES = ft/store/ckpt_damage.c ft/store/ckpt_models.h
ft_store_ckpt_damage_CFLAGS = $(AM_CFLAGS) $(XXHASH_CFLAGS)
ft_store_ckpt_damage_LDADD = libftstore.la libft.la $(XXHASH_LIBS)
fuzz_checkpoint_plain_SOURCES = ft/store/fuzz_checkpoint.c ft/store/fuzz_checkpoint_seeds.c \
	ft/store/ckpt_models.h $(fuzz_driver)
fuzz_checkpoint_plain_CFLAGS = $(AM_CFLAGS) $(XXHASH_CFLAGS)
fuzz_checkpoint_plain_LDADD = libftstore.la libft.la $(XXHASH_LIBS)
