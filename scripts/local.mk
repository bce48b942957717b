# SPDX-License-Identifier: BSD-3-Clause
# Scripts for people and for CI, and checks of the tree and its documents that start no job.
EXTRA_DIST += scripts/packages.sh scripts/build.sh scripts/quickstart.sh scripts/tour.sh scripts/check.sh .ci/run
scripts_tests = scripts/test/man.sh scripts/test/failure_model.sh scripts/test/build.sh
EXTRA_DIST += $(scripts_tests)
if !SANITIZED
TESTS += $(scripts_tests)
endif
tests_dist += $(scripts_tests)
