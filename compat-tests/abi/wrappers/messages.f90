! SPDX-License-Identifier: BSD-3-Clause
! Messages in Fortran, around a ring: requests, statuses and messages are numbers here, or arrays of them. The rank that $VICTIM names
! kills itself in the middle, in its first life. -DUSE_MPI: by the module.
subroutine query(extra, status, ierr)
    implicit none
    include 'mpif.h'
    integer(kind=MPI_ADDRESS_KIND) :: extra
    integer :: status(MPI_STATUS_SIZE), ierr
    call MPI_Status_set_elements(status, MPI_INTEGER, int(extra), ierr)
    call MPI_Status_set_cancelled(status, .false., ierr)
    status(MPI_SOURCE) = 4
    status(MPI_TAG) = 11
    ierr = MPI_SUCCESS
end subroutine

subroutine release(extra, ierr)
    implicit none
    include 'mpif.h'
    integer(kind=MPI_ADDRESS_KIND) :: extra
    integer :: ierr
    extra = extra + 1
    ierr = MPI_SUCCESS
end subroutine

subroutine cancel(extra, complete, ierr)
    implicit none
    include 'mpif.h'
    integer(kind=MPI_ADDRESS_KIND) :: extra
    logical :: complete
    integer :: ierr
    if (complete) extra = 0
    extra = extra + 100
    ierr = MPI_SUCCESS
end subroutine

program messages
#ifdef USE_MPI
    use mpi
    implicit none
#else
    implicit none
    include 'mpif.h'
