! Lesson 1 in Fortran: two bodies on a circular orbit. Prints the digits of 01_two_bodies.rs.
!
! gfortran include/kirin.f90 examples/fortran/01_two_bodies.f90 -o two_bodies -L target/release -lkirin
! LD_LIBRARY_PATH=target/release ./two_bodies
program two_bodies
  use kirin
  implicit none
  integer, parameter :: dp = kind(1.0d0), id = 0
  ! A power of two: its products are exact, so that no compiler's fused operation changes a digit.
  real(dp), parameter :: h = 1.0_dp / 128.0_dp
  integer :: index(2) = [1, 2], step, status
  real(dp) :: x(3,2), v(3,2), acc(3,2) = 0, jerk(3,2) = 0, pot(2) = 0

  ! Two masses of 1/2 at the distance 1, each moving with 1/2: one orbit takes 2 pi.
  x = reshape([-0.5_dp, 0.0_dp, 0.0_dp, 0.5_dp, 0.0_dp, 0.0_dp], [3, 2])
  v = reshape([0.0_dp, -0.5_dp, 0.0_dp, 0.0_dp, 0.5_dp, 0.0_dp], [3, 2])

  status = g6_open(id)
  call force()
  do step = 0, 804
    if (mod(step, 201) == 0) print '(I4,3F22.18)', step, x(1,1), x(2,1), pot(1)
    ! Leapfrog: half a kick, a drift, half a kick.
    v = v + h / 2 * acc
    x = x + h * v
    call force()
    v = v + h / 2 * acc
  end do
  status = g6_close(id)

contains

  ! Sends the stars as j-particles and gets the forces on them as i-particles.
  subroutine force()
    real(dp) :: zero(3), h2(2)
    integer :: i
    zero = 0
    h2 = 0
    do i = 1, 2
      status = g6_set_j_particle(id, i - 1, index(i), 0.0_dp, h, 0.5_dp, &
                                 zero, zero, zero, zero, x(:,i))
    end do
    call g6_set_ti(id, 0.0_dp)
    call g6calc_firsthalf(id, 2, 2, index, x, v, acc, jerk, pot, 0.0_dp, h2)
    status = g6calc_lasthalf(id, 2, 2, index, x, v, 0.0_dp, h2, acc, jerk, pot)
    if (status /= 0) error stop 'no forces'
  end subroutine force

end program two_bodies
