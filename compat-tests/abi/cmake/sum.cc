/* SPDX-License-Identifier: BSD-3-Clause */
/* As sum.c, in C++. */
#include <mpi.h>
#include <cstdlib>
#ifndef FTMPI
#error another MPI was found
#endif

int main(int argc, char **argv) {
  int one = 1, sum;

  MPI::Init(argc, argv);
  MPI::COMM_WORLD.Allreduce(&one, &sum, 1, MPI::INT, MPI::SUM);
  MPI::Finalize();
  return argc == 2 && sum == std::atoi(argv[1]) ? 0 : 3;
}
