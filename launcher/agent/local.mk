# SPDX-License-Identifier: BSD-3-Clause
liblaunch_la_SOURCES += \
	launcher/agent/act.h launcher/agent/act.c \
	launcher/agent/adopt.h launcher/agent/adopt.c \
	launcher/agent/agent.h launcher/agent/agent.c \
	launcher/agent/control_job.h launcher/agent/control_job.c \
	launcher/agent/deadlines.h launcher/agent/deadlines.c \
	launcher/agent/happens.h launcher/agent/happens.c \
	launcher/agent/jobmem.h launcher/agent/jobmem.c \
	launcher/agent/loop.h launcher/agent/loop.c \
	launcher/agent/bindings.h launcher/agent/bindings.c \
	launcher/agent/sampler.h launcher/agent/sampler.c \
	launcher/agent/recording.h launcher/agent/recording.c \
	launcher/agent/state.h \
	launcher/agent/status.h launcher/agent/status.c \
	launcher/agent/store.h launcher/agent/store.c \
	launcher/agent/streams.h launcher/agent/streams.c \
	launcher/agent/sweep.h launcher/agent/sweep.c \
	launcher/agent/tracking.h launcher/agent/tracking.c \
	launcher/agent/watch.h launcher/agent/watch.c
