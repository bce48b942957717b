# SPDX-License-Identifier: BSD-3-Clause
# Stock mpi4py. Not in a sanitized build, like compat-tests/xgboost.
EXTRA_DIST += compat-tests/mpi4py/mpi4py.sh compat-tests/mpi4py/calls.py
if !SANITIZED
TESTS += compat-tests/mpi4py/mpi4py.sh
endif
