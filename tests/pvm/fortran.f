c     SPDX-License-Identifier: MIT
c     A task in Fortran: buffers sent, packed and not, come as they were.
      program fortran
      include 'fpvm3.h'
      integer n, rounds, tag
      parameter (n = 50000, rounds = 20, tag = 7)
      integer me, parent, child(1), info, i, k, bad, from, itag, got
      double precision x(n), y(n)
      character*256 name

      call pvmfmytid(me)
      call pvmfparent(parent)
      if (parent .ge. 0) then
c        What comes goes back, by the other way of two.
         do k = 1, rounds
            call pvmfprecv(parent, tag, x, n, REAL8, from, itag, got,
     &           info)
            call pvmfinitsend(PVMRAW, info)
            call pvmfpack(REAL8, x, n, 1, info)
            call pvmfsend(parent, tag + 1, info)
         end do
         call pvmfexit(info)
         stop
      end if

      call get_command_argument(0, name)
      call pvmfspawn(trim(name), PVMDEFAULT, '*', 1, child, info)
      if (info .ne. 1) stop 2
      bad = 0
      do k = 1, rounds
         do i = 1, n
            x(i) = k + 0.5d0 * i
         end do
         call pvmfpsend(child(1), tag, x, n, REAL8, info)
         if (info .lt. 0) bad = bad + 1
         call pvmfrecv(child(1), tag + 1, info)
         call pvmfunpack(REAL8, y, n, 1, info)
         do i = 1, n
            if (x(i) .ne. y(i)) bad = bad + 1
         end do
c        Until the way of messages is settled.
         if (k .le. 2) call sleep(1)
      end do
      print *, 'bad ones:', bad
      call pvmfexit(info)
      end
