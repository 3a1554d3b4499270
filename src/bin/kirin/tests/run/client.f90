! As client.c, in the manner of old codes: implicit interfaces.
program client
  implicit none
  integer :: probe(1), status, g6calc_lasthalf
  double precision :: x(3, 1), v(3, 1), acc(3, 1), jerk(3, 1), pot(1), h2(1), zero(3)
  external g6calc_lasthalf
  zero = 0
  x = 0
  v = 0
  pot = 0
  h2 = 0
  probe = 2
  call g6_open(0)
  call g6_set_j_particle(0, 0, 1, 0d0, 1d0, 1d0, zero, zero, zero, zero, (/2d0, 0d0, 0d0/))
  call g6_set_ti(0, 0d0)
  call g6calc_firsthalf(0, 1, 1, probe, x, v, x, v, pot, 0d0, h2)
  status = g6calc_lasthalf(0, 1, 1, probe, x, v, 0d0, h2, acc, jerk, pot)
  print '(f0.2, 1x, f0.2)', acc(1, 1), pot(1)
  call g6_close(0)
end program client
