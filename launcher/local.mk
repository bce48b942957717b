# SPDX-License-Identifier: BSD-3-Clause
# ftrun. Everything but main is a convenience library, so that tests can link it.
noinst_LTLIBRARIES += liblaunch.la
liblaunch_la_SOURCES = \
	launcher/act.h launcher/act.c \
	launcher/activity.h launcher/activity.c \
	launcher/address.h launcher/address.c \
	launcher/adopt.h launcher/adopt.c \
	launcher/agent.h launcher/agent.c \
	launcher/appfile.h launcher/appfile.c \
	launcher/auth.h launcher/auth.c \
	launcher/await.h launcher/await.c \
	launcher/bands.h launcher/bands.c \
	launcher/bytes.h launcher/bytes.c \
	launcher/cadence.h launcher/cadence.c \
	launcher/cargo.h launcher/cargo.c \
	launcher/ckpt_series.h launcher/ckpt_series.c \
	launcher/ckpt_writer.h launcher/ckpt_writer.c \
	launcher/channel.h launcher/channel.c \
	launcher/child.h launcher/child.c \
	launcher/client.h launcher/client.c \
	launcher/configure.h launcher/configure.c \
	launcher/control.h launcher/control.c \
	launcher/control_job.h launcher/control_job.c \
	launcher/controller.h launcher/controller.c \
	launcher/controller_act.h launcher/controller_act.c \
	launcher/controller_job.h \
	launcher/controller_nodes.h launcher/controller_nodes.c \
	launcher/controller_start.h launcher/controller_start.c \
	launcher/controller_stdio.h launcher/controller_stdio.c \
	launcher/controller_status.h launcher/controller_status.c \
	launcher/controller_ask.h launcher/controller_ask.c \
	launcher/controller_base.h launcher/controller_base.c \
	launcher/controller_durable.h launcher/controller_durable.c \
	launcher/controller_files.h launcher/controller_files.c \
	launcher/controller_peers.h launcher/controller_peers.c \
	launcher/controller_report.h launcher/controller_report.c \
	launcher/controller_tell.h launcher/controller_tell.c \
	launcher/deadlines.h launcher/deadlines.c \
	launcher/death.h launcher/death.c \
	launcher/description.h launcher/description.c \
	launcher/durable.h launcher/durable.c \
	launcher/elf.h launcher/elf.c \
	launcher/environ.h launcher/environ.c \
	launcher/format.h launcher/format.c \
	launcher/fetch.h launcher/fetch.c \
	launcher/follow.h launcher/follow.c \
	launcher/forward.h launcher/forward.c \
	launcher/full.h launcher/full.c \
	launcher/greeting.h launcher/greeting.c \
	launcher/handover.h launcher/handover.c \
	launcher/handshake.h launcher/handshake.c \
	launcher/help.h launcher/help.c \
	launcher/hosts.h launcher/hosts.c \
	launcher/identity.h launcher/identity.c \
	launcher/input.h launcher/input.c \
	launcher/job.h \
	launcher/ways.h \
	launcher/jobs.h launcher/jobs.c \
	launcher/kept.h launcher/kept.c \
	launcher/library.h launcher/library.c \
	launcher/limits.h launcher/limits.c \
	launcher/lines.h launcher/lines.c \
	launcher/link.h launcher/link.c \
	launcher/links.h launcher/links.c \
	launcher/loop.h launcher/loop.c \
	launcher/nearest.h launcher/nearest.c \
	launcher/node.h launcher/node.c \
	launcher/node_hear.h launcher/node_hear.c \
	launcher/node_durable.h launcher/node_durable.c \
	launcher/node_input.h launcher/node_input.c \
	launcher/node_job.h \
	launcher/node_lease.h launcher/node_lease.c \
	launcher/node_say.h launcher/node_say.c \
	launcher/node_table.h launcher/node_table.c \
	launcher/node_main.c \
	launcher/node_report.h launcher/node_report.c \
	launcher/oom.h launcher/oom.c \
	launcher/options.h launcher/options.c \
	launcher/map.h launcher/map.c \
	launcher/merge.h launcher/merge.c \
	launcher/nodes_policy.h launcher/nodes_policy.c \
	launcher/outfile.h launcher/outfile.c \
	launcher/output.h launcher/output.c \
	launcher/output_dir.h launcher/output_dir.c \
	launcher/parcel.h launcher/parcel.c \
	launcher/partner.h launcher/partner.c \
	launcher/doubts.h launcher/doubts.c \
	launcher/pin.h launcher/pin.c \
	launcher/placement.h launcher/placement.c \
	launcher/policy.h launcher/policy.c \
	launcher/procstat.h launcher/procstat.c \
	launcher/probe.h launcher/probe.c \
	launcher/program.h launcher/program.c \
	launcher/ranks.h launcher/ranks.c \
	launcher/readers.h launcher/readers.c \
	launcher/reap.h launcher/reap.c \
	launcher/relay.h launcher/relay.c \
	launcher/remote.h launcher/remote.c \
	launcher/remote_words.h launcher/remote_words.c \
	launcher/renew.h launcher/renew.c \
	launcher/report.h launcher/report.c \
	launcher/rundir.h launcher/rundir.c \
	launcher/sampler.h launcher/sampler.c \
	launcher/say.h launcher/say.c \
	launcher/settings.h launcher/settings.c \
	launcher/shared.h launcher/shared.c \
	launcher/shares.h launcher/shares.c \
	launcher/show.h launcher/show.c \
	launcher/signals.h launcher/signals.c \
	launcher/sink.h launcher/sink.c \
	launcher/sites.h launcher/sites.c \
	launcher/slot.h launcher/slot.c \
	launcher/cut.h launcher/cut.c \
	launcher/snapshot.h launcher/snapshot.c \
	launcher/spawn.h launcher/spawn.c \
	launcher/spool.h launcher/spool.c \
	launcher/starter.h launcher/starter.c \
	launcher/status.h launcher/status.c \
	launcher/stdio_memory.h launcher/stdio_memory.c \
	launcher/store.h launcher/store.c \
	launcher/svg.h launcher/svg.c \
	launcher/sweep.h launcher/sweep.c \
	launcher/timeline.h launcher/timeline.c \
	launcher/timer.h launcher/timer.c \
	launcher/topology.h launcher/topology.c \
	launcher/twin.h launcher/twin.c \
	launcher/uplink.h launcher/uplink.c \
	launcher/usage.h launcher/usage.c \
	launcher/values.h launcher/values.c \
	launcher/watch.h launcher/watch.c \
	launcher/wire.h launcher/wire.c \
	launcher/wire_calls.h launcher/wire_calls.c \
	launcher/wire_models.h launcher/wire_models.c \
	launcher/wire_report.h launcher/wire_report.c
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
launcher_test_node_durable_test_SOURCES = launcher/test/node_durable_test.c launcher/node_durable.c
launcher_test_node_durable_test_CFLAGS = $(launch_unit_cflags)
launcher_test_node_durable_test_LDADD = $(launch_unit_libs)
launcher_test_oom_test_SOURCES = launcher/test/oom_test.c launcher/oom.c
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
EXTRA_DIST += $(launch_shell_tests) launcher/test/killat.sh launcher/test/jobcontrol.sh launcher/test/oom.sh launcher/test/lib.sh launcher/test/hosts_lib.sh launcher/test/resume_lib.sh launcher/test/no_criterion.sh launcher/test/stress.py launcher/test/node.py launcher/test/snapat.py launcher/test/snaplib.sh
AM_TESTS_ENVIRONMENT = top_builddir='$(abs_top_builddir)'; top_srcdir='$(abs_top_srcdir)'; sanitized='$(FT_SAN)'; XDG_CONFIG_HOME=/nonexistent; export XDG_CONFIG_HOME top_builddir top_srcdir sanitized;

dist_man_MANS += docs/ftrun.1
tests_dist += launcher/test/usage.sh launcher/test/configure.sh
# Runs instruction by instruction, of which sanitizers add many; what it runs is forwarding, as in all others.
tests_unsanitized += launcher/test/forward_crash
# Its ranks preload nomem.so, before the sanitizers' library, which wants to be the first.
tests_unsanitized += launcher/test/snapfork.sh
# Sanitizers need a multiple of the memory.
tests_unsanitized += launcher/test/oom.sh
