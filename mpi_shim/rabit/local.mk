# SPDX-License-Identifier: BSD-3-Clause
# The engine of stock libxgboost 1.7, for LD_PRELOAD (ftrun --rabit).
lib_LTLIBRARIES += libftmpi_rabit.la
libftmpi_rabit_la_SOURCES = mpi_shim/rabit/engine.cc mpi_shim/rabit/world.h mpi_shim/rabit/world.c
libftmpi_rabit_la_LDFLAGS = -module -avoid-version -shared -Wl,--as-needed
libftmpi_rabit_la_LIBADD = libftmpi.la

# Checkpoints of XGBoost's training: in a directory of its own that is in the PYTHONPATH of ftrun --rabit's ranks; also in the build
# tree, by a link, so that what Python compiles stays out of the sources.
ftpythondir = $(libdir)/ftmpi/python
dist_ftpython_DATA = mpi_shim/rabit/ftmpi_xgboost.py
python_link = .libs/ftmpi/python/ftmpi_xgboost.py
all-local: $(python_link)
$(python_link): | libftmpi.la
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(LN_S) -f $(abs_top_srcdir)/mpi_shim/rabit/ftmpi_xgboost.py $@

# So that Python finds it without ftrun, too: a link where it looks for modules, if that is below the prefix, as /usr/local is on
# Debian. The Python that Debian's XGBoost is for goes first.
python_modules = ftmpi_xgboost.py ftmpi_lightgbm.py ftmpi_store.py
python_site = for python in /usr/bin/python3 python3; do $$python -c 'import site, sys; \
	print(next((d for d in site.getsitepackages() if d.startswith(sys.argv[1].rstrip("/") + "/lib")), ""))' '$(prefix)' \
	2>/dev/null && break; done
install-data-local: install-python-site
uninstall-local: uninstall-python-site
install-python-site: install-dist_ftpythonDATA
	@site=`$(python_site)`; test -z "$$site" || { $(MKDIR_P) "$(DESTDIR)$$site" && \
	  for module in $(python_modules); do ln -srf "$(DESTDIR)$(ftpythondir)/$$module" "$(DESTDIR)$$site/$$module" || exit 1; done; }
uninstall-python-site:
	@site=`$(python_site)`; test -z "$$site" || for module in $(python_modules); do rm -f "$(DESTDIR)$$site/$$module"; done
.PHONY: install-python-site uninstall-python-site

# Rabit's C API under Rabit's name, beside libmpi.so.40: only ftrun's ranks look there.
compat_LTLIBRARIES += librabit.la
librabit_la_SOURCES = mpi_shim/rabit/capi.c mpi_shim/rabit/c_api.h mpi_shim/rabit/world.h mpi_shim/rabit/world.c
librabit_la_LDFLAGS = -avoid-version -shared -Wl,--as-needed
librabit_la_LIBADD = libftmpi.la
rabitincludedir = $(ftmpiincludedir)/rabit
rabitinclude_HEADERS = mpi_shim/rabit/c_api.h
