# SPDX-License-Identifier: BSD-3-Clause
libft_la_SOURCES += \
	ft/pass/pass.h ft/pass/pass.c \
	ft/pass/barrier.c \
	ft/pass/bcast.c \
	ft/pass/fold.c \
	ft/pass/allgather.c
