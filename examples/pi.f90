! SPDX-License-Identifier: BSD-3-Clause
program pi
    use mpi_f08
    implicit none
    integer, parameter :: n = 10000000
    integer :: rank, ranks, i
    double precision :: mine, total, x

    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks)
    mine = 0
    do i = rank, n - 1, ranks
        x = (i + 0.5d0) / n
        mine = mine + 4 / (1 + x * x)
    end do
    call MPI_Reduce(mine, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD)
    if (rank == 0) print '(a, f12.10)', 'pi is about ', total / n
    call MPI_Finalize()
end program
