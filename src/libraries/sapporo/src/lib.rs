//! The names of sapporo's calls that other programs may also have. Each function jumps to `kirin_sapporo_NAME` in
//! `libkirin`; this library has no state.
//!
//! These names are not in `libkirin`, because a preloaded library would replace other programs' functions of the same
//! names (`get_device_count`). The list is checked against kirin's table of calls (`ffi-tests/tests/symbols.rs`).

use std::ffi::c_int;

mod kirin {
    use super::c_int;

    unsafe extern "C" {
        pub fn kirin_sapporo_get_device_count() -> c_int;
        pub fn kirin_sapporo_force_j_particle_send() -> c_int;
        pub fn kirin_sapporo_get_j_part_data(address: c_int, nj: c_int) -> c_int;
    }
}

/// `get_device_count` of `kirin_sapporo.h`.
#[unsafe(no_mangle)]
pub extern "C" fn get_device_count() -> c_int {
    // SAFETY: the function takes nothing.
    unsafe { kirin::kirin_sapporo_get_device_count() }
}

/// `force_j_particle_send` of `kirin_sapporo.h`.
#[unsafe(no_mangle)]
pub extern "C" fn force_j_particle_send() -> c_int {
    // SAFETY: the function takes nothing.
    unsafe { kirin::kirin_sapporo_force_j_particle_send() }
}

/// `get_j_part_data` of `kirin_sapporo.h`.
#[unsafe(no_mangle)]
pub extern "C" fn get_j_part_data(address: c_int, nj: c_int) -> c_int {
    // SAFETY: the function takes numbers.
    unsafe { kirin::kirin_sapporo_get_j_part_data(address, nj) }
}
