# SPDX-License-Identifier: BSD-3-Clause
liboutcome_la_SOURCES += \
	ft/snap/image.h ft/snap/image.c \
	ft/snap/mappings.h ft/snap/mappings.c

# Real processes, real forks: what a coroutine cannot show of a snapshot.
check_PROGRAMS += ft/snap/cuts
TESTS += ft/snap/cuts
ft_snap_cuts_LDADD = libft.la

# A process that is put back. No part of a unit: it forks more than Criterion likes.
check_PROGRAMS += ft/snap/image_test
TESTS += ft/snap/image_test
ft_snap_image_test_SOURCES = ft/snap/image_test.c ft/snap/forget_queries.h ft/snap/image.c ft/snap/mappings.c
ft_snap_image_test_CFLAGS = $(AM_CFLAGS) -Dsyscall=ft_syscall
ft_snap_image_test_LDADD = libft.la
# Under a sanitizer its clones, made past the C library, do not come to where they are awaited.
tests_unsanitized += ft/snap/image_test
