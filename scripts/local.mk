# SPDX-License-Identifier: BSD-3-Clause
# Scripts for people and for CI, and checks of the tree and its documents that start no job.
EXTRA_DIST += scripts/messages.py scripts/packages.sh scripts/build.sh scripts/quickstart.sh scripts/tour.sh scripts/check.sh .ci/run
scripts_tests = scripts/test/man.sh scripts/test/walkthrough.sh scripts/test/failure_model.sh scripts/test/build.sh \
	scripts/test/portable.sh scripts/test/tests.sh scripts/test/messages.sh scripts/test/rules.sh scripts/test/texts.sh
EXTRA_DIST += $(scripts_tests)
if !SANITIZED
TESTS += $(scripts_tests)
endif
tests_dist += $(scripts_tests)

# Who includes whom, and what pure objects call: nothing that sanitizers would see.
TESTS += scripts/test/layers.sh
dist_check_SCRIPTS += scripts/test/layers.sh scripts/layers.py
EXTRA_DIST += scripts/layers.table launcher/README.md
tests_dist += scripts/test/layers.sh
tests_unsanitized += scripts/test/layers.sh
