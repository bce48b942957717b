# SPDX-License-Identifier: BSD-3-Clause
liblaunch_la_SOURCES += \
	launcher/control/client.h launcher/control/client.c \
	launcher/control/door.h launcher/control/door.c \
	launcher/control/follow.h launcher/control/follow.c \
	launcher/control/jobs.h launcher/control/jobs.c \
	launcher/control/names.h launcher/control/names.c \
	launcher/control/pipe.h launcher/control/pipe.c \
	launcher/control/reach.h launcher/control/reach.c \
	launcher/control/rundir.h launcher/control/rundir.c \
	launcher/control/server.h launcher/control/server.c \
	launcher/control/show.h launcher/control/show.c \
	launcher/control/started.h launcher/control/started.c \
	launcher/control/table.h launcher/control/table.c
