# SPDX-License-Identifier: BSD-3-Clause
liblaunch_la_SOURCES += \
	launcher/ckpt/series.h launcher/ckpt/series.c \
	launcher/ckpt/writer.h launcher/ckpt/writer.c
