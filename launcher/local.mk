# SPDX-License-Identifier: BSD-3-Clause
# ftrun. Everything but main is a convenience library, so that tests can link it.
noinst_LTLIBRARIES += liblaunch.la
liblaunch_la_SOURCES = \
	launcher/act.h launcher/act.c \
	launcher/agent.h launcher/agent.c \
	launcher/environ.h launcher/environ.c \
	launcher/job.h \
	launcher/limits.h launcher/limits.c \
	launcher/lines.h launcher/lines.c \
	launcher/loop.h launcher/loop.c \
	launcher/options.h launcher/options.c \
	launcher/output.h launcher/output.c \
	launcher/policy.h launcher/policy.c \
	launcher/program.h launcher/program.c \
	launcher/rabit.h launcher/rabit.c \
	launcher/ranks.h launcher/ranks.c \
	launcher/reap.h launcher/reap.c \
	launcher/report.h launcher/report.c \
	launcher/sampler.h launcher/sampler.c \
	launcher/say.h launcher/say.c \
	launcher/sink.h launcher/sink.c \
	launcher/spawn.h launcher/spawn.c \
	launcher/sweep.h launcher/sweep.c \
	launcher/topology.h launcher/topology.c \
	launcher/usage.h launcher/usage.c
liblaunch_la_CPPFLAGS = $(AM_CPPFLAGS) -DLIBDIR='"$(libdir)"'
liblaunch_la_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS) $(HWLOC_CFLAGS) $(JANSSON_CFLAGS) $(XXHASH_CFLAGS)
liblaunch_la_LIBADD = libft.la $(EVENT_LIBS) $(HWLOC_LIBS) $(JANSSON_LIBS) $(XXHASH_LIBS) -lpthread

bin_PROGRAMS += ftrun
ftrun_SOURCES = launcher/ftrun.c
ftrun_LDADD = liblaunch.la
