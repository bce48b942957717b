# SPDX-License-Identifier: BSD-3-Clause
EXTRA_DIST += compat-tests/pytorch/pytorch.sh compat-tests/pytorch/drive.py compat-tests/pytorch/train.py
# Not with sanitizers: Python is started with our library in it.
if !SANITIZED
TESTS += compat-tests/pytorch/pytorch.sh
endif
