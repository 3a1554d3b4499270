! Reads a particle set, computes the forces through the module kirin, prints them.
program forces
  use kirin
  use, intrinsic :: iso_c_binding, only: c_double, c_int
  implicit none

  integer, parameter :: longest = 1000
  integer(c_int), parameter :: id = 0
  integer(c_int) :: nj, ni, n, i, j, done, pipes, address, label, length
  real(c_double) :: ti, eps2, t, dt, mass
  real(c_double) :: a2by18(3), a1by6(3), aby2(3), vj(3), xj(3)
  integer(c_int), allocatable :: index_i(:), nearest(:)
  integer(c_int) :: list(longest)
  real(c_double), allocatable :: x(:, :), v(:, :), acc(:, :), jerk(:, :), pot(:), h2(:)
  character(len=1024) :: file
  integer :: unit

  call get_command_argument(1, file)
  open (newunit=unit, file=file, status='old', action='read')
  read (unit, *) nj, ni, ti, eps2

  pipes = g6_npipes()
  allocate (index_i(pipes), nearest(pipes), x(3, pipes), v(3, pipes))
  allocate (acc(3, pipes), jerk(3, pipes), pot(pipes), h2(pipes))
  acc = 0
  jerk = 0
  pot = 0
  nearest = 0

  if (g6_open(id) /= 0) error stop 2
  call g6_set_tunit(45_c_int)
  call g6_set_xunit(45_c_int)
  do j = 1, nj
    read (unit, *) address, label, t, dt, mass, a2by18, a1by6, aby2, vj, xj
    if (g6_set_j_particle(id, address, label, t, dt, mass, a2by18, a1by6, aby2, vj, xj) /= 0) &
      error stop 3
  end do
  call g6_set_ti(id, ti)

  do done = 0, ni - 1, pipes
    n = min(pipes, ni - done)
    do i = 1, n
      read (unit, *) index_i(i), x(:, i), v(:, i), h2(i)
    end do
    call g6calc_firsthalf(id, nj, n, index_i, x, v, acc, jerk, pot, eps2, h2)
    if (g6calc_lasthalf2(id, nj, n, index_i, x, v, eps2, h2, acc, jerk, pot, nearest) /= 0) &
      error stop 4
    if (g6_read_neighbour_list(id) /= 0) error stop 5
    do i = 1, n
      if (g6_get_neighbour_list(id, i - 1, longest, length, list) /= 0) error stop 6
      write (*, '(i12, 7es25.16e2, i12, i6, *(i12))') &
        index_i(i), acc(:, i), jerk(:, i), pot(i), nearest(i), length, list(1:length)
    end do
  end do
  if (g6_close(id) /= 0) error stop 7
  close (unit)
end program forces
