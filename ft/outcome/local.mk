# SPDX-License-Identifier: BSD-3-Clause
# The log is the launcher's business, too.
libftcommon_la_SOURCES += ft/outcome/kinds.h ft/outcome/log.h ft/outcome/log.c

unit_tests += ft/outcome/unit
ft_outcome_unit_SOURCES = ft/outcome/log_test.c
ft_outcome_unit_CFLAGS = $(unit_cflags)
ft_outcome_unit_LDADD = $(ft_unit_libs)

# What a rank has preloaded: its calls to the outside are recorded, and given again.
noinst_LTLIBRARIES += liboutcome.la
liboutcome_la_SOURCES = \
	ft/outcome/record.h ft/outcome/record.c ft/outcome/threads.h ft/outcome/threads.c ft/outcome/held.c ft/outcome/stand.h ft/outcome/waits.c ft/outcome/lead.S \
	ft/outcome/task.h ft/outcome/task.c \
	ft/outcome/descriptors.h ft/outcome/descriptors.c ft/outcome/counts.h ft/outcome/counts.c \
	ft/outcome/descriptor_kind.h ft/outcome/descriptor_kind.c \
	ft/outcome/copies.h ft/outcome/output.h ft/outcome/output.c \
	ft/outcome/pieces.h ft/outcome/pipes.h ft/outcome/pipes.c \
	ft/outcome/real.h ft/outcome/real_names.h ft/outcome/real.c \
	ft/outcome/stdio.h ft/outcome/wrap_stdio.c ft/outcome/wrap_print.c \
	ft/outcome/readings.c ft/outcome/wrap_clock.c ft/outcome/wrap_random.c \
	ft/outcome/signals.h ft/outcome/wrap_signal.c ft/outcome/handler.h ft/outcome/wrap_handler.c ft/outcome/left.h ft/outcome/left.c ft/outcome/wrap_jump.c ft/outcome/jump.S ft/outcome/mask.h ft/outcome/wrap_mask.c ft/outcome/wrap_raise.c ft/outcome/wrap_alarm.c \
	ft/outcome/process.h ft/outcome/wrap_process.c ft/outcome/wrap_terminal.c \
	ft/outcome/wrap_open.c ft/outcome/wrap_read.c ft/outcome/wrap_write.c \
	ft/outcome/wrap_name.c ft/outcome/wrap_user.c ft/outcome/wrap_named.c ft/outcome/wrap_names.c ft/outcome/wrap_stat.c ft/outcome/wrap_attributes.c \
	ft/outcome/wrap_directory.c ft/outcome/wrap_walk.c ft/outcome/wrap_place.c \
	ft/outcome/inputs.h ft/outcome/inputs.c ft/outcome/once.h ft/outcome/once.c \
	ft/outcome/wrap_descriptor.c ft/outcome/wrap_ioctl.c ft/outcome/wrap_content.c ft/outcome/wrap_exec.c ft/outcome/wrap_fork.c ft/outcome/wrap_poll.c \
	ft/outcome/robust.h ft/outcome/robust.c ft/outcome/wrap_thread.c ft/outcome/tcp.h ft/outcome/tcp.c ft/outcome/wrap_socket.c ft/outcome/wrap_resolve.c ft/outcome/wrap_send.c ft/outcome/event.h ft/outcome/wrap_event.c ft/outcome/images.h ft/outcome/images.c ft/outcome/children.h ft/outcome/children.c ft/outcome/child.h ft/outcome/wrap_child.c ft/outcome/wrap_shell.c \
	ft/outcome/python.h ft/outcome/python.c ft/outcome/maps.h ft/outcome/wrap_map.c ft/outcome/wrap_closed.c ft/outcome/wrap_syscall.c
# syscall is taken the place of, too: the library's own calls go past that.
# It is there when the process starts, so what it has of each thread is at a place that nobody has to look up: that may take memory.
# Its calls are made on the program's stacks, which may be as small as the system allows: 16 KiB.
liboutcome_la_CFLAGS = $(AM_CFLAGS) $(FT_FRAMES) -fexceptions -U_FORTIFY_SOURCE -fvisibility=default -ftls-model=initial-exec -Dsyscall=ft_syscall
liboutcome_la_LIBADD = libftcommon.la

