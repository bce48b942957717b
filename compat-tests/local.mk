# SPDX-License-Identifier: BSD-3-Clause
# Whatever starts a job, by kind.
# What tests have in common (README.md).
EXTRA_DIST += compat-tests/lib/test.sh compat-tests/lib/hosts.sh compat-tests/lib/lab.sh compat-tests/lib/launch.sh compat-tests/lib/checkpoints.sh \
	compat-tests/lib/snapshots.sh compat-tests/lib/stage.sh compat-tests/lib/ftmpitest.py compat-tests/.shellcheckrc

include compat-tests/agent/local.mk
include compat-tests/control/local.mk
include compat-tests/snapshot/local.mk
include compat-tests/checkpoint/local.mk
include compat-tests/hosts/local.mk
include compat-tests/chaos/local.mk
include compat-tests/abi/local.mk
include compat-tests/programs/local.mk
include compat-tests/benchmarks/local.mk
