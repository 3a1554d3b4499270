! Forces by a tree from Fortran: columns of coordinates, the sources as targets and points. Prints "right".
program tree
  use, intrinsic :: iso_c_binding
  use kirin
  implicit none
  integer, parameter :: n = 512
  real(c_double), target :: m(n), x(n, 3), acc(3, n), pot(n), far(3, 1)
  integer(c_int64_t) :: handle
  type(kirin_sources) :: sources
  type(kirin_targets) :: targets
  type(kirin_results) :: results
  integer :: k, c

  m = 1.0_c_double / n
  x = reshape([((cos(real(k * c, c_double)), k = 1, n), c = 1, 3)], [n, 3])
  call check(kirin_tree_open(handle), 0, "open")
  sources%mass%at = c_loc(m)
  sources%x = kirin_vectors(c_loc(x), 8, 8 * n)
  call check(kirin_tree_set_sources(handle, int(n, c_int64_t), sources), 0, "sources")
  call check(kirin_bulk_source_count(handle), n, "count")
  results%acc%at = c_loc(acc)
  results%pot%at = c_loc(pot)
  call check(kirin_tree_forces(handle, 0.3_c_double, 1, 0.01_c_double, int(n, c_int64_t), targets, results), 0, "forces")
  ! Nobody pushes the whole.
  if (any(abs(sum(acc, 2)) > 1e-3_c_double * sum(abs(acc), 2))) stop 2
  if (any(pot >= 0.0_c_double)) stop 3
  far = reshape([1000.0_c_double, 0.0_c_double, 0.0_c_double], [3, 1])
  targets%x%at = c_loc(far)
  call check(kirin_tree_forces(handle, 0.3_c_double, 1, 0.0_c_double, 1_c_int64_t, targets, results), 0, "a point")
  if (abs(pot(1) * 1000.0_c_double + 1.0_c_double) > 1e-3_c_double) stop 4
  call check(kirin_bulk_close(handle), 0, "close")
  call check(kirin_tree_forces(handle, 0.3_c_double, 1, 0.0_c_double, 1_c_int64_t, targets, results), -7, "a closed handle")
  print '(a)', "right"

contains

  subroutine check(found, expected, what)
    integer(c_int), intent(in) :: found, expected
    character(len=*), intent(in) :: what
    if (found /= expected) then
      print '(a,i0)', what // ": ", found
      stop 1
    end if
  end subroutine check
end program tree
