# SPDX-License-Identifier: BSD-3-Clause
liblaunch_la_SOURCES += \
	launcher/wire/calls.h launcher/wire/calls.c \
	launcher/wire/description.h launcher/wire/description.c \
	launcher/wire/greeting.h launcher/wire/greeting.c \
	launcher/wire/models.h launcher/wire/models.c \
	launcher/wire/shares.h launcher/wire/shares.c \
	launcher/wire/wire.h launcher/wire/wire.c
