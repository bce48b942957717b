# SPDX-License-Identifier: BSD-3-Clause
liblaunch_la_SOURCES += \
	launcher/stdio/format.h launcher/stdio/format.c \
	launcher/stdio/forward.h launcher/stdio/forward.c \
	launcher/stdio/input.h launcher/stdio/input.c \
	launcher/stdio/lines.h launcher/stdio/lines.c \
	launcher/stdio/memory.h launcher/stdio/memory.c \
	launcher/stdio/merge.h launcher/stdio/merge.c \
	launcher/stdio/output.h launcher/stdio/output.c \
	launcher/stdio/output_dir.h launcher/stdio/output_dir.c \
	launcher/stdio/pump.h launcher/stdio/pump.c \
	launcher/stdio/relay.h launcher/stdio/relay.c \
	launcher/stdio/same.h launcher/stdio/same.c \
	launcher/stdio/sink.h launcher/stdio/sink.c \
	launcher/stdio/spool.h launcher/stdio/spool.c \
	launcher/stdio/stage.h launcher/stdio/stage.c \
	launcher/stdio/store.h launcher/stdio/store.c \
	launcher/stdio/writer.h launcher/stdio/writer.c

unit_tests += launcher/stdio/unit
launcher_stdio_unit_SOURCES = \
	launcher/stdio/format_test.c \
	launcher/stdio/lines_test.c \
	launcher/stdio/merge_test.c \
	launcher/stdio/sink_test.c \
	launcher/stdio/writer_test.c
launcher_stdio_unit_CFLAGS = $(unit_cflags)
launcher_stdio_unit_LDADD = $(launcher_unit_libs)

# Killed at each instruction. -z now: no instructions for the binding of symbols, one by one.
check_PROGRAMS += launcher/stdio/forward_crash launcher/stdio/merge_crash
TESTS += launcher/stdio/forward_crash launcher/stdio/merge_crash
launcher_stdio_forward_crash_SOURCES = launcher/stdio/forward_crash.c launcher/stdio/instruction.h launcher/stdio/instruction.c
launcher_stdio_forward_crash_LDADD = liblaunch.la
launcher_stdio_forward_crash_LDFLAGS = -Wl,-z,now
launcher_stdio_merge_crash_SOURCES = launcher/stdio/merge_crash.c launcher/stdio/instruction.h launcher/stdio/instruction.c
launcher_stdio_merge_crash_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
launcher_stdio_merge_crash_LDADD = liblaunch.la $(EVENT_LIBS)
launcher_stdio_merge_crash_LDFLAGS = -Wl,-z,now
# Sanitizers add many instructions; what runs is forwarding, as in all other tests.
tests_unsanitized += launcher/stdio/forward_crash launcher/stdio/merge_crash

check_PROGRAMS += launcher/stdio/marks
TESTS += launcher/stdio/marks
launcher_stdio_marks_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
launcher_stdio_marks_LDADD = liblaunch.la $(EVENT_LIBS)
