# SPDX-License-Identifier: BSD-3-Clause
liblaunch_la_SOURCES += \
	launcher/tracker/link.h launcher/tracker/link.c \
	launcher/tracker/listener.h launcher/tracker/listener.c \
	launcher/tracker/mailbox.h launcher/tracker/mailbox.c \
	launcher/tracker/protocol.h launcher/tracker/protocol.c \
	launcher/tracker/round.h launcher/tracker/round.c \
	launcher/tracker/tracker.h launcher/tracker/tracker.c
