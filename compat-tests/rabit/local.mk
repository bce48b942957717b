# SPDX-License-Identifier: BSD-3-Clause
# Rabit's recovery scenarios over librabit.so (docs/rabit.md).
check_PROGRAMS += compat-tests/rabit/recover
compat_tests_rabit_recover_SOURCES = compat-tests/rabit/recover.c compat-tests/rabit/mock.h compat-tests/rabit/mock.c \
	compat-tests/chaos/progress.h compat-tests/chaos/progress.c
compat_tests_rabit_recover_LDADD = librabit.la libftmpi.la -lm
rabit_tests = compat-tests/rabit/recover.sh
# Not with sanitizers: their run-time library would have to be the first one in a Python that was built without it.
rabit_python_tests = compat-tests/rabit/binding.sh
TESTS += $(rabit_tests)
if !SANITIZED
TESTS += $(rabit_python_tests)
endif
EXTRA_DIST += $(rabit_tests) $(rabit_python_tests) compat-tests/rabit/recover.py compat-tests/rabit/binding.py
