! kirin_sapporo.f90: names of sapporo that say nothing of it, as libkirin_sapporo exports them.
!
! Made from the library's table of calls by `cargo run -p ffi-tests --bin generate`:
! change the table, not this file.
!
! Other programs have procedures of these names, so they are not in libkirin: link with
! -lkirin_sapporo -lkirin.
module kirin_sapporo
  use, intrinsic :: iso_c_binding, only: c_int
  implicit none
  private :: c_int
  public

  interface

    ! ---- Names of sapporo that other programs may have, too

    ! Reads a j-particle back, in sapporo and ph4. Nothing is written.
    !
    ! Not supported: clients disagree on its arguments; use g6_get_predicted_j_particles.
    integer(c_int) function get_j_part_data(address, nj) bind(C, name="get_j_part_data")
      import :: c_int
      integer(c_int), value :: address
      integer(c_int), value :: nj
    end function get_j_part_data

    ! Returns the number of GPUs that `g6_open_special` can name, and 1 where there is none or the
    ! CPU was asked for, as in sapporo.
    integer(c_int) function get_device_count() bind(C, name="get_device_count")
      import :: c_int
    end function get_device_count

    ! Sends the waiting j-particles at once, in old versions of sapporo.
    !
    ! Accepted without effect: every write takes effect at the next block by itself.
    subroutine force_j_particle_send() bind(C, name="force_j_particle_send")
    end subroutine force_j_particle_send
  end interface
end module kirin_sapporo
