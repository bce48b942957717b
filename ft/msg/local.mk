# SPDX-License-Identifier: BSD-3-Clause
libft_la_SOURCES += \
	ft/msg/acks.h ft/msg/acks.c \
	ft/msg/channel.h ft/msg/channel.c \
	ft/msg/answers.h ft/msg/answers.c \
	ft/msg/check.h ft/msg/check.c \
	ft/msg/decided.h ft/msg/decided.c \
	ft/msg/match.h ft/msg/match.c

unit_tests += ft/msg/unit
ft_msg_unit_SOURCES = ft/msg/log_test.h \
	ft/msg/acks_test.c \
	ft/msg/answers_test.c \
	ft/msg/channel_test.c \
	ft/msg/decided_test.c \
	ft/msg/match_random_test.c \
	ft/msg/match_test.c
ft_msg_unit_CFLAGS = $(unit_cflags)
ft_msg_unit_LDADD = $(ft_unit_libs)
