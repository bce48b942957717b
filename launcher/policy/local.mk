# SPDX-License-Identifier: BSD-3-Clause
liblaunch_la_SOURCES += \
	launcher/policy/nodes_policy.h launcher/policy/nodes_policy.c \
	launcher/policy/nodes_events.h launcher/policy/nodes_state.h launcher/policy/nodes_record.c \
	launcher/policy/phases.h launcher/policy/phases.c \
	launcher/policy/rank_policy.h launcher/policy/rank_policy.c

unit_tests += launcher/policy/unit
launcher_policy_unit_SOURCES = \
	launcher/policy/nodes_policy_test.c \
	launcher/policy/rank_policy_trace.h launcher/policy/rank_policy_test.c \
	launcher/policy/rank_policy_all_test.c
launcher_policy_unit_CFLAGS = $(unit_cflags)
launcher_policy_unit_LDADD = $(launcher_unit_libs)
