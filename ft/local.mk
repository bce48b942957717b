# SPDX-License-Identifier: BSD-3-Clause
# The engine: one convenience library, linked into libftmpi, ftrun and the tests.
noinst_LTLIBRARIES += libft.la libftcommon.la
libft_la_SOURCES = \
	ft/ft.h ft/handle.h ft/ft.c \
	ft/alone.h ft/alone.c \
	ft/collective.h ft/collective.c \
	ft/comm.h ft/comms.h ft/comm.c ft/comm_group.c ft/comm_idup.c \
	ft/intercomm.h ft/intercomm.c ft/intercomm_coll.c \
	ft/copies.h ft/copies.c \
	ft/made.h ft/made.c \
	ft/carry.h ft/carry.c \
	ft/message.h ft/messages.h ft/message.c ft/requests.c ft/arrivals.c ft/probe.c \
	ft/order.h ft/order.c \
	ft/agree.h ft/agree.c \
	ft/prefix.h ft/prefix.c \
	ft/checkpoint.h ft/checkpoint.c \
	ft/values.h ft/values.c
# What of it the library has, too, that each rank has preloaded: that is loaded, relocated and copied for each of them, so it has no more.
libftcommon_la_SOURCES =
include ft/base/local.mk
include ft/shm/local.mk
include ft/core/local.mk
include ft/net/local.mk
include ft/outcome/local.mk
include ft/snap/local.mk
include ft/msg/local.mk
include ft/pass/local.mk
include ft/values/local.mk
libft_la_LIBADD = libftcommon.la libftreduce.la -lpthread

unit_tests += ft/unit
ft_unit_SOURCES = ft/msg/log_test.h ft/carry_test.c ft/made_test.c
ft_unit_CFLAGS = $(unit_cflags)
ft_unit_LDADD = $(ft_unit_libs)

# Checks of the engine itself. The explorer runs on the objects that ship: it links the same library.
# Not with sanitizers: they do not let it jump between its ranks' stacks.
check_PROGRAMS += explore
if !SANITIZED
TESTS += ft/test/vectorised.sh ft/test/hot.sh
TESTS += explore
endif
explore_SOURCES = ft/test/explore.h ft/test/both.h ft/test/explore.c ft/test/search.h ft/test/search.c ft/test/sched.c ft/test/coroutine.h ft/test/coroutine.c ft/test/points.c ft/test/program.c ft/test/second.c ft/test/versions.c ft/test/once.c ft/test/letters.h ft/test/letters.c ft/test/letters_program.c ft/test/carried.c ft/test/agent.c
explore_LDADD = libft.la

# The same of a job on several nodes. Representatives go by its clock.
check_PROGRAMS += apart
if !SANITIZED
TESTS += apart
endif
apart_SOURCES = ft/test/apart.h ft/test/both.h ft/test/apart.c ft/test/search.h ft/test/search.c ft/test/apart_sched.c ft/test/apart_wire.c ft/test/apart_program.c ft/test/apart_second.c ft/test/coroutine.h ft/test/coroutine.c ft/test/points.c
apart_LDADD = libft.la
apart_LDFLAGS = -Wl,--wrap=ft_clock_ns

# The same of a rank whose threads call at the same time.
check_PROGRAMS += order
if !SANITIZED
TESTS += order
endif
order_SOURCES = ft/test/order.c ft/test/search.h ft/test/search.c ft/test/coroutine.h ft/test/coroutine.c ft/test/points.c
order_LDADD = libft.la

# Threads as ranks: what ThreadSanitizer can see (scripts/check.sh builds it so).
check_PROGRAMS += threads
TESTS += threads
threads_SOURCES = ft/test/threads.c
threads_LDADD = libft.la

# Ranks that sleep for several words, likewise.
check_PROGRAMS += doorbell
TESTS += doorbell
doorbell_SOURCES = ft/test/doorbell.c
doorbell_LDADD = libft.la

# Many nodes, simulated, over the objects that ship.
check_PROGRAMS += sim
TESTS += sim
sim_SOURCES = ft/test/sim.h ft/test/sim.c ft/test/sim_events.c ft/test/sim_net.c ft/test/sim_unit.c ft/test/sim_node.c
sim_LDADD = libft.la

# Models (docs/models.md).
dist_check_SCRIPTS = ft/model/release.sh ft/model/positions.sh ft/model/checkpoint.sh ft/model/cache.sh ft/model/links.sh ft/model/outcomes.sh ft/model/children.sh ft/model/stream.sh ft/model/threads.sh ft/model/cuts.sh ft/model/channel.sh ft/model/answers.sh ft/model/underway.sh
EXTRA_DIST += ft/model/search.sh ft/model/release.pml ft/model/positions.pml ft/model/checkpoint.pml ft/model/cache.pml ft/model/links.pml ft/model/outcomes.pml ft/model/children.pml ft/model/stream.pml ft/model/threads.pml ft/model/cuts.pml ft/model/channel.pml ft/model/answers.pml ft/model/underway.pml
if !SANITIZED
TESTS += ft/model/release.sh ft/model/positions.sh ft/model/checkpoint.sh ft/model/cache.sh ft/model/links.sh ft/model/outcomes.sh ft/model/children.sh ft/model/stream.sh ft/model/threads.sh ft/model/cuts.sh ft/model/channel.sh ft/model/answers.sh ft/model/underway.sh
endif

# Several nodes, with ranks, links and nodes that are lost; no launcher.
check_PROGRAMS += nodes
TESTS += nodes
nodes_SOURCES = ft/test/nodes_job.h ft/test/both.h ft/test/nodes_program.c ft/test/nodes.c
nodes_LDADD = libft.la

# Mutants need an explorer that is not sanitized and the compiler by itself.
dist_check_SCRIPTS += ft/test/mutants.sh ft/test/sim_mutants.sh ft/test/vectorised.sh ft/test/hot.sh
EXTRA_DIST += ft/test/mutants.pl
if !SANITIZED
TESTS += ft/test/mutants.sh ft/test/sim_mutants.sh
tests_long += ft/test/mutants.sh ft/test/sim_mutants.sh
endif

# What comes out of files and sockets, on arbitrary bytes: fuzz_*_plain, each beside what it tests.
fuzz_driver = ft/test/fuzz_driver.h ft/test/fuzz_driver.c
check_PROGRAMS += fuzz_frames_plain
TESTS += ft/test/fuzz.sh
dist_check_SCRIPTS += ft/test/fuzz.sh
EXTRA_DIST += ft/test/corpus/fuzz_checkpoint ft/test/corpus/fuzz_wire ft/test/corpus/fuzz_frames ft/test/corpus/fuzz_kept
fuzz_frames_plain_SOURCES = ft/test/fuzz_frames.c ft/test/fuzz_frames_seeds.c $(fuzz_driver)
fuzz_frames_plain_LDADD = libft.la

# Searches are skipped when nothing has changed (scripts/searches), and then only.
dist_check_SCRIPTS += ft/test/searches.sh
if !SANITIZED
TESTS += ft/test/searches.sh
endif

include ft/store/local.mk
tests_dist += ft/test/vectorised.sh ft/test/hot.sh
