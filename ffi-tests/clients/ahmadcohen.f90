! An integrator after Ahmad and Cohen (1973) with Hermite correctors (Makino and Aarseth 1992) that calls the library as
! NBODY6++ does: all twelve symbols through implicit interfaces, the setters inside parallel loops, lists that overflow.
!
! Stars stand on a disturbed lattice, so that nothing is close. All have the same steps: the irregular force is
! corrected each time, the regular one each eighth time. Prints the relative energy error of a step, then of half of it.
program ahmadcohen
  implicit none
  integer, parameter :: dp = kind(1.0d0), edge = 6, n = edge**3, lmax = 41, nbmax = 30, nnbopt = 20
  integer, parameter :: regular_each = 8, block = 100, rank = 0
  real(dp) :: m(n), x0(3, n), v0(3, n)
  integer :: k

  call lattice
  do k = 0, 1
    write (*, '(a, es23.15)') 'energy error', run(64 * 2**k, 0.5_dp)
  end do

contains

  subroutine lattice
    integer :: i, j, l, star
    real(dp) :: u(3)
    integer(8) :: state
    state = 4711
    star = 0
    do i = 1, edge
      do j = 1, edge
        do l = 1, edge
          star = star + 1
          u = [uniform(state), uniform(state), uniform(state)]
          x0(:, star) = ([i, j, l] - 0.5_dp * (edge + 1) + 0.4_dp * (u - 0.5_dp)) * 2 / edge
          u = [uniform(state), uniform(state), uniform(state)]
          v0(:, star) = u - 0.5_dp
          m(star) = (0.5_dp + uniform(state)) / n
        end do
      end do
    end do
  end subroutine

  real(dp) function uniform(state)
    integer(8), intent(inout) :: state
    state = modulo(state * 48271_8, 2147483647_8)
    uniform = real(state, dp) / 2147483647
  end function

  ! The relative energy error after steps of 1 / steps up to the time t_end.
  real(dp) function run(steps, t_end)
    integer, intent(in) :: steps
    real(dp), intent(in) :: t_end
    real(dp), dimension(3, n) :: x, v, xp, vp, fi, di, fr, dr, fi1, di1, fr1, dr1, total, dtotal, change, dchange
    real(dp), dimension(3, n) :: f_old, d_old, a2, a3
    real(dp) :: rs(n), t, h, long, energy, tr
    integer :: list(lmax, n), address(n), nearest(n), i, step
    x = x0
    v = v0
    h = 1.0_dp / steps
    long = regular_each * h
    rs = 0.9_dp
    address = [(i, i = 1, n)]
    call gpunb_open(n, rank)
    call irr_simd_open(n, lmax, rank)
    energy = total_energy(x, v)

    call regular_forces(x, v, long, rs, fr, dr, list)
    fi = 0
    di = 0
    call tell(x, v, fi, di, 0.0_dp)
    call tell_lists(list)
    call irr_simd_firr_vec(0.0_dp, n, address, fi, di, nearest)
    if (any(list(1, :) > 0 .and. nearest < 1)) stop 'no nearest neighbour'

    t = 0
    tr = 0
    do step = 1, nint(t_end * steps)
      ! The regular force goes on as its Taylor series until it is computed anew.
      total = fi + fr + (t - tr) * dr
      dtotal = di + dr
      call tell(x, v, total, dtotal, t)
      xp = x + h * (v + h * (total / 2 + h * dtotal / 6))
      vp = v + h * (total + h * dtotal / 2)
      t = step * h
      call irr_simd_firr_vec(t, n, address, fi1, di1, nearest)
      ! Hermite's corrector, for the irregular force alone: the other's second derivative is not known yet.
      change = fi - fi1
      a2 = (-6 * change - h * (4 * di + 2 * di1)) / h**2
      a3 = (12 * change + 6 * h * (di + di1)) / h**3
      x = xp + h**4 / 24 * a2 + h**5 / 120 * a3
      v = vp + h**3 / 6 * a2 + h**4 / 24 * a3
      fi = fi1
      di = di1
      if (modulo(step, regular_each) /= 0) cycle

      ! The force of all others on the predicted stars, and what of it is that of the old neighbours.
      f_old = fi
      d_old = di
      call regular_forces(xp, vp, long, rs, fr1, dr1, list)
      call tell(xp, vp, 0 * x, 0 * x, t)
      call tell_lists(list)
      call irr_simd_firr_vec(t, n, address, fi, di, nearest)
      change = fr - (fr1 + fi - f_old)
      dchange = dr1 + di - d_old
      a2 = (-6 * change - long * (4 * dr + 2 * dchange)) / long**2
      a3 = (12 * change + 6 * long * (dr + dchange)) / long**3
      x = x + long**4 / 24 * a2 + long**5 / 120 * a3
      v = v + long**3 / 6 * a2 + long**4 / 24 * a3
      fr = fr1
      dr = dr1
      tr = t
    end do
    run = abs(total_energy(x, v) - energy) / abs(energy)
    call gpunb_profile(rank)
    call irr_simd_profile(rank)
    call gpunb_close
    call irr_simd_close(rank)
  end function

  subroutine tell(x, v, f, d, t)
    real(dp), intent(in) :: x(3, n), v(3, n), f(3, n), d(3, n), t
    integer :: i
    !$omp parallel do
    do i = 1, n
      call irr_simd_set_jp(i, x(1, i), v(1, i), f(:, i) / 2, d(:, i) / 6, m(i), t)
    end do
    !$omp end parallel do
  end subroutine

  subroutine tell_lists(list)
    integer, intent(in) :: list(lmax, n)
    integer :: i
    !$omp parallel do
    do i = 1, n
      call irr_simd_set_list(i, list(1, i))
    end do
    !$omp end parallel do
  end subroutine

  ! Regular forces in blocks; lists with addresses from 1, without the star itself. Radii shrink where lists overflow.
  subroutine regular_forces(x, v, dtr, rs, f, d, list)
    real(dp), intent(in) :: x(3, n), v(3, n), dtr
    real(dp), intent(inout) :: rs(n)
    real(dp), intent(out) :: f(3, n), d(3, n)
    integer, intent(out) :: list(lmax, n)
    real(dp) :: h2(block), step(block), pot(block)
    integer :: first, ni, i, k, length, own
    call gpunb_send(n, m, x, v)
    do first = 1, n, block
      ni = min(block, n - first + 1)
      step = dtr
      do
        h2(1:ni) = rs(first:first + ni - 1)**2
        call gpunb_regf(ni, h2, step, x(1, first), v(1, first), f(1, first), d(1, first), pot, lmax, nbmax, &
            list(1, first), 0)
        if (all(list(1, first:first + ni - 1) >= 0)) exit
        do i = first, first + ni - 1
          if (list(1, i) < 0) rs(i) = rs(i) * (-real(nnbopt, dp) / list(1, i))**(1.0_dp / 3)
        end do
      end do
      do i = first, first + ni - 1
        length = 0
        own = 0
        do k = 2, list(1, i) + 1
          if (list(k, i) + 1 == i) then
            own = own + 1
          else
            length = length + 1
            list(length + 1, i) = list(k, i) + 1
          end if
        end do
        if (own /= 1) stop 'a star is in its own list once'
        list(1, i) = length
      end do
    end do
  end subroutine

  real(dp) function total_energy(x, v)
    real(dp), intent(in) :: x(3, n), v(3, n)
    real(dp) :: pot(n)
    integer :: first, ni
    ! In two parts, as ranks divide it.
    first = n / 3
    ni = n - first + 1
    call gpupot(rank, 1, first - 1, n, m, x, pot)
    call gpupot(rank, first, ni, n, m, x, pot(first))
    total_energy = sum(m * (sum(v**2, 1) - pot)) / 2
  end function
end program
