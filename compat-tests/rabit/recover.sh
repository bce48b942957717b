#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Rabit's recovery scenarios (recover.py says which) over librabit.so.
# shellcheck disable=SC2154,SC1091,SC2034 # lib.sh sets them
. "$(dirname "$0")/../chaos/lib.sh"
tier=full
if quick; then tier=quick; fi
bounded 900 python3 "$here/recover.py" --ftrun "$ftrun" --program "$top_builddir/compat-tests/rabit/recover" --tier $tier "$@" || failed=1
finish
