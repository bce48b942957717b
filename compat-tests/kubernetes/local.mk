# SPDX-License-Identifier: BSD-3-Clause
# What docs/kubernetes.md says of pods, which are namespaces here.
kubernetes_tests = compat-tests/kubernetes/mpijob.sh compat-tests/kubernetes/manifests.sh compat-tests/kubernetes/first.sh compat-tests/kubernetes/pods.sh compat-tests/kubernetes/xgboostjob.sh
TESTS += $(kubernetes_tests)
# About processes and time, which sanitizers take.
tests_unsanitized += $(kubernetes_tests)
EXTRA_DIST += $(kubernetes_tests) compat-tests/kubernetes/manifests.py compat-tests/kubernetes/train.py \
	compat-tests/kubernetes/crds/JobSet.json compat-tests/kubernetes/crds/MPIJob.json compat-tests/kubernetes/crds/PyTorchJob.json \
	compat-tests/kubernetes/crds/TrainJob.json compat-tests/kubernetes/crds/TrainingRuntime.json compat-tests/kubernetes/crds/XGBoostJob.json
clean-local: clean-kubernetes
clean-kubernetes:
	rm -rf compat-tests/kubernetes/schema
.PHONY: clean-kubernetes
