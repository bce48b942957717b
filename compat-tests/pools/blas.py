# SPDX-License-Identifier: BSD-3-Clause
"""NumPy and SciPy over OpenBLAS with threads of its own (OPENBLAS_NUM_THREADS). It knows nothing of ftmpi. With "mpi" the ranks of mpi4py share
what they have found in each round. blas.py ROUNDS [mpi]"""

import hashlib
import sys

import numpy as np
import scipy.linalg

ROUNDS = int(sys.argv[1])
if sys.argv[2:] == ['mpi']:
    from mpi4py import MPI
    RANK = MPI.COMM_WORLD.Get_rank()
else:
    import os
    MPI, RANK = None, int(os.environ['RANK'])


def threads():
    with open('/proc/self/status', encoding='ascii') as f:
        return int(next(line for line in f if line.startswith('Threads:')).split()[1])


def step(a, b):
    """Products, factors and eigenvalues: all that has threads in OpenBLAS, and what LAPACK makes of it."""
    a = a @ b
    a /= np.linalg.norm(a)
    q, r = np.linalg.qr(a)
    factors, order = scipy.linalg.lu_factor(a + np.eye(len(a)))
    x = scipy.linalg.lu_solve((factors, order), b[:, 0])
    values = scipy.linalg.eigvalsh(r[:120, :120] + r[:120, :120].T)
    u, s, v = np.linalg.svd(a[:120, :80])
    found = np.concatenate([x, values, s, u[0], v[0]])
    if MPI:
        total = np.empty_like(found)
        MPI.COMM_WORLD.Allreduce(found, total)
        found = total
    a = q * (1 + np.tanh(found.sum()) / 8) + a / 16
    return a, found


def main():
    chance = np.random.default_rng(RANK + 1)
    a, b = chance.normal(size=(320, 320)), chance.normal(size=(320, 320))
    for k in range(ROUNDS):
        a, found = step(a, b)
        print('round', k, hashlib.sha256(a.tobytes() + found.tobytes()).hexdigest()[:16], flush=True)
    print('model', hashlib.sha256(a.tobytes()).hexdigest(), 'more than one thread:', threads() > 1, flush=True)


main()
