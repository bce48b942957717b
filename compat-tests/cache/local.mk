# SPDX-License-Identifier: BSD-3-Clause
# The bootstrap cache: a program that does something once, and comes back to it after a death (docs/design.md, section 18).
check_PROGRAMS += compat-tests/cache/boot
compat_tests_cache_boot_SOURCES = compat-tests/cache/boot.c
compat_tests_cache_boot_CPPFLAGS = $(chaos_cppflags)
compat_tests_cache_boot_LDFLAGS = $(chaos_ldflags)
compat_tests_cache_boot_LDADD = libftmpi.la
check_PROGRAMS += compat-tests/cache/misuse
compat_tests_cache_misuse_SOURCES = compat-tests/cache/misuse.c
compat_tests_cache_misuse_CPPFLAGS = $(chaos_cppflags)
compat_tests_cache_misuse_LDFLAGS = $(chaos_ldflags)
compat_tests_cache_misuse_LDADD = libftmpi.la
TESTS += compat-tests/cache/boot.sh
EXTRA_DIST += compat-tests/cache/boot.sh
