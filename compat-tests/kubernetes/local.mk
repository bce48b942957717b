# SPDX-License-Identifier: BSD-3-Clause
# What docs/kubernetes.md says of pods, which are namespaces here.
kubernetes_tests = compat-tests/kubernetes/mpijob.sh
TESTS += $(kubernetes_tests)
# About processes and time, which sanitizers take.
tests_unsanitized += $(kubernetes_tests)
EXTRA_DIST += $(kubernetes_tests)
