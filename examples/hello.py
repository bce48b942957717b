# SPDX-License-Identifier: BSD-3-Clause
from mpi4py import MPI

world = MPI.COMM_WORLD
hosts = world.allgather(MPI.Get_processor_name())
if world.rank == 0:
    print("hello from", world.size, "ranks on", len(set(hosts)), "host(s)")
