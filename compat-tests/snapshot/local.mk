# SPDX-License-Identifier: BSD-3-Clause
# Programs with files, children, timers and so on of their own, killed and put back
# (docs/snapshots.md).
snapshot_programs = \
	compat-tests/snapshot/once \
	compat-tests/snapshot/reads \
	compat-tests/snapshot/writes \
	compat-tests/snapshot/appends \
	compat-tests/snapshot/updates \
	compat-tests/snapshot/scratch \
	compat-tests/snapshot/past \
	compat-tests/snapshot/locks \
	compat-tests/snapshot/maps \
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
	compat-tests/snapshot/results \
	compat-tests/snapshot/state
check_PROGRAMS += $(snapshot_programs)
check_LTLIBRARIES += compat-tests/snapshot/librounds.la
compat_tests_snapshot_librounds_la_SOURCES = compat-tests/snapshot/rounds.h compat-tests/snapshot/rounds.c \
	compat-tests/chaos/progress.h compat-tests/chaos/progress.c
# Flags of its own: what it shares with programs is not compiled as for those.
compat_tests_snapshot_librounds_la_CFLAGS = $(AM_CFLAGS)
compat_tests_snapshot_librounds_la_LIBADD = libftmpi.la
compat_tests_snapshot_once_LDADD = compat-tests/snapshot/librounds.la
compat_tests_snapshot_reads_LDADD = compat-tests/snapshot/librounds.la
compat_tests_snapshot_writes_LDADD = compat-tests/snapshot/librounds.la
compat_tests_snapshot_appends_LDADD = compat-tests/snapshot/librounds.la
compat_tests_snapshot_updates_LDADD = compat-tests/snapshot/librounds.la
compat_tests_snapshot_scratch_LDADD = compat-tests/snapshot/librounds.la
compat_tests_snapshot_past_LDADD = compat-tests/snapshot/librounds.la
compat_tests_snapshot_locks_LDADD = compat-tests/snapshot/librounds.la
compat_tests_snapshot_maps_LDADD = compat-tests/snapshot/librounds.la
compat_tests_snapshot_pipes_LDADD = compat-tests/snapshot/librounds.la
compat_tests_snapshot_children_LDADD = compat-tests/snapshot/librounds.la
compat_tests_snapshot_waits_LDADD = compat-tests/snapshot/librounds.la
compat_tests_snapshot_timers_LDADD = compat-tests/snapshot/librounds.la
compat_tests_snapshot_threads_LDADD = compat-tests/snapshot/librounds.la
compat_tests_snapshot_openmp_LDADD = compat-tests/snapshot/librounds.la
compat_tests_snapshot_openmp_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
compat_tests_snapshot_input_LDADD = compat-tests/snapshot/librounds.la
compat_tests_snapshot_prints_LDADD = compat-tests/snapshot/librounds.la
compat_tests_snapshot_redirects_LDADD = compat-tests/snapshot/librounds.la
compat_tests_snapshot_memory_LDADD = compat-tests/snapshot/librounds.la
compat_tests_snapshot_results_LDADD = compat-tests/snapshot/librounds.la
compat_tests_snapshot_state_LDADD = compat-tests/snapshot/librounds.la -lm

tests_first += compat-tests/snapshot/programs.sh
EXTRA_DIST += compat-tests/snapshot/programs.sh compat-tests/snapshot/programs.py

# Snapshots themselves: made, woken, killed, refused, left behind by nobody.
snapshot_tests = \
	compat-tests/snapshot/snapat.sh \
	compat-tests/snapshot/snapends.sh \
	compat-tests/snapshot/snapfork.sh \
	compat-tests/snapshot/copied.sh \
	compat-tests/snapshot/zero.sh compat-tests/snapshot/plain.sh compat-tests/snapshot/used_again.sh compat-tests/snapshot/functions.sh compat-tests/snapshot/sockets_off.sh \
	compat-tests/snapshot/forsaken.sh \
	compat-tests/snapshot/astray.sh \
	compat-tests/snapshot/closed.sh compat-tests/snapshot/dumped.sh \
	compat-tests/snapshot/again.sh \
	compat-tests/snapshot/clocks.sh compat-tests/snapshot/sleeps.sh \
	compat-tests/snapshot/exec.sh \
	compat-tests/snapshot/switch.sh
TESTS += $(snapshot_tests)
check_PROGRAMS += compat-tests/snapshot/snapjob compat-tests/snapshot/copied compat-tests/snapshot/zero compat-tests/snapshot/functions compat-tests/snapshot/forsaken compat-tests/snapshot/again compat-tests/snapshot/clocks compat-tests/snapshot/sleeps
check_LTLIBRARIES += compat-tests/snapshot/nomem.la
compat_tests_snapshot_nomem_la_SOURCES = compat-tests/snapshot/nomem.c
compat_tests_snapshot_nomem_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere
compat_tests_snapshot_nomem_la_LIBADD = -ldl
EXTRA_DIST += $(snapshot_tests) compat-tests/snapshot/snapat.py compat-tests/snapshot/sockets_off.py
# Its ranks preload nomem.so, before the sanitizers' library, which wants to be the first.
tests_unsanitized += compat-tests/snapshot/snapfork.sh
# A build for sanitizers makes no snapshots (launcher/base/library.h).
tests_unsanitized += compat-tests/snapshot/snapat.sh compat-tests/snapshot/snapends.sh compat-tests/snapshot/programs.sh compat-tests/snapshot/copied.sh \
	compat-tests/snapshot/zero.sh compat-tests/snapshot/plain.sh compat-tests/snapshot/used_again.sh compat-tests/snapshot/functions.sh compat-tests/snapshot/sockets_off.sh compat-tests/snapshot/forsaken.sh compat-tests/snapshot/astray.sh compat-tests/snapshot/closed.sh compat-tests/snapshot/dumped.sh \
	compat-tests/snapshot/clocks.sh compat-tests/snapshot/sleeps.sh compat-tests/snapshot/exec.sh compat-tests/snapshot/switch.sh
