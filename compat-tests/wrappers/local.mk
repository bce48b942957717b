# SPDX-License-Identifier: BSD-3-Clause
# Debian's Fortran and C++ wrappers over our library. Not in a sanitized build, like compat-tests/abi.
EXTRA_DIST += compat-tests/wrappers/wrappers.sh compat-tests/wrappers/coll.f90 compat-tests/wrappers/f08.f90 compat-tests/wrappers/coll.cc
if !SANITIZED
TESTS += compat-tests/wrappers/wrappers.sh
endif
tests_dist += compat-tests/wrappers/wrappers.sh
