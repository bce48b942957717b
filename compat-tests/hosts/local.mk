# SPDX-License-Identifier: BSD-3-Clause
# Several hosts: network namespaces on this machine (lab.sh), and what ftrun promises over them.
hosts_tests = \
	compat-tests/hosts/lab_test.sh
TESTS += $(hosts_tests)
# Nothing of ours runs in it.
tests_unsanitized += compat-tests/hosts/lab_test.sh
EXTRA_DIST += $(hosts_tests) compat-tests/hosts/lab.sh compat-tests/hosts/launch.sh compat-tests/hosts/break.py
