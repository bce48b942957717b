# SPDX-License-Identifier: BSD-3-Clause
# The MPI library: one file per chapter over the engine.
lib_LTLIBRARIES += libftmpi.la
libftmpi_la_SOURCES = \
	mpi_shim/handle.h mpi_shim/handles.c \
	mpi_shim/shim.h mpi_shim/error.c \
	mpi_shim/predefined_types.c \
	mpi_shim/datatype.c \
	mpi_shim/op.c \
	mpi_shim/init.c \
	mpi_shim/env.c \
	mpi_shim/comm.c \
	mpi_shim/coll.c \
	mpi_shim/reduce.c \
	mpi_shim/attribute.c \
	mpi_shim/error_class.h mpi_shim/errhandler.c \
	mpi_shim/extension.c
libftmpi_la_CFLAGS = $(AM_CFLAGS)
libftmpi_la_LDFLAGS = -version-info 0:0:0 -no-undefined -Wl,--version-script=$(srcdir)/mpi_shim/libftmpi.map
libftmpi_la_LIBADD = libft.la
EXTRA_libftmpi_la_DEPENDENCIES = mpi_shim/libftmpi.map
EXTRA_DIST += mpi_shim/libftmpi.map

ftmpiincludedir = $(includedir)/ftmpi
ftmpiinclude_HEADERS = mpi_shim/mpi.h mpi_shim/ftmpi.h

include mpi_shim/rabit/local.mk
