# SPDX-License-Identifier: BSD-3-Clause
"""Debian's XGBoost 1.7 over Rabit's engine, as people write it; it knows nothing of ftmpi. trains.py MODE ROWS ROUNDS THREADS"""

import hashlib
import os
import sys

from xgboost import collective

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'lib'))
import boosted  # noqa: E402

with collective.CommunicatorContext():
    trained = boosted.train(sys.argv[1], collective.get_rank(), *(int(a) for a in sys.argv[2:5]))
    print('model', hashlib.sha256(trained).hexdigest(), flush=True)
