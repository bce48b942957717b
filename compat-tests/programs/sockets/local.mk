# SPDX-License-Identifier: BSD-3-Clause
EXTRA_DIST += compat-tests/programs/sockets/sockets.sh compat-tests/programs/sockets/outside.py compat-tests/programs/sockets/meets.py \
	compat-tests/programs/sockets/counts.py compat-tests/programs/sockets/owed.py compat-tests/programs/sockets/rows.py compat-tests/programs/sockets/posts.py
# Not with sanitizers: Python is started with our library in it.
if !SANITIZED
TESTS += compat-tests/programs/sockets/sockets.sh
endif
