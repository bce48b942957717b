# SPDX-License-Identifier: BSD-3-Clause
liblaunch_la_SOURCES += \
	launcher/start/remote.h launcher/start/remote.c \
	launcher/start/remote_words.h launcher/start/remote_words.c \
	launcher/start/starter.h launcher/start/starter.c
