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

# Unit tests of the pure parts; without Criterion they are one SKIP.
launch_unit_tests = launcher/test/policy_test launcher/test/policy_all_test launcher/test/lines_test launcher/test/format_test launcher/test/signals_test launcher/test/options_test \
	launcher/test/report_test launcher/test/timeline_test launcher/test/cadence_test launcher/test/address_test launcher/test/probe_test launcher/test/wire_test \
	launcher/test/description_test launcher/test/nodes_policy_test \
	launcher/test/merge_test launcher/test/node_durable_test launcher/test/oom_test launcher/test/remote_test launcher/test/shares_test launcher/test/reap_test launcher/test/twin_test
launch_unit_cflags = $(AM_CFLAGS) $(CRITERION_CFLAGS) $(XXHASH_CFLAGS)
launch_unit_libs = liblaunch.la $(CRITERION_LIBS)
if HAVE_CRITERION
check_PROGRAMS += $(launch_unit_tests)
TESTS += $(launch_unit_tests)
else
TESTS += launcher/test/no_criterion.sh
endif
EXTRA_DIST += launcher/test/policy_trace.h
launcher_test_policy_test_CFLAGS = $(launch_unit_cflags)
launcher_test_policy_test_LDADD = $(launch_unit_libs)
launcher_test_policy_all_test_CFLAGS = $(launch_unit_cflags)
launcher_test_policy_all_test_LDADD = $(launch_unit_libs)
launcher_test_signals_test_CFLAGS = $(launch_unit_cflags)
launcher_test_signals_test_LDADD = $(launch_unit_libs)
launcher_test_format_test_CFLAGS = $(launch_unit_cflags)
launcher_test_format_test_LDADD = $(launch_unit_libs)
launcher_test_lines_test_CFLAGS = $(launch_unit_cflags)
launcher_test_lines_test_LDADD = $(launch_unit_libs)
launcher_test_options_test_CFLAGS = $(launch_unit_cflags)
launcher_test_options_test_LDADD = $(launch_unit_libs)
launcher_test_report_test_CFLAGS = $(launch_unit_cflags) $(JANSSON_CFLAGS)
launcher_test_report_test_LDADD = $(launch_unit_libs) $(JANSSON_LIBS)
launcher_test_address_test_CFLAGS = $(launch_unit_cflags)
launcher_test_address_test_LDADD = $(launch_unit_libs)
launcher_test_probe_test_CFLAGS = $(launch_unit_cflags)
launcher_test_probe_test_LDADD = $(launch_unit_libs)
launcher_test_cadence_test_CFLAGS = $(launch_unit_cflags)
launcher_test_cadence_test_LDADD = $(launch_unit_libs)
launcher_test_reap_test_CFLAGS = $(launch_unit_cflags)
launcher_test_reap_test_LDADD = $(launch_unit_libs)
launcher_test_twin_test_CFLAGS = $(launch_unit_cflags)
launcher_test_twin_test_LDADD = $(launch_unit_libs)
launcher_test_wire_test_CFLAGS = $(launch_unit_cflags) $(JANSSON_CFLAGS)
launcher_test_wire_test_LDADD = $(launch_unit_libs) $(JANSSON_LIBS)
launcher_test_merge_test_CFLAGS = $(launch_unit_cflags)
launcher_test_merge_test_LDADD = $(launch_unit_libs)
# With what else an agent, or the kernel, does in the test itself.
launcher_test_node_durable_test_SOURCES = launcher/test/node_durable_test.c launcher/node/durable.c
launcher_test_node_durable_test_CFLAGS = $(launch_unit_cflags)
launcher_test_node_durable_test_LDADD = $(launch_unit_libs)
launcher_test_oom_test_SOURCES = launcher/test/oom_test.c launcher/job/oom.c
launcher_test_oom_test_CFLAGS = $(launch_unit_cflags) $(EVENT_CFLAGS)
launcher_test_oom_test_LDADD = $(launch_unit_libs) $(EVENT_LIBS)
launcher_test_remote_test_CFLAGS = $(launch_unit_cflags) $(EVENT_CFLAGS)
launcher_test_remote_test_LDADD = $(launch_unit_libs) $(EVENT_LIBS)
launcher_test_shares_test_CFLAGS = $(launch_unit_cflags) $(JANSSON_CFLAGS)
launcher_test_shares_test_LDADD = $(launch_unit_libs) $(JANSSON_LIBS)
launcher_test_nodes_policy_test_CFLAGS = $(launch_unit_cflags)
launcher_test_nodes_policy_test_LDADD = $(launch_unit_libs)
launcher_test_description_test_CFLAGS = $(launch_unit_cflags)
launcher_test_description_test_LDADD = $(launch_unit_libs)
launcher_test_timeline_test_CFLAGS = $(launch_unit_cflags)
launcher_test_timeline_test_LDADD = $(launch_unit_libs)

