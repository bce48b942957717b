# SPDX-License-Identifier: BSD-3-Clause
liblaunch_la_SOURCES += launcher/values/server.h launcher/values/server.c

unit_tests += launcher/values/unit
launcher_values_unit_SOURCES = launcher/values/server_test.c
launcher_values_unit_CFLAGS = $(unit_cflags)
launcher_values_unit_LDADD = $(launcher_unit_libs)
