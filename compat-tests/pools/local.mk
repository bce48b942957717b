# SPDX-License-Identifier: BSD-3-Clause
# Pools of threads of OpenMP, OpenBLAS, Python and joblib. Python was built without sanitizers.
EXTRA_DIST += compat-tests/pools/pools.sh compat-tests/pools/pools.py compat-tests/pools/omp.c compat-tests/pools/blas.py compat-tests/pools/python.py \
	compat-tests/pools/learn.py
if !SANITIZED
tests_first += compat-tests/pools/pools.sh
endif
