# SPDX-License-Identifier: BSD-3-Clause
# The binary interface, compared with the installed Open MPI. Not in a sanitized build: programs that load the library
# from outside would lack the sanitizer's own.
EXTRA_DIST += \
	compat-tests/abi/abi.sh compat-tests/abi/names.sh compat-tests/abi/numbers.sh compat-tests/abi/program.c \
	compat-tests/abi/errors.c compat-tests/abi/errors.known compat-tests/abi/objects.c compat-tests/abi/objects.known \
	compat-tests/abi/library.sh
AM_TESTS_ENVIRONMENT += CC='$(CC)'; CXX='$(CXX)'; export CC CXX;
if !SANITIZED
TESTS += compat-tests/abi/abi.sh
tests_alone += compat-tests/abi/library.sh
endif
tests_dist += compat-tests/abi/abi.sh compat-tests/abi/library.sh
