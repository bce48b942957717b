# SPDX-License-Identifier: BSD-3-Clause
# Programs with files, children, timers and so on of their own, killed and put back (docs/snapshots.md).
snapshot_programs = \
	compat-tests/snapshot/once \
	compat-tests/snapshot/reads \
	compat-tests/snapshot/writes \
	compat-tests/snapshot/appends \
	compat-tests/snapshot/updates \
	compat-tests/snapshot/locks \
	compat-tests/snapshot/pipes \
	compat-tests/snapshot/children \
	compat-tests/snapshot/waits \
	compat-tests/snapshot/timers \
	compat-tests/snapshot/threads \
	compat-tests/snapshot/openmp \
	compat-tests/snapshot/input \
	compat-tests/snapshot/prints \
	compat-tests/snapshot/redirects \
	compat-tests/snapshot/memory \
	compat-tests/snapshot/state
check_PROGRAMS += $(snapshot_programs)
check_LTLIBRARIES += compat-tests/snapshot/librounds.la
compat_tests_snapshot_librounds_la_SOURCES = compat-tests/snapshot/rounds.h compat-tests/snapshot/rounds.c \
	compat-tests/chaos/progress.h compat-tests/chaos/progress.c
compat_tests_snapshot_librounds_la_CPPFLAGS = $(chaos_cppflags)
compat_tests_snapshot_librounds_la_LIBADD = libftmpi.la
compat_tests_snapshot_once_SOURCES = compat-tests/snapshot/once.c
compat_tests_snapshot_once_CPPFLAGS = $(chaos_cppflags)
compat_tests_snapshot_once_LDFLAGS = $(chaos_ldflags)
compat_tests_snapshot_once_LDADD = compat-tests/snapshot/librounds.la
compat_tests_snapshot_reads_SOURCES = compat-tests/snapshot/reads.c
compat_tests_snapshot_reads_CPPFLAGS = $(chaos_cppflags)
compat_tests_snapshot_reads_LDFLAGS = $(chaos_ldflags)
compat_tests_snapshot_reads_LDADD = compat-tests/snapshot/librounds.la
compat_tests_snapshot_writes_SOURCES = compat-tests/snapshot/writes.c
compat_tests_snapshot_writes_CPPFLAGS = $(chaos_cppflags)
compat_tests_snapshot_writes_LDFLAGS = $(chaos_ldflags)
compat_tests_snapshot_writes_LDADD = compat-tests/snapshot/librounds.la
compat_tests_snapshot_appends_SOURCES = compat-tests/snapshot/appends.c
compat_tests_snapshot_appends_CPPFLAGS = $(chaos_cppflags)
compat_tests_snapshot_appends_LDFLAGS = $(chaos_ldflags)
compat_tests_snapshot_appends_LDADD = compat-tests/snapshot/librounds.la
compat_tests_snapshot_updates_SOURCES = compat-tests/snapshot/updates.c
compat_tests_snapshot_updates_CPPFLAGS = $(chaos_cppflags)
compat_tests_snapshot_updates_LDFLAGS = $(chaos_ldflags)
compat_tests_snapshot_updates_LDADD = compat-tests/snapshot/librounds.la
compat_tests_snapshot_locks_SOURCES = compat-tests/snapshot/locks.c
compat_tests_snapshot_locks_CPPFLAGS = $(chaos_cppflags)
compat_tests_snapshot_locks_LDFLAGS = $(chaos_ldflags)
compat_tests_snapshot_locks_LDADD = compat-tests/snapshot/librounds.la
compat_tests_snapshot_pipes_SOURCES = compat-tests/snapshot/pipes.c
compat_tests_snapshot_pipes_CPPFLAGS = $(chaos_cppflags)
compat_tests_snapshot_pipes_LDFLAGS = $(chaos_ldflags)
compat_tests_snapshot_pipes_LDADD = compat-tests/snapshot/librounds.la
compat_tests_snapshot_children_SOURCES = compat-tests/snapshot/children.c
compat_tests_snapshot_children_CPPFLAGS = $(chaos_cppflags)
compat_tests_snapshot_children_LDFLAGS = $(chaos_ldflags)
compat_tests_snapshot_children_LDADD = compat-tests/snapshot/librounds.la
compat_tests_snapshot_waits_SOURCES = compat-tests/snapshot/waits.c
compat_tests_snapshot_waits_CPPFLAGS = $(chaos_cppflags)
compat_tests_snapshot_waits_LDFLAGS = $(chaos_ldflags)
compat_tests_snapshot_waits_LDADD = compat-tests/snapshot/librounds.la
compat_tests_snapshot_timers_SOURCES = compat-tests/snapshot/timers.c
compat_tests_snapshot_timers_CPPFLAGS = $(chaos_cppflags)
compat_tests_snapshot_timers_LDFLAGS = $(chaos_ldflags)
compat_tests_snapshot_timers_LDADD = compat-tests/snapshot/librounds.la
compat_tests_snapshot_threads_SOURCES = compat-tests/snapshot/threads.c
compat_tests_snapshot_threads_CPPFLAGS = $(chaos_cppflags)
compat_tests_snapshot_threads_LDFLAGS = $(chaos_ldflags)
compat_tests_snapshot_threads_LDADD = compat-tests/snapshot/librounds.la
compat_tests_snapshot_openmp_SOURCES = compat-tests/snapshot/openmp.c
compat_tests_snapshot_openmp_CPPFLAGS = $(chaos_cppflags)
compat_tests_snapshot_openmp_LDFLAGS = $(chaos_ldflags)
compat_tests_snapshot_openmp_LDADD = compat-tests/snapshot/librounds.la
compat_tests_snapshot_openmp_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
compat_tests_snapshot_input_SOURCES = compat-tests/snapshot/input.c
compat_tests_snapshot_input_CPPFLAGS = $(chaos_cppflags)
compat_tests_snapshot_input_LDFLAGS = $(chaos_ldflags)
compat_tests_snapshot_input_LDADD = compat-tests/snapshot/librounds.la
compat_tests_snapshot_prints_SOURCES = compat-tests/snapshot/prints.c
compat_tests_snapshot_prints_CPPFLAGS = $(chaos_cppflags)
compat_tests_snapshot_prints_LDFLAGS = $(chaos_ldflags)
compat_tests_snapshot_prints_LDADD = compat-tests/snapshot/librounds.la
compat_tests_snapshot_redirects_SOURCES = compat-tests/snapshot/redirects.c
compat_tests_snapshot_redirects_CPPFLAGS = $(chaos_cppflags)
compat_tests_snapshot_redirects_LDFLAGS = $(chaos_ldflags)
compat_tests_snapshot_redirects_LDADD = compat-tests/snapshot/librounds.la
compat_tests_snapshot_memory_SOURCES = compat-tests/snapshot/memory.c
compat_tests_snapshot_memory_CPPFLAGS = $(chaos_cppflags)
compat_tests_snapshot_memory_LDFLAGS = $(chaos_ldflags)
compat_tests_snapshot_memory_LDADD = compat-tests/snapshot/librounds.la
compat_tests_snapshot_state_SOURCES = compat-tests/snapshot/state.c
compat_tests_snapshot_state_CPPFLAGS = $(chaos_cppflags)
compat_tests_snapshot_state_LDFLAGS = $(chaos_ldflags)
compat_tests_snapshot_state_LDADD = compat-tests/snapshot/librounds.la -lm

snapshot_tests = compat-tests/snapshot/programs.sh
TESTS += $(snapshot_tests)
EXTRA_DIST += $(snapshot_tests) compat-tests/snapshot/programs.py
