# SPDX-License-Identifier: BSD-3-Clause
# LightGBM's wheel, by its own sockets and over MPI. Not with sanitizers: Python is started with our library in it.
EXTRA_DIST += compat-tests/programs/lightgbm/lightgbm.sh compat-tests/programs/lightgbm/drive.py compat-tests/programs/lightgbm/train.py \
	compat-tests/programs/lightgbm/mpi_build.sh
if !SANITIZED
TESTS += compat-tests/programs/lightgbm/lightgbm.sh
endif
