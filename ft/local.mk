# SPDX-License-Identifier: BSD-3-Clause
# The engine: one convenience library, linked into libftmpi, ftrun and the tests.
noinst_LTLIBRARIES += libft.la
libft_la_SOURCES = \
	ft/ft.h ft/handle.h ft/ft.c \
	ft/collective.h ft/collective.c \
	ft/agree.h ft/agree.c \
	ft/prefix.h ft/prefix.c \
	ft/checkpoint.h ft/checkpoint.c \
	ft/base/err.h ft/base/err.c \
	ft/base/util.h ft/base/util.c \
	ft/base/position.h \
	ft/base/sig.h ft/base/sig.c \
	ft/base/copy.h ft/base/copy.c \
	ft/base/site.h ft/base/site.c \
	ft/base/hash.h ft/base/hash.c ft/base/hash_copy.c \
	ft/base/isa.h ft/base/isa.c \
	ft/base/reduce.h ft/base/reduce.c \
	ft/shm/point.h ft/shm/word.h \
	ft/shm/layout.h ft/shm/layout.c \
	ft/shm/extent.h ft/shm/places.h ft/shm/places.c ft/shm/spill.h ft/shm/spill.c \
	ft/shm/region.h ft/shm/region.c \
	ft/shm/models.h ft/shm/models.c ft/shm/model_map.h ft/shm/model_map.c \
	ft/shm/versions.h ft/shm/versions.c \
	ft/shm/place.h ft/shm/place.c \
	ft/shm/wait.h ft/shm/wait.c \
	ft/shm/foreign.h ft/shm/foreign.c ft/shm/alive.h ft/shm/alive.c \
	ft/shm/log.h ft/shm/log.c \
	ft/shm/pages.h ft/shm/pages.c \
	ft/shm/keeper.h ft/shm/keeper_state.h ft/shm/keeper.c ft/shm/keeper_thread.c \
	ft/shm/trail.h \
	ft/shm/transfer.h ft/shm/transfer.c \
	ft/shm/doubt.h ft/shm/doubt.c \
	ft/shm/inspect.h ft/shm/inspect.c \
	ft/core/plan.h ft/core/plan.c \
	ft/core/pace.h ft/core/pace.c \
	ft/core/single.h ft/core/single.c \
	ft/core/stream.h ft/core/stream.c \
	ft/core/op.h ft/core/op.c ft/core/fold.c \
	ft/core/check.h ft/core/check.c \
	ft/core/tree.h ft/core/tree.c \
	ft/core/exchange.h ft/core/exchange.c \
	ft/core/keys.h ft/core/keys.c \
	ft/core/cache.h ft/core/cache.c \
	ft/core/bootstrap.h ft/core/bootstrap.c ft/core/bootstrap_key.c ft/core/bootstrap_place.c \
	ft/core/short.c ft/core/standard.c ft/core/segment.h ft/core/segment.c \
	ft/core/frame.h ft/core/nodes.h ft/core/nodes_op.h ft/core/nodes.c ft/core/nodes_local.c ft/core/nodes_exchange.c ft/core/frames.c \
	ft/net/links.h ft/net/links.c \
	ft/snap/files.h ft/snap/files.c \
	ft/snap/image.h ft/snap/image.c \
	ft/snap/mappings.h ft/snap/mappings.c \
	ft/snap/snapshot.h ft/snap/snapshot.c
libft_la_LIBADD = libftreduce.la -lpthread

include ft/base/local.mk

