# SPDX-License-Identifier: BSD-3-Clause
liblaunch_la_SOURCES += \
	launcher/rdzv/attach.h launcher/rdzv/attach.c \
	launcher/rdzv/curl.h launcher/rdzv/curl.c \
	launcher/rdzv/doc.h launcher/rdzv/doc.c \
	launcher/rdzv/etcd_own.h launcher/rdzv/etcd_own.c \
	launcher/rdzv/etcd_peers.h launcher/rdzv/etcd_peers.c \
	launcher/rdzv/etcd_tend.h launcher/rdzv/etcd_tend.c \
	launcher/rdzv/follow.h launcher/rdzv/follow.c \
	launcher/rdzv/gateway.h launcher/rdzv/gateway.c \
	launcher/rdzv/hear.h launcher/rdzv/hear.c \
	launcher/rdzv/here.h launcher/rdzv/here.c \
	launcher/rdzv/http.h launcher/rdzv/http.c \
	launcher/rdzv/keys.h launcher/rdzv/keys.c \
	launcher/rdzv/kvs.h launcher/rdzv/kvs.c \
	launcher/rdzv/lead.h launcher/rdzv/lead.c \
	launcher/rdzv/mark.h launcher/rdzv/mark.c \
	launcher/rdzv/rdzv.h launcher/rdzv/rdzv_config.h launcher/rdzv/rdzv.c \
	launcher/rdzv/rdzv_state.h launcher/rdzv/rdzv_state.c \
	launcher/rdzv/roll.h launcher/rdzv/roll.c \
	launcher/rdzv/round.h launcher/rdzv/round_events.h launcher/rdzv/round.c \
	launcher/rdzv/round_state.h launcher/rdzv/round_state.c \
	launcher/rdzv/seal.h launcher/rdzv/seal.c \
	launcher/rdzv/server.h launcher/rdzv/server.c \
	launcher/rdzv/service.h launcher/rdzv/service.c \
	launcher/rdzv/settings.h launcher/rdzv/settings.c \
	launcher/rdzv/store.h launcher/rdzv/etcd_state.h launcher/rdzv/etcd.c launcher/rdzv/etcd_watch.c \
	launcher/rdzv/transfer.h launcher/rdzv/transfer.c \
	launcher/rdzv/values.h launcher/rdzv/values.c \
	launcher/rdzv/write.h launcher/rdzv/write.c

unit_tests += launcher/rdzv/unit
launcher_rdzv_unit_SOURCES = \
	launcher/rdzv/doc_test.c \
	launcher/rdzv/mark_test.c \
	launcher/rdzv/round_test.c \
	launcher/rdzv/server_test.c \
	launcher/rdzv/settings_test.c \
	launcher/rdzv/sim.h launcher/rdzv/sim.c \
	launcher/rdzv/storm_test.c \
	launcher/rdzv/values_test.c
launcher_rdzv_unit_CFLAGS = $(unit_cflags)
launcher_rdzv_unit_LDADD = $(launcher_unit_libs)
