# SPDX-License-Identifier: BSD-3-Clause
libftcommon_la_SOURCES += \
	ft/base/err.h ft/base/err.c \
	ft/base/util.h ft/base/util.c \
	ft/base/position.h \
	ft/base/hash.h ft/base/hash.c

libft_la_SOURCES += \
	ft/base/sig.h ft/base/sig.c \
	ft/base/copy.h ft/base/copy.c \
	ft/base/layout.h ft/base/layout.c \
	ft/base/site.h ft/base/site.c \
	ft/base/value.h ft/base/value.c \
	ft/base/hash_copy.c ft/base/hash_elements.c \
	ft/base/isa.h ft/base/isa.c \
	ft/base/reduce.h ft/base/reduce.c

# The loops of reductions and copies, once per instruction set; reduce.c and copy.c (in libft.la) choose among them at run time.
# -ffp-contract=off: the variants must agree to the last bit.
noinst_LTLIBRARIES += libftreduce.la libftreduce_baseline.la
libftreduce_la_SOURCES =
libftreduce_la_LIBADD = libftreduce_baseline.la

ft_reduce_cflags = $(AM_CFLAGS) $(FT_VECTOR_CFLAGS) -ffp-contract=off
libftreduce_baseline_la_SOURCES = ft/base/reduce_kernels.h ft/base/reduce_kernels.c ft/base/copy_kernels.h ft/base/copy_kernels.c
libftreduce_baseline_la_CPPFLAGS = $(AM_CPPFLAGS) -DFT_REDUCE_TABLE=ft_reduce_baseline -DFT_COPY_TABLE=ft_copy_baseline
libftreduce_baseline_la_CFLAGS = $(ft_reduce_cflags)

if FT_REDUCE_X86
noinst_LTLIBRARIES += libftreduce_avx2.la libftreduce_avx512.la
libftreduce_la_LIBADD += libftreduce_avx2.la libftreduce_avx512.la
libftreduce_avx2_la_SOURCES = ft/base/reduce_kernels.c ft/base/copy_kernels.c
libftreduce_avx2_la_CPPFLAGS = $(AM_CPPFLAGS) -DFT_REDUCE_TABLE=ft_reduce_avx2 -DFT_COPY_TABLE=ft_copy_avx2
libftreduce_avx2_la_CFLAGS = $(ft_reduce_cflags) -mavx2
libftreduce_avx512_la_SOURCES = ft/base/reduce_kernels.c ft/base/copy_kernels.c
libftreduce_avx512_la_CPPFLAGS = $(AM_CPPFLAGS) -DFT_REDUCE_TABLE=ft_reduce_avx512 -DFT_COPY_TABLE=ft_copy_avx512
libftreduce_avx512_la_CFLAGS = $(ft_reduce_cflags) -mavx512f -mavx512bw -mavx512dq -mavx512vl \
	-mprefer-vector-width=512
endif

# -ffp-contract=off: what reductions are compared with must be rounded as they are.
unit_tests += ft/base/unit
ft_base_unit_SOURCES = \
	ft/base/copy_test.c \
	ft/base/reduce_test.c \
	ft/base/site_test.c
ft_base_unit_CFLAGS = $(unit_cflags) -ffp-contract=off
ft_base_unit_LDADD = $(ft_unit_libs)
