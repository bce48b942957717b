# SPDX-License-Identifier: BSD-3-Clause
liblaunch_la_SOURCES += \
	launcher/job/activity.h launcher/job/activity.c \
	launcher/job/boxes.h launcher/job/boxes.c \
	launcher/job/death.h launcher/job/death.c \
	launcher/job/full.h launcher/job/full.c \
	launcher/job/above.h \
	launcher/job/groups.h launcher/job/groups.c \
	launcher/job/job.h launcher/job/job.c \
	launcher/job/pair.h launcher/job/pair.c \
	launcher/job/pin.h launcher/job/pin.c \
	launcher/job/sites.h launcher/job/sites.c \
	launcher/job/twin.h launcher/job/twin.c

unit_tests += launcher/job/unit
launcher_job_unit_SOURCES = \
	launcher/job/boxes_test.c \
	launcher/job/twin_test.c
launcher_job_unit_CFLAGS = $(unit_cflags)
launcher_job_unit_LDADD = $(launcher_unit_libs)

# By itself: the test has two functions of launcher/base/memory.h of its own.
unit_tests += launcher/job/groups_test
launcher_job_groups_test_SOURCES = launcher/job/groups_test.c launcher/job/groups.c
launcher_job_groups_test_CFLAGS = $(unit_cflags)
launcher_job_groups_test_LDADD = $(launcher_unit_libs)
