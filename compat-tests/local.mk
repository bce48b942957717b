# SPDX-License-Identifier: BSD-3-Clause
# Whatever starts a job, by kind.
EXTRA_DIST += compat-tests/lib/base.sh compat-tests/lib/lib.sh compat-tests/lib/chaos_lib.sh compat-tests/lib/hosts_lib.sh compat-tests/lib/lab.sh compat-tests/lib/lab_lib.sh \
	compat-tests/lib/launch.sh compat-tests/lib/resume_lib.sh compat-tests/lib/snaplib.sh compat-tests/lib/stage.sh

include compat-tests/agent/local.mk
include compat-tests/control/local.mk
include compat-tests/snapshot/local.mk
include compat-tests/checkpoint/local.mk
include compat-tests/hosts/local.mk
include compat-tests/chaos/local.mk
include compat-tests/abi/local.mk
include compat-tests/programs/local.mk
include compat-tests/benchmarks/local.mk
