! One block, and the end of many Fortran programs.
program ends
   use kirin
   implicit none
   double precision :: x(3, 1), v(3, 1), zero(3), acc(3, 1), jerk(3, 1), pot(1), h2(1)
   integer :: label(1), status
   x = 0
   v = 0
   zero = 0
   h2 = 0
   label = 1
   status = g6_set_j_particle(0, 0, 2, 0d0, 0d0, 1d0, zero, zero, zero, zero, zero + 1)
   call g6calc_firsthalf(0, 1, 1, label, x, v, x, v, pot, 0d0, h2)
   status = g6calc_lasthalf(0, 1, 1, label, x, v, 0d0, h2, acc, jerk, pot)
   stop
end program
