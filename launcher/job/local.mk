# SPDX-License-Identifier: BSD-3-Clause
liblaunch_la_SOURCES += \
	launcher/job/activity.h launcher/job/activity.c \
	launcher/job/death.h launcher/job/death.c \
	launcher/job/full.h launcher/job/full.c \
	launcher/job/above.h \
	launcher/job/job.h launcher/job/job.c \
	launcher/job/oom.h launcher/job/oom.c \
	launcher/job/pin.h launcher/job/pin.c \
	launcher/job/sites.h launcher/job/sites.c \
	launcher/job/twin.h launcher/job/twin.c

unit_tests += launcher/job/unit
launcher_job_unit_SOURCES = \
	launcher/job/twin_test.c
launcher_job_unit_CFLAGS = $(unit_cflags)
launcher_job_unit_LDADD = $(launcher_unit_libs)

# By itself: the test has a function of launcher/base of its own, ft_limits_oom_kills().
unit_tests += launcher/job/oom_test
launcher_job_oom_test_SOURCES = launcher/job/oom_test.c launcher/job/oom.c
launcher_job_oom_test_CFLAGS = $(unit_cflags)
launcher_job_oom_test_LDADD = $(launcher_unit_libs)
