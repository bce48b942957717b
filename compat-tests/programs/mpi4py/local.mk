# SPDX-License-Identifier: BSD-3-Clause
# Stock mpi4py. Not in a sanitized build, like compat-tests/programs/xgboost.
EXTRA_DIST += compat-tests/programs/mpi4py/mpi4py.sh compat-tests/programs/mpi4py/wheel.sh compat-tests/programs/mpi4py/import.sh compat-tests/programs/mpi4py/calls.py \
	compat-tests/programs/mpi4py/own.sh compat-tests/programs/mpi4py/own.py
if !SANITIZED
TESTS += compat-tests/programs/mpi4py/mpi4py.sh compat-tests/programs/mpi4py/wheel.sh compat-tests/programs/mpi4py/import.sh compat-tests/programs/mpi4py/own.sh
endif
