# SPDX-License-Identifier: BSD-3-Clause
# Plain MPI programs: built here so that they keep compiling, and by `compare` with every MPI it finds.
bench_programs = \
	benchmarks/allreduce \
	benchmarks/bcast \
	benchmarks/reduce \
	benchmarks/allgather \
	benchmarks/allgatherv \
	benchmarks/barrier \
	benchmarks/init \
	benchmarks/recovery \
	benchmarks/rewrite \
	benchmarks/steady \
	benchmarks/checkpoint \
	benchmarks/memory
check_PROGRAMS += $(bench_programs)
bench_cppflags = -I$(top_srcdir)/mpi_shim $(AM_CPPFLAGS)
bench_common = benchmarks/bench.h benchmarks/bench.c
benchmarks_allreduce_SOURCES = benchmarks/allreduce.c $(bench_common)
benchmarks_allreduce_CPPFLAGS = $(bench_cppflags)
benchmarks_allreduce_LDFLAGS = -no-install
benchmarks_allreduce_LDADD = libftmpi.la
benchmarks_bcast_SOURCES = benchmarks/bcast.c $(bench_common)
benchmarks_bcast_CPPFLAGS = $(bench_cppflags)
benchmarks_bcast_LDFLAGS = -no-install
benchmarks_bcast_LDADD = libftmpi.la
benchmarks_reduce_SOURCES = benchmarks/reduce.c $(bench_common)
benchmarks_reduce_CPPFLAGS = $(bench_cppflags)
benchmarks_reduce_LDFLAGS = -no-install
benchmarks_reduce_LDADD = libftmpi.la
benchmarks_allgather_SOURCES = benchmarks/allgather.c $(bench_common)
benchmarks_allgather_CPPFLAGS = $(bench_cppflags)
benchmarks_allgather_LDFLAGS = -no-install
benchmarks_allgather_LDADD = libftmpi.la
benchmarks_allgatherv_SOURCES = benchmarks/allgatherv.c $(bench_common)
benchmarks_allgatherv_CPPFLAGS = $(bench_cppflags)
benchmarks_allgatherv_LDFLAGS = -no-install
benchmarks_allgatherv_LDADD = libftmpi.la
benchmarks_barrier_SOURCES = benchmarks/barrier.c $(bench_common)
benchmarks_barrier_CPPFLAGS = $(bench_cppflags)
benchmarks_barrier_LDFLAGS = -no-install
benchmarks_barrier_LDADD = libftmpi.la
benchmarks_init_SOURCES = benchmarks/init.c
benchmarks_init_CPPFLAGS = $(bench_cppflags)
benchmarks_init_LDFLAGS = -no-install
benchmarks_init_LDADD = libftmpi.la
benchmarks_recovery_SOURCES = benchmarks/recovery.c
benchmarks_recovery_CPPFLAGS = $(bench_cppflags)
benchmarks_recovery_LDFLAGS = -no-install
benchmarks_recovery_LDADD = libftmpi.la
benchmarks_rewrite_SOURCES = benchmarks/rewrite.c
benchmarks_rewrite_CPPFLAGS = $(bench_cppflags)
benchmarks_rewrite_LDFLAGS = -no-install
benchmarks_rewrite_LDADD = libftmpi.la
benchmarks_checkpoint_SOURCES = benchmarks/checkpoint.c
benchmarks_checkpoint_CPPFLAGS = $(bench_cppflags)
benchmarks_checkpoint_LDFLAGS = -no-install
benchmarks_checkpoint_LDADD = libftmpi.la
benchmarks_steady_SOURCES = benchmarks/steady.c
benchmarks_steady_CPPFLAGS = $(bench_cppflags)
benchmarks_steady_LDFLAGS = -no-install
benchmarks_steady_LDADD = libftmpi.la
benchmarks_memory_SOURCES = benchmarks/memory.c
benchmarks_memory_CPPFLAGS = $(bench_cppflags)
benchmarks_memory_LDFLAGS = -no-install
benchmarks_memory_LDADD = libftmpi.la
# No MPI in it.
check_PROGRAMS += benchmarks/rawtcp
benchmarks_rawtcp_SOURCES = benchmarks/rawtcp.c
# Not linked with libftmpi: it stands in front of any MPI.
check_LTLIBRARIES += benchmarks/libwrong.la
benchmarks_libwrong_la_SOURCES = benchmarks/wrong.c
benchmarks_libwrong_la_CPPFLAGS = $(bench_cppflags)
benchmarks_libwrong_la_LDFLAGS = -module -avoid-version -rpath /nowhere
TESTS += benchmarks/smoke.sh
# Not with sanitizers: these compile programs without them, and Python was built without.
if !SANITIZED
TESTS += benchmarks/compare.sh benchmarks/faults.sh benchmarks/hosts.sh benchmarks/xgboost.sh
endif
EXTRA_DIST += benchmarks/smoke.sh benchmarks/compare.sh benchmarks/faults.sh benchmarks/hosts.sh benchmarks/xgboost.sh \
	benchmarks/compare benchmarks/faults benchmarks/hosts benchmarks/xgboost benchmarks/figures benchmarks/cacheline.c \
	benchmarks/ftbench/__init__.py benchmarks/ftbench/blocks.py benchmarks/ftbench/cases.py benchmarks/ftbench/cli.py \
	benchmarks/ftbench/faults.py benchmarks/ftbench/hosts.py benchmarks/ftbench/machine.py benchmarks/ftbench/mpis.py benchmarks/ftbench/plots.py \
	benchmarks/ftbench/report.py benchmarks/ftbench/results.py benchmarks/ftbench/runs.py benchmarks/ftbench/xgboost_worker.py
