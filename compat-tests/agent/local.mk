# SPDX-License-Identifier: BSD-3-Clause
# Jobs on one host: options, output, exit codes, signals, deaths and restarts, placement, reports.
agent_tests = \
	compat-tests/agent/usage.sh \
	compat-tests/agent/contexts.sh \
	compat-tests/agent/configure.sh \
	compat-tests/agent/spellings.sh \
	compat-tests/agent/placement.sh \
	compat-tests/agent/bad_input.sh \
	compat-tests/agent/exit_codes.sh \
	compat-tests/agent/output.sh \
	compat-tests/agent/as_it_comes.sh compat-tests/agent/tty.sh \
	compat-tests/agent/tracebacks.sh \
	compat-tests/agent/output_takeover.sh \
	compat-tests/agent/trees.sh \
	compat-tests/agent/twins.sh \
	compat-tests/agent/passed_on.sh \
	compat-tests/agent/traced.sh \
	compat-tests/agent/restart_all.sh \
	compat-tests/agent/signals.sh \
	compat-tests/agent/stdin.sh \
	compat-tests/agent/stdio.sh \
	compat-tests/agent/tags.sh \
	compat-tests/agent/terminal.sh \
	compat-tests/agent/environment.sh \
	compat-tests/agent/help.sh \
	compat-tests/agent/levels.sh \
	compat-tests/agent/report.sh \
	compat-tests/agent/report_kept.sh \
	compat-tests/agent/timeline.sh \
	compat-tests/agent/many.sh \
	compat-tests/agent/memory.sh \
	compat-tests/agent/spill_memory.sh \
	compat-tests/agent/oom.sh \
	compat-tests/agent/mpi_ends.sh \
	compat-tests/agent/deaths.sh \
	compat-tests/agent/timeouts.sh compat-tests/agent/deadlock.sh \
	compat-tests/agent/tracker.sh \
	compat-tests/agent/stress.sh
TESTS += $(agent_tests)
tests_first += compat-tests/agent/killat.sh
TESTS += compat-tests/agent/early.sh
# Alone: what a person types comes in order, and slowly.
tests_alone += compat-tests/agent/jobcontrol.sh
tests_unsanitized += compat-tests/agent/jobcontrol.sh

# They compile programs, or ask the preloaded library, or want snapshots to do without.
if !SANITIZED
TESTS += compat-tests/agent/other_mpi.sh compat-tests/agent/alone.sh compat-tests/agent/filtered.sh
endif
EXTRA_DIST += compat-tests/agent/other_mpi.sh compat-tests/agent/alone.sh compat-tests/agent/filtered.sh

check_PROGRAMS += compat-tests/agent/killat compat-tests/agent/ends compat-tests/agent/again compat-tests/agent/deaths compat-tests/agent/runs \
	compat-tests/agent/hog compat-tests/agent/deadlock
# It runs MPI programs and is none.
compat_tests_agent_killat_LDADD =
check_PROGRAMS += compat-tests/agent/deny
compat_tests_agent_deny_LDADD =
# For whoever looks for races by hand (docs/internals/invariants.md, "Orders that are rare").
check_LTLIBRARIES += compat-tests/agent/jitter.la
compat_tests_agent_jitter_la_SOURCES = compat-tests/agent/jitter.c
compat_tests_agent_jitter_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere
compat_tests_agent_jitter_la_LIBADD = -ldl
check_LTLIBRARIES += compat-tests/agent/nospace.la
compat_tests_agent_nospace_la_SOURCES = compat-tests/agent/nospace.c
compat_tests_agent_nospace_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere
compat_tests_agent_nospace_la_LIBADD = -ldl
EXTRA_DIST += $(agent_tests) compat-tests/agent/early.sh compat-tests/agent/killat.sh compat-tests/agent/jobcontrol.sh compat-tests/agent/stress.py compat-tests/agent/tracker.py
tests_dist += compat-tests/agent/usage.sh compat-tests/agent/configure.sh
# Sanitizers need a multiple of the memory.
tests_unsanitized += compat-tests/agent/memory.sh compat-tests/agent/oom.sh compat-tests/agent/spill_memory.sh
# It traces ftrun, which the leak sanitizer does not bear.
tests_unsanitized += compat-tests/agent/passed_on.sh
# What makes ranks buffer lines is not preloaded there.
tests_unsanitized += compat-tests/agent/as_it_comes.sh compat-tests/agent/tty.sh compat-tests/agent/tracebacks.sh
