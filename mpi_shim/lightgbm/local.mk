# SPDX-License-Identifier: BSD-3-Clause
# LightGBM's training over our collectives: beside ftmpi_xgboost.py, and found as that is (mpi_shim/rabit/local.mk).
dist_ftpython_DATA += mpi_shim/lightgbm/ftmpi_lightgbm.py
lightgbm_link = .libs/ftmpi/python/ftmpi_lightgbm.py
all-local: $(lightgbm_link)
$(lightgbm_link): | libftmpi.la
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(LN_S) -f $(abs_top_srcdir)/mpi_shim/lightgbm/ftmpi_lightgbm.py $@
