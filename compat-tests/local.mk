# SPDX-License-Identifier: BSD-3-Clause
# Whatever starts a job, by kind.
# What tests have in common.
EXTRA_DIST += compat-tests/README.md compat-tests/lib/test.sh compat-tests/lib/hosts.sh compat-tests/lib/lab.sh compat-tests/lib/launch.sh compat-tests/lib/checkpoints.sh \
	compat-tests/lib/memory.sh compat-tests/lib/openmpi.sh compat-tests/lib/plain.sh compat-tests/lib/snapshots.sh compat-tests/lib/boosted.py \
	compat-tests/lib/slurm.sh compat-tests/lib/stage.sh compat-tests/lib/stops.sh compat-tests/lib/ftmpitest.py compat-tests/lib/outside.h compat-tests/lib/outside.py compat-tests/lib/wheel.py compat-tests/.shellcheckrc

# One installation for all tests (lib/stage.sh), moved to a path with a space. It is there before
# any test starts: `make install` links again, and takes the library away meanwhile. The stamp holds
# the prefix that was configured.
if !SANITIZED
check_DATA = compat-tests/staged
endif
compat-tests/staged: $(bin_PROGRAMS) $(bin_SCRIPTS) $(lib_LTLIBRARIES) $(compat_LTLIBRARIES) $(pkgconfig_DATA) $(dist_man_MANS) \
		$(ftmpiinclude_HEADERS) $(rabitinclude_HEADERS) $(dist_ftpython_DATA) | $(check_PROGRAMS) $(check_LTLIBRARIES)
	$(AM_V_GEN)$(MKDIR_P) compat-tests && rm -rf compat-tests/staging 'compat-tests/moved here' && \
	  { $(MAKE) $(AM_MAKEFLAGS) install DESTDIR="`pwd`/compat-tests/staging" >compat-tests/staging.log 2>&1 || \
	    { tail compat-tests/staging.log; exit 1; }; } && \
	  mkdir 'compat-tests/moved here' && mv "compat-tests/staging$(prefix)" 'compat-tests/moved here/ftmpi' && \
	  rm -rf compat-tests/staging && echo '$(prefix)' >$@
clean-local:
	rm -rf compat-tests/staged compat-tests/staging compat-tests/staging.log 'compat-tests/moved here'

include compat-tests/agent/local.mk
include compat-tests/control/local.mk
include compat-tests/snapshot/local.mk
include compat-tests/threads/local.mk
include compat-tests/checkpoint/local.mk
include compat-tests/store/local.mk
include compat-tests/hosts/local.mk
include compat-tests/slurm/local.mk
include compat-tests/rdzv/local.mk
include compat-tests/kubernetes/local.mk
include compat-tests/chaos/local.mk
include compat-tests/abi/local.mk
include compat-tests/programs/local.mk
include compat-tests/xgboost3/local.mk
include compat-tests/pools/local.mk
include compat-tests/pytorch/local.mk
include compat-tests/benchmarks/local.mk
