# SPDX-License-Identifier: BSD-3-Clause
liblaunch_la_SOURCES += \
	launcher/job/activity.h launcher/job/activity.c \
	launcher/job/death.h launcher/job/death.c \
	launcher/job/full.h launcher/job/full.c \
	launcher/job/above.h \
	launcher/job/job.h launcher/job/job.c \
	launcher/job/oom.h launcher/job/oom.c \
	launcher/job/pin.h launcher/job/pin.c \
	launcher/job/sites.h launcher/job/sites.c \
	launcher/job/twin.h launcher/job/twin.c
