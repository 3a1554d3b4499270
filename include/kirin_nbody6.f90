! kirin_nbody6.f90: the library of NBODY6++ and NBODY6, as libkirin_nbody6 exports it.
!
! Made from the library's table of calls by `cargo run -p ffi-tests --bin generate`:
! change the table, not this file.
!
! Other programs have procedures of some of these names, so they are not in libkirin: link with
! -lkirin_nbody6 -lkirin.
!
! NBODY6 and its relatives call the same procedures through implicit interfaces, some of them with other
! arguments, which the setting KIRIN_NBODY6 says; the interfaces here are those of NBODY6++.
module kirin_nbody6
  use, intrinsic :: iso_c_binding, only: c_double, c_int
  implicit none
  private :: c_double, c_int
  public

  interface

    ! ---- The library of NBODY6++ and NBODY6

    ! Chooses the device.
    !
    ! Accepted without effect: the settings say what computes.
    subroutine gpunb_devinit(irank) bind(C, name="gpunb_devinit_")
      import :: c_int
      integer(c_int), intent(in) :: irank
    end subroutine gpunb_devinit

    ! Opens the library for `nbmax` sources. kirin takes any number of them, and needs no such
    ! call; a second one changes nothing. NBODY6 has no `irank`.
    subroutine gpunb_open(nbmax, irank) bind(C, name="gpunb_open_")
      import :: c_int
      integer(c_int), intent(in) :: nbmax
      integer(c_int), intent(in) :: irank
    end subroutine gpunb_open

    ! Forgets the sources and gives back their memory. Nothing happens where there are none.
    subroutine gpunb_close() bind(C, name="gpunb_close_")
    end subroutine gpunb_close

    ! Replaces all sources: addresses `0..nj`, predicted by the caller to the time of the block.
    ! `mj[nj]`, `xj[nj][3]`, `vj[nj][3]`.
    subroutine gpunb_send(nj, mj, xj, vj) bind(C, name="gpunb_send_")
      import :: c_double, c_int
      integer(c_int), intent(in) :: nj
      real(c_double), intent(in) :: mj(*)
      real(c_double), intent(in) :: xj(3, *)
      real(c_double), intent(in) :: vj(3, *)
    end subroutine gpunb_send

    ! Computes the regular forces on `ni` particles and lists their neighbours. The force is that
    ! of all sources but the particle's neighbours.
    !
    ! A source j is a neighbour if min(|r|^2, |r + dtr v|^2) < `h2[ni]`, or < m_j `h2[ni]`, with r
    ! = x_j - x_i and v = v_j - v_i, and `dtr[ni]` the regular step. `m_flag` is 0 for the first
    ! criterion and 1 for the second. NBODY6 and AMUSE do not pass it: NBODY6 compares with m_j
    ! h2, AMUSE with h2. NBODY6 of 2009 does not pass `dtr` either.
    !
    ! The forces are `acc[ni][3]` = sum m r / r^3, `jrk[ni][3]` = sum m (v - 3 (r.v) r / r^2) /
    ! r^3, `pot[ni]` = sum m / r, over all sources that are no neighbours. There is no softening,
    ! and sources at distance zero add nothing.
    !
    ! `list` has `ni` rows of `lmax` integers. A row has the number of neighbours, then their
    ! addresses, from 0 and ascending, the particle itself among them. If there are more than
    ! `nbmax` (or `lmax` - 1) neighbours, their number is written with a minus sign, and the rest
    ! of the row stays as it was. The force is right all the same.
    !
    ! Older libraries lose digits, or answer NaN, for close pairs and for `h2` = 0. They write
    ! beyond `ni`, up to the next multiple of 4. If there are too many neighbours, they tell too
    ! small a number.
    subroutine gpunb_regf(ni, h2, dtr, xi, vi, acc, jrk, pot, lmax, nbmax, list, m_flag) bind(C, &
        name="gpunb_regf_")
      import :: c_double, c_int
      integer(c_int), intent(in) :: ni
      real(c_double), intent(in) :: h2(*)
      real(c_double), intent(in) :: dtr(*)
      real(c_double), intent(in) :: xi(3, *)
      real(c_double), intent(in) :: vi(3, *)
      real(c_double), intent(inout) :: acc(3, *)
      real(c_double), intent(inout) :: jrk(3, *)
      real(c_double), intent(inout) :: pot(*)
      integer(c_int), intent(in) :: lmax
      integer(c_int), intent(in) :: nbmax
      integer(c_int), intent(inout) :: list(*)
      integer(c_int), intent(in) :: m_flag
    end subroutine gpunb_regf

    ! Writes a line on stderr: calls, pairs and time since the last report, for rank `irank`.
    subroutine gpunb_profile(irank) bind(C, name="gpunb_profile_")
      import :: c_int
      integer(c_int), intent(in) :: irank
    end subroutine gpunb_profile

    ! Computes the positive potentials `pot[ni]` = sum m / r that `n` particles with the masses
    ! `m[n]` and positions `x[n][3]` cause at some of them: the particles `istart` to `istart + ni
    ! - 1`, counted from 1. The potential at `istart` goes to `pot[0]`. Particles at distance
    ! zero, such as the particle itself, are left out.
    !
    ! NBODY6 passes four arguments: `n`, `m`, `x`, `pot`, and gets the potentials at all
    ! particles.
    !
    ! The CPU libraries of NBODY6++ write from `pot[istart - 1]` on; its GPU library writes as
    ! this one.
    subroutine gpupot(irank, istart, ni, n, m, x, pot) bind(C, name="gpupot_")
      import :: c_double, c_int
      integer(c_int), intent(in) :: irank
      integer(c_int), intent(in) :: istart
      integer(c_int), intent(in) :: ni
      integer(c_int), intent(in) :: n
      real(c_double), intent(in) :: m(*)
      real(c_double), intent(in) :: x(3, *)
      real(c_double), intent(inout) :: pot(*)
    end subroutine gpupot

    ! As `gpupot_`, for NBODY7 with MPI. `pot` has `n` entries: the potentials of the particles
    ! `istart` to `istart + ni - 1` go to `pot[istart - 1]` to `pot[istart + ni - 2]`, and the
    ! others stay as they were.
    subroutine gpupot_range(istart, ni, n, m, x, pot) bind(C, name="gpupot_range_")
      import :: c_double, c_int
      integer(c_int), intent(in) :: istart
      integer(c_int), intent(in) :: ni
      integer(c_int), intent(in) :: n
      real(c_double), intent(in) :: m(*)
      real(c_double), intent(in) :: x(3, *)
      real(c_double), intent(inout) :: pot(*)
    end subroutine gpupot_range

    ! Makes room for `nmax` stars. A second call keeps stars and lists. Neighbour lists have any
    ! length: `lmax` is not looked at.
    subroutine irr_simd_open(nmax, lmax, rank) bind(C, name="irr_simd_open_")
      import :: c_int
      integer(c_int), intent(in) :: nmax
      integer(c_int), intent(in) :: lmax
      integer(c_int), intent(in) :: rank
    end subroutine irr_simd_open

    ! Forgets all stars. No other thread may be in a call of these.
    subroutine irr_simd_close(rank) bind(C, name="irr_simd_close_")
      import :: c_int
      integer(c_int), intent(in) :: rank
    end subroutine irr_simd_close

    ! Writes a line on stderr: calls, pairs and time since the last report.
    subroutine irr_simd_profile(rank) bind(C, name="irr_simd_profile_")
      import :: c_int
      integer(c_int), intent(in) :: rank
    end subroutine irr_simd_profile

    ! Stores the star at address `addr`, from 1: position, velocity, half of the acceleration, a
    ! sixth of the jerk, mass, and the time at which they hold. Threads may call it at once for
    ! different addresses.
    subroutine irr_simd_set_jp(addr, pos, vel, acc2, jrk6, mass, time) bind(C, &
        name="irr_simd_set_jp_")
      import :: c_double, c_int
      integer(c_int), intent(in) :: addr
      real(c_double), intent(in) :: pos(3)
      real(c_double), intent(in) :: vel(3)
      real(c_double), intent(in) :: acc2(3)
      real(c_double), intent(in) :: jrk6(3)
      real(c_double), intent(in) :: mass
      real(c_double), intent(in) :: time
    end subroutine irr_simd_set_jp

    ! Stores the neighbours of the star at address `addr`. `nblist[0]` is their number, which has
    ! no limit. Their addresses follow, from 1. Threads may call it at once for different
    ! addresses.
    subroutine irr_simd_set_list(addr, nblist) bind(C, name="irr_simd_set_list_")
      import :: c_int
      integer(c_int), intent(in) :: addr
      integer(c_int), intent(in) :: nblist(*)
    end subroutine irr_simd_set_list

    ! Predicts the `ni` stars at the addresses `addr[ni]`, and their neighbours, to the time `ti`,
    ! and sums the forces of the neighbours: `acc[ni][3]`, `jrk[ni][3]`. `nnbid[ni]` gets the
    ! address of the nearest neighbour, 0 where there is none.
    !
    ! All of it is double precision, whatever `KIRIN_PRECISION` says. Neighbours that were never
    ! stored have no mass. The force is NaN at an address of `addr` without a star, and at one
    ! whose last list was refused; stderr names the first such address.
    subroutine irr_simd_firr_vec(ti, ni, addr, acc, jrk, nnbid) bind(C, &
        name="irr_simd_firr_vec_")
      import :: c_double, c_int
      real(c_double), intent(in) :: ti
      integer(c_int), intent(in) :: ni
      integer(c_int), intent(in) :: addr(*)
      real(c_double), intent(inout) :: acc(3, *)
      real(c_double), intent(inout) :: jrk(3, *)
      integer(c_int), intent(inout) :: nnbid(*)
    end subroutine irr_simd_firr_vec

    ! ---- Irregular forces of NBODY6 and NBODY7, and their helpers

    ! The same as `irr_simd_open_`.
    subroutine gpuirr_open(nmax, lmax) bind(C, name="gpuirr_open_")
      import :: c_int
      integer(c_int), intent(in) :: nmax
      integer(c_int), intent(in) :: lmax
    end subroutine gpuirr_open

    ! The same as `irr_simd_close_`.
    subroutine gpuirr_close() bind(C, name="gpuirr_close_")
    end subroutine gpuirr_close

    ! The same as `irr_simd_set_jp_`.
    subroutine gpuirr_set_jp(addr, pos, vel, acc2, jrk6, mass, time) bind(C, &
        name="gpuirr_set_jp_")
      import :: c_double, c_int
      integer(c_int), intent(in) :: addr
      real(c_double), intent(in) :: pos(3)
      real(c_double), intent(in) :: vel(3)
      real(c_double), intent(in) :: acc2(3)
      real(c_double), intent(in) :: jrk6(3)
      real(c_double), intent(in) :: mass
      real(c_double), intent(in) :: time
    end subroutine gpuirr_set_jp

    ! The same as `irr_simd_set_list_`.
    subroutine gpuirr_set_list(addr, nblist) bind(C, name="gpuirr_set_list_")
      import :: c_int
      integer(c_int), intent(in) :: addr
      integer(c_int), intent(in) :: nblist(*)
    end subroutine gpuirr_set_list

    ! Sets the time `ti` of the forces that follow. Each star is predicted when it is needed: `js`
    ! and `je` are not looked at.
    subroutine gpuirr_pred_all(js, je, ti) bind(C, name="gpuirr_pred_all_")
      import :: c_double, c_int
      integer(c_int), intent(in) :: js
      integer(c_int), intent(in) :: je
      real(c_double), intent(in) :: ti
    end subroutine gpuirr_pred_all

    ! The same as `gpuirr_pred_all_`.
    subroutine gpuirr_pred_act(ni, addr, ti) bind(C, name="gpuirr_pred_act_")
      import :: c_double, c_int
      integer(c_int), intent(in) :: ni
      integer(c_int), intent(in) :: addr(*)
      real(c_double), intent(in) :: ti
    end subroutine gpuirr_pred_act

    ! Sums the forces of the neighbours of `ni` stars, `acc[ni][3]` and `jrk[ni][3]`, at the time
    ! of the last prediction.
    subroutine gpuirr_firr_vec(ni, addr, acc, jrk) bind(C, name="gpuirr_firr_vec_")
      import :: c_double, c_int
      integer(c_int), intent(in) :: ni
      integer(c_int), intent(in) :: addr(*)
      real(c_double), intent(inout) :: acc(3, *)
      real(c_double), intent(inout) :: jrk(3, *)
    end subroutine gpuirr_firr_vec

    ! As `gpuirr_firr_vec_`, for one star: `acc[3]`, `jrk[3]`.
    subroutine gpuirr_firr(addr, acc, jrk) bind(C, name="gpuirr_firr_")
      import :: c_double, c_int
      integer(c_int), intent(in) :: addr
      real(c_double), intent(inout) :: acc(3)
      real(c_double), intent(inout) :: jrk(3)
    end subroutine gpuirr_firr

    ! Predicts particles `js` to `je`, from 1, of NBODY6's own arrays to `time`, with s = `time` -
    ! t0: x = x0 + s (x0dot + s (f + s fdot)) and xdot = x0dot + 2 s (f + 1.5 s fdot). Particles
    ! with `tpred` = `time` are left alone, and `tpred` becomes `time`.
    subroutine cxvpred(js, je, time, t0, x0, x0dot, f, fdot, x, xdot, tpred) bind(C, &
        name="cxvpred_")
      import :: c_double, c_int
      integer(c_int), intent(in) :: js
      integer(c_int), intent(in) :: je
      real(c_double), intent(in) :: time
      real(c_double), intent(in) :: t0(*)
      real(c_double), intent(in) :: x0(3, *)
      real(c_double), intent(in) :: x0dot(3, *)
      real(c_double), intent(in) :: f(3, *)
      real(c_double), intent(in) :: fdot(3, *)
      real(c_double), intent(inout) :: x(3, *)
      real(c_double), intent(inout) :: xdot(3, *)
      real(c_double), intent(inout) :: tpred(*)
    end subroutine cxvpred

    ! Sums the force `f[3]` and its derivative `fdot[3]` that the particles in `nblist` exert on
    ! particle `i`. `nblist` has `nnb` - 1 entries. Particles have numbers from 1. The arrays
    ! `pos[][3]`, `vel[][3]` and `mass[]` hold at one time. `f` and `fdot` are NaN if the call is
    ! refused.
    subroutine cnbint(i, pos, vel, mass, nnb, nblist, f, fdot) bind(C, name="cnbint_")
      import :: c_double, c_int
      integer(c_int), intent(in) :: i
      real(c_double), intent(in) :: pos(3, *)
      real(c_double), intent(in) :: vel(3, *)
      real(c_double), intent(in) :: mass(*)
      integer(c_int), intent(in) :: nnb
      integer(c_int), intent(in) :: nblist(*)
      real(c_double), intent(inout) :: f(3)
      real(c_double), intent(inout) :: fdot(3)
    end subroutine cnbint

    ! Writes the hours, minutes and seconds since the library was opened.
    subroutine wtime(ihour, imin, isec) bind(C, name="wtime_")
      import :: c_int
      integer(c_int), intent(inout) :: ihour
      integer(c_int), intent(inout) :: imin
      integer(c_int), intent(inout) :: isec
    end subroutine wtime
  end interface
end module kirin_nbody6
