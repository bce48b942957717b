# SPDX-License-Identifier: BSD-3-Clause
# The engine of stock libxgboost 1.7, for LD_PRELOAD (ftrun --rabit).
lib_LTLIBRARIES += libftmpi_rabit.la
libftmpi_rabit_la_SOURCES = mpi_shim/rabit/engine.cc mpi_shim/rabit/world.h mpi_shim/rabit/world.c
libftmpi_rabit_la_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/mpi_shim
libftmpi_rabit_la_LDFLAGS = -module -avoid-version -shared -Wl,--as-needed
libftmpi_rabit_la_LIBADD = libftmpi.la

# Rabit's C API under Rabit's name, beside libmpi.so.40: only ftrun's ranks look there.
compatdir = $(libdir)/ftmpi
compat_LTLIBRARIES = librabit.la
librabit_la_SOURCES = mpi_shim/rabit/capi.c mpi_shim/rabit/c_api.h mpi_shim/rabit/world.h mpi_shim/rabit/world.c
librabit_la_CPPFLAGS = $(libftmpi_rabit_la_CPPFLAGS)
librabit_la_LDFLAGS = -avoid-version -shared -Wl,--as-needed
librabit_la_LIBADD = libftmpi.la
rabitincludedir = $(ftmpiincludedir)/rabit
rabitinclude_HEADERS = mpi_shim/rabit/c_api.h
