# SPDX-License-Identifier: BSD-3-Clause
# Stock XGBoost under ftrun. Not with sanitizers: their run-time library would have to be the first
# one in a Python that was built without it.
if !SANITIZED
tests_first += compat-tests/programs/xgboost/test_small.sh compat-tests/programs/xgboost/bootstrap.sh
TESTS += compat-tests/programs/xgboost/forgotten.sh
tests_first += compat-tests/programs/xgboost/threads.sh
endif
EXTRA_DIST += \
	compat-tests/programs/xgboost/test_small.sh \
	compat-tests/programs/xgboost/forgotten.sh \
	compat-tests/programs/xgboost/calls.py \
	compat-tests/programs/xgboost/threads.sh compat-tests/programs/xgboost/threads.py compat-tests/programs/xgboost/trains.py \
	compat-tests/programs/xgboost/bootstrap.sh compat-tests/programs/xgboost/bootstrap.py compat-tests/programs/xgboost/checkpointed.py \
	compat-tests/programs/xgboost/resume.py \
	compat-tests/programs/xgboost/train.py \
	compat-tests/programs/xgboost/drive.py
