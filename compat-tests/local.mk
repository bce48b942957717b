# SPDX-License-Identifier: BSD-3-Clause
include compat-tests/xgboost/local.mk
include compat-tests/chaos/local.mk
include compat-tests/snapshot/local.mk
include compat-tests/cache/local.mk
include compat-tests/abi/local.mk
include compat-tests/wrappers/local.mk
include compat-tests/mpi4py/local.mk
include compat-tests/rabit/local.mk
include compat-tests/hosts/local.mk

# Not in a sanitized build: the README's program and the recipes' are not sanitized.
EXTRA_DIST += compat-tests/readme.sh compat-tests/recipes.sh compat-tests/recipes.c
if !SANITIZED
TESTS += compat-tests/recipes.sh
tests_alone += compat-tests/readme.sh
endif
tests_dist += compat-tests/readme.sh
