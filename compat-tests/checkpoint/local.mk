# SPDX-License-Identifier: BSD-3-Clause
# Checkpoints that programs make of themselves: killed ranks and lost hosts that load them,
# --ckpt-dir and --resume; and the bootstrap cache, for a program that does something once and comes
# back to it after a death (docs/internals/bootstrap-cache.md).
checkpoint_tests = \
	compat-tests/checkpoint/versions.sh \
	compat-tests/checkpoint/underway.sh \
	compat-tests/checkpoint/versionsat.sh \
	compat-tests/checkpoint/survive_host.sh \
	compat-tests/checkpoint/resume.sh \
	compat-tests/checkpoint/resume_hosts.sh \
	compat-tests/checkpoint/replaced.sh \
	compat-tests/checkpoint/resumeat.sh \
	compat-tests/checkpoint/large.sh \
	compat-tests/checkpoint/boot.sh \
	compat-tests/checkpoint/boot_hosts.sh
TESTS += $(checkpoint_tests)
# About hosts that are lost: no other code of ours.
tests_unsanitized += compat-tests/checkpoint/survive_host.sh compat-tests/checkpoint/boot_hosts.sh
check_PROGRAMS += compat-tests/checkpoint/versions compat-tests/checkpoint/resumejob compat-tests/checkpoint/largejob \
	compat-tests/checkpoint/boot compat-tests/checkpoint/misuse compat-tests/checkpoint/underway
compat_tests_checkpoint_underway_SOURCES = compat-tests/checkpoint/underway.c compat-tests/chaos/progress.h compat-tests/chaos/progress.c
EXTRA_DIST += $(checkpoint_tests) compat-tests/checkpoint/lose_node.h
