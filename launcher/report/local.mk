# SPDX-License-Identifier: BSD-3-Clause
liblaunch_la_SOURCES += \
	launcher/report/bands.h launcher/report/bands.c \
	launcher/report/draft.h launcher/report/draft.c \
	launcher/report/checks.h launcher/report/checks.c \
	launcher/report/report.h launcher/report/report.c \
	launcher/report/summary.h launcher/report/summary.c \
	launcher/report/svg.h launcher/report/svg.c \
	launcher/report/timeline.h launcher/report/timeline.c \
	launcher/report/ways.h \
	launcher/report/wire.h launcher/report/wire.c

unit_tests += launcher/report/unit
launcher_report_unit_SOURCES = \
	launcher/report/report_test.c \
	launcher/report/timeline_test.c
launcher_report_unit_CFLAGS = $(unit_cflags)
launcher_report_unit_LDADD = $(launcher_unit_libs)
