! The bulk interface from Fortran: columns of coordinates, an update, neighbour lists, a refusal. Prints "right".
program bulk
  use, intrinsic :: iso_c_binding
  use kirin
  implicit none
  integer, parameter :: n = 64
  real(c_double), target :: m(n), x(n, 3), acc(3, n), pot(n), radius2(n), one(1)
  integer(c_int64_t), target :: first(1), nearest(n)
  integer(c_int64_t) :: handle, offsets(n + 1), list(2 * n)
  type(kirin_sources) :: sources, change
  type(kirin_targets) :: targets
  type(kirin_results) :: results
  character(len=80) :: message
  integer :: k

  m = 1.0_c_double
  x = 0.0_c_double
  x(:, 2) = [(real(k, c_double), k = 1, n)]
  call check(kirin_bulk_open(handle), 0, "open")
  call check(kirin_bulk_set_precision(handle, KIRIN_DOUBLE), 0, "precision")
  sources%mass%at = c_loc(m)
  sources%x = kirin_vectors(c_loc(x), 8, 8 * n)
  call check(kirin_bulk_set_sources(handle, int(n, c_int64_t), sources), 0, "sources")
  call check(kirin_bulk_source_count(handle), n, "count")

  ! The first one gets the mass 3.
  one = 3.0_c_double
  first = 0
  change%mass%at = c_loc(one)
  call check(kirin_bulk_update_sources(handle, 1_c_int64_t, kirin_indices(c_loc(first)), change), 0, "update")

  radius2 = 1.5_c_double
  targets%radius2%at = c_loc(radius2)
  results%acc%at = c_loc(acc)
  results%pot%at = c_loc(pot)
  results%nearest%at = c_loc(nearest)
  call check(kirin_bulk_forces(handle, 0.0_c_double, 0.0_c_double, int(n, c_int64_t), targets, results), 0, "forces")
  if (abs(pot(3) + 3.0_c_double / 2 + sum([(1.0_c_double / abs(k - 3), k = 2, 2)]) + &
      sum([(1.0_c_double / abs(k - 3), k = 4, n)])) > 1e-6_c_double) stop 2
  if (abs(acc(2, 2) + 3.0_c_double - sum([(1.0_c_double / (k - 2)**2, k = 3, n)])) > 1e-6_c_double) stop 3
  if (any(nearest(2:) /= [(k - 2, k = 2, n)]) .or. nearest(1) /= 1) stop 4

  call check(kirin_bulk_neighbour_offsets(handle, int(n, c_int64_t), offsets), 0, "offsets")
  call check(kirin_bulk_neighbour_indices(handle, int(2 * n, c_int64_t), list), 0, "indices")
  if (offsets(n + 1) /= 2 * (n - 1) .or. any(list(:3) /= [1, 0, 2])) stop 5

  call check(kirin_bulk_close(handle), 0, "close")
  call check(kirin_bulk_close(handle), -7, "closing twice")
  k = kirin_bulk_message_text(message, len(message, c_int64_t))
  if (message /= "kirin_bulk_close: the handle is closed, or was never opened" .or. k /= len_trim(message)) stop 6
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
end program bulk
