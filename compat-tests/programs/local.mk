# SPDX-License-Identifier: BSD-3-Clause
# Programs that nobody wrote for these tests: stock ones, and what README.md and docs/recipes.md
# print.
include compat-tests/programs/xgboost/local.mk
include compat-tests/programs/mpi4py/local.mk
include compat-tests/programs/rabit/local.mk
include compat-tests/programs/lightgbm/local.mk
include compat-tests/programs/sockets/local.mk

# Any program that was built for Open MPI, ranks killed: for people.
EXTRA_DIST += compat-tests/programs/killed.py

# Not in a sanitized build: the README's program and the recipes' are not sanitized.
EXTRA_DIST += compat-tests/programs/readme.sh compat-tests/programs/recipes.sh compat-tests/programs/recipes.c
if !SANITIZED
TESTS += compat-tests/programs/recipes.sh
# Alone: a million operations of four ranks, within two minutes.
tests_alone += compat-tests/programs/readme.sh
endif
tests_dist += compat-tests/programs/readme.sh

# The programs in examples/. What is shown of them needs no run.
EXTRA_DIST += compat-tests/programs/examples.sh compat-tests/programs/shown.py
if !SANITIZED
TESTS += compat-tests/programs/examples.sh
endif
