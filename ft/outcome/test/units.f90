! SPDX-License-Identifier: BSD-3-Clause
! A rank of streams.sh: formatted and unformatted files, and standard input and output, by libgfortran.
program units
    implicit none
    integer :: round, value, status, unit
    real(8) :: x(500), y(500)
    character(len=200) :: directory, text

    call get_command_argument(1, directory)
    x = [(sqrt(real(value, 8)), value = 1, 500)]
    do round = 1, 12
        read (*, *, iostat=status) value
        if (status /= 0) value = -1
        print '(a,i0,a,i0)', 'round ', round, ' input ', value
        open (newunit=unit, file=trim(directory)//'/formatted', position='append', status='unknown')
        write (unit, '(a,i0,5f12.6)') 'round ', round, x(round:round + 4)
        close (unit)
        open (newunit=unit, file=trim(directory)//'/unformatted', form='unformatted', access='stream')
        write (unit, pos=1 + 4000*mod(round, 3)) x*round
        flush (unit)
        read (unit, pos=1 + 4000*mod(round, 3)) y
        close (unit)
        if (any(y /= x*round)) stop 1
        open (newunit=unit, file=trim(directory)//'/direct', form='unformatted', access='direct', recl=80)
        write (unit, rec=round) x(1:10)*round
        read (unit, rec=max(1, round - 1)) y(1:10)
        close (unit)
        print '(3f10.4)', y(1:3)
    end do
    open (newunit=unit, file=trim(directory)//'/formatted', status='old', action='read')
    value = 0
    do
        read (unit, '(a)', iostat=status) text
        if (status /= 0) exit
        value = value + len_trim(text)
    end do
    print '(i0)', value
end program
