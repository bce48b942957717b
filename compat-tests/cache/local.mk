# SPDX-License-Identifier: BSD-3-Clause
# The bootstrap cache: a program that does something once, and comes back to it after a death (docs/design.md, section 18).
check_PROGRAMS += compat-tests/cache/boot compat-tests/cache/misuse
TESTS += compat-tests/cache/boot.sh compat-tests/cache/boot_hosts.sh
EXTRA_DIST += compat-tests/cache/boot.sh compat-tests/cache/boot_hosts.sh
