# SPDX-License-Identifier: BSD-3-Clause
# In allocations of Slurm's own programs, on this machine (lib/slurm.sh).
slurm_tests = \
	compat-tests/slurm/allocation.sh \
	compat-tests/slurm/batch.sh \
	compat-tests/slurm/lost.sh \
	compat-tests/slurm/rdzv.sh \
	compat-tests/slurm/requeue.sh
TESTS += $(slurm_tests)
# Slurm's programs were built without sanitizers; what they start has its tests elsewhere.
tests_unsanitized += $(slurm_tests)
EXTRA_DIST += $(slurm_tests)
