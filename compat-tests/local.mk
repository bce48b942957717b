# SPDX-License-Identifier: BSD-3-Clause
include compat-tests/xgboost/local.mk
include compat-tests/chaos/local.mk
include compat-tests/abi/local.mk
