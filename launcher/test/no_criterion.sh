#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Stands for the unit tests where Criterion is missing.
echo "policy_test, lines_test, options_test need Criterion: apt-get install libcriterion-dev"
exit 77
