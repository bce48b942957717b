# SPDX-License-Identifier: BSD-3-Clause
# Rabit's recovery scenarios over librabit.so (docs/rabit.md).
check_PROGRAMS += compat-tests/programs/rabit/recover
compat_tests_programs_rabit_recover_SOURCES = compat-tests/programs/rabit/recover.c compat-tests/programs/rabit/mock.h compat-tests/programs/rabit/mock.c \
	compat-tests/chaos/progress.h compat-tests/chaos/progress.c
compat_tests_programs_rabit_recover_LDADD = librabit.la libftmpi.la -lm
rabit_tests = compat-tests/programs/rabit/recover.sh
# Not with sanitizers: their run-time library would have to be the first one in a Python that was
# built without it.
rabit_python_tests = compat-tests/programs/rabit/binding.sh
TESTS += $(rabit_tests)
if !SANITIZED
TESTS += $(rabit_python_tests)
endif
EXTRA_DIST += $(rabit_tests) $(rabit_python_tests) compat-tests/programs/rabit/recover.py compat-tests/programs/rabit/binding.py
