# SPDX-License-Identifier: BSD-3-Clause
# ftrun. Everything but main is a convenience library, so that tests can link it.
noinst_LTLIBRARIES += liblaunch.la
liblaunch_la_SOURCES =
include launcher/base/local.mk
include launcher/policy/local.mk
include launcher/options/local.mk
include launcher/wire/local.mk
include launcher/net/local.mk
include launcher/stdio/local.mk
include launcher/ckpt/local.mk
include launcher/report/local.mk
include launcher/control/local.mk
include launcher/start/local.mk
include launcher/job/local.mk
include launcher/snap/local.mk
include launcher/ranks/local.mk
include launcher/agent/local.mk
include launcher/node/local.mk
include launcher/controller/local.mk
liblaunch_la_CPPFLAGS = $(AM_CPPFLAGS) -DLIBDIR='"$(libdir)"' -DSYSCONFDIR='"$(sysconfdir)"'
liblaunch_la_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS) $(HWLOC_CFLAGS) $(JANSSON_CFLAGS) $(XXHASH_CFLAGS) $(CRYPTO_CFLAGS)
liblaunch_la_LIBADD = libftstore.la libft.la $(EVENT_LIBS) $(HWLOC_LIBS) $(JANSSON_LIBS) $(XXHASH_LIBS) $(CRYPTO_LIBS) -lpthread

bin_PROGRAMS += ftrun
ftrun_SOURCES = launcher/ftrun.c
ftrun_LDADD = liblaunch.la

# Real runs. top_builddir tells them where ftrun is.
launch_shell_tests = \
	launcher/test/usage.sh \
	launcher/test/contexts.sh \
	launcher/test/configure.sh \
	launcher/test/spellings.sh \
	launcher/test/placement.sh \
	launcher/test/bad_input.sh \
	launcher/test/exit_codes.sh \
	launcher/test/output.sh \
	launcher/test/output_takeover.sh \
	launcher/test/trees.sh \
	launcher/test/twins.sh \
	launcher/test/snapat.sh \
	launcher/test/versionsat.sh \
	launcher/test/snapends.sh \
	launcher/test/snapfork.sh \
	launcher/test/copied.sh \
	launcher/test/traced.sh \
	launcher/test/restart_all.sh \
	launcher/test/signals.sh \
	launcher/test/stdin.sh \
	launcher/test/stdio.sh \
	launcher/test/tags.sh \
	launcher/test/terminal.sh \
	launcher/test/environment.sh \
	launcher/test/report.sh \
	launcher/test/resume.sh \
	launcher/test/resume_hosts.sh \
	launcher/test/large.sh \
	launcher/test/resumeat.sh \
	launcher/test/timeline.sh \
	launcher/test/many.sh \
	launcher/test/mpi_ends.sh \
	launcher/test/deaths.sh \
	launcher/test/control.sh \
	launcher/test/attach.sh \
	launcher/test/status.sh \
	launcher/test/hosts.sh \
	launcher/test/hosts_options.sh \
	launcher/test/tree.sh \
	launcher/test/hosts_doc.sh \
	launcher/test/timeouts.sh \
	launcher/test/node.sh \
	launcher/test/stress.sh
TESTS += $(launch_shell_tests)
tests_first += launcher/test/killat.sh
# Alone: what a person types comes in order, and slowly.
tests_alone += launcher/test/jobcontrol.sh
# Alone: the kernel does not say whose process it killed for want of memory, so jobs beside it would take deaths by SIGKILL for that.
tests_alone += launcher/test/oom.sh

# killat runs MPI programs and is none.
check_PROGRAMS += launcher/test/killat launcher/test/snapjob launcher/test/resumejob launcher/test/largejob launcher/test/ends launcher/test/again \
	launcher/test/deaths launcher/test/waits launcher/test/copied
launcher_test_killat_LDADD =
check_LTLIBRARIES += launcher/test/nomem.la launcher/test/jitter.la
launcher_test_nomem_la_SOURCES = launcher/test/nomem.c
launcher_test_nomem_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere
launcher_test_nomem_la_LIBADD = -ldl
# For whoever looks for races by hand (docs/design.md, section 8).
launcher_test_jitter_la_SOURCES = launcher/test/jitter.c
launcher_test_jitter_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere
launcher_test_jitter_la_LIBADD = -ldl
EXTRA_DIST += $(launch_shell_tests) launcher/test/killat.sh launcher/test/jobcontrol.sh launcher/test/oom.sh launcher/test/lib.sh launcher/test/hosts_lib.sh launcher/test/resume_lib.sh launcher/test/stress.py launcher/test/node.py launcher/test/snapat.py launcher/test/snaplib.sh
AM_TESTS_ENVIRONMENT = top_builddir='$(abs_top_builddir)'; top_srcdir='$(abs_top_srcdir)'; sanitized='$(FT_SAN)'; XDG_CONFIG_HOME=/nonexistent; export XDG_CONFIG_HOME top_builddir top_srcdir sanitized;

dist_man_MANS += docs/ftrun.1
tests_dist += launcher/test/usage.sh launcher/test/configure.sh
# Its ranks preload nomem.so, before the sanitizers' library, which wants to be the first.
tests_unsanitized += launcher/test/snapfork.sh
# Sanitizers need a multiple of the memory.
tests_unsanitized += launcher/test/oom.sh