# Inspection: the pure part, and what is read of a region; the explorer asks it at every wait, too. Hashes of contributions.
if HAVE_CRITERION
ft_unit_tests = ft/test/place_test ft/test/wait_test ft/test/alive_test ft/test/single_test ft/test/inspect_test ft/test/check_test ft/test/versions_test ft/test/tree_test ft/test/exchange_test ft/test/halves_test ft/test/frames_test ft/test/pace_test ft/test/copy_test
check_PROGRAMS += $(ft_unit_tests)
TESTS += $(ft_unit_tests)
ft_test_place_test_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
ft_test_place_test_LDADD = libft.la $(CRITERION_LIBS)
ft_test_alive_test_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
ft_test_alive_test_LDADD = libft.la $(CRITERION_LIBS)
ft_test_single_test_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
ft_test_single_test_LDADD = libft.la $(CRITERION_LIBS)
ft_test_wait_test_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
ft_test_wait_test_LDADD = libft.la $(CRITERION_LIBS)
ft_test_frames_test_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
ft_test_frames_test_LDADD = libft.la $(CRITERION_LIBS)
ft_test_pace_test_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
ft_test_pace_test_LDADD = libft.la $(CRITERION_LIBS)
ft_test_tree_test_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
ft_test_tree_test_LDADD = libft.la $(CRITERION_LIBS)
ft_test_copy_test_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
ft_test_copy_test_LDADD = libft.la $(CRITERION_LIBS)
ft_test_exchange_test_SOURCES = ft/test/exchange_test.c ft/test/exchange_traces.h
ft_test_halves_test_SOURCES = ft/test/halves_test.c ft/test/exchange_traces.h
ft_test_halves_test_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
ft_test_halves_test_LDADD = libft.la $(CRITERION_LIBS)
ft_test_exchange_test_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
ft_test_exchange_test_LDADD = libft.la $(CRITERION_LIBS)
ft_test_versions_test_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
ft_test_versions_test_LDADD = libft.la $(CRITERION_LIBS)
ft_test_check_test_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
ft_test_check_test_LDADD = libft.la $(CRITERION_LIBS)
ft_test_inspect_test_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
ft_test_inspect_test_LDADD = libft.la $(CRITERION_LIBS)
endif

# Checks of the engine itself. The explorer runs on the objects that ship: it links the same library.
# Not with sanitizers: they do not let it jump between its ranks' stacks.
check_PROGRAMS += explore
if !SANITIZED
TESTS += ft/test/vectorised.sh ft/test/hot.sh
TESTS += explore
endif
explore_SOURCES = ft/test/explore.h ft/test/explore.c ft/test/sched.c ft/test/points.c ft/test/program.c ft/test/versions.c ft/test/once.c ft/test/agent.c
explore_LDADD = libft.la

# Threads as ranks: what ThreadSanitizer can see (scripts/check.sh builds it so).
check_PROGRAMS += threads
TESTS += threads
threads_SOURCES = ft/test/threads.c
threads_LDADD = libft.la

# Many nodes, simulated, over the objects that ship.
check_PROGRAMS += sim
TESTS += sim
sim_SOURCES = ft/test/sim.h ft/test/sim.c ft/test/sim_events.c ft/test/sim_net.c ft/test/sim_unit.c ft/test/sim_node.c
sim_LDADD = libft.la

# Models (docs/models.md).
dist_check_SCRIPTS = ft/model/release.sh ft/model/checkpoint.sh ft/model/cache.sh ft/model/links.sh
EXTRA_DIST += ft/model/search.sh ft/model/release.pml ft/model/checkpoint.pml ft/model/cache.pml ft/model/links.pml
if !SANITIZED
TESTS += ft/model/release.sh ft/model/checkpoint.sh ft/model/cache.sh ft/model/links.sh
endif

# Real processes, real forks: what a coroutine cannot show of a snapshot.
check_PROGRAMS += cuts
TESTS += cuts
cuts_SOURCES = ft/test/cuts.c
cuts_LDADD = libft.la

# Several nodes, with ranks, links and nodes that are lost; no launcher.
check_PROGRAMS += nodes
TESTS += nodes
nodes_SOURCES = ft/test/nodes_job.h ft/test/nodes_program.c ft/test/nodes.c
nodes_LDADD = libft.la

# Mutants need an explorer that is not sanitized and the compiler by itself.
dist_check_SCRIPTS += ft/test/mutants.sh ft/test/sim_mutants.sh ft/test/layers.sh ft/test/vectorised.sh ft/test/hot.sh
EXTRA_DIST += ft/test/mutants.pl
TESTS += ft/test/layers.sh
if !SANITIZED
TESTS += ft/test/mutants.sh ft/test/sim_mutants.sh
endif

# Searches are skipped when nothing has changed (scripts/searches), and then only.
dist_check_SCRIPTS += ft/test/searches.sh
if !SANITIZED
TESTS += ft/test/searches.sh
endif

# A process that is put back.
check_PROGRAMS += image
TESTS += image
image_SOURCES = ft/test/image.c
image_LDADD = libft.la

include ft/store/local.mk
tests_dist += ft/test/layers.sh ft/test/vectorised.sh ft/test/hot.sh
# What the objects call and who includes whom; sanitizers have nothing to do with it.
tests_unsanitized += ft/test/layers.sh
