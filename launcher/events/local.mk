# SPDX-License-Identifier: BSD-3-Clause
liblaunch_la_SOURCES += \
	launcher/events/events.h launcher/events/events.c \
	launcher/events/outlet.h launcher/events/outlet.c \
	launcher/events/told.h launcher/events/told.c

unit_tests += launcher/events/unit
launcher_events_unit_SOURCES = launcher/events/events_test.c launcher/events/told_test.c
launcher_events_unit_CFLAGS = $(unit_cflags)
launcher_events_unit_LDADD = $(launcher_unit_libs)