# Locks, and copies. Twice: tests kill at points inside of them, which are not there for others.
noinst_LTLIBRARIES += liblocks.la
liblocks_la_SOURCES = ft/outcome/point.h ft/outcome/stand.c ft/outcome/put_back.c ft/outcome/copies.c \
	ft/outcome/lock.h ft/outcome/lock.c ft/outcome/behind.h ft/outcome/behind.c ft/outcome/wrap_mutex.c ft/outcome/wrap_semaphore.c \
	ft/outcome/condition.h ft/outcome/condition.c ft/outcome/wrap_condition.c ft/outcome/wrap_join.c ft/outcome/wrap_inherit.c ft/outcome/wrap_winner.c ft/outcome/wrap_openmp.c ft/outcome/wrap_locked.c
liblocks_la_CFLAGS = $(liboutcome_la_CFLAGS)
check_LTLIBRARIES += liblocks_test.la
liblocks_test_la_SOURCES = $(liblocks_la_SOURCES)
liblocks_test_la_CFLAGS = $(liboutcome_la_CFLAGS) -DFT_LOCK_TESTED

# Preloaded by ftrun. Nothing of the engine's is seen from outside: a program may have that, too.
compatdir = $(libdir)/ftmpi
compat_LTLIBRARIES = libftmpi_rank.la
rank_link = .libs/ftmpi/libftmpi_rank.so
all-local: $(rank_link)
$(rank_link): | libftmpi_rank.la
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(LN_S) -f ../libftmpi_rank.so $@
libftmpi_rank_la_SOURCES = ft/outcome/door.h ft/outcome/start.c ft/outcome/other_mpi.h ft/outcome/other_mpi.c ft/outcome/xgboost.c ft/outcome/wrong_library.c
libftmpi_rank_la_CFLAGS = $(AM_CFLAGS) $(FT_FRAMES) -Dsyscall=ft_syscall
libftmpi_rank_la_LIBADD = liboutcome.la liblocks.la
# Calls of its own functions are bound when it is linked, as the C library's are: 92 names less to be looked up at each start.
libftmpi_rank_la_LDFLAGS = -module -avoid-version -no-undefined -Wl,-z,defs -Wl,-z,now -Wl,-Bsymbolic-functions -Wl,--version-script=$(srcdir)/ft/outcome/libftmpi_rank.map
EXTRA_libftmpi_rank_la_DEPENDENCIES = ft/outcome/libftmpi_rank.map
EXTRA_DIST += ft/outcome/libftmpi_rank.map

# Ranks of tests, without a launcher: an agent, and what it preloads.
if !SANITIZED
check_PROGRAMS += outcome_agent outcome_torture
outcome_agent_SOURCES = ft/outcome/test/shared.h ft/outcome/test/agent.h ft/outcome/test/agent.c ft/outcome/test/agent_says.c ft/outcome/test/kills.c \
	ft/outcome/test/points.c
outcome_agent_LDADD = libft.la
outcome_torture_SOURCES = ft/outcome/test/shared.h ft/outcome/test/torture.h ft/outcome/test/torture.c \
	ft/outcome/test/torture_operations.c
outcome_torture_CFLAGS = $(AM_CFLAGS) -U_FORTIFY_SOURCE
check_PROGRAMS += outcome_calls
outcome_calls_SOURCES = ft/outcome/test/calls.h ft/outcome/test/calls.c ft/outcome/test/calls_files.c ft/outcome/test/calls_names.c \
	ft/outcome/test/calls_streams.c ft/outcome/test/calls_process.c ft/outcome/test/calls_sockets.c ft/outcome/test/calls_left.c
