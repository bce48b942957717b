# SPDX-License-Identifier: BSD-3-Clause
# Real programs under real kills, and what the engine promises about system calls, memory and divergence.
# The programs are plain MPI: any mpicc compiles them too.
chaos_programs = \
	compat-tests/chaos/mixed \
	compat-tests/chaos/huge \
	compat-tests/chaos/diverge \
	compat-tests/chaos/stamp \
	ft/test/strace_allreduce
check_PROGRAMS += $(chaos_programs)
chaos_cppflags = -I$(top_srcdir)/mpi_shim $(AM_CPPFLAGS)
# -no-install: the real program in the build tree, not a libtool script that ftrun would start instead.
chaos_ldflags = -no-install
compat_tests_chaos_mixed_SOURCES = compat-tests/chaos/mixed.c compat-tests/chaos/progress.h compat-tests/chaos/progress.c
compat_tests_chaos_mixed_CPPFLAGS = $(chaos_cppflags)
compat_tests_chaos_mixed_LDFLAGS = $(chaos_ldflags)
compat_tests_chaos_mixed_LDADD = libftmpi.la
compat_tests_chaos_huge_SOURCES = compat-tests/chaos/huge.c
compat_tests_chaos_huge_CPPFLAGS = $(chaos_cppflags)
compat_tests_chaos_huge_LDFLAGS = $(chaos_ldflags)
compat_tests_chaos_huge_LDADD = libftmpi.la
compat_tests_chaos_diverge_SOURCES = compat-tests/chaos/diverge.c
compat_tests_chaos_diverge_CPPFLAGS = $(chaos_cppflags)
compat_tests_chaos_diverge_LDFLAGS = $(chaos_ldflags)
compat_tests_chaos_diverge_LDADD = libftmpi.la
compat_tests_chaos_stamp_SOURCES = compat-tests/chaos/stamp.c
compat_tests_chaos_stamp_CPPFLAGS = $(chaos_cppflags)
compat_tests_chaos_stamp_LDFLAGS = $(chaos_ldflags)
compat_tests_chaos_stamp_LDADD = libftmpi.la
ft_test_strace_allreduce_SOURCES = ft/test/strace_allreduce.c
ft_test_strace_allreduce_CPPFLAGS = $(chaos_cppflags)
ft_test_strace_allreduce_LDFLAGS = $(chaos_ldflags)
ft_test_strace_allreduce_LDADD = libftmpi.la

chaos_tests = \
	compat-tests/chaos/chaos.sh \
	compat-tests/chaos/check_replay.sh \
	compat-tests/chaos/diverge.sh \
	compat-tests/chaos/forget.sh \
	compat-tests/chaos/spill.sh \
	compat-tests/chaos/survive.sh
# These are about memory, speed and bare system calls, which sanitizers change.
chaos_plain_tests = \
	compat-tests/chaos/exact.sh \
	ft/test/strace.sh
chaos_alone_tests = \
	compat-tests/chaos/chaos512.sh \
	compat-tests/chaos/huge.sh
TESTS += $(chaos_tests)
# Its job must not end before its launcher processes have been killed one after the other.
tests_alone += compat-tests/chaos/keeper.sh
if !SANITIZED
TESTS += $(chaos_plain_tests)
tests_alone += $(chaos_alone_tests)
endif
EXTRA_DIST += compat-tests/chaos/keeper.sh $(chaos_tests) $(chaos_plain_tests) $(chaos_alone_tests) compat-tests/chaos/lib.sh compat-tests/chaos/chaos.py compat-tests/chaos/survive.py
tests_dist += compat-tests/chaos/diverge.sh compat-tests/chaos/exact.sh
