# SPDX-License-Identifier: BSD-3-Clause
# What a rank has preloaded: its calls to the outside are recorded, and given again.
noinst_LTLIBRARIES += liboutcome.la
liboutcome_la_SOURCES = \
	ft/outcome/kinds.h \
	ft/outcome/log.h ft/outcome/log.c \
	ft/outcome/record.h ft/outcome/record.c \
	ft/outcome/descriptors.h ft/outcome/descriptors.c \
	ft/outcome/copies.h ft/outcome/copies.c \
	ft/outcome/pipes.h ft/outcome/pipes.c \
	ft/outcome/real.h ft/outcome/real_names.h ft/outcome/real.c \
	ft/outcome/wrap_open.c ft/outcome/wrap_read.c ft/outcome/wrap_write.c
liboutcome_la_CFLAGS = $(AM_CFLAGS) -U_FORTIFY_SOURCE -fvisibility=default
liboutcome_la_LIBADD = libft.la

# Ranks of tests, without a launcher: an agent, and what it preloads.
if !SANITIZED
check_PROGRAMS += outcome_agent
outcome_agent_SOURCES = ft/outcome/test/shared.h ft/outcome/test/agent.c
outcome_agent_LDADD = liboutcome.la libft.la
check_LTLIBRARIES += liboutcome_test.la
liboutcome_test_la_SOURCES = ft/outcome/test/start.c
liboutcome_test_la_LIBADD = liboutcome.la
liboutcome_test_la_LDFLAGS = -module -avoid-version -rpath /nonexistent
endif
