# SPDX-License-Identifier: BSD-3-Clause
liblaunch_la_SOURCES += \
	launcher/wire/calls.h launcher/wire/calls.c \
	launcher/wire/description.h launcher/wire/description.c \
	launcher/wire/greeting.h launcher/wire/greeting.c \
	launcher/wire/models.h launcher/wire/models.c \
	launcher/wire/shares.h launcher/wire/shares.c \
	launcher/wire/store.h launcher/wire/store.c \
	launcher/wire/wire.h launcher/wire/wire.c

unit_tests += launcher/wire/unit
launcher_wire_unit_SOURCES = \
	launcher/wire/description_test.c \
	launcher/wire/greeting_test.c \
	launcher/wire/shares_test.c \
	launcher/wire/wire_test.c
launcher_wire_unit_CFLAGS = $(unit_cflags)
launcher_wire_unit_LDADD = $(launcher_unit_libs)

# Frames of arbitrary bytes.
check_PROGRAMS += fuzz_wire_plain
fuzz_wire_plain_SOURCES = launcher/wire/fuzz_wire.c launcher/wire/fuzz_wire_seeds.c $(fuzz_driver)
fuzz_wire_plain_LDADD = liblaunch.la $(JANSSON_LIBS)