check_PROGRAMS += launcher/test/forward_crash
TESTS += launcher/test/forward_crash
launcher_test_forward_crash_LDADD = liblaunch.la
# No instructions for the binding of symbols: the test goes through them one by one.
launcher_test_forward_crash_LDFLAGS = -Wl,-z,now

check_PROGRAMS += launcher/test/marks
TESTS += launcher/test/marks
launcher_test_marks_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
launcher_test_marks_LDADD = liblaunch.la $(EVENT_LIBS)

# What strangers may send to a listening socket.
check_PROGRAMS += launcher/test/strangers
TESTS += launcher/test/strangers
launcher_test_strangers_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
launcher_test_strangers_LDADD = liblaunch.la $(EVENT_LIBS)

# Logs and links between nodes.
check_PROGRAMS += launcher/test/fetched launcher/test/linked
EXTRA_DIST += launcher/test/check.h
TESTS += launcher/test/fetched launcher/test/linked
launcher_test_linked_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
launcher_test_linked_LDADD = liblaunch.la $(EVENT_LIBS)
launcher_test_fetched_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
launcher_test_fetched_LDADD = liblaunch.la $(EVENT_LIBS)

# What comes out of files and sockets, on arbitrary bytes.
check_PROGRAMS += fuzz_checkpoint_plain fuzz_wire_plain fuzz_frames_plain fuzz_kept_plain
TESTS += ft/test/fuzz.sh
dist_check_SCRIPTS += ft/test/fuzz.sh
EXTRA_DIST += ft/test/corpus/fuzz_checkpoint ft/test/corpus/fuzz_wire ft/test/corpus/fuzz_frames ft/test/corpus/fuzz_kept
fuzz_driver = ft/test/fuzz_driver.h ft/test/fuzz_driver.c
fuzz_checkpoint_plain_SOURCES = ft/test/fuzz_checkpoint.c ft/test/fuzz_checkpoint_seeds.c ft/test/ckpt_models.h $(fuzz_driver)
fuzz_checkpoint_plain_CFLAGS = $(AM_CFLAGS) $(XXHASH_CFLAGS)
fuzz_checkpoint_plain_LDADD = libftstore.la libft.la $(XXHASH_LIBS)
fuzz_wire_plain_SOURCES = launcher/test/fuzz_wire.c launcher/test/fuzz_wire_seeds.c $(fuzz_driver)
fuzz_wire_plain_LDADD = liblaunch.la $(JANSSON_LIBS)
fuzz_frames_plain_SOURCES = ft/test/fuzz_frames.c ft/test/fuzz_frames_seeds.c $(fuzz_driver)
fuzz_frames_plain_LDADD = libft.la
fuzz_kept_plain_SOURCES = launcher/test/fuzz_kept.c launcher/test/fuzz_kept_seeds.c $(fuzz_driver)
fuzz_kept_plain_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
fuzz_kept_plain_LDADD = liblaunch.la $(EVENT_LIBS)

EXTRA_DIST += launcher/test/no_criterion.sh
dist_man_MANS += docs/ftrun.1
# Runs instruction by instruction, of which sanitizers add many; what it runs is forwarding, as in all others.
tests_unsanitized += launcher/test/forward_crash
