# SPDX-License-Identifier: BSD-3-Clause
liblaunch_la_SOURCES += \
	launcher/policy/nodes_policy.h launcher/policy/nodes_policy.c \
	launcher/policy/phases.h launcher/policy/phases.c \
	launcher/policy/rank_policy.h launcher/policy/rank_policy.c
