# SPDX-License-Identifier: BSD-3-Clause
liblaunch_la_SOURCES += \
	launcher/net/auth.h launcher/net/auth.c \
	launcher/net/await.h launcher/net/await.c \
	launcher/net/channel.h launcher/net/channel.c \
	launcher/net/handover.h launcher/net/handover.c \
	launcher/net/handshake.h launcher/net/handshake.c \
	launcher/net/words.h launcher/net/words.c \
	launcher/net/parcel.h launcher/net/parcel.c

# What strangers may send to a listening socket.
check_PROGRAMS += launcher/net/strangers
TESTS += launcher/net/strangers
launcher_net_strangers_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
launcher_net_strangers_LDADD = liblaunch.la $(EVENT_LIBS)
