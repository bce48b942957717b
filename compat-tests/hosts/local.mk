# SPDX-License-Identifier: BSD-3-Clause
# Jobs on several hosts, all of which are this one.
check_PROGRAMS += compat-tests/hosts/by_host
here_tests = \
	compat-tests/hosts/jobs.sh \
	compat-tests/hosts/communicators.sh \
	compat-tests/hosts/controller.sh \
	compat-tests/hosts/options.sh \
	compat-tests/hosts/launch_tree.sh \
	compat-tests/hosts/doc.sh \
	compat-tests/hosts/node.sh
TESTS += $(here_tests)
EXTRA_DIST += compat-tests/hosts/talks.py $(here_tests) compat-tests/hosts/node.py

# Network namespaces on this machine (lib/lab.sh), and what ftrun promises over them.
hosts_tests = \
	compat-tests/hosts/lab_test.sh \
	compat-tests/hosts/events.sh \
	compat-tests/hosts/every.sh \
	compat-tests/hosts/hosts.sh \
	compat-tests/hosts/mixed.sh \
	compat-tests/hosts/survive.sh \
	compat-tests/hosts/partition.sh \
	compat-tests/hosts/stranger.sh \
	compat-tests/hosts/ssh_tree.sh
# Alone: it puts more on the machine than that can do.
hosts_alone_tests = compat-tests/hosts/heartbeat.sh
# Python was built without sanitizers.
hosts_plain_tests = compat-tests/hosts/xgboost.sh compat-tests/hosts/tracker.sh
# What is preloaded would come before a sanitizer.
hosts_plain_tests += compat-tests/hosts/disk.sh compat-tests/hosts/connections.sh compat-tests/hosts/wheel.sh
TESTS += $(hosts_tests)
tests_alone += $(hosts_alone_tests)
if !SANITIZED
TESTS += $(hosts_plain_tests)
endif
# Nothing of ours runs in the first; the others are about many processes and time, which sanitizers
# take.
tests_unsanitized += $(hosts_tests) $(hosts_alone_tests)
tests_unsanitized += compat-tests/hosts/jobs.sh compat-tests/hosts/options.sh compat-tests/hosts/launch_tree.sh compat-tests/hosts/doc.sh compat-tests/hosts/node.sh
EXTRA_DIST += $(hosts_tests) $(hosts_alone_tests) $(hosts_plain_tests) \
	compat-tests/hosts/break.py compat-tests/hosts/stranger.py

check_LTLIBRARIES += compat-tests/hosts/stall.la
compat_tests_hosts_stall_la_SOURCES = compat-tests/hosts/stall.c
compat_tests_hosts_stall_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere
compat_tests_hosts_stall_la_LIBADD = -ldl
