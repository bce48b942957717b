# SPDX-License-Identifier: BSD-3-Clause
# ftrun list, status, stop, wait, attach: what a running job says of itself.
control_tests = compat-tests/control/control.sh compat-tests/control/attach.sh compat-tests/control/status.sh compat-tests/control/schema.sh
check_PROGRAMS += compat-tests/control/waits
TESTS += $(control_tests)
EXTRA_DIST += $(control_tests) compat-tests/control/schema.py
