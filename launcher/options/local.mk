# SPDX-License-Identifier: BSD-3-Clause
liblaunch_la_SOURCES += \
	launcher/options/appfile.h launcher/options/appfile.c \
	launcher/options/configure.h launcher/options/configure.c \
	launcher/options/environment.h launcher/options/environment.c \
	launcher/options/help.h launcher/options/help.c \
	launcher/options/hosts.h launcher/options/hosts.c \
	launcher/options/identity.h launcher/options/identity.c \
	launcher/options/kubernetes.h launcher/options/kubernetes.c \
	launcher/options/map.h launcher/options/map.c \
	launcher/options/mpirun.h launcher/options/mpirun.c \
	launcher/options/nodelist.h launcher/options/nodelist.c \
	launcher/options/options.h launcher/options/options.c \
	launcher/options/parse.h launcher/options/parse.c \
	launcher/options/placement.h launcher/options/placement.c \
	launcher/options/program.h launcher/options/program.c \
	launcher/options/readers.h launcher/options/readers.c \
	launcher/options/rendezvous.h launcher/options/rendezvous.c \
	launcher/options/settings.h launcher/options/settings.c \
	launcher/options/slurm.h launcher/options/slurm.c \
	launcher/options/topology.h launcher/options/topology.c \
	launcher/options/values.h launcher/options/values.c

unit_tests += launcher/options/unit
launcher_options_unit_SOURCES = \
	launcher/options/kubernetes_test.c \
	launcher/options/mpirun_test.c \
	launcher/options/options_test.c \
	launcher/options/rendezvous_test.c \
	launcher/options/slurm_test.c launcher/options/test_line.h
launcher_options_unit_CFLAGS = $(unit_cflags)
launcher_options_unit_LDADD = $(launcher_unit_libs)
