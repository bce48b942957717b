# SPDX-License-Identifier: BSD-3-Clause
"""What `compare`, `faults`, `figures` and `xgboost` share: MPIs, cases, runs, the machine's state, results, plots, the report."""