#endif
    external :: query, release, cancel
    integer, parameter :: n = 4
    integer :: rank, size, next, before, ierr, round, i, index, outcount, message, lasting(2), one
    integer :: r(n), s(MPI_STATUS_SIZE), ss(MPI_STATUS_SIZE, n), indices(n), got(100, n), sent(100, n), buffer(1000)
    logical :: flag
    integer(kind=MPI_ADDRESS_KIND) :: extra
    character(len=8) :: victim, incarnation, me

    call MPI_Init(ierr)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierr)
    next = modulo(rank + 1, size)
    before = modulo(rank - 1, size)
    call get_environment_variable('VICTIM', victim)
    call get_environment_variable('FTMPI_INCARNATION', incarnation)
    write (me, '(I0)') rank
    do round = 1, ROUNDS
        sent = rank * 1000 + round
        call MPI_Irecv(got, 100, MPI_INTEGER, before, 5, MPI_COMM_WORLD, r(1), ierr)
        call MPI_Send(sent, 100, MPI_INTEGER, next, 5, MPI_COMM_WORLD, ierr)
        call MPI_Wait(r(1), s, ierr)
        if (round == ROUNDS / 2 .and. victim == me .and. incarnation == '0') call kill_me()
        call MPI_Get_count(s, MPI_INTEGER, one, ierr)
        if (r(1) /= MPI_REQUEST_NULL .or. one /= 100 .or. s(MPI_SOURCE) /= before .or. got(100, 1) /= before * 1000 + round) &
            print '(I0,A,I0)', rank, ' a message differs in round ', round
        do i = 1, n
            call MPI_Irecv(got(1, i), 100, MPI_INTEGER, MPI_ANY_SOURCE, i, MPI_COMM_WORLD, r(i), ierr)
        end do
        do i = n, 1, -1
            call MPI_Send(sent(1, i), i, MPI_INTEGER, next, i, MPI_COMM_WORLD, ierr)
        end do
        call MPI_Waitany(n, r, index, s, ierr)
        if (s(MPI_TAG) /= index .or. r(index) /= MPI_REQUEST_NULL) print '(I0,A,I0)', rank, ' any differs in round ', round
        call MPI_Waitsome(n, r, outcount, indices, ss, ierr)
        do i = 1, outcount
            if (ss(MPI_TAG, i) /= indices(i)) print '(I0,A,I0)', rank, ' some differs in round ', round
        end do
        call MPI_Waitall(n, r, MPI_STATUSES_IGNORE, ierr)
        call MPI_Sendrecv(sent, 7, MPI_INTEGER, next, 9, got, 8, MPI_INTEGER, before, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
        if (modulo(round, 25) == 0) print '(I0,A,I0,A,I0)', rank, ' round ', round, ': ', got(7, 1)
    end do

    call MPI_Recv_init(got, 1, MPI_INTEGER, before, 6, MPI_COMM_WORLD, lasting(1), ierr)
    call MPI_Send_init(rank, 1, MPI_INTEGER, next, 6, MPI_COMM_WORLD, lasting(2), ierr)
    one = lasting(1)
    do i = 1, 3
        call MPI_Startall(2, lasting, ierr)
        call MPI_Waitall(2, lasting, ss, ierr)
    end do
    print '(I0,A,L1,1X,I0)', rank, ' persistent ', lasting(1) == one, got(1, 1)
    call MPI_Request_free(lasting(1), ierr)
    call MPI_Request_free(lasting(2), ierr)
    print '(I0,A,L1)', rank, ' freed ', lasting(1) == MPI_REQUEST_NULL
    call MPI_Irecv(got, 1, MPI_INTEGER, before, 7, MPI_COMM_WORLD, r(1), ierr)
    call MPI_Test(r(1), flag, s, ierr)
    print '(I0,A,L1)', rank, ' not yet ', .not. flag
    call MPI_Cancel(r(1), ierr)
    call MPI_Wait(r(1), s, ierr)
    call MPI_Test_cancelled(s, flag, ierr)
    print '(I0,A,L1)', rank, ' cancelled ', flag
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    call MPI_Buffer_attach(buffer, 4000, ierr)
    call MPI_Bsend(sent, 10, MPI_INTEGER, next, 8, MPI_COMM_WORLD, ierr)
    call MPI_Mprobe(before, MPI_ANY_TAG, MPI_COMM_WORLD, message, s, ierr)
    call MPI_Get_count(s, MPI_INTEGER, one, ierr)
    call MPI_Mrecv(got, one, MPI_INTEGER, message, MPI_STATUS_IGNORE, ierr)
    print '(I0,A,I0,1X,L1,1X,I0)', rank, ' a message of ', one, message == MPI_MESSAGE_NULL, got(10, 1)
    call MPI_Buffer_detach(buffer, i, ierr)
    print '(I0,A,I0)', rank, ' buffer ', i
    extra = 5
    call MPI_Grequest_start(query, release, cancel, extra, r(1), ierr)
    call MPI_Cancel(r(1), ierr)
    call MPI_Test(r(1), flag, s, ierr)
    print '(I0,A,L1)', rank, ' not complete ', .not. flag
    call MPI_Grequest_complete(r(1), ierr)
    call MPI_Wait(r(1), s, ierr)
    call MPI_Get_count(s, MPI_INTEGER, one, ierr)
    print '(I0,A,4(1X,I0))', rank, ' generalized', s(MPI_SOURCE), s(MPI_TAG), one, int(extra)
    call MPI_Send(sent, 2, MPI_INTEGER, rank, 1, MPI_COMM_WORLD, ierr)
    call MPI_Recv(got, 1, MPI_INTEGER, rank, 1, MPI_COMM_WORLD, s, ierr)
    call MPI_Error_class(ierr, i, one)
    print '(I0,A,L1)', rank, ' truncated ', i == MPI_ERR_TRUNCATE
    call MPI_Recv(got, 1, MPI_INTEGER, MPI_PROC_NULL, 1, MPI_COMM_WORLD, s, ierr)
    print '(I0,A,L1)', rank, ' from nobody ', s(MPI_SOURCE) == MPI_PROC_NULL .and. s(MPI_TAG) == MPI_ANY_TAG
    call MPI_Finalize(ierr)

contains
    subroutine kill_me()
        integer :: unused
        interface
            integer function c_raise(signal) bind(c, name='raise')
                integer, value :: signal
            end function
        end interface
        unused = c_raise(9)
    end subroutine
end program
