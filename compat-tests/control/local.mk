# SPDX-License-Identifier: BSD-3-Clause
# ftrun list, status, stop, wait, attach: what a running job says of itself.
control_tests = compat-tests/control/control.sh compat-tests/control/attach.sh compat-tests/control/status.sh compat-tests/control/schema.sh compat-tests/control/sites.sh compat-tests/control/events.sh
check_PROGRAMS += compat-tests/control/waits compat-tests/control/inlib
compat_tests_control_inlib_LDADD = $(LDADD) -ldl
check_LTLIBRARIES += compat-tests/control/libcalls.la
compat_tests_control_libcalls_la_SOURCES = compat-tests/control/calls.c
compat_tests_control_libcalls_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere
compat_tests_control_libcalls_la_LIBADD =
TESTS += $(control_tests)
EXTRA_DIST += $(control_tests) compat-tests/control/schema.py compat-tests/control/events.py
# Not looked into: in a tree for sanitizers a rank that was killed is not told to be back (issue 39).
tests_unsanitized += compat-tests/control/events.sh
