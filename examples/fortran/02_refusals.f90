! Lesson 2 in Fortran: functions, subroutines, and what a refusal looks like.
!
! gfortran include/kirin.f90 examples/fortran/02_refusals.f90 -o refusals -L target/release -lkirin
! LD_LIBRARY_PATH=target/release ./refusals
program refusals
  use kirin
  implicit none
  integer, parameter :: dp = kind(1.0d0), id = 0
  integer :: index(1) = [2], status
  real(dp) :: x(3,1) = 0, v(3,1) = 0, acc(3,1) = 0, jerk(3,1) = 0, pot(1) = 0, h2(1) = 0
  real(dp) :: zero(3) = 0, place(3) = [2.0_dp, 0.0_dp, 0.0_dp]

  ! Calls with an answer are functions: 0 is success.
  status = g6_open(id)
  status = g6_set_j_particle(id, 0, 1, 0.0_dp, 0.0_dp, 1.0_dp, zero, zero, zero, zero, place)
  print '(A,I3)', 'a star at address 0: ', status

  ! An address below 0 is refused: a negative number, and a line on stderr. Nothing is stored.
  status = g6_set_j_particle(id, -1, 1, 0.0_dp, 0.0_dp, 1.0_dp, zero, zero, zero, zero, place)
  print '(A,I3)', 'a star at address -1:', status

  ! Calls whose answer no program needs are subroutines. If firsthalf is refused, lasthalf says so.
  call g6_set_ti(id, 0.0_dp)
  call g6calc_firsthalf(id, -1, 1, index, x, v, acc, jerk, pot, 0.0_dp, h2)
  status = g6calc_lasthalf(id, 1, 1, index, x, v, 0.0_dp, h2, acc, jerk, pot)
  print '(A,I3)', 'forces of -1 stars:  ', status

  call g6calc_firsthalf(id, 1, 1, index, x, v, acc, jerk, pot, 0.0_dp, h2)
  status = g6calc_lasthalf(id, 1, 1, index, x, v, 0.0_dp, h2, acc, jerk, pot)
  print '(A,I3,A,F5.2)', 'forces of 1 star:    ', status, ', acceleration', acc(1,1)
  status = g6_close(id)
end program refusals
