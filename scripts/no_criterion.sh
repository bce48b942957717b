#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Stands for the unit tests where Criterion is missing.
echo "unit tests need Criterion: apt-get install libcriterion-dev"
exit 77
