! SPDX-License-Identifier: MIT
! As abi.c, of Fortran's interface: a module, a string, a status, constants.
program abi
  use mpi
  implicit none
  character(len=MPI_MAX_LIBRARY_VERSION_STRING) :: text
  double precision :: mine(2), total(2), ring(2)
  integer :: status(MPI_STATUS_SIZE), rank, ranks, count, length, at, error

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  mine = (/ 1, 2 /)
  call MPI_Allreduce(mine, total, 2, MPI_DOUBLE_PRECISION, MPI_SUM, &
       MPI_COMM_WORLD, error)
  call check(all(total == ranks * mine), 'wrong sum')
  call MPI_Allreduce(MPI_IN_PLACE, total, 2, MPI_DOUBLE_PRECISION, MPI_SUM, &
       MPI_COMM_WORLD, error)
  call check(all(total == ranks**2 * mine), 'wrong sum in place')
  call MPI_Sendrecv(mine, 2, MPI_DOUBLE_PRECISION, mod(rank + 1, ranks), 7, &
       ring, 2, MPI_DOUBLE_PRECISION, MPI_ANY_SOURCE, MPI_ANY_TAG, &
       MPI_COMM_WORLD, status, error)
  call MPI_Get_count(status, MPI_DOUBLE_PRECISION, count, error)
  call check(status(MPI_SOURCE) == mod(rank + ranks - 1, ranks) .and. &
       status(MPI_TAG) == 7 .and. count == 2 .and. all(ring == mine), &
       'wrong status')
  call MPI_Get_library_version(text, length, error)
  if (rank == 0) then
     at = index(text, 'Device:') + len('Device:')
     at = at + verify(text(at:), ' ' // achar(9)) - 1
     print '(a)', text(at:at + scan(text(at:), achar(10)) - 2)
  end if
  call MPI_Finalize(error)

contains

  subroutine check(right, what)
    logical, intent(in) :: right
    character(len=*), intent(in) :: what

    if (right) return
    print '(a)', what
    call MPI_Abort(MPI_COMM_WORLD, 1, error)
  end subroutine check
end program abi
