! SPDX-License-Identifier: BSD-3-Clause
! The modern binding, "use mpi_f08": handles are types of their own, the error code is optional. As coll.f90, shorter.
module operation
contains
    subroutine add(in, inout, len, type)
        use mpi_f08
        use, intrinsic :: iso_c_binding
        implicit none
        type(c_ptr), value :: in, inout
        integer :: len
        type(MPI_Datatype) :: type
        integer, pointer :: a(:), b(:)
        if (type /= MPI_INTEGER) call MPI_Abort(MPI_COMM_WORLD, 3)
        call c_f_pointer(in, a, [len])
        call c_f_pointer(inout, b, [len])
        b = b + a
    end subroutine
end module

program f08
    use mpi_f08
    use operation
    implicit none
    integer :: rank, size, x(1000), y(1000), ierr, class, mine, round, i
    type(MPI_Op) :: op
    type(MPI_Comm) :: half
    character(len=8) :: victim, incarnation, me
    character(len=MPI_MAX_PORT_NAME) :: port

    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, size)
    call get_environment_variable('VICTIM', victim)
    call get_environment_variable('FTMPI_INCARNATION', incarnation)
    write (me, '(I0)') rank
    call MPI_Op_create(add, .true., op)
    do round = 1, ROUNDS
        x = (/ (rank + round + i, i = 1, 1000) /)
        call MPI_Allreduce(x, y, 1000, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
        call MPI_Allreduce(MPI_IN_PLACE, x, 1000, MPI_INTEGER, op, MPI_COMM_WORLD)
        if (any(x /= y)) print '(I0,A,I0)', rank, ' own operation differs in round ', round
        if (round == ROUNDS / 2 .and. victim == me .and. incarnation == '0') call kill(getpid(), 9, ierr)
        call MPI_Bcast(x, 1000, MPI_INTEGER, mod(round, size), MPI_COMM_WORLD)
        if (mod(round, 20) == 0) print '(I0,A,I0,I12)', rank, ' round ', round, sum(x)
        call MPI_Barrier(MPI_COMM_WORLD)
    end do
    call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), -rank, half)
    call MPI_Allreduce(rank, i, 1, MPI_INTEGER, MPI_SUM, half)
    call MPI_Comm_free(half)
    print '(I0,A,I0,L2)', rank, ' sum in the half ', i, half == MPI_COMM_NULL
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN)
    call MPI_Bcast(x, 4, MPI_INTEGER, 99, MPI_COMM_WORLD, ierr)
    print '(I0,A,L2)', rank, ' returned ', ierr == MPI_ERR_ROOT
    call MPI_Open_port(MPI_INFO_NULL, port, ierr)
    call MPI_Error_class(ierr, class, mine)
    print '(I0,A,L2)', rank, ' no ports ', class == MPI_ERR_UNSUPPORTED_OPERATION
    call MPI_Op_free(op)
    call MPI_Finalize()
end program
