# SPDX-License-Identifier: BSD-3-Clause
# The job's store: what programs ask of it, and who is killed meanwhile.
store_tests = compat-tests/store/kills.sh compat-tests/store/killsat.sh compat-tests/store/hosts.sh \
	compat-tests/store/timeouts.sh
# Python with our library in it.
store_plain_tests = compat-tests/store/python.sh
check_PROGRAMS += compat-tests/store/ticks compat-tests/store/timeouts
compat_tests_store_ticks_SOURCES = compat-tests/store/ticks.c compat-tests/checkpoint/lose_node.h
compat_tests_store_timeouts_SOURCES = compat-tests/store/timeouts.c compat-tests/checkpoint/lose_node.h
TESTS += $(store_tests)
if !SANITIZED
TESTS += $(store_plain_tests)
endif
EXTRA_DIST += $(store_tests) $(store_plain_tests) compat-tests/store/shared.py
