! SPDX-License-Identifier: BSD-3-Clause
! The collectives, attributes, operations and error handlers of Fortran, under a name of include file or module: COLL is
! compiled twice, with mpif.h and with "use mpi". What it prints, line by line with the rank in front, must be the same in every
! run; the rank that $VICTIM names kills itself in the middle, in its first life.
#ifdef USE_MPI
#define MODULE use mpi
#define INCLUDE_FILE
#else
#define MODULE
#define INCLUDE_FILE include 'mpif.h'
#endif

subroutine add(in, inout, len, type)
    MODULE
    implicit none
    INCLUDE_FILE
    integer :: len, type, i
    double precision :: in(len), inout(len)
    if (type /= MPI_DOUBLE_PRECISION) call MPI_Abort(MPI_COMM_WORLD, 3, i)
    do i = 1, len
        inout(i) = inout(i) + in(i)
    end do
end subroutine

subroutine note(comm, code)
    implicit none
    integer :: comm, code, noted, whose
    common /notes/ noted, whose
    noted = code
    whose = comm
end subroutine

subroutine forget(comm, keyval, value, extra, ierr)
    implicit none
    integer :: comm, keyval, value, extra, ierr, noted, whose
    common /notes/ noted, whose
    noted = value + extra
    ierr = 0
end subroutine

subroutine keep(comm, keyval, extra, in, out, flag, ierr)
    implicit none
    integer :: comm, keyval, extra, in, out, ierr
    logical :: flag
    out = in + extra
    flag = .true.
    ierr = 0
end subroutine

