# SPDX-License-Identifier: BSD-3-Clause
libft_la_SOURCES += \
	ft/core/plan.h ft/core/plan.c \
	ft/core/stream.h ft/core/stream.c \
	ft/core/view.h ft/core/view.c \
	ft/core/op.h ft/core/op.c ft/core/fold.c \
	ft/core/check.h ft/core/check.c \
	ft/core/tree.h ft/core/tree.c \
	ft/core/exchange.h ft/core/exchange.c \
	ft/core/keys.h ft/core/keys.c \
	ft/core/cache.h ft/core/cache.c \
	ft/core/bootstrap.h ft/core/bootstrap.c ft/core/bootstrap_key.c ft/core/bootstrap_place.c \
	ft/core/algorithm.h ft/core/algorithm.c ft/core/progress.h ft/core/run.c ft/core/short.c \
	ft/core/units.h ft/core/units.c ft/core/chunked.c ft/core/redundant.c ft/core/pipelined.c \
	ft/core/log_bcast.c ft/core/log_gather.c \
	ft/core/frame.h ft/core/nodes.h ft/core/nodes_op.h ft/core/nodes.c ft/core/nodes_local.c ft/core/nodes_exchange.c ft/core/frames.c

unit_tests += ft/core/unit
ft_core_unit_SOURCES = \
	ft/core/check_test.c \
	ft/core/exchange_traces.h ft/core/exchange_test.c \
	ft/core/frames_test.c \
	ft/core/halves_test.c \
	ft/core/plan_test.c \
	ft/core/tree_test.c \
	ft/core/view_test.c
ft_core_unit_CFLAGS = $(unit_cflags)
ft_core_unit_LDADD = $(ft_unit_libs)
