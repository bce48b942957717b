# SPDX-License-Identifier: BSD-3-Clause
# What people build with: the compiler wrappers, pkg-config's file, and mpicc, mpiexec and so on under their usual names.
dist_man_MANS += docs/ftmpicc.1 docs/ftmpicxx.1 docs/ftmpi_info.1 docs/ftmpi.7
EXTRA_DIST += tools/ftmpicc.in tools/ftmpi.pc.in
tools_fill = sed -e 's|@VERSION[@]|$(VERSION)|g' -e 's|@CC[@]|$(CC)|g' -e 's|@CXX[@]|$(CXX)|g'

bin_PROGRAMS += ftmpi_info
ftmpi_info_SOURCES = tools/info.c tools/check.h tools/check.c tools/libraries.h tools/libraries.c tools/names.h tools/names.c
ftmpi_info_CPPFLAGS = $(AM_CPPFLAGS) -DBINDIR='"$(bindir)"' -DSYSCONFDIR='"$(sysconfdir)"'
ftmpi_info_LDADD = liblaunch.la

# For the build tree: beside ftrun, so that build/ftmpicc works as an installed one does.
noinst_SCRIPTS += ftmpicc ftmpicxx
ftmpicc: tools/ftmpicc.in Makefile
	$(AM_V_GEN)build=`pwd -P` && src=`cd $(top_srcdir) && pwd -P` && \
	  $(tools_fill) -e "s|@prefix[@]|$$build|" -e "s|@bindir[@]|$$build|" \
	  -e "s|@includedir[@]|$$src/mpi_shim|" -e "s|@libdir[@]|$$build/.libs|" \
	  $(top_srcdir)/tools/ftmpicc.in >$@.tmp && chmod +x $@.tmp && mv $@.tmp $@
ftmpicxx: ftmpicc
	$(AM_V_GEN)$(LN_S) -f ftmpicc $@

# For installation.
bin_SCRIPTS += tools/installed/ftmpicc
tools/installed/ftmpicc: tools/ftmpicc.in Makefile
	$(AM_V_GEN)$(MKDIR_P) tools/installed && $(tools_fill) -e 's|@prefix[@]|$(prefix)|' -e 's|@bindir[@]|$(bindir)|' \
	  -e 's|@includedir[@]|$(ftmpiincludedir)|' -e 's|@libdir[@]|$(libdir)|' \
	  $(top_srcdir)/tools/ftmpicc.in >$@.tmp && chmod +x $@.tmp && mv $@.tmp $@

# Paths below the prefix are written as such, so that pkg-config --define-prefix can move them.
pkgconfigdir = $(libdir)/pkgconfig
pkgconfig_DATA = tools/ftmpi.pc
tools/ftmpi.pc: tools/ftmpi.pc.in Makefile
	$(AM_V_GEN)$(MKDIR_P) tools && $(tools_fill) -e 's|@prefix[@]|$(prefix)|' -e 's|@exec_prefix[@]|$(exec_prefix)|' \
	  -e 's|@includedir[@]|$(ftmpiincludedir)|' -e 's|@libdir[@]|$(libdir)|' -e '/^exec_prefix=/!s|=$(prefix)/|=$${prefix}/|' \
	  $(top_srcdir)/tools/ftmpi.pc.in >$@.tmp && mv $@.tmp $@
CLEANFILES += ftmpicc ftmpicxx tools/installed/ftmpicc tools/ftmpi.pc

# Plain names live in a directory of their own, where they stand in nobody's way: lib/ftmpi/bin is for PATH, lib/ftmpi for MPI_HOME.
plainbindir = $(libdir)/ftmpi/bin
tools_links = ftmpicxx:ftmpicc ftmpic++:ftmpicc ftmpiexec:ftrun ftmpirun:ftrun
tools_plain_links = mpicc:ftmpicc mpicxx:ftmpicc mpic++:ftmpicc mpiCC:ftmpicc mpiexec:ftrun mpirun:ftrun

tools-install-links:
	@$(MKDIR_P) '$(DESTDIR)$(bindir)' '$(DESTDIR)$(plainbindir)'
	@set -e; for link in $(tools_links); do \
	  $(LN_S) -f $${link#*:} "$(DESTDIR)$(bindir)/$${link%:*}"; \
	done; for link in $(tools_plain_links); do \
	  ln -srf "$(DESTDIR)$(bindir)/$${link#*:}" "$(DESTDIR)$(plainbindir)/$${link%:*}"; \
	done

tools-uninstall-links:
	@for link in $(tools_links); do rm -f "$(DESTDIR)$(bindir)/$${link%:*}"; done
	@for link in $(tools_plain_links); do rm -f "$(DESTDIR)$(plainbindir)/$${link%:*}"; done
	@rm -rf '$(DESTDIR)$(ftpythondir)/__pycache__'
	@for d in '$(plainbindir)' '$(ftpythondir)' '$(libdir)/ftmpi'; do rmdir "$(DESTDIR)$$d" 2>/dev/null || :; done
.PHONY: tools-install-links tools-uninstall-links

install-exec-hook: tools-install-links
uninstall-hook: tools-uninstall-links
