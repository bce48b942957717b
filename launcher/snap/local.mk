# SPDX-License-Identifier: BSD-3-Clause
liblaunch_la_SOURCES += \
	launcher/snap/budget.h launcher/snap/budget.c \
	launcher/snap/cadence.h launcher/snap/cadence.c \
	launcher/snap/cost.h launcher/snap/cost.c \
	launcher/snap/cut.h launcher/snap/cut.c \
	launcher/snap/durable.h launcher/snap/durable.c \
	launcher/snap/orphans.h launcher/snap/orphans.c launcher/snap/outcomes.h launcher/snap/outcomes.c \
	launcher/snap/scarce.h launcher/snap/scarce.c \
	launcher/snap/slot.h launcher/snap/slot.c \
	launcher/snap/snapshot.h launcher/snap/snapshot.c \
	launcher/snap/steps.h launcher/snap/steps.c

unit_tests += launcher/snap/unit
launcher_snap_unit_SOURCES = \
	launcher/snap/cadence_test.c
launcher_snap_unit_CFLAGS = $(unit_cflags)
launcher_snap_unit_LDADD = $(launcher_unit_libs)
