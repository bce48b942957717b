# SPDX-License-Identifier: BSD-3-Clause
# The MPI library: one file per chapter over the engine.
lib_LTLIBRARIES += libftmpi.la
libftmpi_la_SOURCES = \
	mpi_shim/handle.h mpi_shim/handles.c \
	mpi_shim/shim.h mpi_shim/error.c \
	mpi_shim/predefined_types.c \
	mpi_shim/datatype.c \
	mpi_shim/layout.h mpi_shim/layout.c \
	mpi_shim/type_new.c mpi_shim/type_array.c mpi_shim/type_f90.c \
	mpi_shim/type_contents.h mpi_shim/type_contents.c \
	mpi_shim/pack.h mpi_shim/external.c mpi_shim/packing.c \
	mpi_shim/op.c \
	mpi_shim/init.c \
	mpi_shim/env.c \
	mpi_shim/comm.c \
	mpi_shim/comm_new.c mpi_shim/intercomm.c mpi_shim/intercomm_coll.c \
	mpi_shim/request.h mpi_shim/request.c \
	mpi_shim/send.c mpi_shim/receive.c mpi_shim/bsend.c \
	mpi_shim/persistent.c mpi_shim/wait.c mpi_shim/probe.c mpi_shim/status.c mpi_shim/grequest.c \
	mpi_shim/coll.c \
	mpi_shim/reduce.c \
	mpi_shim/attribute.c \
	mpi_shim/keyval.c \
	mpi_shim/name.c \
	mpi_shim/group.c \
	mpi_shim/info.c \
	mpi_shim/memory.c \
	mpi_shim/fortran.c \
	mpi_shim/fortran_callbacks.c \
	mpi_shim/wrappers.h mpi_shim/wrappers.c \
	mpi_shim/error_class.h mpi_shim/error_added.h mpi_shim/error_added.c mpi_shim/errhandler.c \
	mpi_shim/extension.c \
	mpi_shim/checkpoint.c \
	mpi_shim/cached.c \
	mpi_shim/store.c \
	mpi_shim/missing.h mpi_shim/missing.c
libftmpi_la_CFLAGS = $(AM_CFLAGS)
libftmpi_la_LDFLAGS = -version-info 0:0:0 -no-undefined -Wl,--version-script=$(srcdir)/mpi_shim/libftmpi.map
libftmpi_la_LIBADD = libft.la
EXTRA_libftmpi_la_DEPENDENCIES = mpi_shim/libftmpi.map
EXTRA_DIST += mpi_shim/libftmpi.map

# The same file under Open MPI's name, in a directory of its own that only ftrun's ranks look into; also in the build tree.
# The directory's place relative to libftmpi.so.0 is what launcher/base/library.c knows.
compat_link = .libs/ftmpi/libmpi.so.40
compat_rabit = .libs/ftmpi/librabit.so
all-local: $(compat_link) $(compat_rabit)
$(compat_rabit): | librabit.la
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(LN_S) -f ../librabit.so $@
$(compat_link): | libftmpi.la
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(LN_S) -f ../libftmpi.so.0 $@
install-exec-local: install-compat
uninstall-local: uninstall-compat
.PHONY: install-compat uninstall-compat
install-compat:
	$(MKDIR_P) "$(DESTDIR)$(libdir)/ftmpi"
	cd "$(DESTDIR)$(libdir)/ftmpi" && rm -f libmpi.so.40 && $(LN_S) ../libftmpi.so.0 libmpi.so.40
uninstall-compat: uninstall-compatLTLIBRARIES
	rm -f "$(DESTDIR)$(libdir)/ftmpi/libmpi.so.40"

ftmpiincludedir = $(includedir)/ftmpi
ftmpiinclude_HEADERS = mpi_shim/mpi.h mpi_shim/mpi_missing.h mpi_shim/mpicxx.h mpi_shim/ftmpi.h

include mpi_shim/rabit/local.mk
include mpi_shim/lightgbm/local.mk
include mpi_shim/store/local.mk
