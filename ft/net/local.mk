# SPDX-License-Identifier: BSD-3-Clause
libft_la_SOURCES += \
	ft/net/links.h ft/net/links.c
