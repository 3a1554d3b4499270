! Which precision a cluster takes for few and for many j-particles, and what the client chose.
program precision
  use kirin
  use, intrinsic :: iso_c_binding, only: c_int
  implicit none
  integer(c_int), parameter :: id = 0

  if (kirin_precision_for(id, 1280_c_int) /= KIRIN_DOUBLE) error stop 2
  if (kirin_precision_for(id, 1281_c_int) /= KIRIN_MIXED) error stop 3
  if (kirin_set_precision(id, KIRIN_SINGLE) /= 0) error stop 4
  if (kirin_precision_for(id, 1_c_int) /= KIRIN_SINGLE) error stop 5
  print '(a)', 'done'
end program precision
