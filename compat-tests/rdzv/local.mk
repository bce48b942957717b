# SPDX-License-Identifier: BSD-3-Clause
# The hosts of a job find each other: launcher/rdzv, over etcd and over the store in ftrun.
check_PROGRAMS += compat-tests/rdzv/member
compat_tests_rdzv_member_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS) $(JANSSON_CFLAGS)
compat_tests_rdzv_member_LDADD = liblaunch.la $(EVENT_LIBS)
