# SPDX-License-Identifier: BSD-3-Clause
# Stock XGBoost under ftrun. Not with sanitizers: their run-time library would have to be the first one in a Python
# that was built without it.
if !SANITIZED
tests_first += compat-tests/xgboost/test_small.sh compat-tests/xgboost/bootstrap.sh
endif
EXTRA_DIST += \
	compat-tests/xgboost/test_small.sh \
	compat-tests/xgboost/calls.py \
	compat-tests/xgboost/bootstrap.sh compat-tests/xgboost/bootstrap.py compat-tests/xgboost/checkpointed.py \
	compat-tests/xgboost/resume.py \
	compat-tests/xgboost/train.py \
	compat-tests/xgboost/drive.py \
	scripts/packages.sh scripts/build.sh scripts/quickstart.sh scripts/tour.sh scripts/check.sh \
	.ci/run
