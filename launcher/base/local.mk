# SPDX-License-Identifier: BSD-3-Clause
liblaunch_la_SOURCES += \
	launcher/base/address.h launcher/base/address.c \
	launcher/base/bytes.h launcher/base/bytes.c \
	launcher/base/cgroup.h launcher/base/cgroup.c \
	launcher/base/child.h launcher/base/child.c \
	launcher/base/elf.h launcher/base/elf.c \
	launcher/base/elf_names.h launcher/base/elf_names.c \
	launcher/base/kill.h launcher/base/kill.c \
	launcher/base/library.h launcher/base/library.c \
	launcher/base/limits.h launcher/base/limits.c \
	launcher/base/memory.h launcher/base/memory.c \
	launcher/base/needs.h launcher/base/needs.c \
	launcher/base/nearest.h launcher/base/nearest.c \
	launcher/base/outfile.h launcher/base/outfile.c \
	launcher/base/pass.h launcher/base/pass.c \
	launcher/base/pidfd.h launcher/base/pidfd.c \
	launcher/base/procstat.h launcher/base/procstat.c \
	launcher/base/proctext.h launcher/base/proctext.c \
	launcher/base/reap.h launcher/base/reap.c \
	launcher/base/say.h launcher/base/say.c \
	launcher/base/shared.h launcher/base/shared.c \
	launcher/base/signals.h launcher/base/signals.c \
	launcher/base/thread.h launcher/base/thread.c \
	launcher/base/timer.h launcher/base/timer.c \
	launcher/base/usage.h launcher/base/usage.c

unit_tests += launcher/base/unit
launcher_base_unit_SOURCES = \
	launcher/base/address_test.c \
	launcher/base/kill_test.c \
	launcher/base/memory_test.c \
	launcher/base/reap_test.c \
	launcher/base/signals_test.c
launcher_base_unit_CFLAGS = $(unit_cflags)
launcher_base_unit_LDADD = $(launcher_unit_libs)
