# SPDX-License-Identifier: BSD-3-Clause
# XGBoost 2.1 and later, wheels from PyPI. Python was built without sanitizers.
EXTRA_DIST += compat-tests/xgboost3/kills.sh compat-tests/xgboost3/kills.py compat-tests/xgboost3/quick.py compat-tests/xgboost3/train.py
if !SANITIZED
tests_first += compat-tests/xgboost3/kills.sh
endif
clean-local: clean-xgboost3
clean-xgboost3:
	rm -rf compat-tests/xgboost3/wheels
.PHONY: clean-xgboost3
