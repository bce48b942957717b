# SPDX-License-Identifier: BSD-3-Clause
# Ranks with threads: all that a thread can be or wait in, by seeds. Not MPI programs.
if !SANITIZED
check_PROGRAMS += compat-tests/threads/torture compat-tests/threads/torture_cpp
compat_tests_threads_torture_SOURCES = compat-tests/threads/torture.h compat-tests/threads/torture.c compat-tests/threads/costume.c \
	compat-tests/threads/locks.c compat-tests/threads/lives.c compat-tests/threads/cancels.c compat-tests/threads/calls.c compat-tests/threads/bodies.c \
	compat-tests/threads/mapped.c
compat_tests_threads_torture_CFLAGS = $(AM_CFLAGS) -U_FORTIFY_SOURCE
compat_tests_threads_torture_LDADD = -lm -ldl
compat_tests_threads_torture_cpp_SOURCES = compat-tests/threads/torture_cpp.cpp
compat_tests_threads_torture_cpp_LDADD =
# Loaded by it: a library with storage in the static block, and one whose storage is allocated when a thread comes to it.
check_LTLIBRARIES += compat-tests/threads/storage_static.la compat-tests/threads/storage_dynamic.la
compat_tests_threads_storage_static_la_SOURCES = compat-tests/threads/storage.c
compat_tests_threads_storage_static_la_CFLAGS = $(AM_CFLAGS) -ftls-model=initial-exec
compat_tests_threads_storage_static_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere
compat_tests_threads_storage_dynamic_la_SOURCES = compat-tests/threads/storage.c
compat_tests_threads_storage_dynamic_la_CFLAGS = $(AM_CFLAGS) -ftls-model=global-dynamic
compat_tests_threads_storage_dynamic_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere
check_PROGRAMS += compat-tests/threads/unnoticed
compat_tests_threads_unnoticed_SOURCES = compat-tests/threads/unnoticed.h compat-tests/threads/unnoticed.c compat-tests/threads/waits.c \
	compat-tests/threads/slow.c compat-tests/threads/signs.c
compat_tests_threads_unnoticed_CFLAGS = $(AM_CFLAGS) -U_FORTIFY_SOURCE
compat_tests_threads_unnoticed_LDADD =
check_PROGRAMS += compat-tests/threads/many compat-tests/threads/computes compat-tests/threads/lasts compat-tests/threads/asks compat-tests/threads/jumps compat-tests/threads/ticks
compat_tests_threads_many_LDADD =
compat_tests_threads_computes_LDADD =
compat_tests_threads_lasts_LDADD =
compat_tests_threads_asks_LDADD =
compat_tests_threads_jumps_LDADD =
compat_tests_threads_ticks_LDADD =
TESTS += compat-tests/threads/many.sh compat-tests/threads/computes.sh compat-tests/threads/lasts.sh compat-tests/threads/asks.sh compat-tests/threads/jumps.sh compat-tests/threads/ticks.sh
tests_first += compat-tests/threads/torture.sh compat-tests/threads/mapped.sh compat-tests/threads/unnoticed.sh compat-tests/threads/falsified.sh
endif
EXTRA_DIST += compat-tests/threads/many.sh compat-tests/threads/computes.sh compat-tests/threads/lasts.sh compat-tests/threads/asks.sh compat-tests/threads/jumps.sh compat-tests/threads/ticks.sh compat-tests/threads/torture.sh compat-tests/threads/mapped.sh compat-tests/threads/torture.py compat-tests/threads/unnoticed.sh compat-tests/threads/falsified.sh compat-tests/threads/chroot.sh
