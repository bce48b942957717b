# SPDX-License-Identifier: BSD-3-Clause
libft_la_SOURCES += ft/values/table.h ft/values/table.c

unit_tests += ft/values/unit
ft_values_unit_SOURCES = ft/values/table_test.c
ft_values_unit_CFLAGS = $(unit_cflags)
ft_values_unit_LDADD = $(ft_unit_libs)
