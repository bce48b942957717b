# SPDX-License-Identifier: BSD-3-Clause
liblaunch_la_SOURCES += \
	launcher/node/callers.h launcher/node/callers.c \
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
	launcher/node/store.h launcher/node/store.c \
	launcher/node/table.h launcher/node/table.c \
	launcher/node/uplink.h launcher/node/uplink.c \
	launcher/node/whereabouts.h launcher/node/whereabouts.c

# durable_test has ft_job_post() and other functions of an agent of its own: a test of another file of
# this folder that needs those must be a program by itself.
unit_tests += launcher/node/unit
launcher_node_unit_SOURCES = \
	launcher/node/durable_test.c launcher/node/durable.c
launcher_node_unit_CFLAGS = $(unit_cflags)
launcher_node_unit_LDADD = $(launcher_unit_libs)

# Logs and links between nodes.
check_PROGRAMS += launcher/node/fetched launcher/node/linked
TESTS += launcher/node/fetched launcher/node/linked
launcher_node_fetched_SOURCES = launcher/node/fetched.c launcher/node/check.h
launcher_node_fetched_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
launcher_node_fetched_LDADD = liblaunch.la $(EVENT_LIBS)
launcher_node_linked_SOURCES = launcher/node/linked.c launcher/node/check.h
launcher_node_linked_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
launcher_node_linked_LDFLAGS = -Wl,--wrap=ft_handover
launcher_node_linked_LDADD = liblaunch.la $(EVENT_LIBS)

# Checkpoints of arbitrary bytes that another node sends.
check_PROGRAMS += fuzz_kept_plain
fuzz_kept_plain_SOURCES = launcher/node/fuzz_kept.c launcher/node/fuzz_kept_seeds.c $(fuzz_driver)
fuzz_kept_plain_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
fuzz_kept_plain_LDADD = liblaunch.la $(EVENT_LIBS)
