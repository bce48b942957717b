# SPDX-License-Identifier: BSD-3-Clause
liblaunch_la_SOURCES += launcher/values/server.h launcher/values/server.c
