# SPDX-License-Identifier: BSD-3-Clause
# The job's store for Python: beside ftmpi_xgboost.py, and found as that is (mpi_shim/rabit/local.mk).
dist_ftpython_DATA += mpi_shim/store/ftmpi_store.py
store_link = .libs/ftmpi/python/ftmpi_store.py
all-local: $(store_link)
$(store_link): | libftmpi.la
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(LN_S) -f $(abs_top_srcdir)/mpi_shim/store/ftmpi_store.py $@
