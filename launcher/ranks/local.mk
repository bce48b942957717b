# SPDX-License-Identifier: BSD-3-Clause
liblaunch_la_SOURCES += \
	launcher/ranks/absent.h launcher/ranks/absent.c \
	launcher/ranks/check.h launcher/ranks/check.c \
	launcher/ranks/environ.h launcher/ranks/environ.c \
	launcher/ranks/ranks.h launcher/ranks/ranks.c \
	launcher/ranks/restart.h launcher/ranks/restart.c \
	launcher/ranks/spawn.h launcher/ranks/spawn.c