outcome_calls_CFLAGS = $(AM_CFLAGS) -U_FORTIFY_SOURCE
outcome_calls_LDADD =
check_LTLIBRARIES += liboutcome_test.la
liboutcome_test_la_SOURCES = ft/outcome/test/start.c
liboutcome_test_la_CFLAGS = $(AM_CFLAGS) -Dsyscall=ft_syscall
liboutcome_test_la_LIBADD = liboutcome.la liblocks_test.la
liboutcome_test_la_LDFLAGS = -module -avoid-version -rpath /nonexistent
check_LTLIBRARIES += liboutcome_guard.la
liboutcome_guard_la_SOURCES = ft/outcome/test/guard.c ft/snap/forget_queries.h
liboutcome_guard_la_CFLAGS = $(AM_CFLAGS) -fno-builtin -fvisibility=default
liboutcome_guard_la_LDFLAGS = -module -avoid-version -rpath /nonexistent

# Threads whose order shows: locks.sh.
check_PROGRAMS += outcome_locks
outcome_locks_SOURCES = ft/outcome/test/locks.h ft/outcome/test/locks.c ft/outcome/test/locks_threads.c ft/outcome/test/locks_openmp.c \
	ft/outcome/test/locks_robust.c ft/outcome/test/locks_torture.c ft/outcome/test/locks_cost.c ft/outcome/test/locks_cpp.cpp
outcome_locks_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
outcome_locks_LDFLAGS = $(OPENMP_CFLAGS)
outcome_locks_LDADD =

# Threads wherever they can stand when a copy is made: cuts.sh.
check_PROGRAMS += outcome_cuts
outcome_cuts_SOURCES = ft/outcome/test/cuts.c
outcome_cuts_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
outcome_cuts_LDFLAGS = $(OPENMP_CFLAGS)
outcome_cuts_LDADD = -lm
EXTRA_DIST += ft/outcome/cuts.sh
TESTS += ft/outcome/cuts.sh

# What the standard says of conditions: conditions.sh.
check_PROGRAMS += outcome_conditions
outcome_conditions_SOURCES = ft/outcome/test/conditions.h ft/outcome/test/conditions.c ft/outcome/test/conditions_mutexes.c \
	ft/outcome/test/conditions_others.c ft/outcome/test/conditions_cost.c
outcome_conditions_LDADD =
EXTRA_DIST += ft/outcome/conditions.sh
TESTS += ft/outcome/conditions.sh

# Programs that know of none of this: streams.sh.
check_PROGRAMS += outcome_lines outcome_fifo outcome_streams outcome_told outcome_signals outcome_children outcome_stores outcome_events outcome_talk outcome_relay
outcome_relay_SOURCES = ft/outcome/test/relay.c
outcome_relay_LDADD =
outcome_talk_SOURCES = ft/outcome/test/talk.c
outcome_talk_LDADD =
outcome_events_SOURCES = ft/outcome/test/events.c
outcome_events_LDADD =
outcome_stores_SOURCES = ft/outcome/test/stores.c
outcome_stores_LDADD =
outcome_children_SOURCES = ft/outcome/test/children.c
outcome_children_LDADD =
outcome_lines_SOURCES = ft/outcome/test/lines.c
outcome_lines_LDADD =
outcome_fifo_SOURCES = ft/outcome/test/fifo.c
outcome_fifo_LDADD =
outcome_signals_SOURCES = ft/outcome/test/signals.c
outcome_signals_LDADD =
outcome_streams_SOURCES = ft/outcome/test/streams.cpp
outcome_streams_LDADD =
outcome_told_SOURCES = ft/outcome/test/told.cpp
outcome_told_LDADD =
EXTRA_DIST += ft/outcome/streams.sh ft/outcome/sockets.sh ft/outcome/relay.sh ft/outcome/bare.sh
EXTRA_DIST += ft/outcome/locks.sh ft/outcome/test/locks.py
TESTS += ft/outcome/locks.sh ft/outcome/streams.sh ft/outcome/sockets.sh ft/outcome/relay.sh ft/outcome/torture.sh ft/outcome/points.sh
TESTS += ft/outcome/bare.sh ft/outcome/table.sh ft/outcome/mutants.sh
endif
EXTRA_DIST += ft/outcome/test/units.f90
EXTRA_DIST += ft/outcome/torture.sh ft/outcome/points.sh ft/outcome/table.sh ft/outcome/mutants.sh ft/outcome/calls.table
