! kirin_grape5.f90: the host interface of the GRAPE-5 computer, as kirin exports it.
!
! Made from the library's table of calls by `cargo run -p ffi-tests --bin generate`:
! change the table, not this file.
!
! Programs without this module call the same procedures through implicit interfaces, or
! the C ones through FDPS' module phantom_grape_g5_x86. Names with capital letters, such as
! g5_set_xmjMC, need a module: without it compilers write them in lower case.
module kirin_grape5
  use, intrinsic :: iso_c_binding, only: c_double, c_int
  implicit none
  private :: c_double, c_int
  public

  interface

    ! ---- The GRAPE-5 interface

    ! Makes device 0 ready. Every other call does that, too.
    subroutine g5_open() bind(C, name="g5_open_")
    end subroutine g5_open

    ! sapporo2's: as `g5_open`, and names the GPUs to use: `list[ndev]`; none for the library's
    ! choice.
    integer(c_int) function g5_open_special(ndev, list) bind(C, name="g5_open_special_")
      import :: c_int
      integer(c_int), intent(in) :: ndev
      integer(c_int), intent(in) :: list(*)
    end function g5_open_special

    ! Forgets the j-particles and i-particles of all devices. Nothing is needed before the next
    ! call.
    subroutine g5_close() bind(C, name="g5_close_")
    end subroutine g5_close

    ! GRAPE-7's: makes a device ready. Every other call does that, too.
    subroutine g5_openMC(devid) bind(C, name="g5_openMC_")
      import :: c_int
      integer(c_int), intent(in) :: devid
    end subroutine g5_openMC

    ! GRAPE-7's: ends the use of one device.
    !
    ! Accepted without effect: g5_close gives back the memory of all devices.
    subroutine g5_closeMC(devid) bind(C, name="g5_closeMC_")
      import :: c_int
      integer(c_int), intent(in) :: devid
    end subroutine g5_closeMC

    ! Returns the number of i-particles that one run should bring at most: 96, those of a GRAPE-5
    ! board, or `KIRIN_NPIPES` if that is more than 96 or less than 48. A run may bring any
    ! number.
    integer(c_int) function g5_get_number_of_pipelines() bind(C, &
        name="g5_get_number_of_pipelines_")
      import :: c_int
    end function g5_get_number_of_pipelines

    ! GRAPE-7's: the same as `g5_get_number_of_pipelines`.
    integer(c_int) function g5_get_number_of_pipelinesMC(devid) bind(C, &
        name="g5_get_number_of_pipelinesMC_")
      import :: c_int
      integer(c_int), intent(in) :: devid
    end function g5_get_number_of_pipelinesMC

    ! The same as `g5_get_number_of_pipelines`: there is one board.
    integer(c_int) function g5_get_number_of_pipelines_per_board() bind(C, &
        name="g5_get_number_of_pipelines_per_board_")
      import :: c_int
    end function g5_get_number_of_pipelines_per_board

    ! Returns 16, the pipelines of a GRAPE-5 board without their turns.
    integer(c_int) function g5_get_number_of_real_pipelines() bind(C, &
        name="g5_get_number_of_real_pipelines_")
      import :: c_int
    end function g5_get_number_of_real_pipelines

    ! Returns 1. Devices beyond work like boards: see `g5_set_xmjMC`.
    integer(c_int) function g5_get_number_of_boards() bind(C, name="g5_get_number_of_boards_")
      import :: c_int
    end function g5_get_number_of_boards

    ! Returns 0, the number of the first board.
    integer(c_int) function g5_get_firstcluster() bind(C, name="g5_get_firstcluster_")
      import :: c_int
    end function g5_get_firstcluster

    ! Returns 33, the MHz of the bus that GRAPE-5 was on.
    integer(c_int) function g5_get_pcibus_freq() bind(C, name="g5_get_pcibus_freq_")
      import :: c_int
    end function g5_get_pcibus_freq

    ! Returns 1048576, a number of j-particles for which there is always room. (There is room for
    ! any number, memory permitting; programs dimension arrays by this one, and send more in
    ! parts.)
    integer(c_int) function g5_get_jmemsize() bind(C, name="g5_get_jmemsize_")
      import :: c_int
    end function g5_get_jmemsize

    ! GRAPE-7's: the same as `g5_get_jmemsize`.
    integer(c_int) function g5_get_jmemsizeMC(devid) bind(C, name="g5_get_jmemsizeMC_")
      import :: c_int
      integer(c_int), intent(in) :: devid
    end function g5_get_jmemsizeMC

    ! Sets the range of coordinates and the smallest mass, from which GRAPE-5 made its fixed-point
    ! units.
    !
    ! Accepted without effect: floating-point sums need no scale.
    subroutine g5_set_range(xmin, xmax, mmin) bind(C, name="g5_set_range_")
      import :: c_double
      real(c_double), intent(in) :: xmin
      real(c_double), intent(in) :: xmax
      real(c_double), intent(in) :: mmin
    end subroutine g5_set_range

    ! GRAPE-7's: `g5_set_range` for one device.
    !
    ! Accepted without effect: floating-point sums need no scale.
    subroutine g5_set_rangeMC(devid, xmin, xmax, mmin) bind(C, name="g5_set_rangeMC_")
      import :: c_double, c_int
      integer(c_int), intent(in) :: devid
      real(c_double), intent(in) :: xmin
      real(c_double), intent(in) :: xmax
      real(c_double), intent(in) :: mmin
    end subroutine g5_set_rangeMC

    ! GRAPE-7's: sets the length in units of which the table of a force with a cutoff is read.
    ! kirin has no such table. If `eta` is not 0, a line on stderr says so once.
    !
    ! Accepted without effect: there is no such table: the force is Newton's at any distance.
    subroutine g5_set_eta(eta) bind(C, name="g5_set_eta_")
      import :: c_double
      real(c_double), intent(in) :: eta
    end subroutine g5_set_eta

    ! `g5_set_eta` for one device.
    !
    ! Accepted without effect: there is no such table: the force is Newton's at any distance.
    subroutine g5_set_etaMC(devid, eta) bind(C, name="g5_set_etaMC_")
      import :: c_double, c_int
      integer(c_int), intent(in) :: devid
      real(c_double), intent(in) :: eta
    end subroutine g5_set_etaMC

    ! Sets the number of j-particles that act: those at the addresses `0..n`.
    subroutine g5_set_n(n) bind(C, name="g5_set_n_")
      import :: c_int
      integer(c_int), intent(in) :: n
    end subroutine g5_set_n

    ! `g5_set_n` for one device. A device to which it was never told takes that of device 0.
    subroutine g5_set_nMC(devid, n) bind(C, name="g5_set_nMC_")
      import :: c_int
      integer(c_int), intent(in) :: devid
      integer(c_int), intent(in) :: n
    end subroutine g5_set_nMC

    ! Sets the softening length of the i-particles that `g5_set_xi`, `g5_calculate_force_on_x` and
    ! their `MC` forms bring after this. It is 0 before.
    subroutine g5_set_eps_to_all(eps) bind(C, name="g5_set_eps_to_all_")
      import :: c_double
      real(c_double), intent(in) :: eps
    end subroutine g5_set_eps_to_all

    ! sapporo2's: `g5_set_eps_to_all` with the square of the length.
    subroutine g5_set_eps2_to_all(eps2) bind(C, name="g5_set_eps2_to_all_")
      import :: c_double
      real(c_double), intent(in) :: eps2
    end subroutine g5_set_eps2_to_all

    ! GRAPE-7's: `g5_set_eps_to_all` for the i-particles of one device. The next
    ! `g5_set_eps_to_all` or `g5_set_eps2_to_all` holds for all devices again.
    subroutine g5_set_eps_to_allMC(devid, eps) bind(C, name="g5_set_eps_to_allMC_")
      import :: c_double, c_int
      integer(c_int), intent(in) :: devid
      real(c_double), intent(in) :: eps
    end subroutine g5_set_eps_to_allMC

    ! GRAPE-7's: `g5_set_eps_to_allMC` with the square of the length.
    subroutine g5_set_eps2_to_allMC(devid, eps2) bind(C, name="g5_set_eps2_to_allMC_")
      import :: c_double, c_int
      integer(c_int), intent(in) :: devid
      real(c_double), intent(in) :: eps2
    end subroutine g5_set_eps2_to_allMC

    ! Sets a softening length for each i-particle of the last `g5_set_xi`: `eps[ni]`, not squared.
    ! The next `g5_set_xi` forgets these lengths.
    subroutine g5_set_eps(ni, eps) bind(C, name="g5_set_eps_")
      import :: c_double, c_int
      integer(c_int), intent(in) :: ni
      real(c_double), intent(in) :: eps(*)
    end subroutine g5_set_eps

    ! `g5_set_eps` for one device.
    subroutine g5_set_epsMC(devid, ni, eps) bind(C, name="g5_set_epsMC_")
      import :: c_double, c_int
      integer(c_int), intent(in) :: devid
      integer(c_int), intent(in) :: ni
      real(c_double), intent(in) :: eps(*)
    end subroutine g5_set_epsMC

    ! GRAPE-7's: `g5_set_eps` with the squares of the lengths.
    subroutine g5_set_eps2(ni, eps2) bind(C, name="g5_set_eps2_")
      import :: c_double, c_int
      integer(c_int), intent(in) :: ni
      real(c_double), intent(in) :: eps2(*)
    end subroutine g5_set_eps2

    ! `g5_set_eps2` for one device.
    subroutine g5_set_eps2MC(devid, ni, eps2) bind(C, name="g5_set_eps2MC_")
      import :: c_double, c_int
      integer(c_int), intent(in) :: devid
      integer(c_int), intent(in) :: ni
      real(c_double), intent(in) :: eps2(*)
    end subroutine g5_set_eps2MC

    ! Stores j-particles at the addresses `adr..adr+nj`: positions `xj` and masses `mj` from the
    ! element `adr` of the arrays on, as Phantom-GRAPE and sapporo2 do.
    !
    ! A Phantom-GRAPE that is built with `SYMMETRIC` has a further argument here, the squares of
    ! softening lengths of the j-particles. With `KIRIN_GRAPE5=symmetric` this call is
    ! `g5_set_xmj0`, and `g5_run`, `g5_calculate_force_on_x`, `g5_calculate_force_on_xe` and their
    ! `MC` forms act with these j-particles. Without the setting the further argument is not read.
    subroutine g5_set_xmj(adr, nj, xj, mj) bind(C, name="g5_set_xmj_")
      import :: c_double, c_int
      integer(c_int), intent(in) :: adr
      integer(c_int), intent(in) :: nj
      real(c_double), intent(in) :: xj(3, *)
      real(c_double), intent(in) :: mj(*)
    end subroutine g5_set_xmj

    ! `g5_set_xmj` for one device, which has j-particles of its own from then on. Until then those
    ! of device 0 act on its i-particles. Calls for different devices may come from different
    ! threads at once.
    subroutine g5_set_xmjMC(devid, adr, nj, xj, mj) bind(C, name="g5_set_xmjMC_")
      import :: c_double, c_int
      integer(c_int), intent(in) :: devid
      integer(c_int), intent(in) :: adr
      integer(c_int), intent(in) :: nj
      real(c_double), intent(in) :: xj(3, *)
      real(c_double), intent(in) :: mj(*)
    end subroutine g5_set_xmjMC

    ! From FDPS: `g5_set_xmj` with the square of a softening length for each j-particle, `epsj2`.
    ! These j-particles are kept apart from the others. They act in the calls whose names end in
    ! 0, which add the squares of the softening lengths of both particles.
    subroutine g5_set_xmj0(adr, nj, xj, mj, epsj2) bind(C, name="g5_set_xmj0_")
      import :: c_double, c_int
      integer(c_int), intent(in) :: adr
      integer(c_int), intent(in) :: nj
      real(c_double), intent(in) :: xj(3, *)
      real(c_double), intent(in) :: mj(*)
      real(c_double), intent(in) :: epsj2(*)
    end subroutine g5_set_xmj0

    ! `g5_set_xmj0` for one device, as `g5_set_xmjMC`.
    subroutine g5_set_xmjMC0(devid, adr, nj, xj, mj, epsj2) bind(C, name="g5_set_xmjMC0_")
      import :: c_double, c_int
      integer(c_int), intent(in) :: devid
      integer(c_int), intent(in) :: adr
      integer(c_int), intent(in) :: nj
      real(c_double), intent(in) :: xj(3, *)
      real(c_double), intent(in) :: mj(*)
      real(c_double), intent(in) :: epsj2(*)
    end subroutine g5_set_xmjMC0

    ! ASURA's, of its library with SSE: as `g5_set_xmj0`. `g5_run` acts with these j-particles,
    ! too, without their softening lengths.
    subroutine g5_set_xmeps2j(adr, nj, xj, mj, epsj2) bind(C, name="g5_set_xmeps2j_")
      import :: c_double, c_int
      integer(c_int), intent(in) :: adr
      integer(c_int), intent(in) :: nj
      real(c_double), intent(in) :: xj(3, *)
      real(c_double), intent(in) :: mj(*)
      real(c_double), intent(in) :: epsj2(*)
    end subroutine g5_set_xmeps2j

    ! sapporo2's: `g5_set_xmj` with the masses first.
    subroutine g5_set_jp(addr, nj, mj, xj) bind(C, name="g5_set_jp_")
      import :: c_double, c_int
      integer(c_int), intent(in) :: addr
      integer(c_int), intent(in) :: nj
      real(c_double), intent(in) :: mj(*)
      real(c_double), intent(in) :: xj(3, *)
    end subroutine g5_set_jp

    ! GRAPE-7's: `g5_set_jp` for one device, as `g5_set_xmjMC`.
    subroutine g5_set_jpMC(devid, addr, nj, mj, xj) bind(C, name="g5_set_jpMC_")
      import :: c_double, c_int
      integer(c_int), intent(in) :: devid
      integer(c_int), intent(in) :: addr
      integer(c_int), intent(in) :: nj
      real(c_double), intent(in) :: mj(*)
      real(c_double), intent(in) :: xj(3, *)
    end subroutine g5_set_jpMC

    ! Stores positions only, from the element `adr` of `xj` on, as `g5_set_xmj` does. The masses
    ! at these addresses stay as they are, 0 if there are none.
    subroutine g5_set_xj(adr, nj, xj) bind(C, name="g5_set_xj_")
      import :: c_double, c_int
      integer(c_int), intent(in) :: adr
      integer(c_int), intent(in) :: nj
      real(c_double), intent(in) :: xj(3, *)
    end subroutine g5_set_xj

    ! Stores masses only; the positions at these addresses stay as they are.
    subroutine g5_set_mj(adr, nj, mj) bind(C, name="g5_set_mj_")
      import :: c_double, c_int
      integer(c_int), intent(in) :: adr
      integer(c_int), intent(in) :: nj
      real(c_double), intent(in) :: mj(*)
    end subroutine g5_set_mj

    ! Loads i-particles at the positions `xi[ni]`, with the softening length of
    ! `g5_set_eps_to_all`.
    subroutine g5_set_xi(ni, xi) bind(C, name="g5_set_xi_")
      import :: c_double, c_int
      integer(c_int), intent(in) :: ni
      real(c_double), intent(in) :: xi(3, *)
    end subroutine g5_set_xi

    ! `g5_set_xi` for one device.
    subroutine g5_set_xiMC(devid, ni, xi) bind(C, name="g5_set_xiMC_")
      import :: c_double, c_int
      integer(c_int), intent(in) :: devid
      integer(c_int), intent(in) :: ni
      real(c_double), intent(in) :: xi(3, *)
    end subroutine g5_set_xiMC

    ! Loads i-particles with the squares of softening lengths of their own, `eps2[ni]`.
    subroutine g5_set_xei(ni, xi, eps2) bind(C, name="g5_set_xei_")
      import :: c_double, c_int
      integer(c_int), intent(in) :: ni
      real(c_double), intent(in) :: xi(3, *)
      real(c_double), intent(in) :: eps2(*)
    end subroutine g5_set_xei

    ! `g5_set_xei` for one device.
    subroutine g5_set_xeiMC(devid, ni, xi, eps2) bind(C, name="g5_set_xeiMC_")
      import :: c_double, c_int
      integer(c_int), intent(in) :: devid
      integer(c_int), intent(in) :: ni
      real(c_double), intent(in) :: xi(3, *)
      real(c_double), intent(in) :: eps2(*)
    end subroutine g5_set_xeiMC

    ! The library of GRAPE-6A: as `g5_set_xei`, with the lengths and not their squares, `eps[ni]`.
    subroutine g5_set_xepsi(ni, xi, eps) bind(C, name="g5_set_xepsi_")
      import :: c_double, c_int
      integer(c_int), intent(in) :: ni
      real(c_double), intent(in) :: xi(3, *)
      real(c_double), intent(in) :: eps(*)
    end subroutine g5_set_xepsi

    ! GRAPE-5's: as `g5_set_xepsi`. `h[ni]`, the radii in which GRAPE-5 searched for neighbours,
    ! is not read: kirin has no calls that return such lists.
    subroutine g5_set_ip(ni, xi, eps, h) bind(C, name="g5_set_ip_")
      import :: c_double, c_int
      integer(c_int), intent(in) :: ni
      real(c_double), intent(in) :: xi(3, *)
      real(c_double), intent(in) :: eps(*)
      real(c_double), intent(in) :: h(*)
    end subroutine g5_set_ip

    ! FDPS': the same as `g5_set_xeiMC`.
    subroutine g5_set_xiMC0(devid, ni, xi, eps2) bind(C, name="g5_set_xiMC0_")
      import :: c_double, c_int
      integer(c_int), intent(in) :: devid
      integer(c_int), intent(in) :: ni
      real(c_double), intent(in) :: xi(3, *)
      real(c_double), intent(in) :: eps2(*)
    end subroutine g5_set_xiMC0

    ! Computes the forces on the i-particles that were loaded last.
    subroutine g5_run() bind(C, name="g5_run_")
    end subroutine g5_run

    ! `g5_run` for one device.
    subroutine g5_runMC(devid) bind(C, name="g5_runMC_")
      import :: c_int
      integer(c_int), intent(in) :: devid
    end subroutine g5_runMC

    ! FDPS': `g5_runMC` with the j-particles of `g5_set_xmjMC0`.
    subroutine g5_runMC0(devid) bind(C, name="g5_runMC0_")
      import :: c_int
      integer(c_int), intent(in) :: devid
    end subroutine g5_runMC0

    ! ASURA's: `g5_run` with the j-particles of `g5_set_xmeps2j` or `g5_set_xmj0`. The squares of
    ! the softening lengths of both particles are added.
    subroutine g5_run_symmetrized_softening() bind(C, name="g5_run_symmetrized_softening_")
    end subroutine g5_run_symmetrized_softening

    ! Writes accelerations `a[ni]` and potentials `p[ni]` that the last run computed: a = sum m_j
    ! (x_j - x_i) / s^3, p = + sum m_j / s with s^2 = |x_j - x_i|^2 + eps^2.
    !
    ! The potential is positive. The interface has no labels, so an i-particle that is also among
    ! the j-particles acts on itself: this adds m / eps to its potential. Pairs with s = 0 add
    ! nothing. NaN and infinite numbers are not refused. `KIRIN_CHECK=1` reports the first result
    ! that is not finite.
    subroutine g5_get_force(ni, a, p) bind(C, name="g5_get_force_")
      import :: c_double, c_int
      integer(c_int), intent(in) :: ni
      real(c_double), intent(inout) :: a(3, *)
      real(c_double), intent(inout) :: p(*)
    end subroutine g5_get_force

    ! `g5_get_force` for one device.
    subroutine g5_get_forceMC(devid, ni, a, p) bind(C, name="g5_get_forceMC_")
      import :: c_double, c_int
      integer(c_int), intent(in) :: devid
      integer(c_int), intent(in) :: ni
      real(c_double), intent(inout) :: a(3, *)
      real(c_double), intent(inout) :: p(*)
    end subroutine g5_get_forceMC

    ! Computes the forces on any number of i-particles at `x[ni]`. The results are those of
    ! `g5_set_xi`, `g5_run` and `g5_get_force`, but the registers that these calls share stay as
    ! they are.
    subroutine g5_calculate_force_on_x(x, a, p, ni) bind(C, name="g5_calculate_force_on_x_")
      import :: c_double, c_int
      real(c_double), intent(in) :: x(3, *)
      real(c_double), intent(inout) :: a(3, *)
      real(c_double), intent(inout) :: p(*)
      integer(c_int), intent(in) :: ni
    end subroutine g5_calculate_force_on_x

    ! `g5_calculate_force_on_x` for one device.
    subroutine g5_calculate_force_on_xMC(devid, x, a, p, ni) bind(C, &
        name="g5_calculate_force_on_xMC_")
      import :: c_double, c_int
      integer(c_int), intent(in) :: devid
      real(c_double), intent(in) :: x(3, *)
      real(c_double), intent(inout) :: a(3, *)
      real(c_double), intent(inout) :: p(*)
      integer(c_int), intent(in) :: ni
    end subroutine g5_calculate_force_on_xMC

    ! As `g5_calculate_force_on_x`, with the squares of softening lengths of the i-particles,
    ! `eps2[ni]`.
    subroutine g5_calculate_force_on_xe(x, eps2, a, p, ni) bind(C, &
        name="g5_calculate_force_on_xe_")
      import :: c_double, c_int
      real(c_double), intent(in) :: x(3, *)
      real(c_double), intent(in) :: eps2(*)
      real(c_double), intent(inout) :: a(3, *)
      real(c_double), intent(inout) :: p(*)
      integer(c_int), intent(in) :: ni
    end subroutine g5_calculate_force_on_xe

    ! `g5_calculate_force_on_xe` for one device.
    subroutine g5_calculate_force_on_xeMC(devid, x, eps2, a, p, ni) bind(C, &
        name="g5_calculate_force_on_xeMC_")
      import :: c_double, c_int
      integer(c_int), intent(in) :: devid
      real(c_double), intent(in) :: x(3, *)
      real(c_double), intent(in) :: eps2(*)
      real(c_double), intent(inout) :: a(3, *)
      real(c_double), intent(inout) :: p(*)
      integer(c_int), intent(in) :: ni
    end subroutine g5_calculate_force_on_xeMC

    ! FDPS': as `g5_calculate_force_on_xe`, with the j-particles of `g5_set_xmj0`. Note the order
    ! of the arguments.
    subroutine g5_calculate_force_on_x0(x, a, p, ni, eps2) bind(C, &
        name="g5_calculate_force_on_x0_")
      import :: c_double, c_int
      real(c_double), intent(in) :: x(3, *)
      real(c_double), intent(inout) :: a(3, *)
      real(c_double), intent(inout) :: p(*)
      integer(c_int), intent(in) :: ni
      real(c_double), intent(in) :: eps2(*)
    end subroutine g5_calculate_force_on_x0

    ! `g5_calculate_force_on_x0` for one device.
    subroutine g5_calculate_force_on_xMC0(devid, x, a, p, ni, eps2) bind(C, &
        name="g5_calculate_force_on_xMC0_")
      import :: c_double, c_int
      integer(c_int), intent(in) :: devid
      real(c_double), intent(in) :: x(3, *)
      real(c_double), intent(inout) :: a(3, *)
      real(c_double), intent(inout) :: p(*)
      integer(c_int), intent(in) :: ni
      real(c_double), intent(in) :: eps2(*)
    end subroutine g5_calculate_force_on_xMC0

    ! ASURA's: as `g5_calculate_force_on_xe`, with the j-particles of `g5_set_xmeps2j` or
    ! `g5_set_xmj0`, and with lengths, not their squares, `eps[ni]`.
    subroutine g5_calculate_force_on_xeps(x, eps, a, p, ni) bind(C, &
        name="g5_calculate_force_on_xeps_")
      import :: c_double, c_int
      real(c_double), intent(in) :: x(3, *)
      real(c_double), intent(in) :: eps(*)
      real(c_double), intent(inout) :: a(3, *)
      real(c_double), intent(inout) :: p(*)
      integer(c_int), intent(in) :: ni
    end subroutine g5_calculate_force_on_xeps
  end interface
end module kirin_grape5
