# SPDX-License-Identifier: BSD-3-Clause
# The engine of stock libxgboost 1.7, for LD_PRELOAD (ftrun --rabit).
lib_LTLIBRARIES += libftmpi_rabit.la
libftmpi_rabit_la_SOURCES = mpi_shim/rabit/engine.cc mpi_shim/rabit/world.h mpi_shim/rabit/world.c
libftmpi_rabit_la_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/mpi_shim
libftmpi_rabit_la_LDFLAGS = -module -avoid-version -shared -Wl,--as-needed
libftmpi_rabit_la_LIBADD = libftmpi.la
