# SPDX-License-Identifier: BSD-3-Clause
liblaunch_la_SOURCES += \
	launcher/controller/act.h launcher/controller/act.c \
	launcher/controller/ask.h launcher/controller/ask.c \
	launcher/controller/base.h launcher/controller/base.c \
	launcher/controller/comers.h launcher/controller/comers.c \
	launcher/controller/controller.h launcher/controller/controller.c \
	launcher/controller/durable.h launcher/controller/durable.c \
	launcher/controller/files.h launcher/controller/files.c \
	launcher/controller/happens.h launcher/controller/happens.c \
	launcher/controller/job.h launcher/controller/job.c \
	launcher/controller/lead.h \
	launcher/controller/nodes.h launcher/controller/nodes.c \
	launcher/controller/peers.h launcher/controller/peers.c \
	launcher/controller/report.h launcher/controller/report_state.h launcher/controller/report.c launcher/controller/report_entries.c \
	launcher/controller/report_made.c \
	launcher/controller/round.h launcher/controller/round.c \
	launcher/controller/say.h launcher/controller/say.c \
	launcher/controller/start.h launcher/controller/start.c \
	launcher/controller/status.h launcher/controller/status.c \
	launcher/controller/store.h launcher/controller/store.c \
	launcher/controller/stdio.h launcher/controller/stdio.c \
	launcher/controller/tell.h launcher/controller/tell.c

unit_tests += launcher/controller/unit
launcher_controller_unit_SOURCES = launcher/controller/report_test.c
launcher_controller_unit_CFLAGS = $(unit_cflags)
launcher_controller_unit_LDADD = $(launcher_unit_libs)
