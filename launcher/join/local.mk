# SPDX-License-Identifier: BSD-3-Clause
liblaunch_la_SOURCES += \
	launcher/join/children.h launcher/join/children.c \
	launcher/join/host.h launcher/join/host.c \
	launcher/join/join.h launcher/join/join.c \
	launcher/join/lead.h launcher/join/lead.c
