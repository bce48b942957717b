# SPDX-License-Identifier: BSD-3-Clause
# ftrun. Everything but main is a convenience library, so that tests can link it.
noinst_LTLIBRARIES += liblaunch.la
liblaunch_la_SOURCES =
include launcher/base/local.mk
include launcher/policy/local.mk
include launcher/options/local.mk
include launcher/tune/local.mk
include launcher/wire/local.mk
include launcher/net/local.mk
include launcher/stdio/local.mk
include launcher/ckpt/local.mk
include launcher/report/local.mk
include launcher/events/local.mk
include launcher/control/local.mk
include launcher/start/local.mk
include launcher/tracker/local.mk
include launcher/rdzv/local.mk
include launcher/values/local.mk
include launcher/job/local.mk
include launcher/snap/local.mk
include launcher/ranks/local.mk
include launcher/agent/local.mk
include launcher/node/local.mk
include launcher/controller/local.mk
include launcher/join/local.mk
liblaunch_la_CPPFLAGS = $(AM_CPPFLAGS) -DLIBDIR='"$(libdir)"' -DSYSCONFDIR='"$(sysconfdir)"'
liblaunch_la_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS) $(HWLOC_CFLAGS) $(JANSSON_CFLAGS) $(XXHASH_CFLAGS) $(CRYPTO_CFLAGS) $(CURL_CFLAGS)
liblaunch_la_LIBADD = libftstore.la libft.la $(EVENT_LIBS) $(HWLOC_LIBS) $(JANSSON_LIBS) $(XXHASH_LIBS) $(CRYPTO_LIBS) -ldl -lpthread

bin_PROGRAMS += ftrun
ftrun_SOURCES = launcher/ftrun.c
ftrun_LDADD = liblaunch.la

dist_man_MANS += docs/ftrun.1