program coll
    MODULE
    implicit none
    INCLUDE_FILE
    external add, note, forget, keep
    integer, parameter :: n = 1000
    integer :: rank, size, ierr, i, round, op, handler, key, number, length, one(4), all(64), noted, whose, type, mine, half, twin, merged
    logical :: flag
    integer(kind=MPI_ADDRESS_KIND) :: big, address
    double precision :: x(n), y(n), total
    double precision, target :: fixed(3)
    character(len=MPI_MAX_ERROR_STRING) :: text
    character(len=MPI_MAX_PORT_NAME) :: port
    character(len=8) :: victim, incarnation, me
    common /notes/ noted, whose

    call MPI_Init(ierr)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
    call MPI_Op_create(add, .true., op, ierr)
    call MPI_Type_contiguous(2, MPI_INTEGER, type, ierr)
    call MPI_Type_commit(type, ierr)

    call get_environment_variable('VICTIM', victim)
    call get_environment_variable('FTMPI_INCARNATION', incarnation)
    write (me, '(I0)') rank

    do round = 1, ROUNDS
        do i = 1, n
            x(i) = rank + i + round
        end do
        call MPI_Allreduce(x, y, n, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
        call MPI_Allreduce(MPI_IN_PLACE, x, n, MPI_DOUBLE_PRECISION, op, MPI_COMM_WORLD, ierr)
        if (any(x /= y)) print '(I0,A,I0)', rank, ' own operation differs in round ', round
        if (round == ROUNDS / 2 .and. victim == me .and. incarnation == '0') call kill(getpid(), 9, ierr)
        total = sum(x)
        if (rank == 0) then
            call MPI_Reduce(MPI_IN_PLACE, x, n, MPI_DOUBLE_PRECISION, MPI_MAX, 0, MPI_COMM_WORLD, ierr)
        else
            call MPI_Reduce(x, y, n, MPI_DOUBLE_PRECISION, MPI_MAX, 0, MPI_COMM_WORLD, ierr)
        end if
        if (rank == 0 .and. sum(x) /= total) print '(A)', '0 reduce in place differs'
        fixed = 0
        if (rank == size - 1) fixed = (/ 1.5d0, 2.5d0, dble(round) /)
        call MPI_Bcast(fixed, 3, MPI_DOUBLE_PRECISION, size - 1, MPI_COMM_WORLD, ierr)
        one = (/ rank, round, 2 * rank, 3 /)
        call MPI_Allgather(one, 2, type, all, 4, MPI_INTEGER, MPI_COMM_WORLD, ierr)
        if (any(all(1:4*size:4) /= (/ (i, i = 0, size - 1) /))) print '(I0,A)', rank, ' allgather differs'
        if (mod(round, 100) == 0) print '(I0,A,I0,2F14.1)', rank, ' round ', round, total, sum(fixed)
        call MPI_Barrier(MPI_COMM_WORLD, ierr)
    end do

    ! MPI_BOTTOM and an absolute address in the place of a buffer: only with no elements, no type has displacements yet.
    call MPI_Bcast(MPI_BOTTOM, 0, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
    print '(I0,A,I0)', rank, ' bottom ', ierr
    call MPI_Get_address(fixed(2), address, ierr)
    call MPI_Get_address(fixed(1), big, ierr)
    print '(I0,A,I0)', rank, ' apart ', address - big

    ! Attributes: the standard's own, and one of each kind.
    call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, big, flag, ierr)
    print '(I0,A,I0,L2)', rank, ' tag_ub ', big, flag
    call MPI_Attr_get(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, number, flag, ierr)
    print '(I0,A,I0,L2)', rank, ' universe ', number, flag
    call MPI_Keyval_create(MPI_NULL_COPY_FN, forget, key, 1000, ierr)
    call MPI_Attr_put(MPI_COMM_WORLD, key, -7 - rank, ierr)
    call MPI_Attr_get(MPI_COMM_WORLD, key, number, flag, ierr)
    print '(I0,A,I0,L2)', rank, ' attribute ', number, flag
    call MPI_Attr_delete(MPI_COMM_WORLD, key, ierr)
    print '(I0,A,I0)', rank, ' deleted with ', noted
    call MPI_Keyval_free(key, ierr)
    call MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, key, big, ierr)
    big = 2_MPI_ADDRESS_KIND ** 40 + rank
    call MPI_Comm_set_attr(MPI_COMM_WORLD, key, big, ierr)
    big = 0
    call MPI_Comm_get_attr(MPI_COMM_WORLD, key, big, flag, ierr)
    print '(I0,A,I0,L2)', rank, ' large attribute ', big, flag

    ! Communicators: attributes go along to duplicates, by functions of both kinds.
    call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), -rank, half, ierr)
    call MPI_Comm_free_keyval(key, ierr)
    call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, key, big, ierr)
    call MPI_Keyval_create(keep, forget, number, 1000, ierr)
    call MPI_Comm_set_attr(half, key, big, ierr)
    call MPI_Attr_put(half, number, 5 + rank, ierr)
    call MPI_Comm_dup(half, twin, ierr)
    big = 0
    call MPI_Comm_get_attr(twin, key, big, flag, ierr)
    call MPI_Attr_get(twin, number, mine, flag, ierr)
    print '(I0,A,I0,1X,I0,L2)', rank, ' attributes of the duplicate ', big, mine, flag
    call MPI_Allreduce(rank, mine, 1, MPI_INTEGER, MPI_SUM, twin, ierr)
    call MPI_Comm_compare(half, twin, length, ierr)
    print '(I0,A,I0,L2,L2)', rank, ' sum in the half ', mine, length == MPI_CONGRUENT, half /= twin
    call MPI_Comm_free(twin, ierr)
    twin = MPI_COMM_NULL
    if (size > 1) then
        ! The other half's first rank is the last one that leaves the other rest.
        length = size - 1
        if (mod(length, 2) == mod(rank, 2)) length = length - 1
        call MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, length, 5, twin, ierr)
        call MPI_Comm_remote_size(twin, length, ierr)
        call MPI_Comm_test_inter(twin, flag, ierr)
        call MPI_Allreduce(rank, mine, 1, MPI_INTEGER, MPI_SUM, twin, ierr)
        print '(I0,A,I0,1X,I0,L2)', rank, ' of the other half ', length, mine, flag
        call MPI_Intercomm_merge(twin, mod(rank, 2) == 1, merged, ierr)
        call MPI_Comm_free(twin, ierr)
        call MPI_Comm_idup(merged, twin, number, ierr)
        call MPI_Wait(number, MPI_STATUS_IGNORE, ierr)
        call MPI_Comm_rank(twin, length, ierr)
        print '(I0,A,I0)', rank, ' rank of all ', length
        call MPI_Comm_free(merged, ierr)
        call MPI_Comm_free(twin, ierr)
    end if
    call MPI_Comm_free(half, ierr)
    print '(I0,A,I0,L2)', rank, ' deleted with ', noted, twin == MPI_COMM_NULL

    ! Errors: returned, and to a handler of Fortran's own.
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierr)
    call MPI_Bcast(x, 1, MPI_INTEGER, 999, MPI_COMM_WORLD, ierr)
    call MPI_Error_class(ierr, number, mine)
    print '(I0,A,L2)', rank, ' returned ', number == MPI_ERR_ROOT
    call MPI_Error_string(ierr, text, length, mine)
    print '(I0,A,L2,L2)', rank, ' text ', index(text, 'MPI_ERR_ROOT') > 0, text(length:) == text(length:length)
    call MPI_Open_port(MPI_INFO_NULL, port, ierr)
    call MPI_Error_class(ierr, number, mine)
    print '(I0,A,L2)', rank, ' no ports ', number == MPI_ERR_UNSUPPORTED_OPERATION
    call MPI_Comm_create_errhandler(note, handler, ierr)
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler, ierr)
    call MPI_Errhandler_free(handler, ierr)
    noted = 0
    call MPI_Bcast(x, -1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
    print '(I0,A,L2,L2)', rank, ' handler ', noted == MPI_ERR_COUNT, whose == MPI_COMM_WORLD
    call MPI_Type_free(type, ierr)
    call MPI_Op_free(op, ierr)
    if (MPI_Wtime() < 0 .or. MPI_Wtick() <= 0) print '(I0,A)', rank, ' clock'
    call MPI_Finalize(ierr)
end program
