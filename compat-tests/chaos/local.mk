# SPDX-License-Identifier: BSD-3-Clause
# Real programs under real kills, and what the engine promises about system calls, memory and
# divergence. The programs are plain MPI: any mpicc compiles them too.
chaos_programs = \
	compat-tests/chaos/mixed \
	compat-tests/chaos/patterns \
	compat-tests/chaos/huge \
	compat-tests/chaos/diverge \
	compat-tests/chaos/stamp \
	compat-tests/chaos/ticks \
	compat-tests/chaos/early \
	compat-tests/chaos/threads compat-tests/chaos/threaded \
	compat-tests/chaos/strace_allreduce
check_PROGRAMS += $(chaos_programs)
compat_tests_chaos_mixed_SOURCES = compat-tests/chaos/mixed.c compat-tests/chaos/progress.h compat-tests/chaos/progress.c
compat_tests_chaos_patterns_SOURCES = compat-tests/chaos/patterns.h compat-tests/chaos/patterns.c compat-tests/chaos/patterns_messages.c \
	compat-tests/chaos/patterns_halves.c compat-tests/chaos/patterns_wholes.c compat-tests/chaos/patterns_gaps.c compat-tests/chaos/progress.h compat-tests/chaos/progress.c

compat_tests_chaos_threaded_SOURCES = compat-tests/chaos/threaded.c compat-tests/chaos/progress.h compat-tests/chaos/progress.c
compat_tests_chaos_threaded_LDADD = $(LDADD) -lpthread

chaos_tests = \
	compat-tests/chaos/check_replay.sh \
	compat-tests/chaos/diverge.sh \
	compat-tests/chaos/forget.sh \
	compat-tests/chaos/spill.sh compat-tests/chaos/ways.sh
chaos_long_tests = \
	compat-tests/chaos/chaos.sh \
	compat-tests/chaos/communicators.sh \
	compat-tests/chaos/counts.sh \
	compat-tests/chaos/messages.sh \
	compat-tests/chaos/survive.sh \
	compat-tests/chaos/threaded.sh
# These are about memory, speed and bare system calls, which sanitizers change.
chaos_plain_tests = \
	compat-tests/chaos/check_kills.sh \
	compat-tests/chaos/exact.sh \
	compat-tests/chaos/strace.sh
chaos_alone_tests = \
	compat-tests/chaos/chaos512.sh \
	compat-tests/chaos/huge.sh
TESTS += $(chaos_tests)
tests_first += $(chaos_long_tests)
# Its job must not end before its launcher processes have been killed one after the other.
tests_alone += compat-tests/chaos/keeper.sh
tests_unsanitized += compat-tests/chaos/keeper.sh
if !SANITIZED
TESTS += $(chaos_plain_tests)
tests_alone += $(chaos_alone_tests)
tests_long += $(chaos_alone_tests)
endif
EXTRA_DIST += compat-tests/chaos/keeper.sh $(chaos_tests) $(chaos_long_tests) $(chaos_plain_tests) $(chaos_alone_tests) compat-tests/chaos/chaos.py compat-tests/chaos/survive.py
tests_dist += compat-tests/chaos/survive.sh compat-tests/chaos/diverge.sh compat-tests/chaos/exact.sh
