# SPDX-License-Identifier: BSD-3-Clause
liblaunch_la_SOURCES += \
	launcher/start/remote.h launcher/start/remote.c \
	launcher/start/remote_words.h launcher/start/remote_words.c \
	launcher/start/starter.h launcher/start/starter.c

unit_tests += launcher/start/unit
launcher_start_unit_SOURCES = \
	launcher/start/remote_test.c
launcher_start_unit_CFLAGS = $(unit_cflags)
launcher_start_unit_LDADD = $(launcher_unit_libs)
