# SPDX-License-Identifier: BSD-3-Clause
liblaunch_la_SOURCES += \
	launcher/node/cargo.h launcher/node/cargo.c \
	launcher/node/doubts.h launcher/node/doubts.c \
	launcher/node/durable.h launcher/node/durable.c \
	launcher/node/fetch.h launcher/node/fetch.c \
	launcher/node/hear.h launcher/node/hear.c \
	launcher/node/input.h launcher/node/input.c \
	launcher/node/job.h launcher/node/job.c \
	launcher/node/kept.h launcher/node/kept.c \
	launcher/node/lease.h launcher/node/lease.c \
	launcher/node/links.h launcher/node/links.c \
	launcher/node/main.c \
	launcher/node/node.h launcher/node/node.c \
	launcher/node/partner.h launcher/node/partner.c \
	launcher/node/report.h launcher/node/report.c \
	launcher/node/say.h launcher/node/say.c \
	launcher/node/table.h launcher/node/table.c \
	launcher/node/uplink.h launcher/node/uplink.c \
	launcher/node/whereabouts.h launcher/node/whereabouts.c
