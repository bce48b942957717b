# SPDX-License-Identifier: BSD-3-Clause
# What programs are compiled with and linked to: what MPI's functions do, the bindings, the binary
# interface, the compiler wrappers. One rank: every function and every way an error takes. Several:
# world.sh.
check_PROGRAMS += compat-tests/abi/solo compat-tests/abi/reductions compat-tests/abi/moves compat-tests/abi/userops compat-tests/abi/mismatch
TESTS += compat-tests/abi/solo compat-tests/abi/world.sh
EXTRA_DIST += compat-tests/abi/world.h compat-tests/abi/world.sh

# Programs that print the same with any MPI, whoever is killed (chaos/communicators.sh).
abi_start = compat-tests/abi/start.h compat-tests/abi/start.c compat-tests/chaos/progress.h compat-tests/chaos/progress.c
abi_members = compat-tests/abi/members.h compat-tests/abi/members.c $(abi_start)

# Communicators.
check_PROGRAMS += compat-tests/abi/communicators compat-tests/abi/attributes compat-tests/abi/intercommunicators compat-tests/abi/come_and_go
TESTS += compat-tests/abi/communicators.sh compat-tests/abi/intercommunicators.sh
EXTRA_DIST += compat-tests/abi/communicators.sh compat-tests/abi/intercommunicators.sh
compat_tests_abi_communicators_SOURCES = compat-tests/abi/communicators.c $(abi_members)
compat_tests_abi_attributes_SOURCES = compat-tests/abi/attributes.c $(abi_members)
compat_tests_abi_intercommunicators_SOURCES = compat-tests/abi/intercommunicators.c $(abi_members)

# Messages.
abi_ring = compat-tests/abi/ring.h compat-tests/abi/ring.c $(abi_start)
check_PROGRAMS += compat-tests/abi/messages compat-tests/abi/requests compat-tests/abi/statuses
TESTS += compat-tests/abi/messages.sh compat-tests/abi/entries.sh
EXTRA_DIST += compat-tests/abi/messages.sh compat-tests/abi/entries.sh
compat_tests_abi_messages_SOURCES = compat-tests/abi/messages.c $(abi_ring)
compat_tests_abi_requests_SOURCES = compat-tests/abi/requests.c $(abi_ring)
compat_tests_abi_statuses_SOURCES = compat-tests/abi/statuses.c $(abi_ring)

# Datatypes.
abi_random_types = compat-tests/abi/random_types.h compat-tests/abi/random_types.c
check_PROGRAMS += compat-tests/abi/types compat-tests/abi/sent_types compat-tests/abi/scattered compat-tests/abi/bounds
TESTS += compat-tests/abi/types.sh
EXTRA_DIST += compat-tests/abi/types.sh
compat_tests_abi_types_SOURCES = compat-tests/abi/types.c $(abi_random_types)
compat_tests_abi_sent_types_SOURCES = compat-tests/abi/sent_types.c $(abi_random_types)

# Sanitizers want stacks of their own size.
check_PROGRAMS += compat-tests/abi/stacks
EXTRA_DIST += compat-tests/abi/stacks.sh
if !SANITIZED
TESTS += compat-tests/abi/stacks.sh
endif

# The C++ binding.
check_PROGRAMS += compat-tests/abi/cxxbinding
TESTS += compat-tests/abi/cxxbinding.sh
EXTRA_DIST += compat-tests/abi/cxxbinding.sh
compat_tests_abi_cxxbinding_SOURCES = compat-tests/abi/cxxbinding.cc
tests_dist += compat-tests/abi/cxxbinding.sh

# The binary interface, compared with the installed Open MPI; programs made by its wrappers, Fortran
# and C++ too; our own wrappers and what else is installed. Not in a sanitized build: programs that
# load the library from outside, or are compiled here, would lack the sanitizer's own.
abi_plain_tests = \
	compat-tests/abi/abi.sh \
	compat-tests/abi/communicators_openmpi.sh \
	compat-tests/abi/messages_openmpi.sh \
	compat-tests/abi/types_openmpi.sh \
	compat-tests/abi/missing.sh \
	compat-tests/abi/openmpi_wrappers.sh \
	compat-tests/abi/library.sh \
	compat-tests/abi/ftmpicc.sh \
	compat-tests/abi/cmake.sh \
	compat-tests/abi/ftmpi_info.sh \
	compat-tests/abi/check.sh
EXTRA_DIST += $(abi_plain_tests) compat-tests/abi/missing.py compat-tests/abi/names.sh compat-tests/abi/numbers.sh compat-tests/abi/program.c \
	compat-tests/abi/crashes.h compat-tests/abi/errors.c compat-tests/abi/errors.known compat-tests/abi/handlers.c compat-tests/abi/handlers.known \
	compat-tests/abi/objects.c compat-tests/abi/objects.known \
	compat-tests/abi/wrappers/coll.f90 compat-tests/abi/wrappers/f08.f90 compat-tests/abi/wrappers/coll.cc \
	compat-tests/abi/wrappers/messages.f90 compat-tests/abi/wrappers/messages.cc \
	compat-tests/abi/cmake/CMakeLists.txt compat-tests/abi/cmake/sum.c compat-tests/abi/cmake/sum.cc
if !SANITIZED
TESTS += $(abi_plain_tests)
endif
tests_dist += compat-tests/abi/abi.sh compat-tests/abi/communicators_openmpi.sh compat-tests/abi/messages_openmpi.sh compat-tests/abi/types_openmpi.sh compat-tests/abi/openmpi_wrappers.sh compat-tests/abi/library.sh compat-tests/abi/ftmpicc.sh compat-tests/abi/ftmpi_info.sh
