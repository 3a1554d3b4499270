! kirin.f90: the host interface of the GRAPE-6 computer, as kirin exports it.
!
! Made from the library's table of calls by `cargo run -p ffi-tests --bin generate`:
! change the table, not this file.
!
! Programs without this module call the same procedures through implicit interfaces, as
! they always did, as subroutines or as integer functions. A call whose answer no program
! needs is a subroutine here, every other one an integer function: 0 for success and a
! negative number with one line on stderr for a refusal, unless its text says otherwise.
! What g6calc_firsthalf is refused, the next g6calc_lasthalf of the cluster returns.
!
!  -1  an argument is a null pointer or outside its range: nothing was computed. No output
!      is written, except by NBODY6's library (NaN for forces and potentials, lists of at
!      most two stars by `gpunb_regf_`, 0 for the nearest neighbours by
!      `irr_simd_firr_vec_`; but nothing by `gpunb_regf_` if `nbmax` or `m_flag` is
!      impossible, nor by `gpupot_` and `gpupot_range_` if the range is) and by
!      `g6_get_neighbour_list` (the length)
!  -2  another call must come first, or `lasthalf` asks for more i-particles than
!      `firsthalf` brought: nothing was done
!  -3  the call exists only so that programs link, or the bulk interface or a tree does not
!      support what was asked: nothing was done
!  -4  an internal error of kirin, or a signal handler forked during the call and the call's
!      threads stayed in the parent: there are no results
!  -5  there is no memory for what the call needs: a particle is not stored, a block is
!      given up; the cluster and its other particles can be used as before
!  -6  a signal handler called while its thread was inside another call, or had left one by
!      `siglongjmp`: nothing was done
!  -7  a handle was never opened, is closed, is of the other kind (bulk, tree), or belongs
!      to the process that this one was forked from: nothing was done
module kirin
  use, intrinsic :: iso_c_binding, only: c_char, c_double, c_float, c_int, c_int64_t, c_null_ptr, c_ptr
  implicit none
  private :: c_char, c_double, c_float, c_int, c_int64_t, c_null_ptr, c_ptr
  public

  ! The precisions of kirin_set_precision and kirin_precision_for.
  integer(c_int), parameter :: KIRIN_AUTO = 0, KIRIN_MIXED = 1, KIRIN_DOUBLE = 2, &
      KIRIN_SINGLE = 3, KIRIN_ADAPTIVE = 4, KIRIN_DOUBLE_SINGLE = 5, KIRIN_REDUCED = 6

  ! The arrays of the bulk interface (docs/bulk.md): at = c_loc(x). An array that is not mentioned is
  ! absent, and one with the steps 0 is packed: x(3, n) for vectors. Other steps are numbers of bytes, also
  ! negative ones: step from one particle to the next, next from one coordinate to the next.
  ! x(n, 3) is kirin_vectors(c_loc(x), 8, 8 * n). Indices of sources begin at 0.
  type, bind(C) :: kirin_numbers
    type(c_ptr) :: at = c_null_ptr
    integer(c_int64_t) :: step = 0
  end type kirin_numbers

  type, bind(C) :: kirin_vectors
    type(c_ptr) :: at = c_null_ptr
    integer(c_int64_t) :: step = 0, next = 0
  end type kirin_vectors

  ! integer(c_int64_t)
  type, bind(C) :: kirin_indices
    type(c_ptr) :: at = c_null_ptr
    integer(c_int64_t) :: step = 0
  end type kirin_indices

  type, bind(C) :: kirin_sources
    type(kirin_numbers) :: mass
    type(kirin_vectors) :: x, v, acc, jerk, snap
    type(kirin_numbers) :: time, eps2
    type(c_ptr) :: reserved(4) = c_null_ptr
  end type kirin_sources

  type, bind(C) :: kirin_targets
    type(kirin_vectors) :: x, v
    type(kirin_numbers) :: eps2, radius2
    type(kirin_indices) :: source
    type(c_ptr) :: reserved(4) = c_null_ptr
  end type kirin_targets

  type, bind(C) :: kirin_results
    type(kirin_vectors) :: acc, jerk
    type(kirin_numbers) :: pot
    type(kirin_indices) :: nearest
    type(kirin_numbers) :: distance2
    type(c_ptr) :: reserved(4) = c_null_ptr
  end type kirin_results

  interface

    ! ---- The GRAPE-6 interface

    ! Opens cluster `cluster_id`. If it is open already, nothing changes and its j-particles are
    ! kept.
    !
    ! Any integer is a valid id; it is a name and not a device number. If exactly one cluster is
    ! open, an id that was never opened stands for that one. Any other id that is not open, also
    ! one that was closed, is a cluster of its own from its first use on, with no j-particles at
    ! first; if a block has none, a line on stderr says so. On GRAPE-6 the id was the number of a
    ! board.
    integer(c_int) function g6_open(cluster_id) bind(C, name="g6_open_")
      import :: c_int
      integer(c_int), intent(in) :: cluster_id
    end function g6_open

    ! Closes cluster `cluster_id` and frees its j-particles. If it is not open, nothing happens.
    integer(c_int) function g6_close(cluster_id) bind(C, name="g6_close_")
      import :: c_int
      integer(c_int), intent(in) :: cluster_id
    end function g6_close

    ! Returns the number of pipelines: the most i-particles that one call should bring.
    !
    ! The number is constant and may be asked for before `g6_open`. It is 48 as on GRAPE-6, on
    ! which codes with fixed arrays rely (NBODY4); `KIRIN_NPIPES` sets another. kirin itself
    ! accepts blocks of any size.
    integer(c_int) function g6_npipes() bind(C, name="g6_npipes_")
      import :: c_int
    end function g6_npipes

    ! Sets the binary exponent of the fixed-point unit of time.
    !
    ! The argument is an integer in some clients and a double in others; it is never looked at.
    !
    ! Accepted without effect: kirin computes in floating point.
    subroutine g6_set_tunit(newtunit) bind(C, name="g6_set_tunit_")
      import :: c_int
      integer(c_int), intent(in) :: newtunit
    end subroutine g6_set_tunit

    ! Sets the binary exponent of the fixed-point unit of length.
    !
    ! The argument is an integer in some clients and a double in others; it is never looked at.
    !
    ! Accepted without effect: kirin computes in floating point.
    subroutine g6_set_xunit(newxunit) bind(C, name="g6_set_xunit_")
      import :: c_int
      integer(c_int), intent(in) :: newxunit
    end subroutine g6_set_xunit

    ! Sets the time `ti` to which the j-particles are predicted, from the next `g6calc_firsthalf`
    ! on. Before the first call it is 0.
    subroutine g6_set_ti(cluster_id, ti) bind(C, name="g6_set_ti_")
      import :: c_double, c_int
      integer(c_int), intent(in) :: cluster_id
      real(c_double), intent(in) :: ti
    end subroutine g6_set_ti

    ! Stores a j-particle at `address`, for the next `g6calc_firsthalf`.
    !
    ! Addresses begin at 0, also in Fortran, and may come in any order; the last write wins.
    ! `index` is the particle's label: any integer. It names neighbours, and a particle exerts no
    ! force on an i-particle with its own label. `x[3]`, `v[3]`, `aby2[3]` (half the
    ! acceleration), `a1by6[3]` (a sixth of the jerk) and `a2by18[3]` (an eighteenth of the second
    ! derivative of the acceleration) hold at the time `tj`, in any units with G = 1; `mass` may
    ! be 0. `dtj`, the particle's step, scaled the fixed-point time of GRAPE-6 and does not enter
    ! any force; where it is positive, it helps to tell whether noise limits the steps
    ! (docs/numbers.md). Returns a negative code, and stores nothing, if the address is negative
    ! or there is no memory for it.
    integer(c_int) function g6_set_j_particle(cluster_id, address, index, tj, dtj, mass, a2by18, &
        a1by6, aby2, v, x) bind(C, name="g6_set_j_particle_")
      import :: c_double, c_int
      integer(c_int), intent(in) :: cluster_id
      integer(c_int), intent(in) :: address
      integer(c_int), intent(in) :: index
      real(c_double), intent(in) :: tj
      real(c_double), intent(in) :: dtj
      real(c_double), intent(in) :: mass
      real(c_double), intent(in) :: a2by18(3)
      real(c_double), intent(in) :: a1by6(3)
      real(c_double), intent(in) :: aby2(3)
      real(c_double), intent(in) :: v(3)
      real(c_double), intent(in) :: x(3)
    end function g6_set_j_particle

    ! Starts the calculation of the forces of the j-particles at addresses `0..nj`, predicted to
    ! the time of `g6_set_ti`, on `ni` i-particles.
    !
    ! `index[ni]`, `xi[ni][3]`, `vi[ni][3]` are the labels, predicted positions and velocities of
    ! the i-particles; `eps2` is the squared softening length and `h2[ni]` the squared neighbour
    ! radii. `aold`, `jold`, `phiold` were scaling hints for the fixed-point sums of GRAPE-6. They
    ! do not enter the forces; only a trace (`KIRIN_TRACE`) records them. The arrays are copied,
    ! so the client may change them after the return. A block whose results were not fetched is
    ! dropped. Where this call is refused, so are the next `g6calc_lasthalf` and the neighbour
    ! lists, with the same code.
    !
    ! An address at which nothing was stored exerts no force. If addresses begin at 1, a line on
    ! stderr says so, once for each cluster. Numbers are not tested: a NaN or an infinite number
    ! is taken as it is, and so is a negative `eps2`, with which the force of a close pair is NaN.
    ! The status is 0 then, too. `KIRIN_CHECK=1` reports the first result that is not finite.
    subroutine g6calc_firsthalf(cluster_id, nj, ni, index, xi, vi, aold, jold, phiold, eps2, h2) &
        bind(C, name="g6calc_firsthalf_")
      import :: c_double, c_int
      integer(c_int), intent(in) :: cluster_id
      integer(c_int), intent(in) :: nj
      integer(c_int), intent(in) :: ni
      integer(c_int), intent(in) :: index(*)
      real(c_double), intent(in) :: xi(3, *)
      real(c_double), intent(in) :: vi(3, *)
      real(c_double), intent(in) :: aold(3, *)
      real(c_double), intent(in) :: jold(3, *)
      real(c_double), intent(in) :: phiold(*)
      real(c_double), intent(in) :: eps2
      real(c_double), intent(in) :: h2(*)
    end subroutine g6calc_firsthalf

    ! Waits for the block of `g6calc_firsthalf` and writes `acc[ni][3]`, `jerk[ni][3]` and
    ! `pot[ni]`.
    !
    ! With r = x_j - x_i, v = v_j - v_i and s = r^2 + eps^2: acc = sum m r / s^(3/2), jerk = sum m
    ! (v / s^(3/2) - 3 (r.v) r / s^(5/2)), pot = -sum m / s^(1/2), over all j with another label.
    ! A pair with s = 0 adds nothing. `nj`, `index`, `xi`, `vi`, `eps2` and `h2` are not looked
    ! at, because those of `g6calc_firsthalf` count (`KIRIN_CHECK=1` reports the first difference
    ! of `nj`, `index`, `xi` or `eps2`). If no block waits, this call does the whole calculation
    ! with its own arguments. So it does where `g6calc_firsthalf` was called several times, with
    ! one `nj` and neither a write nor another time in between, and the block that waits begins
    ! with other labels or positions: a client may begin all parts of a block before it fetches
    ! the first. With a smaller `ni` than the block's it returns the first results; a larger one
    ! is refused. A nonzero return asked for a repetition on GRAPE-6; here it means that the
    ! arguments are illegal or memory is lacking. Neighbour lists are available after every form
    ! of this call; Phantom-GRAPE made them only in the forms whose names end in `n`.
    integer(c_int) function g6calc_lasthalf(cluster_id, nj, ni, index, xi, vi, eps2, h2, acc, &
        jerk, pot) bind(C, name="g6calc_lasthalf_")
      import :: c_double, c_int
      integer(c_int), intent(in) :: cluster_id
      integer(c_int), intent(in) :: nj
      integer(c_int), intent(in) :: ni
      integer(c_int), intent(in) :: index(*)
      real(c_double), intent(in) :: xi(3, *)
      real(c_double), intent(in) :: vi(3, *)
      real(c_double), intent(in) :: eps2
      real(c_double), intent(in) :: h2(*)
      real(c_double), intent(inout) :: acc(3, *)
      real(c_double), intent(inout) :: jerk(3, *)
      real(c_double), intent(inout) :: pot(*)
    end function g6calc_lasthalf

    ! As `g6calc_lasthalf`; also writes the label of each i-particle's nearest neighbour to
    ! `nnbindex[ni]`.
    !
    ! Distances are not softened and the own label does not count. Of equally near particles the
    ! one with the lowest address is taken. If there is no neighbour, an entry that is -1 before
    ! the call stays -1, and any other becomes 0 (`KIRIN_NO_NEIGHBOUR` changes this).
    integer(c_int) function g6calc_lasthalf2(cluster_id, nj, ni, index, xi, vi, eps2, h2, acc, &
        jerk, pot, nnbindex) bind(C, name="g6calc_lasthalf2_")
      import :: c_double, c_int
      integer(c_int), intent(in) :: cluster_id
      integer(c_int), intent(in) :: nj
      integer(c_int), intent(in) :: ni
      integer(c_int), intent(in) :: index(*)
      real(c_double), intent(in) :: xi(3, *)
      real(c_double), intent(in) :: vi(3, *)
      real(c_double), intent(in) :: eps2
      real(c_double), intent(in) :: h2(*)
      real(c_double), intent(inout) :: acc(3, *)
      real(c_double), intent(inout) :: jerk(3, *)
      real(c_double), intent(inout) :: pot(*)
      integer(c_int), intent(inout) :: nnbindex(*)
    end function g6calc_lasthalf2

    ! Makes the neighbour lists of the last block. Returns 0; or 1, with a line on stderr, if
    ! there is no memory for them or they have more than 2^28 entries together. On GRAPE-6 a 1
    ! meant that its list memory had overflowed. After a 1 the client shrinks its radii and
    ! computes the block again.
    integer(c_int) function g6_read_neighbour_list(cluster_id) bind(C, &
        name="g6_read_neighbour_list_")
      import :: c_int
      integer(c_int), intent(in) :: cluster_id
    end function g6_read_neighbour_list

    ! Copies the neighbour list of i-particle `ipipe` of the block (from 0, also in Fortran): at
    ! most `maxlength` labels to `nbl[maxlength]`, and their number to `*nblen`.
    !
    ! The list has the labels of all j-particles with r^2 < h^2, without softening, in ascending
    ! order (see `g6_set_neighbour_list_sort_mode`). The own label is in it if there are more than
    ! 48 pipelines, as kira expects. Returns 0, or 1 if the list is longer than `maxlength` or the
    ! lists could not be made; `*nblen` is then `maxlength`.
    integer(c_int) function g6_get_neighbour_list(cluster_id, ipipe, maxlength, nblen, nbl) &
        bind(C, name="g6_get_neighbour_list_")
      import :: c_int
      integer(c_int), intent(in) :: cluster_id
      integer(c_int), intent(in) :: ipipe
      integer(c_int), intent(in) :: maxlength
      integer(c_int), intent(inout) :: nblen
      integer(c_int), intent(inout) :: nbl(*)
    end function g6_get_neighbour_list

    ! Reserves a buffer for `size` j-particles on their way to the board.
    !
    ! Accepted without effect: writes are always staged.
    subroutine g6_initialize_jp_buffer(cluster_id, size) bind(C, &
        name="g6_initialize_jp_buffer_")
      import :: c_int
      integer(c_int), intent(in) :: cluster_id
      integer(c_int), intent(in) :: size
    end subroutine g6_initialize_jp_buffer

    ! Sends the buffered j-particles.
    !
    ! Accepted without effect: every write takes effect at the next block by itself.
    subroutine g6_flush_jp_buffer(cluster_id) bind(C, name="g6_flush_jp_buffer_")
      import :: c_int
      integer(c_int), intent(in) :: cluster_id
    end subroutine g6_flush_jp_buffer

    ! Resets the hardware. j-particles are kept.
    !
    ! Accepted without effect: there is no hardware to reset.
    integer(c_int) function g6_reset(cluster_id) bind(C, name="g6_reset_")
      import :: c_int
      integer(c_int), intent(in) :: cluster_id
    end function g6_reset

    ! Resets the summation chips. j-particles are kept.
    !
    ! Accepted without effect: there is no hardware to reset.
    integer(c_int) function g6_reset_fofpga(cluster_id) bind(C, name="g6_reset_fofpga_")
      import :: c_int
      integer(c_int), intent(in) :: cluster_id
    end function g6_reset_fofpga

    ! Opens cluster 0 on the `ngpu` devices in `list`, as sapporo does.
    !
    ! The numbers in `list` are the device numbers of `kirin info`. They have no effect where
    ! `KIRIN_DEVICES` is set, where there are no GPUs, after an earlier call that named devices,
    ! and once cluster 0 has computed. With a null `list` or with `ngpu` = 0 the call is
    ! `g6_open`.
    integer(c_int) function g6_open_special(ngpu, list) bind(C, name="g6_open_special")
      import :: c_int
      integer(c_int), value :: ngpu
      integer(c_int), intent(in) :: list(*)
    end function g6_open_special

    ! As `g6_open_special`; `nmax`, the largest number of j-particles, is not needed.
    integer(c_int) function g6_open_special2(ngpu, list, nmax) bind(C, name="g6_open_special2")
      import :: c_int
      integer(c_int), value :: ngpu
      integer(c_int), intent(in) :: list(*)
      integer(c_int), value :: nmax
    end function g6_open_special2

    ! Announces the number of j-particles.
    !
    ! Accepted without effect: every block brings its own nj.
    subroutine g6_setup_njdata(cluster_id, nj) bind(C, name="g6_setup_njdata_")
      import :: c_int
      integer(c_int), intent(in) :: cluster_id
      integer(c_int), intent(in) :: nj
    end subroutine g6_setup_njdata

    ! Brings the hardware back to a defined state after an error. j-particles are kept.
    !
    ! Accepted without effect: there is no hardware to bring back.
    integer(c_int) function g6_reinitialize(cluster_id) bind(C, name="g6_reinitialize_")
      import :: c_int
      integer(c_int), intent(in) :: cluster_id
    end function g6_reinitialize

    ! Sets whether the labels in neighbour lists ascend: yes for any `mode` but 0, the default
    ! being 1. For all clusters.
    subroutine g6_set_neighbour_list_sort_mode(mode) bind(C, &
        name="g6_set_neighbour_list_sort_mode_")
      import :: c_int
      integer(c_int), intent(in) :: mode
    end subroutine g6_set_neighbour_list_sort_mode

    ! Returns the mode that `g6_set_neighbour_list_sort_mode` set.
    integer(c_int) function g6_get_neighbour_list_sort_mode() bind(C, &
        name="g6_get_neighbour_list_sort_mode_")
      import :: c_int
    end function g6_get_neighbour_list_sort_mode

    ! Sets whether the overflow of fixed-point sums is tested for acceleration, jerk and
    ! potential.
    !
    ! Clients disagree on the number of arguments: none is looked at.
    !
    ! Accepted without effect: floating-point sums do not overflow that way.
    subroutine g6_set_overflow_flag_test_mode(aflag, jflag, pflag) bind(C, &
        name="g6_set_overflow_flag_test_mode_")
      import :: c_int
      integer(c_int), intent(in) :: aflag
      integer(c_int), intent(in) :: jflag
      integer(c_int), intent(in) :: pflag
    end subroutine g6_set_overflow_flag_test_mode

    ! Prints the state of the chips, on the hardware.
    !
    ! Accepted without effect: there are no chips.
    integer(c_int) function g6_print_chip_status(cluster_id) bind(C, &
        name="g6_print_chip_status_")
      import :: c_int
      integer(c_int), intent(in) :: cluster_id
    end function g6_print_chip_status

    ! Stores mass and position only, at time 0 and at rest, for treecodes. The particle goes to
    ! the same clusters as with `g6_set_j_particle_multisend`.
    integer(c_int) function g6_set_j_particle_multisend_mxfast(cluster_id, nclusters, address, &
        index, mass, x) bind(C, name="g6_set_j_particle_multisend_mxfast_")
      import :: c_double, c_int
      integer(c_int), intent(in) :: cluster_id
      integer(c_int), intent(in) :: nclusters
      integer(c_int), intent(in) :: address
      integer(c_int), intent(in) :: index
      real(c_double), intent(in) :: mass
      real(c_double), intent(in) :: x(3)
    end function g6_set_j_particle_multisend_mxfast

    ! Sends the buffered j-particles to several boards.
    !
    ! Accepted without effect: every write takes effect at the next block by itself.
    integer(c_int) function g6_flush_jp_buffer_and_multisend(cluster_id, nclusters) bind(C, &
        name="g6_flush_jp_buffer_and_multisend_")
      import :: c_int
      integer(c_int), intent(in) :: cluster_id
      integer(c_int), intent(in) :: nclusters
    end function g6_flush_jp_buffer_and_multisend

    ! As `g6calc_lasthalf2`, and writes the softened distance of the nearest neighbour, (r^2 +
    ! eps^2)^(1/2), to `rnnb[ni]`; infinite where there is none. From Phantom-GRAPE.
    integer(c_int) function g6calc_lasthalf2p(cluster_id, nj, ni, index, xi, vi, eps2, h2, acc, &
        jerk, pot, nnbindex, rnnb) bind(C, name="g6calc_lasthalf2p_")
      import :: c_double, c_float, c_int
      integer(c_int), intent(in) :: cluster_id
      integer(c_int), intent(in) :: nj
      integer(c_int), intent(in) :: ni
      integer(c_int), intent(in) :: index(*)
      real(c_double), intent(in) :: xi(3, *)
      real(c_double), intent(in) :: vi(3, *)
      real(c_double), intent(in) :: eps2
      real(c_double), intent(in) :: h2(*)
      real(c_double), intent(inout) :: acc(3, *)
      real(c_double), intent(inout) :: jerk(3, *)
      real(c_double), intent(inout) :: pot(*)
      integer(c_int), intent(inout) :: nnbindex(*)
      real(c_float), intent(inout) :: rnnb(*)
    end function g6calc_lasthalf2p

    ! A hook for debugging Phantom-GRAPE.
    !
    ! Accepted without effect: it is for debugging another library.
    subroutine g6_debugfunc(value) bind(C, name="g6_debugfunc_")
      import :: c_int
      integer(c_int), intent(in) :: value
    end subroutine g6_debugfunc

    ! A hook for debugging Phantom-GRAPE.
    !
    ! Accepted without effect: it is for debugging another library.
    subroutine g6_debugfunc_double(value) bind(C, name="g6_debugfunc_double_")
      import :: c_double
      real(c_double), intent(in) :: value
    end subroutine g6_debugfunc_double

    ! Writes a file for debugging Phantom-GRAPE.
    !
    ! Not supported: the library writes no files.
    subroutine g6_dump(t, n, mass, x, v) bind(C, name="g6_dump_")
      import :: c_double, c_int
      real(c_double), intent(in) :: t
      integer(c_int), intent(in) :: n
      real(c_double), intent(in) :: mass(*)
      real(c_double), intent(in) :: x(3, *)
      real(c_double), intent(in) :: v(3, *)
    end subroutine g6_dump

    ! ---- The low-level calls

    ! Stores mass and position only, at time 0 and at rest: the load of treecodes.
    integer(c_int) function g6_set_j_particle_mxonly(cluster_id, address, index, mass, x) &
        bind(C, name="g6_set_j_particle_mxonly_")
      import :: c_double, c_int
      integer(c_int), intent(in) :: cluster_id
      integer(c_int), intent(in) :: address
      integer(c_int), intent(in) :: index
      real(c_double), intent(in) :: mass
      real(c_double), intent(in) :: x(3)
    end function g6_set_j_particle_mxonly

    ! As `g6calc_firsthalf`, but `eps2` is passed by reference in C too. If `mode` is odd, `eps2`
    ! is one number; if it is even, `eps2[ni]` has one for each i-particle (Fortran's module
    ! declares a scalar: pass `eps2(1)` for the array). The other bits of `mode` are ignored. In
    ! the original library `g6calc_firsthalf` calls this function with `mode` 1.
    subroutine g6calc_firsthalf0(cluster_id, nj, ni, index, xi, vi, aold, jold, phiold, eps2, &
        h2, mode) bind(C, name="g6calc_firsthalf0_")
      import :: c_double, c_int
      integer(c_int), intent(in) :: cluster_id
      integer(c_int), intent(in) :: nj
      integer(c_int), intent(in) :: ni
      integer(c_int), intent(in) :: index(*)
      real(c_double), intent(in) :: xi(3, *)
      real(c_double), intent(in) :: vi(3, *)
      real(c_double), intent(in) :: aold(3, *)
      real(c_double), intent(in) :: jold(3, *)
      real(c_double), intent(in) :: phiold(*)
      real(c_double), intent(in) :: eps2
      real(c_double), intent(in) :: h2(*)
      integer(c_int), intent(in) :: mode
    end subroutine g6calc_firsthalf0

    ! As `g6calc_lasthalf` with `eps2` by reference in C too; see `g6calc_firsthalf0`.
    integer(c_int) function g6calc_lasthalf0(cluster_id, nj, ni, index, xi, vi, eps2, h2, acc, &
        jerk, pot, mode) bind(C, name="g6calc_lasthalf0_")
      import :: c_double, c_int
      integer(c_int), intent(in) :: cluster_id
      integer(c_int), intent(in) :: nj
      integer(c_int), intent(in) :: ni
      integer(c_int), intent(in) :: index(*)
      real(c_double), intent(in) :: xi(3, *)
      real(c_double), intent(in) :: vi(3, *)
      real(c_double), intent(in) :: eps2
      real(c_double), intent(in) :: h2(*)
      real(c_double), intent(inout) :: acc(3, *)
      real(c_double), intent(inout) :: jerk(3, *)
      real(c_double), intent(inout) :: pot(*)
      integer(c_int), intent(in) :: mode
    end function g6calc_lasthalf0

    ! Sets the number of i-particles for `g6_get_force`.
    subroutine g6_set_nip(cluster_id, nip) bind(C, name="g6_set_nip_")
      import :: c_int
      integer(c_int), intent(in) :: cluster_id
      integer(c_int), intent(in) :: nip
    end subroutine g6_set_nip

    ! Sets the number of j-particles (addresses `0..njp`) for `g6_get_force`.
    subroutine g6_set_njp(cluster_id, njp) bind(C, name="g6_set_njp_")
      import :: c_int
      integer(c_int), intent(in) :: cluster_id
      integer(c_int), intent(in) :: njp
    end subroutine g6_set_njp

    ! Sets the fixed-point scales of one pipeline from the expected acceleration, jerk and
    ! potential.
    !
    ! Accepted without effect: floating-point sums need no scale.
    subroutine g6_set_i_particle_scales_from_real_value(cluster_id, address, acc, jerk, phi, &
        jfactor, ffactor) bind(C, name="g6_set_i_particle_scales_from_real_value_")
      import :: c_double, c_int
      integer(c_int), intent(in) :: cluster_id
      integer(c_int), intent(in) :: address
      real(c_double), intent(in) :: acc(3)
      real(c_double), intent(in) :: jerk(3)
      real(c_double), intent(in) :: phi
      real(c_double), intent(in) :: jfactor
      real(c_double), intent(in) :: ffactor
    end subroutine g6_set_i_particle_scales_from_real_value

    ! Loads i-particle register `address` (from 0) with label, position, velocity, squared
    ! softening length and squared neighbour radius.
    integer(c_int) function g6_set_i_particle(cluster_id, address, index, x, v, eps2, h2) &
        bind(C, name="g6_set_i_particle_")
      import :: c_double, c_int
      integer(c_int), intent(in) :: cluster_id
      integer(c_int), intent(in) :: address
      integer(c_int), intent(in) :: index
      real(c_double), intent(in) :: x(3)
      real(c_double), intent(in) :: v(3)
      real(c_double), intent(in) :: eps2
      real(c_double), intent(in) :: h2
    end function g6_set_i_particle

    ! Computes the forces on the i-particle registers `0..nip` and writes `acc[nip][3]`,
    ! `jerk[nip][3]`, `phi[nip]`, and zeros to `flag[nip]`. `nip` is what `g6_set_nip` announced,
    ! not more than there are loaded registers.
    integer(c_int) function g6_get_force(cluster_id, acc, jerk, phi, flag) bind(C, &
        name="g6_get_force_")
      import :: c_double, c_int
      integer(c_int), intent(in) :: cluster_id
      real(c_double), intent(inout) :: acc(3, *)
      real(c_double), intent(inout) :: jerk(3, *)
      real(c_double), intent(inout) :: phi(*)
      integer(c_int), intent(inout) :: flag(*)
    end function g6_get_force

    ! As `g6_get_force`, and writes the labels of the nearest neighbours to `nnbindex[nip]`.
    integer(c_int) function g6_get_force_etc(cluster_id, acc, jerk, phi, nnbindex, flag) bind(C, &
        name="g6_get_force_etc_")
      import :: c_double, c_int
      integer(c_int), intent(in) :: cluster_id
      real(c_double), intent(inout) :: acc(3, *)
      real(c_double), intent(inout) :: jerk(3, *)
      real(c_double), intent(inout) :: phi(*)
      integer(c_int), intent(inout) :: nnbindex(*)
      integer(c_int), intent(inout) :: flag(*)
    end function g6_get_force_etc

    ! Writes the predicted positions and velocities of the j-particles at addresses `0..nj`; zeros
    ! where there is none.
    subroutine g6_get_predicted_j_particles(cluster_id, nj, x, v) bind(C, &
        name="g6_get_predicted_j_particles_")
      import :: c_double, c_int
      integer(c_int), intent(in) :: cluster_id
      integer(c_int), intent(in) :: nj
      real(c_double), intent(inout) :: x(3, *)
      real(c_double), intent(inout) :: v(3, *)
    end subroutine g6_get_predicted_j_particles

    ! Returns 1048576, a number of j-particles for which there is always room. Memory permitting,
    ! there is room at any address.
    integer(c_int) function g6_getnjmax(cluster_id) bind(C, name="g6_getnjmax_")
      import :: c_int
      integer(c_int), intent(in) :: cluster_id
    end function g6_getnjmax

    ! ---- More of the original library's names

    ! Returns the last i-particle whose fixed-point scale was changed during `g6calc_lasthalf`, or
    ! -1 for none, which is always the answer here.
    !
    ! NBODY4 passes an argument, which the original does not read either.
    integer(c_int) function g6_changed_index(cluster_id) bind(C, name="g6_changed_index_")
      import :: c_int
      integer(c_int), intent(in) :: cluster_id
    end function g6_changed_index

    ! As `g6_set_j_particle`, to the clusters `cluster_id` to `cluster_id + nclusters - 1`, as far
    ! as they are open, and to `cluster_id` in any case.
    integer(c_int) function g6_set_j_particle_multisend(cluster_id, nclusters, address, index, &
        tj, dtj, mass, a2by18, a1by6, aby2, v, x) bind(C, name="g6_set_j_particle_multisend_")
      import :: c_double, c_int
      integer(c_int), intent(in) :: cluster_id
      integer(c_int), intent(in) :: nclusters
      integer(c_int), intent(in) :: address
      integer(c_int), intent(in) :: index
      real(c_double), intent(in) :: tj
      real(c_double), intent(in) :: dtj
      real(c_double), intent(in) :: mass
      real(c_double), intent(in) :: a2by18(3)
      real(c_double), intent(in) :: a1by6(3)
      real(c_double), intent(in) :: aby2(3)
      real(c_double), intent(in) :: v(3)
      real(c_double), intent(in) :: x(3)
    end function g6_set_j_particle_multisend

    ! Loads the i-particle registers `address` to `address + nip - 1`: as `g6_set_i_particle` with
    ! arrays, each particle with its own softening.
    integer(c_int) function g6_set_i_particle_vector(cluster_id, address, nip, index, x, v, &
        eps2, h2) bind(C, name="g6_set_i_particle_vector_")
      import :: c_double, c_int
      integer(c_int), intent(in) :: cluster_id
      integer(c_int), intent(in) :: address
      integer(c_int), intent(in) :: nip
      integer(c_int), intent(in) :: index(*)
      real(c_double), intent(in) :: x(3, *)
      real(c_double), intent(in) :: v(3, *)
      real(c_double), intent(in) :: eps2(*)
      real(c_double), intent(in) :: h2(*)
    end function g6_set_i_particle_vector

    ! As `g6calc_lasthalf0`, and writes the labels of the nearest neighbours to `nnbindex[ni]`.
    integer(c_int) function g6calc_lasthalf0a(cluster_id, nj, ni, index, xi, vi, eps2, h2, acc, &
        jerk, pot, nnbindex, mode) bind(C, name="g6calc_lasthalf0a_")
      import :: c_double, c_int
      integer(c_int), intent(in) :: cluster_id
      integer(c_int), intent(in) :: nj
      integer(c_int), intent(in) :: ni
      integer(c_int), intent(in) :: index(*)
      real(c_double), intent(in) :: xi(3, *)
      real(c_double), intent(in) :: vi(3, *)
      real(c_double), intent(in) :: eps2
      real(c_double), intent(in) :: h2(*)
      real(c_double), intent(inout) :: acc(3, *)
      real(c_double), intent(inout) :: jerk(3, *)
      real(c_double), intent(inout) :: pot(*)
      integer(c_int), intent(inout) :: nnbindex(*)
      integer(c_int), intent(in) :: mode
    end function g6calc_lasthalf0a

    ! Returns which overflow a flag of `g6_get_force` tells of, 0 for none.
    !
    ! Accepted without effect: the flags of kirin's forces are zero.
    integer(c_int) function g6_test_flag(cluster_id, flag) bind(C, name="g6_test_flag_")
      import :: c_int
      integer(c_int), intent(in) :: cluster_id
      integer(c_int), intent(in) :: flag
    end function g6_test_flag

    ! The same as `g6_set_i_particle_scales_from_real_value`.
    !
    ! Accepted without effect: floating-point sums need no scale.
    integer(c_int) function g6_set_ip_scales(cluster_id, address, acc, jerk, phi, jfactor, &
        ffactor) bind(C, name="g6_set_ip_scales_")
      import :: c_double, c_int
      integer(c_int), intent(in) :: cluster_id
      integer(c_int), intent(in) :: address
      real(c_double), intent(in) :: acc(3)
      real(c_double), intent(in) :: jerk(3)
      real(c_double), intent(in) :: phi
      real(c_double), intent(in) :: jfactor
      real(c_double), intent(in) :: ffactor
    end function g6_set_ip_scales

    ! Changes the scales of i-particle `address` after the overflow that `flag` tells of.
    !
    ! Accepted without effect: floating-point sums need no scale.
    integer(c_int) function g6_adjust_ip_scales(cluster_id, address, flag) bind(C, &
        name="g6_adjust_ip_scales_")
      import :: c_int
      integer(c_int), intent(in) :: cluster_id
      integer(c_int), intent(in) :: address
      integer(c_int), intent(in) :: flag
    end function g6_adjust_ip_scales

    ! Sets the scales of i-particle `address` to the entries of that number in three arrays.
    !
    ! Accepted without effect: floating-point sums need no scale.
    integer(c_int) function g6_copy_i_particle_scales(cluster_id, address, ascale, jscale, &
        pscale) bind(C, name="g6_copy_i_particle_scales_")
      import :: c_int
      integer(c_int), intent(in) :: cluster_id
      integer(c_int), intent(in) :: address
      integer(c_int), intent(in) :: ascale(*)
      integer(c_int), intent(in) :: jscale(*)
      integer(c_int), intent(in) :: pscale(*)
    end function g6_copy_i_particle_scales

    ! Computes the scales of i-particle `address`, and writes them to the entries with this number
    ! in three arrays. kirin leaves the arrays as they are.
    !
    ! Accepted without effect: floating-point sums need no scale.
    integer(c_int) function g6_calc_i_particle_scales_from_real_value(cluster_id, address, acc, &
        jerk, phi, jfactor, ffactor, ascale, jscale, pscale) bind(C, &
        name="g6_calc_i_particle_scales_from_real_value_")
      import :: c_double, c_int
      integer(c_int), intent(in) :: cluster_id
      integer(c_int), intent(in) :: address
      real(c_double), intent(in) :: acc(3)
      real(c_double), intent(in) :: jerk(3)
      real(c_double), intent(in) :: phi
      real(c_double), intent(in) :: jfactor
      real(c_double), intent(in) :: ffactor
      integer(c_int), intent(inout) :: ascale(*)
      integer(c_int), intent(inout) :: jscale(*)
      integer(c_int), intent(inout) :: pscale(*)
    end function g6_calc_i_particle_scales_from_real_value

    ! Sets the scales that i-particle `address` has in later blocks.
    !
    ! In the original, `phi` is the last argument of the C spelling, and a pointer in C, too.
    ! kirin looks at no argument.
    !
    ! Accepted without effect: floating-point sums need no scale.
    integer(c_int) function g6_preset_i_particle_scales_from_real_value(cluster_id, address, &
        acc, jerk, phi, jfactor, ffactor) bind(C, &
        name="g6_preset_i_particle_scales_from_real_value_")
      import :: c_double, c_int
      integer(c_int), intent(in) :: cluster_id
      integer(c_int), intent(in) :: address
      real(c_double), intent(in) :: acc(3)
      real(c_double), intent(in) :: jerk(3)
      real(c_double), intent(in) :: phi
      integer(c_int), intent(in) :: jfactor
      integer(c_int), intent(in) :: ffactor
    end function g6_preset_i_particle_scales_from_real_value

    ! Sets whether a simulator takes the place of the hardware.
    !
    ! Accepted without effect: there is neither.
    integer(c_int) function g6_set_simulator_use(mode) bind(C, name="g6_set_simulator_use_")
      import :: c_int
      integer(c_int), intent(in) :: mode
    end function g6_set_simulator_use

    ! Sets how i- and j-particles share the way to the boards.
    !
    ! Accepted without effect: there is no bus to share.
    integer(c_int) function g6_set_ijp_mode(cluster_id, mode) bind(C, name="g6_set_ijp_mode_")
      import :: c_int
      integer(c_int), intent(in) :: cluster_id
      integer(c_int), intent(in) :: mode
    end function g6_set_ijp_mode

    ! Sets the memory mode of the control boards.
    !
    ! Accepted without effect: there are no boards.
    integer(c_int) function g6_change_cbjpmode(cluster_id, mode) bind(C, &
        name="g6_change_cbjpmode_")
      import :: c_int
      integer(c_int), intent(in) :: cluster_id
      integer(c_int), intent(in) :: mode
    end function g6_change_cbjpmode

    ! Sets the memory mode of one control board.
    !
    ! Accepted without effect: there are no boards.
    integer(c_int) function g6_setcbjpmode(cluster_id, board, mode, network) bind(C, &
        name="g6_setcbjpmode_")
      import :: c_int
      integer(c_int), intent(in) :: cluster_id
      integer(c_int), intent(in) :: board
      integer(c_int), intent(in) :: mode
      integer(c_int), intent(in) :: network
    end function g6_setcbjpmode

    ! Sets whether errors on the way back from the boards are looked for.
    !
    ! Accepted without effect: there is no hardware that could err.
    integer(c_int) function g6_setfoerrchkmode(cluster_id, mode) bind(C, &
        name="g6_setfoerrchkmode_")
      import :: c_int
      integer(c_int), intent(in) :: cluster_id
      integer(c_int), intent(in) :: mode
    end function g6_setfoerrchkmode

    ! Switches the clock of the boards.
    !
    ! Accepted without effect: there is no clock to switch.
    integer(c_int) function g6_change_clock(cluster_id, on) bind(C, name="g6_change_clock")
      import :: c_int
      integer(c_int), value :: cluster_id
      integer(c_int), value :: on
    end function g6_change_clock

    ! Sets the number that `g6_mccount_` returns; the hardware was opened with it.
    integer(c_int) function g6_setmccount(mccount) bind(C, name="g6_setmccount_")
      import :: c_int
      integer(c_int), intent(in) :: mccount
    end function g6_setmccount

    ! Returns the number that `g6_setmccount` set, 1 before.
    integer(c_int) function g6_mccount() bind(C, name="g6_mccount_")
      import :: c_int
    end function g6_mccount

    ! ---- Calls for all boards at once

    ! `g6_open` for all boards at once, that is for cluster 0.
    integer(c_int) function g6_open_all() bind(C, name="g6_open_all_")
      import :: c_int
    end function g6_open_all

    ! `g6_close` for all boards at once, that is for cluster 0.
    integer(c_int) function g6_close_all() bind(C, name="g6_close_all_")
      import :: c_int
    end function g6_close_all

    ! `g6_set_ti` for all boards at once, that is for cluster 0.
    subroutine g6_set_ti_all(ti) bind(C, name="g6_set_ti_all_")
      import :: c_double
      real(c_double), intent(in) :: ti
    end subroutine g6_set_ti_all

    ! `g6_set_j_particle` for all boards at once, that is for cluster 0.
    integer(c_int) function g6_set_j_particle_all(address, index, tj, dtj, mass, a2by18, a1by6, &
        aby2, v, x) bind(C, name="g6_set_j_particle_all_")
      import :: c_double, c_int
      integer(c_int), intent(in) :: address
      integer(c_int), intent(in) :: index
      real(c_double), intent(in) :: tj
      real(c_double), intent(in) :: dtj
      real(c_double), intent(in) :: mass
      real(c_double), intent(in) :: a2by18(3)
      real(c_double), intent(in) :: a1by6(3)
      real(c_double), intent(in) :: aby2(3)
      real(c_double), intent(in) :: v(3)
      real(c_double), intent(in) :: x(3)
    end function g6_set_j_particle_all

    ! `g6calc_firsthalf` for all boards at once, that is for cluster 0.
    subroutine g6calc_firsthalf_all(nj, ni, index, xi, vi, aold, jold, phiold, eps2, h2) bind(C, &
        name="g6calc_firsthalf_all_")
      import :: c_double, c_int
      integer(c_int), intent(in) :: nj
      integer(c_int), intent(in) :: ni
      integer(c_int), intent(in) :: index(*)
      real(c_double), intent(in) :: xi(3, *)
      real(c_double), intent(in) :: vi(3, *)
      real(c_double), intent(in) :: aold(3, *)
      real(c_double), intent(in) :: jold(3, *)
      real(c_double), intent(in) :: phiold(*)
      real(c_double), intent(in) :: eps2
      real(c_double), intent(in) :: h2(*)
    end subroutine g6calc_firsthalf_all

    ! `g6calc_lasthalf` for all boards at once, that is for cluster 0.
    integer(c_int) function g6calc_lasthalf_all(nj, ni, index, xi, vi, eps2, h2, acc, jerk, pot) &
        bind(C, name="g6calc_lasthalf_all_")
      import :: c_double, c_int
      integer(c_int), intent(in) :: nj
      integer(c_int), intent(in) :: ni
      integer(c_int), intent(in) :: index(*)
      real(c_double), intent(in) :: xi(3, *)
      real(c_double), intent(in) :: vi(3, *)
      real(c_double), intent(in) :: eps2
      real(c_double), intent(in) :: h2(*)
      real(c_double), intent(inout) :: acc(3, *)
      real(c_double), intent(inout) :: jerk(3, *)
      real(c_double), intent(inout) :: pot(*)
    end function g6calc_lasthalf_all

    ! `g6calc_lasthalf2` for all boards at once, that is for cluster 0.
    integer(c_int) function g6calc_lasthalf2_all(nj, ni, index, xi, vi, eps2, h2, acc, jerk, &
        pot, nnbindex) bind(C, name="g6calc_lasthalf2_all_")
      import :: c_double, c_int
      integer(c_int), intent(in) :: nj
      integer(c_int), intent(in) :: ni
      integer(c_int), intent(in) :: index(*)
      real(c_double), intent(in) :: xi(3, *)
      real(c_double), intent(in) :: vi(3, *)
      real(c_double), intent(in) :: eps2
      real(c_double), intent(in) :: h2(*)
      real(c_double), intent(inout) :: acc(3, *)
      real(c_double), intent(inout) :: jerk(3, *)
      real(c_double), intent(inout) :: pot(*)
      integer(c_int), intent(inout) :: nnbindex(*)
    end function g6calc_lasthalf2_all

    ! `g6_read_neighbour_list` for all boards at once, that is for cluster 0.
    integer(c_int) function g6_read_neighbour_list_all() bind(C, &
        name="g6_read_neighbour_list_all_")
      import :: c_int
    end function g6_read_neighbour_list_all

    ! `g6_get_neighbour_list` for all boards at once, that is for cluster 0.
    integer(c_int) function g6_get_neighbour_list_all(ipipe, maxlength, nblen, nbl) bind(C, &
        name="g6_get_neighbour_list_all_")
      import :: c_int
      integer(c_int), intent(in) :: ipipe
      integer(c_int), intent(in) :: maxlength
      integer(c_int), intent(inout) :: nblen
      integer(c_int), intent(inout) :: nbl(*)
    end function g6_get_neighbour_list_all

    ! `g6_set_j_particle_mxonly` for all boards at once, that is for cluster 0.
    integer(c_int) function g6_set_j_particle_mxonly_all(address, index, mass, x) bind(C, &
        name="g6_set_j_particle_mxonly_all_")
      import :: c_double, c_int
      integer(c_int), intent(in) :: address
      integer(c_int), intent(in) :: index
      real(c_double), intent(in) :: mass
      real(c_double), intent(in) :: x(3)
    end function g6_set_j_particle_mxonly_all

    ! `g6calc_firsthalf0` for all boards at once, that is for cluster 0.
    subroutine g6calc_firsthalf0_all(nj, ni, index, xi, vi, aold, jold, phiold, eps2, h2, mode) &
        bind(C, name="g6calc_firsthalf0_all_")
      import :: c_double, c_int
      integer(c_int), intent(in) :: nj
      integer(c_int), intent(in) :: ni
      integer(c_int), intent(in) :: index(*)
      real(c_double), intent(in) :: xi(3, *)
      real(c_double), intent(in) :: vi(3, *)
      real(c_double), intent(in) :: aold(3, *)
      real(c_double), intent(in) :: jold(3, *)
      real(c_double), intent(in) :: phiold(*)
      real(c_double), intent(in) :: eps2
      real(c_double), intent(in) :: h2(*)
      integer(c_int), intent(in) :: mode
    end subroutine g6calc_firsthalf0_all

    ! `g6calc_lasthalf0` for all boards at once, that is for cluster 0.
    integer(c_int) function g6calc_lasthalf0_all(nj, ni, index, xi, vi, eps2, h2, acc, jerk, &
        pot, mode) bind(C, name="g6calc_lasthalf0_all_")
      import :: c_double, c_int
      integer(c_int), intent(in) :: nj
      integer(c_int), intent(in) :: ni
      integer(c_int), intent(in) :: index(*)
      real(c_double), intent(in) :: xi(3, *)
      real(c_double), intent(in) :: vi(3, *)
      real(c_double), intent(in) :: eps2
      real(c_double), intent(in) :: h2(*)
      real(c_double), intent(inout) :: acc(3, *)
      real(c_double), intent(inout) :: jerk(3, *)
      real(c_double), intent(inout) :: pot(*)
      integer(c_int), intent(in) :: mode
    end function g6calc_lasthalf0_all

    ! `g6_set_nip` for all boards at once, that is for cluster 0.
    subroutine g6_set_nip_all(nip) bind(C, name="g6_set_nip_all_")
      import :: c_int
      integer(c_int), intent(in) :: nip
    end subroutine g6_set_nip_all

    ! `g6_set_njp` for all boards at once, that is for cluster 0.
    subroutine g6_set_njp_all(njp) bind(C, name="g6_set_njp_all_")
      import :: c_int
      integer(c_int), intent(in) :: njp
    end subroutine g6_set_njp_all

    ! `g6_set_i_particle_scales_from_real_value` for all boards at once, that is for cluster 0.
    !
    ! Accepted without effect: floating-point sums need no scale.
    subroutine g6_set_i_particle_scales_from_real_value_all(address, acc, jerk, phi, jfactor, &
        ffactor) bind(C, name="g6_set_i_particle_scales_from_real_value_all_")
      import :: c_double, c_int
      integer(c_int), intent(in) :: address
      real(c_double), intent(in) :: acc(3)
      real(c_double), intent(in) :: jerk(3)
      real(c_double), intent(in) :: phi
      real(c_double), intent(in) :: jfactor
      real(c_double), intent(in) :: ffactor
    end subroutine g6_set_i_particle_scales_from_real_value_all

    ! `g6_set_i_particle` for all boards at once, that is for cluster 0.
    integer(c_int) function g6_set_i_particle_all(address, index, x, v, eps2, h2) bind(C, &
        name="g6_set_i_particle_all_")
      import :: c_double, c_int
      integer(c_int), intent(in) :: address
      integer(c_int), intent(in) :: index
      real(c_double), intent(in) :: x(3)
      real(c_double), intent(in) :: v(3)
      real(c_double), intent(in) :: eps2
      real(c_double), intent(in) :: h2
    end function g6_set_i_particle_all

    ! `g6_get_force` for all boards at once, that is for cluster 0.
    integer(c_int) function g6_get_force_all(acc, jerk, phi, flag) bind(C, &
        name="g6_get_force_all_")
      import :: c_double, c_int
      real(c_double), intent(inout) :: acc(3, *)
      real(c_double), intent(inout) :: jerk(3, *)
      real(c_double), intent(inout) :: phi(*)
      integer(c_int), intent(inout) :: flag(*)
    end function g6_get_force_all

    ! `g6_get_force_etc` for all boards at once, that is for cluster 0.
    integer(c_int) function g6_get_force_etc_all(acc, jerk, phi, nnbindex, flag) bind(C, &
        name="g6_get_force_etc_all_")
      import :: c_double, c_int
      real(c_double), intent(inout) :: acc(3, *)
      real(c_double), intent(inout) :: jerk(3, *)
      real(c_double), intent(inout) :: phi(*)
      integer(c_int), intent(inout) :: nnbindex(*)
      integer(c_int), intent(inout) :: flag(*)
    end function g6_get_force_etc_all

    ! `g6_get_predicted_j_particles` for all boards at once, that is for cluster 0.
    subroutine g6_get_predicted_j_particles_all(nj, x, v) bind(C, &
        name="g6_get_predicted_j_particles_all_")
      import :: c_double, c_int
      integer(c_int), intent(in) :: nj
      real(c_double), intent(inout) :: x(3, *)
      real(c_double), intent(inout) :: v(3, *)
    end subroutine g6_get_predicted_j_particles_all

    ! `g6_getnjmax` for all boards at once, that is for cluster 0.
    integer(c_int) function g6_getnjmax_all() bind(C, name="g6_getnjmax_all_")
      import :: c_int
    end function g6_getnjmax_all

    ! ---- Other names of these calls: those of the 2007 kirin, and of other libraries

    ! The same as `g6_open`.
    integer(c_int) function GPU_g6_open(cluster_id) bind(C, name="GPU_g6_open_")
      import :: c_int
      integer(c_int), intent(in) :: cluster_id
    end function GPU_g6_open

    ! The same as `g6_close`.
    integer(c_int) function GPU_g6_close(cluster_id) bind(C, name="GPU_g6_close_")
      import :: c_int
      integer(c_int), intent(in) :: cluster_id
    end function GPU_g6_close

    ! The same as `g6_npipes`.
    integer(c_int) function g6_get_number_of_pipelines() bind(C, &
        name="g6_get_number_of_pipelines_")
      import :: c_int
    end function g6_get_number_of_pipelines

    ! The same as `g6_npipes`.
    integer(c_int) function GPU_g6_npipes() bind(C, name="GPU_g6_npipes_")
      import :: c_int
    end function GPU_g6_npipes

    ! The same as `g6_set_tunit`.
    !
    ! Accepted without effect: kirin computes in floating point.
    subroutine GPU_g6_set_tunit(newtunit) bind(C, name="GPU_g6_set_tunit_")
      import :: c_int
      integer(c_int), intent(in) :: newtunit
    end subroutine GPU_g6_set_tunit

    ! The same as `g6_set_xunit`.
    !
    ! Accepted without effect: kirin computes in floating point.
    subroutine GPU_g6_set_xunit(newxunit) bind(C, name="GPU_g6_set_xunit_")
      import :: c_int
      integer(c_int), intent(in) :: newxunit
    end subroutine GPU_g6_set_xunit

    ! The same as `g6_set_ti`.
    subroutine GPU_g6_set_ti(cluster_id, ti) bind(C, name="GPU_g6_set_ti_")
      import :: c_double, c_int
      integer(c_int), intent(in) :: cluster_id
      real(c_double), intent(in) :: ti
    end subroutine GPU_g6_set_ti

    ! The same as `g6_set_j_particle`.
    integer(c_int) function GPU_g6_set_j_particle(cluster_id, address, index, tj, dtj, mass, &
        a2by18, a1by6, aby2, v, x) bind(C, name="GPU_g6_set_j_particle_")
      import :: c_double, c_int
      integer(c_int), intent(in) :: cluster_id
      integer(c_int), intent(in) :: address
      integer(c_int), intent(in) :: index
      real(c_double), intent(in) :: tj
      real(c_double), intent(in) :: dtj
      real(c_double), intent(in) :: mass
      real(c_double), intent(in) :: a2by18(3)
      real(c_double), intent(in) :: a1by6(3)
      real(c_double), intent(in) :: aby2(3)
      real(c_double), intent(in) :: v(3)
      real(c_double), intent(in) :: x(3)
    end function GPU_g6_set_j_particle

    ! The same as `g6calc_firsthalf`.
    subroutine GPU_g6calc_firsthalf(cluster_id, nj, ni, index, xi, vi, aold, jold, phiold, eps2, &
        h2) bind(C, name="GPU_g6calc_firsthalf_")
      import :: c_double, c_int
      integer(c_int), intent(in) :: cluster_id
      integer(c_int), intent(in) :: nj
      integer(c_int), intent(in) :: ni
      integer(c_int), intent(in) :: index(*)
      real(c_double), intent(in) :: xi(3, *)
      real(c_double), intent(in) :: vi(3, *)
      real(c_double), intent(in) :: aold(3, *)
      real(c_double), intent(in) :: jold(3, *)
      real(c_double), intent(in) :: phiold(*)
      real(c_double), intent(in) :: eps2
      real(c_double), intent(in) :: h2(*)
    end subroutine GPU_g6calc_firsthalf

    ! The same as `g6calc_firsthalf`.
    subroutine GPU2_g6calc_firsthalf(cluster_id, nj, ni, index, xi, vi, aold, jold, phiold, &
        eps2, h2) bind(C, name="GPU2_g6calc_firsthalf_")
      import :: c_double, c_int
      integer(c_int), intent(in) :: cluster_id
      integer(c_int), intent(in) :: nj
      integer(c_int), intent(in) :: ni
      integer(c_int), intent(in) :: index(*)
      real(c_double), intent(in) :: xi(3, *)
      real(c_double), intent(in) :: vi(3, *)
      real(c_double), intent(in) :: aold(3, *)
      real(c_double), intent(in) :: jold(3, *)
      real(c_double), intent(in) :: phiold(*)
      real(c_double), intent(in) :: eps2
      real(c_double), intent(in) :: h2(*)
    end subroutine GPU2_g6calc_firsthalf

    ! The same as `g6calc_lasthalf`.
    integer(c_int) function g6calc_lasthalfn(cluster_id, nj, ni, index, xi, vi, eps2, h2, acc, &
        jerk, pot) bind(C, name="g6calc_lasthalfn_")
      import :: c_double, c_int
      integer(c_int), intent(in) :: cluster_id
      integer(c_int), intent(in) :: nj
      integer(c_int), intent(in) :: ni
      integer(c_int), intent(in) :: index(*)
      real(c_double), intent(in) :: xi(3, *)
      real(c_double), intent(in) :: vi(3, *)
      real(c_double), intent(in) :: eps2
      real(c_double), intent(in) :: h2(*)
      real(c_double), intent(inout) :: acc(3, *)
      real(c_double), intent(inout) :: jerk(3, *)
      real(c_double), intent(inout) :: pot(*)
    end function g6calc_lasthalfn

    ! The same as `g6calc_lasthalf`.
    integer(c_int) function GPU_g6calc_lasthalf(cluster_id, nj, ni, index, xi, vi, eps2, h2, &
        acc, jerk, pot) bind(C, name="GPU_g6calc_lasthalf_")
      import :: c_double, c_int
      integer(c_int), intent(in) :: cluster_id
      integer(c_int), intent(in) :: nj
      integer(c_int), intent(in) :: ni
      integer(c_int), intent(in) :: index(*)
      real(c_double), intent(in) :: xi(3, *)
      real(c_double), intent(in) :: vi(3, *)
      real(c_double), intent(in) :: eps2
      real(c_double), intent(in) :: h2(*)
      real(c_double), intent(inout) :: acc(3, *)
      real(c_double), intent(inout) :: jerk(3, *)
      real(c_double), intent(inout) :: pot(*)
    end function GPU_g6calc_lasthalf

    ! The same as `g6calc_lasthalf`.
    integer(c_int) function GPU2_g6calc_lasthalf(cluster_id, nj, ni, index, xi, vi, eps2, h2, &
        acc, jerk, pot) bind(C, name="GPU2_g6calc_lasthalf_")
      import :: c_double, c_int
      integer(c_int), intent(in) :: cluster_id
      integer(c_int), intent(in) :: nj
      integer(c_int), intent(in) :: ni
      integer(c_int), intent(in) :: index(*)
      real(c_double), intent(in) :: xi(3, *)
      real(c_double), intent(in) :: vi(3, *)
      real(c_double), intent(in) :: eps2
      real(c_double), intent(in) :: h2(*)
      real(c_double), intent(inout) :: acc(3, *)
      real(c_double), intent(inout) :: jerk(3, *)
      real(c_double), intent(inout) :: pot(*)
    end function GPU2_g6calc_lasthalf

    ! The same as `g6calc_lasthalf2`.
    integer(c_int) function g6calc_lasthalf2n(cluster_id, nj, ni, index, xi, vi, eps2, h2, acc, &
        jerk, pot, nnbindex) bind(C, name="g6calc_lasthalf2n_")
      import :: c_double, c_int
      integer(c_int), intent(in) :: cluster_id
      integer(c_int), intent(in) :: nj
      integer(c_int), intent(in) :: ni
      integer(c_int), intent(in) :: index(*)
      real(c_double), intent(in) :: xi(3, *)
      real(c_double), intent(in) :: vi(3, *)
      real(c_double), intent(in) :: eps2
      real(c_double), intent(in) :: h2(*)
      real(c_double), intent(inout) :: acc(3, *)
      real(c_double), intent(inout) :: jerk(3, *)
      real(c_double), intent(inout) :: pot(*)
      integer(c_int), intent(inout) :: nnbindex(*)
    end function g6calc_lasthalf2n

    ! The same as `g6calc_lasthalf2`.
    integer(c_int) function GPU2_g6calc_lasthalf2(cluster_id, nj, ni, index, xi, vi, eps2, h2, &
        acc, jerk, pot, nnbindex) bind(C, name="GPU2_g6calc_lasthalf2_")
      import :: c_double, c_int
      integer(c_int), intent(in) :: cluster_id
      integer(c_int), intent(in) :: nj
      integer(c_int), intent(in) :: ni
      integer(c_int), intent(in) :: index(*)
      real(c_double), intent(in) :: xi(3, *)
      real(c_double), intent(in) :: vi(3, *)
      real(c_double), intent(in) :: eps2
      real(c_double), intent(in) :: h2(*)
      real(c_double), intent(inout) :: acc(3, *)
      real(c_double), intent(inout) :: jerk(3, *)
      real(c_double), intent(inout) :: pot(*)
      integer(c_int), intent(inout) :: nnbindex(*)
    end function GPU2_g6calc_lasthalf2

    ! The same as `g6_read_neighbour_list`.
    integer(c_int) function g6_read_neighbour_list_old(cluster_id) bind(C, &
        name="g6_read_neighbour_list_old_")
      import :: c_int
      integer(c_int), intent(in) :: cluster_id
    end function g6_read_neighbour_list_old

    ! The same as `g6_read_neighbour_list`.
    integer(c_int) function GPU_g6_read_neighbour_list(cluster_id) bind(C, &
        name="GPU_g6_read_neighbour_list_")
      import :: c_int
      integer(c_int), intent(in) :: cluster_id
    end function GPU_g6_read_neighbour_list

    ! The same as `g6_get_neighbour_list`.
    integer(c_int) function GPU_g6_get_neighbour_list(cluster_id, ipipe, maxlength, nblen, nbl) &
        bind(C, name="GPU_g6_get_neighbour_list_")
      import :: c_int
      integer(c_int), intent(in) :: cluster_id
      integer(c_int), intent(in) :: ipipe
      integer(c_int), intent(in) :: maxlength
      integer(c_int), intent(inout) :: nblen
      integer(c_int), intent(inout) :: nbl(*)
    end function GPU_g6_get_neighbour_list

    ! The same as `g6_initialize_jp_buffer`.
    !
    ! Accepted without effect: writes are always staged.
    subroutine GPU_g6_initialize_jp_buffer(cluster_id, size) bind(C, &
        name="GPU_g6_initialize_jp_buffer_")
      import :: c_int
      integer(c_int), intent(in) :: cluster_id
      integer(c_int), intent(in) :: size
    end subroutine GPU_g6_initialize_jp_buffer

    ! The same as `g6_flush_jp_buffer`.
    !
    ! Accepted without effect: every write takes effect at the next block by itself.
    subroutine GPU_g6_flush_jp_buffer(cluster_id) bind(C, name="GPU_g6_flush_jp_buffer_")
      import :: c_int
      integer(c_int), intent(in) :: cluster_id
    end subroutine GPU_g6_flush_jp_buffer

    ! The same as `g6_reset`.
    !
    ! Accepted without effect: there is no hardware to reset.
    integer(c_int) function GPU_g6_reset(cluster_id) bind(C, name="GPU_g6_reset_")
      import :: c_int
      integer(c_int), intent(in) :: cluster_id
    end function GPU_g6_reset

    ! The same as `g6_reset_fofpga`.
    !
    ! Accepted without effect: there is no hardware to reset.
    integer(c_int) function GPU_g6_reset_fofpga(cluster_id) bind(C, name="GPU_g6_reset_fofpga_")
      import :: c_int
      integer(c_int), intent(in) :: cluster_id
    end function GPU_g6_reset_fofpga

    ! The same as `g6_reinitialize`.
    !
    ! Accepted without effect: there is no hardware to bring back.
    integer(c_int) function GPU_g6_reinitialize(cluster_id) bind(C, name="GPU_g6_reinitialize")
      import :: c_int
      integer(c_int), value :: cluster_id
    end function GPU_g6_reinitialize

    ! The same as `g6_set_neighbour_list_sort_mode`.
    subroutine GPU_g6_set_neighbour_list_sort_mode(mode) bind(C, &
        name="GPU_g6_set_neighbour_list_sort_mode")
      import :: c_int
      integer(c_int), value :: mode
    end subroutine GPU_g6_set_neighbour_list_sort_mode

    ! The same as `g6_set_overflow_flag_test_mode`.
    !
    ! Accepted without effect: floating-point sums do not overflow that way.
    subroutine GPU_g6_set_overflow_flag_test_mode(aflag, jflag, pflag) bind(C, &
        name="GPU_g6_set_overflow_flag_test_mode")
      import :: c_int
      integer(c_int), value :: aflag
      integer(c_int), value :: jflag
      integer(c_int), value :: pflag
    end subroutine GPU_g6_set_overflow_flag_test_mode

    ! The same as `g6_print_chip_status`.
    !
    ! Accepted without effect: there are no chips.
    integer(c_int) function GPU_g6_print_chip_status(cluster_id) bind(C, &
        name="GPU_g6_print_chip_status")
      import :: c_int
      integer(c_int), value :: cluster_id
    end function GPU_g6_print_chip_status

    ! The same as `g6_set_j_particle_multisend_mxfast`.
    integer(c_int) function g6_set_j_particle_multisend_mxf(cluster_id, nclusters, address, &
        index, mass, x) bind(C, name="g6_set_j_particle_multisend_mxf_")
      import :: c_double, c_int
      integer(c_int), intent(in) :: cluster_id
      integer(c_int), intent(in) :: nclusters
      integer(c_int), intent(in) :: address
      integer(c_int), intent(in) :: index
      real(c_double), intent(in) :: mass
      real(c_double), intent(in) :: x(3)
    end function g6_set_j_particle_multisend_mxf

    ! The same as `g6_set_j_particle_multisend_mxfast`.
    integer(c_int) function GPU_g6_set_j_particle_multisend_mxfast(cluster_id, nclusters, &
        address, index, mass, x) bind(C, name="GPU_g6_set_j_particle_multisend_mxfast_")
      import :: c_double, c_int
      integer(c_int), intent(in) :: cluster_id
      integer(c_int), intent(in) :: nclusters
      integer(c_int), intent(in) :: address
      integer(c_int), intent(in) :: index
      real(c_double), intent(in) :: mass
      real(c_double), intent(in) :: x(3)
    end function GPU_g6_set_j_particle_multisend_mxfast

    ! The same as `g6_flush_jp_buffer_and_multisend`.
    !
    ! Accepted without effect: every write takes effect at the next block by itself.
    integer(c_int) function GPU_g6_flush_jp_buffer_and_multisend(cluster_id, nclusters) bind(C, &
        name="GPU_g6_flush_jp_buffer_and_multisend")
      import :: c_int
      integer(c_int), value :: cluster_id
      integer(c_int), value :: nclusters
    end function GPU_g6_flush_jp_buffer_and_multisend

    ! The same as `g6calc_lasthalf2p`.
    integer(c_int) function g6calc_lasthalf2np(cluster_id, nj, ni, index, xi, vi, eps2, h2, acc, &
        jerk, pot, nnbindex, rnnb) bind(C, name="g6calc_lasthalf2np_")
      import :: c_double, c_float, c_int
      integer(c_int), intent(in) :: cluster_id
      integer(c_int), intent(in) :: nj
      integer(c_int), intent(in) :: ni
      integer(c_int), intent(in) :: index(*)
      real(c_double), intent(in) :: xi(3, *)
      real(c_double), intent(in) :: vi(3, *)
      real(c_double), intent(in) :: eps2
      real(c_double), intent(in) :: h2(*)
      real(c_double), intent(inout) :: acc(3, *)
      real(c_double), intent(inout) :: jerk(3, *)
      real(c_double), intent(inout) :: pot(*)
      integer(c_int), intent(inout) :: nnbindex(*)
      real(c_float), intent(inout) :: rnnb(*)
    end function g6calc_lasthalf2np

    ! The same as `g6_set_njp`.
    subroutine g6_set_njp_real(cluster_id, njp) bind(C, name="g6_set_njp_real_")
      import :: c_int
      integer(c_int), intent(in) :: cluster_id
      integer(c_int), intent(in) :: njp
    end subroutine g6_set_njp_real

    ! ---- kirin's own

    ! Returns the version of the library, a string that lives as long as the process.
    type(c_ptr) function kirin_version() bind(C, name="kirin_version")
      import :: c_ptr
    end function kirin_version

    ! Returns what computes the forces of cluster `cluster_id`, a string that lives as long as the
    ! process.
    type(c_ptr) function kirin_backend(cluster_id) bind(C, name="kirin_backend")
      import :: c_int, c_ptr
      integer(c_int), value :: cluster_id
    end function kirin_backend

    ! Returns the precision of the last block of cluster `cluster_id`: `mixed`, `double`,
    ! `single`, `double-single` or `reduced`. Before the first block it may be `auto` or
    ! `adaptive`.
    type(c_ptr) function kirin_precision(cluster_id) bind(C, name="kirin_precision")
      import :: c_int, c_ptr
      integer(c_int), value :: cluster_id
    end function kirin_precision

    ! Chooses the precision of cluster `cluster_id`, from its next block on.
    !
    ! `precision` is `KIRIN_AUTO`, `KIRIN_MIXED`, `KIRIN_DOUBLE`, `KIRIN_SINGLE`,
    ! `KIRIN_ADAPTIVE`, `KIRIN_DOUBLE_SINGLE` or `KIRIN_REDUCED` (docs/numbers.md). In place of
    ! `KIRIN_DOUBLE_SINGLE` a CPU takes `KIRIN_DOUBLE`. In place of `KIRIN_REDUCED` a GPU takes
    ! `KIRIN_SINGLE`, and so do blocks with jerks. The user has the last word: where
    ! `KIRIN_PRECISION` names an arithmetic, the call does not change the precision. After this
    ! call a GPU also computes the blocks with few j-particles that the CPU computes by default
    ! (docs/gpus.md). A program may divide its j-particles over several clusters or processes. It
    ! then passes what `kirin_precision_for` returns for their total number, because `auto` would
    ! see only a part of them.
    integer(c_int) function kirin_set_precision(cluster_id, precision) bind(C, &
        name="kirin_set_precision_")
      import :: c_int
      integer(c_int), intent(in) :: cluster_id
      integer(c_int), intent(in) :: precision
    end function kirin_set_precision

    ! Returns the precision that cluster `cluster_id` takes for `nj` j-particles with velocities:
    ! `KIRIN_MIXED`, `KIRIN_DOUBLE`, `KIRIN_SINGLE` or `KIRIN_DOUBLE_SINGLE`. On a machine with a
    ! GPU, a block that the CPU computes by default (docs/gpus.md) has `KIRIN_DOUBLE` in place of
    ! `KIRIN_DOUBLE_SINGLE`.
    !
    ! The answer depends on `nj`, on the settings, on the kind of processor or GPU and on the last
    ! `kirin_set_precision`. With `adaptive` it also depends on whether noise has limited the time
    ! steps.
    integer(c_int) function kirin_precision_for(cluster_id, nj) bind(C, &
        name="kirin_precision_for_")
      import :: c_int
      integer(c_int), intent(in) :: cluster_id
      integer(c_int), intent(in) :: nj
    end function kirin_precision_for

    ! ---- kirin's own: the bulk interface (docs/bulk.md)

    ! Opens a handle, which has no sources yet, and writes it to `*handle`.
    !
    ! Handles are independent of each other and of the clusters of `g6_open`. They may be used
    ! from any thread; calls for one handle wait for each other. A handle belongs to the process
    ! that opened it: after a fork the child opens its own. At most 65536 can be open at a time.
    integer(c_int) function kirin_bulk_open(handle) bind(C, name="kirin_bulk_open")
      import :: c_int, c_int64_t
      integer(c_int64_t), intent(inout) :: handle
    end function kirin_bulk_open

    ! Closes a handle and frees its memory.
    integer(c_int) function kirin_bulk_close(handle) bind(C, name="kirin_bulk_close")
      import :: c_int, c_int64_t
      integer(c_int64_t), value :: handle
    end function kirin_bulk_close

    ! Chooses the precision of a handle, from the next `kirin_bulk_forces` on. The numbers are
    ! those of `kirin_set_precision`, and a precision that the user has set wins here, too.
    integer(c_int) function kirin_bulk_set_precision(handle, precision) bind(C, &
        name="kirin_bulk_set_precision")
      import :: c_int, c_int64_t
      integer(c_int64_t), value :: handle
      integer(c_int), value :: precision
    end function kirin_bulk_set_precision

    ! Replaces all sources of a handle by these `n`, from 0 to 2147483647. Their indices are 0 to
    ! n - 1.
    !
    ! `mass` and `x` are required; the other arrays are taken as zero where they are absent.
    ! Masses may have any sign. `v`, `acc`, `jerk` and `snap` are the derivatives of the position
    ! at `time`, from which a source is predicted to the time of `kirin_bulk_forces`. `eps2` are
    ! the squares of the sources' own softening lengths, which are added to those of the targets.
    ! Forces of sources with `eps2` are computed in double precision on the CPU. A refused call
    ! leaves the earlier sources as they were.
    integer(c_int) function kirin_bulk_set_sources(handle, n, sources) bind(C, &
        name="kirin_bulk_set_sources")
      import :: c_int, c_int64_t, kirin_sources
      integer(c_int64_t), value :: handle
      integer(c_int64_t), value :: n
      type(kirin_sources), intent(in) :: sources
    end function kirin_bulk_set_sources

    ! Changes `count` sources: entry k of each array in `sources` belongs to the source with the
    ! index `index[k]`.
    !
    ! What is absent stays as it was. If an index occurs more than once, the last entry wins.
    ! `eps2` can be given if `kirin_bulk_set_sources` was given it, too. A refused call changes
    ! nothing.
    integer(c_int) function kirin_bulk_update_sources(handle, count, index, sources) bind(C, &
        name="kirin_bulk_update_sources")
      import :: c_int, c_int64_t, kirin_indices, kirin_sources
      integer(c_int64_t), value :: handle
      integer(c_int64_t), value :: count
      type(kirin_indices), intent(in) :: index
      type(kirin_sources), intent(in) :: sources
    end function kirin_bulk_update_sources

    ! Returns the number of sources of a handle.
    integer(c_int) function kirin_bulk_source_count(handle) bind(C, &
        name="kirin_bulk_source_count")
      import :: c_int, c_int64_t
      integer(c_int64_t), value :: handle
    end function kirin_bulk_source_count

    ! Computes the forces of all sources, predicted to `time`, on `n` targets. It fills the arrays
    ! of `results` that are not null: `acc`, `jerk` and `pot` as `g6calc_lasthalf` defines them,
    ! the index of the nearest source, and the square of its distance, without softening.
    !
    ! Targets are at `x`, with velocities `v` (zero where absent). A target that is itself a
    ! source gives its index in `source` and gets no force from that source. For other targets the
    ! entry of `source` is negative; without any target that is a source the array may be absent.
    ! Without `x` the targets are sources at their predicted positions and velocities: those that
    ! `source` lists, or the first `n`. The square of a target's softening length is its entry of
    ! the targets' array `eps2`; without that array it is the argument `eps2` or, without `x`, the
    ! source's own if sources have their own. With `radius2`, the squares of radii, the call also
    ! makes the neighbour lists. The bits are those of `g6calc_lasthalf2` for the same particles
    ! in the same precision. A refused call writes nothing; if memory runs out in the middle, the
    ! results of the first targets have been written.
    integer(c_int) function kirin_bulk_forces(handle, time, eps2, n, targets, results) bind(C, &
        name="kirin_bulk_forces")
      import :: c_double, c_int, c_int64_t, kirin_results, kirin_targets
      integer(c_int64_t), value :: handle
      real(c_double), value :: time
      real(c_double), value :: eps2
      integer(c_int64_t), value :: n
      type(kirin_targets), intent(in) :: targets
      type(kirin_results), intent(in) :: results
    end function kirin_bulk_forces

    ! Writes the `n + 1` numbers `offsets` of the neighbour lists that the last
    ! `kirin_bulk_forces` made; that call had `n` targets with radii. The neighbours of target k
    ! are entries `offsets[k]` to `offsets[k + 1] - 1` of the array that
    ! `kirin_bulk_neighbour_indices` writes.
    integer(c_int) function kirin_bulk_neighbour_offsets(handle, n, offsets) bind(C, &
        name="kirin_bulk_neighbour_offsets")
      import :: c_int, c_int64_t
      integer(c_int64_t), value :: handle
      integer(c_int64_t), value :: n
      integer(c_int64_t), intent(inout) :: offsets(*)
    end function kirin_bulk_neighbour_offsets

    ! Writes the indices of the sources that are nearer than the radius of each target, ascending
    ! for each target and without the target itself. `indices` has room for `room` numbers, at
    ! least `offsets[n]`.
    integer(c_int) function kirin_bulk_neighbour_indices(handle, room, indices) bind(C, &
        name="kirin_bulk_neighbour_indices")
      import :: c_int, c_int64_t
      integer(c_int64_t), value :: handle
      integer(c_int64_t), value :: room
      integer(c_int64_t), intent(inout) :: indices(*)
    end function kirin_bulk_neighbour_indices

    ! For Fortran: writes the message of `kirin_bulk_message` to `text`, which has `length`
    ! characters. The rest is filled with blanks, and there is no zero at the end. Returns the
    ! length of the message.
    integer(c_int) function kirin_bulk_message_text(text, length) bind(C, &
        name="kirin_bulk_message_text")
      import :: c_char, c_int, c_int64_t
      character(kind=c_char), intent(inout) :: text(*)
      integer(c_int64_t), value :: length
    end function kirin_bulk_message_text

    ! Returns what the bulk interface refused last in this thread, a string that lives until its
    ! next refusal. Empty before the first one.
    type(c_ptr) function kirin_bulk_message() bind(C, name="kirin_bulk_message")
      import :: c_ptr
    end function kirin_bulk_message

    ! Returns what computes the forces of a handle, a string that lives as long as the process.
    ! Empty if the handle stands for nothing.
    type(c_ptr) function kirin_bulk_backend(handle) bind(C, name="kirin_bulk_backend")
      import :: c_int64_t, c_ptr
      integer(c_int64_t), value :: handle
    end function kirin_bulk_backend

    ! Returns the precision of the last forces of a handle: `mixed`, `double`, `single`,
    ! `double-single` or `reduced`. Before the first ones it may be `auto` or `adaptive`. Empty if
    ! the handle stands for nothing.
    type(c_ptr) function kirin_bulk_precision(handle) bind(C, name="kirin_bulk_precision")
      import :: c_int64_t, c_ptr
      integer(c_int64_t), value :: handle
    end function kirin_bulk_precision

    ! ---- kirin's own: forces by a tree (docs/tree.md)

    ! Opens a handle whose forces are found by a Barnes-Hut tree, and writes it to `*handle`. It
    ! has no sources yet.
    !
    ! `kirin_bulk_close`, `kirin_bulk_set_precision`, `kirin_bulk_source_count`,
    ! `kirin_bulk_backend` and `kirin_bulk_precision` take this handle, too. If a call is refused,
    ! `kirin_bulk_message` returns the reason. The precision of a tree is `mixed` unless another
    ! one is chosen.
    integer(c_int) function kirin_tree_open(handle) bind(C, name="kirin_tree_open")
      import :: c_int, c_int64_t
      integer(c_int64_t), intent(inout) :: handle
    end function kirin_tree_open

    ! Replaces all sources of a tree by these `n`, from 0 to 2147483647, and builds the tree.
    ! Their indices are 0 to n - 1.
    !
    ! `mass` and `x` are required, and no mass may be negative; the other arrays must be null. The
    ! tree is kept for any number of `kirin_tree_forces`. A refused call leaves the earlier
    ! sources as they were.
    integer(c_int) function kirin_tree_set_sources(handle, n, sources) bind(C, &
        name="kirin_tree_set_sources")
      import :: c_int, c_int64_t, kirin_sources
      integer(c_int64_t), value :: handle
      integer(c_int64_t), value :: n
      type(kirin_sources), intent(in) :: sources
    end function kirin_tree_set_sources

    ! Computes the forces of all sources on `n` targets by the tree, and writes `acc` and `pot` of
    ! `results` where they are not null, as `kirin_bulk_forces` defines them; the other results
    ! must be null.
    !
    ! A cell with the edge l acts as a whole on targets whose distance from its centre of mass is
    ! greater than l / theta + delta. Here delta is the distance of its centre of mass from its
    ! centre; for 1 / theta at least 0.867 is taken, so that no target is inside such a cell. The
    ! cell acts as one mass, or with `quadrupoles` = 1 as three masses that have its quadrupole
    ! moment, too. `theta` may not be negative; with 0 all sources are summed. `eps2` and
    ! `targets` are those of `kirin_bulk_forces`, but `v` has no effect and `radius2` must be
    ! null. The bits depend on the sources and on the targets of the call, and not on the number
    ! of threads or on earlier calls. A refused call writes nothing.
    integer(c_int) function kirin_tree_forces(handle, theta, quadrupoles, eps2, n, targets, &
        results) bind(C, name="kirin_tree_forces")
      import :: c_double, c_int, c_int64_t, kirin_results, kirin_targets
      integer(c_int64_t), value :: handle
      real(c_double), value :: theta
      integer(c_int), value :: quadrupoles
      real(c_double), value :: eps2
      integer(c_int64_t), value :: n
      type(kirin_targets), intent(in) :: targets
      type(kirin_results), intent(in) :: results
    end function kirin_tree_forces
  end interface
end module kirin
