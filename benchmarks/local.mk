# SPDX-License-Identifier: BSD-3-Clause
# Plain MPI programs: built here so that they keep compiling, and by `compare` with every MPI it finds.
bench_programs = \
	benchmarks/allreduce \
	benchmarks/bcast \
	benchmarks/reduce \
	benchmarks/allgather \
	benchmarks/allgatherv \
	benchmarks/barrier \
	benchmarks/latency \
	benchmarks/bandwidth \
	benchmarks/bibandwidth \
	benchmarks/anysource \
	benchmarks/dup \
	benchmarks/split \
	benchmarks/init \
	benchmarks/recovery \
	benchmarks/rewrite \
	benchmarks/steady \
	benchmarks/checkpoint \
	benchmarks/gap \
	benchmarks/memory
check_PROGRAMS += $(bench_programs)
bench_common = benchmarks/bench.h benchmarks/bench.c benchmarks/line.h benchmarks/options.h benchmarks/options.c
benchmarks_allreduce_SOURCES = benchmarks/allreduce.c $(bench_common)
benchmarks_bcast_SOURCES = benchmarks/bcast.c $(bench_common)
benchmarks_reduce_SOURCES = benchmarks/reduce.c $(bench_common)
benchmarks_allgather_SOURCES = benchmarks/allgather.c $(bench_common)
benchmarks_allgatherv_SOURCES = benchmarks/allgatherv.c $(bench_common)
benchmarks_barrier_SOURCES = benchmarks/barrier.c $(bench_common)
benchmarks_latency_SOURCES = benchmarks/latency.c benchmarks/pairs.h $(bench_common)
benchmarks_bandwidth_SOURCES = benchmarks/bandwidth.c benchmarks/pairs.h $(bench_common)
benchmarks_bibandwidth_SOURCES = benchmarks/bibandwidth.c benchmarks/pairs.h $(bench_common)
benchmarks_anysource_SOURCES = benchmarks/anysource.c benchmarks/pairs.h $(bench_common)
benchmarks_dup_SOURCES = benchmarks/dup.c $(bench_common)
benchmarks_split_SOURCES = benchmarks/split.c $(bench_common)
# No MPI in it.
check_PROGRAMS += benchmarks/rawtcp benchmarks/bare benchmarks/yields benchmarks/calls
benchmarks_bare_SOURCES = benchmarks/bare.c benchmarks/bytes.h
benchmarks_rawtcp_SOURCES = benchmarks/rawtcp.c benchmarks/bytes.h benchmarks/line.h
benchmarks_rawtcp_LDADD =
benchmarks_bare_LDADD = -lpthread
benchmarks_yields_LDADD =
benchmarks_calls_LDADD =
# Not linked with libftmpi: it stands in front of any MPI.
check_LTLIBRARIES += benchmarks/libwrong.la
benchmarks_libwrong_la_SOURCES = benchmarks/wrong.c
benchmarks_libwrong_la_LDFLAGS = -module -avoid-version -rpath /nowhere
EXTRA_DIST += \
	benchmarks/compare benchmarks/faults benchmarks/files benchmarks/hosts benchmarks/loopback.sh benchmarks/xgboost benchmarks/xgboost3 benchmarks/figures benchmarks/cacheline.c \
	benchmarks/ftbench/__init__.py benchmarks/ftbench/blocks.py benchmarks/ftbench/cases.py benchmarks/ftbench/cli.py \
	benchmarks/ftbench/faults.py benchmarks/ftbench/hosts.py benchmarks/ftbench/lost.py benchmarks/ftbench/machine.py benchmarks/ftbench/mpis.py benchmarks/ftbench/plots.py \
	benchmarks/ftbench/report.py benchmarks/ftbench/results.py benchmarks/ftbench/runs.py benchmarks/ftbench/xgboost_worker.py benchmarks/ftbench/xgboost3_worker.py
