//! The types of the functions that are looked up in a GRAPE-6 library.

use std::ffi::c_int;

pub(super) type Vec3 = [f64; 3];
pub(super) type ScalarFn = unsafe extern "C" fn(*const c_int) -> c_int;
pub(super) type SetTiFn = unsafe extern "C" fn(*const c_int, *const f64) -> c_int;
pub(super) type SetJParticleFn = unsafe extern "C" fn(
    *const c_int,
    *const c_int,
    *const c_int,
    *const f64,
    *const f64,
    *const f64,
    *const f64,
    *const f64,
    *const f64,
    *const f64,
    *const f64,
) -> c_int;
pub(super) type MassPositionFn = unsafe extern "C" fn(
    *const c_int,
    *const c_int,
    *const c_int,
    *const c_int,
    *const f64,
    *const f64,
) -> c_int;
pub(super) type FirstHalfFn = unsafe extern "C" fn(
    *const c_int,
    *const c_int,
    *const c_int,
    *const c_int,
    *mut Vec3,
    *mut Vec3,
    *mut Vec3,
    *mut Vec3,
    *const f64,
    *const f64,
    *const f64,
) -> c_int;
pub(super) type LastHalfFn = unsafe extern "C" fn(
    *const c_int,
    *const c_int,
    *const c_int,
    *const c_int,
    *mut Vec3,
    *mut Vec3,
    *const f64,
    *const f64,
    *mut Vec3,
    *mut Vec3,
    *mut f64,
) -> c_int;
pub(super) type LastHalf2Fn = unsafe extern "C" fn(
    *const c_int,
    *const c_int,
    *const c_int,
    *const c_int,
    *mut Vec3,
    *mut Vec3,
    *const f64,
    *const f64,
    *mut Vec3,
    *mut Vec3,
    *mut f64,
    *mut c_int,
) -> c_int;
pub(super) type GetListFn =
    unsafe extern "C" fn(*const c_int, *const c_int, *const c_int, *mut c_int, *mut c_int) -> c_int;
pub(super) type SetModeFn = unsafe extern "C" fn(*const c_int) -> c_int;
pub(super) type PredictedFn =
    unsafe extern "C" fn(*const c_int, *const c_int, *mut Vec3, *mut Vec3) -> c_int;
pub(super) type PairFn = unsafe extern "C" fn(*const c_int, *const c_int) -> c_int;
