# SPDX-License-Identifier: BSD-3-Clause
# The hosts of a job find each other: launcher/rdzv, over etcd and over the store in ftrun; and ftrun --rdzv on hosts of a lab.
rdzv_tests = compat-tests/rdzv/embedded.sh compat-tests/rdzv/etcd.sh compat-tests/rdzv/away.sh compat-tests/rdzv/anew.sh compat-tests/rdzv/twice.sh compat-tests/rdzv/three.sh compat-tests/rdzv/users.sh compat-tests/rdzv/crowd.sh compat-tests/rdzv/own.sh \
	compat-tests/rdzv/job.sh compat-tests/rdzv/lost.sh compat-tests/rdzv/late.sh compat-tests/rdzv/again.sh compat-tests/rdzv/bad.sh compat-tests/rdzv/killed.sh compat-tests/rdzv/pids.sh compat-tests/rdzv/killat.sh
check_PROGRAMS += compat-tests/rdzv/member compat-tests/rdzv/crowd
compat_tests_rdzv_member_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS) $(JANSSON_CFLAGS)
compat_tests_rdzv_member_LDADD = liblaunch.la $(EVENT_LIBS)
compat_tests_rdzv_crowd_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS) $(JANSSON_CFLAGS)
compat_tests_rdzv_crowd_LDADD = liblaunch.la $(EVENT_LIBS)
TESTS += $(rdzv_tests)
EXTRA_DIST += $(rdzv_tests) compat-tests/lib/rdzv.sh compat-tests/lib/join.sh
# These are about processes and time, which sanitizers take; all of the code runs in launcher/rdzv/unit.
tests_unsanitized += $(rdzv_tests)
