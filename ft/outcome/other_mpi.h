/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank that runs on another MPI than ours: its library was found by an rpath, by an absolute path, by dlopen, or is
   MPICH's. Each process would be a world of one, and the job would do the same N times. So whoever starts another MPI in a
   process of a rank that has not joined the job ends the job, with a line that names the library.

   That another library is there proves nothing: programs have them and never start them, and start ours later. But inside
   of MPI_Init its caller's address in MPI_Init is on the stack, and nowhere else is such an address; and no MPI_Init gets
   by without calling the C library, which is where this looks (real.h). So there is no false alarm. */
#ifndef FT_OUTCOME_OTHER_MPI_H
#define FT_OUTCOME_OTHER_MPI_H

/* From now on, in this process; unless FTMPI_OTHER_MPI is "allow". What main's thread has on its
   stack lies below `stack`. */
void ft_other_mpi_watch(void *stack);

/* This process is the rank, and on ours: it may start what else it likes. */
void ft_other_mpi_joined(void);

#endif
