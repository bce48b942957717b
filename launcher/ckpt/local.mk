# SPDX-License-Identifier: BSD-3-Clause
liblaunch_la_SOURCES += \
	launcher/ckpt/series.h launcher/ckpt/series.c \
	launcher/ckpt/turn.h launcher/ckpt/turn.c \
	launcher/ckpt/writer.h launcher/ckpt/writer.c

unit_tests += launcher/ckpt/unit
launcher_ckpt_unit_SOURCES = \
	launcher/ckpt/turn_test.c
launcher_ckpt_unit_CFLAGS = $(unit_cflags)
launcher_ckpt_unit_LDADD = $(launcher_unit_libs)
