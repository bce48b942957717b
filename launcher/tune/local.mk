# SPDX-License-Identifier: BSD-3-Clause
liblaunch_la_SOURCES += \
	launcher/tune/tune.h launcher/tune/tune.c

unit_tests += launcher/tune/unit
launcher_tune_unit_SOURCES = \
	launcher/tune/tune_test.c
launcher_tune_unit_CFLAGS = $(unit_cflags)
launcher_tune_unit_LDADD = $(launcher_unit_libs)
