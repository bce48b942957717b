# SPDX-License-Identifier: BSD-3-Clause
include compat-tests/xgboost/local.mk
include compat-tests/chaos/local.mk
include compat-tests/abi/local.mk
include compat-tests/wrappers/local.mk
include compat-tests/mpi4py/local.mk

# Not in a sanitized build: the README's program is not sanitized.
EXTRA_DIST += compat-tests/readme.sh
if !SANITIZED
TESTS += compat-tests/readme.sh
endif
