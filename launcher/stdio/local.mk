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
	launcher/stdio/relay.h launcher/stdio/relay.c \
	launcher/stdio/sink.h launcher/stdio/sink.c \
	launcher/stdio/spool.h launcher/stdio/spool.c \
	launcher/stdio/store.h launcher/stdio/store.c
