# SPDX-License-Identifier: BSD-3-Clause
# The benchmarks' programs and runners.
bench_plain_tests = compat-tests/benchmarks/compare.sh compat-tests/benchmarks/faults.sh compat-tests/benchmarks/files.sh compat-tests/benchmarks/hosts.sh compat-tests/benchmarks/xgboost.sh
TESTS += compat-tests/benchmarks/smoke.sh
tests_unsanitized += compat-tests/benchmarks/smoke.sh
# Not with sanitizers: these compile programs without them, and Python was built without.
if !SANITIZED
TESTS += $(bench_plain_tests)
endif
EXTRA_DIST += compat-tests/benchmarks/smoke.sh $(bench_plain_tests)
