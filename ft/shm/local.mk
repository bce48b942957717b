# SPDX-License-Identifier: BSD-3-Clause
libftcommon_la_SOURCES += \
	ft/shm/point.h ft/shm/word.h \
	ft/shm/given.h ft/shm/given.c \
	ft/shm/layout.h ft/shm/layout.c \
	ft/shm/region.h ft/shm/region.c ft/shm/cut.h ft/shm/cut.c ft/shm/streams.h ft/shm/streams.c ft/shm/channels.h ft/shm/box.h \
	ft/shm/acks.h ft/shm/await.h ft/shm/doorbell.h ft/shm/doorbell.c \
	ft/shm/random.h ft/shm/random.c \
	ft/shm/versions.h ft/shm/versions.c \
	ft/shm/place.h ft/shm/place.c \
	ft/shm/turns.h ft/shm/turns.c ft/shm/wait.h ft/shm/wait.c

libft_la_SOURCES += \
	ft/shm/extent.h ft/shm/places.h ft/shm/places.c ft/shm/spill.h ft/shm/spill.c \
	ft/shm/models.h ft/shm/models.c ft/shm/model_map.h ft/shm/model_map.c \
	ft/shm/log.h ft/shm/log.c \
	ft/shm/walk.h ft/shm/walk.c \
	ft/shm/pages.h ft/shm/pages.c \
	ft/shm/keeper.h ft/shm/keeper_state.h ft/shm/keeper.c ft/shm/keeper_open.c ft/shm/keeper_thread.c \
	ft/shm/trail.h \
	ft/shm/transfer.h ft/shm/transfer.c \
	ft/shm/doubt.h ft/shm/doubt.c \
	ft/shm/inspect.h ft/shm/inspect.c ft/shm/stuck.h ft/shm/stuck.c

unit_tests += ft/shm/unit
ft_shm_unit_SOURCES = \
	ft/shm/cut_test.c \
	ft/shm/inspect_test.c ft/shm/stuck_test.c \
	ft/shm/log_test.c \
	ft/shm/place_test.c \
	ft/shm/places_test.c \
	ft/shm/versions_test.c \
	ft/shm/walk_test.c \
	ft/shm/streams_test.c \
	ft/shm/wait_test.c
ft_shm_unit_CFLAGS = $(unit_cflags)
ft_shm_unit_LDADD = $(ft_unit_libs)
