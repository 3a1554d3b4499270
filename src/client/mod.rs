//! A GRAPE-6 library as its clients see it, either the kirin linked into this program or any library opened by path:
//!
//! ```
//! use kirin::client::{Block, Grape, JParticle};
//!
//! let grape = Grape::linked(); // or Grape::open_library("/opt/lib/libg6.so")?
//! let cluster = grape.cluster(0)?; // closed when it is dropped
//! let star = JParticle { index: 1, mass: 1.0, x: [2.0, 0.0, 0.0], ..Default::default() };
//! cluster.set_j_particle(0, 0.0, &star)?; // at address 0
//! let mut block = Block::default();
//! block.resize(1); // one i-particle at the origin, with the label 0
//! cluster.set_time(0.0);
//! cluster.forces(1, &mut block, 0.0)?; // of 1 j-particle, without softening
//! assert!((block.acc[0][0] - 0.25).abs() < 1e-6);
//! # Ok::<(), kirin::client::ClientError>(())
//! ```
//!
//! [`Cluster`] is what a Rust program usually wants; the methods of [`Grape`] are the calls of the interface one by one.
//! [`Bulk`] is kirin's own interface to whole arrays, [`Grape5`] a library of GRAPE-5 and [`Nbody6`] one of NBODY6++.
//!
//! The applications under `examples/` and the `kirin` command use the interface only through this type, so each of
//! them can use another library. The type calls the Fortran spellings, which every GRAPE-6 library has.

use std::error::Error;
use std::ffi::c_int;

mod block;
mod bulk;
mod cluster;
mod grape5;
mod interface;
mod nbody6;
mod origin;
mod signatures;

pub use block::Block;
pub use bulk::{Bulk, Gravity, Opening, Results, Sources, Targets, Tree};
pub use cluster::Cluster;
pub use grape5::Grape5;
use interface::interface;
pub use kirin_core::sources::particle::JParticle;
pub use nbody6::{IrregularBlock, Nbody6, Orbit, RegularBlock};
use signatures::*;

interface! {
    /// One GRAPE-6 library, ready to be called.
    Grape {
        open = g6_open_: ScalarFn;
        close = g6_close_: ScalarFn;
        npipes = g6_npipes_: unsafe extern "C" fn() -> c_int;
        set_ti = g6_set_ti_: SetTiFn;
        set_j_particle = g6_set_j_particle_: SetJParticleFn;
        firsthalf = g6calc_firsthalf_: FirstHalfFn;
        lasthalf = g6calc_lasthalf_: LastHalfFn;
    }
    optional {
        mass_position = g6_set_j_particle_multisend_mxfast_: MassPositionFn;
        lasthalf2 = g6calc_lasthalf2_: LastHalf2Fn;
        read_list = g6_read_neighbour_list_: ScalarFn;
        get_list = g6_get_neighbour_list_: GetListFn;
        sort_mode = g6_set_neighbour_list_sort_mode_: SetModeFn;
        predicted = g6_get_predicted_j_particles_: PredictedFn;
        set_precision = kirin_set_precision_: PairFn;
        precision_for = kirin_precision_for_: PairFn;
    }
}

/// Why a library cannot be used.
#[derive(Debug)]
pub struct ClientError(String);

impl std::fmt::Display for ClientError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for ClientError {}

impl Grape {
    /// The library's file, or that it is the linked one.
    pub fn name(&self) -> &str {
        self.origin.name()
    }

    /// What computes the forces of cluster `id`: kirin's backend, or the name of a foreign library.
    pub fn backend(&self, id: i32) -> String {
        self.origin.backend(id)
    }

    /// The precision of cluster `id`, or "unknown" for a foreign library.
    pub fn precision(&self, id: i32) -> String {
        self.origin.precision(id)
    }

    /// `kirin_set_precision`: chooses the precision of cluster `id` by its number. It changes nothing if the user has
    /// chosen a precision. Other libraries have only one, so there it does nothing.
    pub fn set_precision(&self, id: i32, precision: i32) -> i32 {
        // SAFETY: both arguments are live integers.
        self.set_precision
            .map_or(0, |f| unsafe { f(&id, &precision) })
    }

    /// Fixes the precision of cluster `id` to the one that it would take for `nj` j-particles, even if the client's
    /// calls bring fewer. It passes the answer of `kirin_precision_for` to `kirin_set_precision`.
    pub fn set_precision_for(&self, id: i32, nj: usize) -> i32 {
        match self.precision_for(id, nj) {
            Some(precision @ 0..) => self.set_precision(id, precision),
            Some(status) => status,
            None => 0,
        }
    }

    /// `kirin_precision_for`: the precision of forces of `nj` j-particles, or a status below 0; `None` for other libraries.
    pub fn precision_for(&self, id: i32, nj: usize) -> Option<i32> {
        let nj = i32::try_from(nj).unwrap_or(i32::MAX);
        // SAFETY: both arguments are live integers.
        self.precision_for.map(|f| unsafe { f(&id, &nj) })
    }

    /// The status that a call returned. In other libraries some calls are `void` and leave an
    /// arbitrary number behind: only kirin's own statuses are passed on.
    fn status(&self, returned: c_int) -> i32 {
        if self.is_kirin() { returned } else { 0 }
    }

    /// `g6_open`: connects to cluster `id`.
    pub fn open(&self, id: i32) -> i32 {
        // SAFETY: the argument is a live integer.
        self.status(unsafe { (self.open)(&id) })
    }

    /// `g6_close`: releases cluster `id` and its j-particles.
    pub fn close(&self, id: i32) -> i32 {
        // SAFETY: the argument is a live integer.
        self.status(unsafe { (self.close)(&id) })
    }

    /// `g6_npipes`: number of i-particles that one call should bring at most.
    pub fn npipes(&self) -> usize {
        // SAFETY: the function takes nothing.
        usize::try_from(unsafe { (self.npipes)() })
            .unwrap_or(1)
            .max(1)
    }

    /// The most i-particles that one call should bring: kirin takes any number, unless the user sets `KIRIN_NPIPES`, and
    /// other libraries as many as they have pipelines.
    pub fn most_at_once(&self) -> usize {
        let is_set = std::env::var_os("KIRIN_NPIPES").is_some_and(|value| !value.is_empty());
        match self.is_kirin() && !is_set {
            true => usize::MAX,
            false => self.npipes(),
        }
    }

    /// `g6_set_ti`: the time to which the j-particles are predicted.
    pub fn set_ti(&self, id: i32, ti: f64) {
        // SAFETY: both arguments are live.
        unsafe { (self.set_ti)(&id, &ti) };
    }

    /// `g6_set_j_particle`: stores one j-particle with its step `dtj` at `address`.
    pub fn set_j_particle(&self, id: i32, address: i32, dtj: f64, p: &JParticle) -> i32 {
        // SAFETY: scalars and three-vectors are live for the call, which copies them.
        let returned = unsafe {
            (self.set_j_particle)(
                &id,
                &address,
                &p.index,
                &p.t,
                &dtj,
                &p.mass,
                p.a2by18.as_ptr(),
                p.a1by6.as_ptr(),
                p.aby2.as_ptr(),
                p.v.as_ptr(),
                p.x.as_ptr(),
            )
        };
        self.status(returned)
    }

    /// The mass-and-position load of treecodes; through `g6_set_j_particle` where the library lacks it.
    pub fn set_mass_position(&self, id: i32, address: i32, index: i32, mass: f64, x: &Vec3) -> i32 {
        match self.mass_position {
            // SAFETY: all arguments are live for the call, which copies them.
            Some(f) => self.status(unsafe { f(&id, &1, &address, &index, &mass, x.as_ptr()) }),
            None => self.set_j_particle(
                id,
                address,
                0.0,
                &JParticle {
                    index,
                    mass,
                    x: *x,
                    ..Default::default()
                },
            ),
        }
    }

    /// `g6calc_firsthalf`: starts the block on the j-particles at addresses `0..nj`.
    pub fn firsthalf(&self, id: i32, nj: usize, block: &mut Block, eps2: f64) {
        block.assert_consistent();
        let (nj, ni) = (to_int(nj), to_int(block.len()));
        // SAFETY: every array has `ni` entries; the interface copies what it is to keep.
        unsafe {
            (self.firsthalf)(
                &id,
                &nj,
                &ni,
                block.index.as_ptr(),
                block.x.as_mut_ptr(),
                block.v.as_mut_ptr(),
                block.acc.as_mut_ptr(),
                block.jerk.as_mut_ptr(),
                block.pot.as_ptr(),
                &eps2,
                block.h2.as_ptr(),
            );
        }
    }

    /// `g6calc_lasthalf`: the forces on the block, into its `acc`, `jerk` and `pot`.
    pub fn lasthalf(&self, id: i32, nj: usize, block: &mut Block, eps2: f64) -> i32 {
        block.assert_consistent();
        let (nj, ni) = (to_int(nj), to_int(block.len()));
        // SAFETY: every array has `ni` entries, and the call writes `ni` entries of each output.
        unsafe {
            (self.lasthalf)(
                &id,
                &nj,
                &ni,
                block.index.as_ptr(),
                block.x.as_mut_ptr(),
                block.v.as_mut_ptr(),
                &eps2,
                block.h2.as_ptr(),
                block.acc.as_mut_ptr(),
                block.jerk.as_mut_ptr(),
                block.pot.as_mut_ptr(),
            )
        }
    }

    /// `g6calc_lasthalf2`: forces and nearest neighbours. `None` where the library lacks it.
    pub fn lasthalf2(&self, id: i32, nj: usize, block: &mut Block, eps2: f64) -> Option<i32> {
        block.assert_consistent();
        let call = self.lasthalf2?;
        let (nj, ni) = (to_int(nj), to_int(block.len()));
        // SAFETY: every array has `ni` entries, and the call writes `ni` entries of each output.
        Some(unsafe {
            call(
                &id,
                &nj,
                &ni,
                block.index.as_ptr(),
                block.x.as_mut_ptr(),
                block.v.as_mut_ptr(),
                &eps2,
                block.h2.as_ptr(),
                block.acc.as_mut_ptr(),
                block.jerk.as_mut_ptr(),
                block.pot.as_mut_ptr(),
                block.nearest.as_mut_ptr(),
            )
        })
    }

    /// `g6_read_neighbour_list`: fetches the lists of the last block. `None` where the library lacks it.
    pub fn read_neighbour_list(&self, id: i32) -> Option<i32> {
        // SAFETY: the argument is a live integer.
        self.read_list.map(|f| unsafe { f(&id) })
    }

    /// `g6_get_neighbour_list`: the list of the block's i-particle `ipipe` into `list`,
    /// at most `list.len()` labels; returns the status and the length.
    pub fn get_neighbour_list(
        &self,
        id: i32,
        ipipe: usize,
        list: &mut [i32],
    ) -> Option<(i32, usize)> {
        let call = self.get_list?;
        let (ipipe, maxlength, mut length) = (to_int(ipipe), to_int(list.len()), 0);
        // SAFETY: the call writes at most `maxlength` labels and the length.
        let status = unsafe { call(&id, &ipipe, &maxlength, &mut length, list.as_mut_ptr()) };
        let length = usize::try_from(length).unwrap_or(0).min(list.len());
        Some((status, length))
    }

    /// `g6_set_neighbour_list_sort_mode`: whether labels in lists ascend. `None` where the library lacks it.
    pub fn set_sort_mode(&self, mode: i32) -> Option<i32> {
        // SAFETY: the argument is a live integer.
        self.sort_mode.map(|f| self.status(unsafe { f(&mode) }))
    }

    /// `g6_get_predicted_j_particles`: positions and velocities at the first addresses, as many as
    /// `x` and `v` have room for. `None` where the library lacks it.
    pub fn predicted(&self, id: i32, x: &mut [Vec3], v: &mut [Vec3]) -> Option<i32> {
        let call = self.predicted?;
        let nj = to_int(x.len().min(v.len()));
        // SAFETY: both arrays have `nj` entries or more.
        Some(self.status(unsafe { call(&id, &nj, x.as_mut_ptr(), v.as_mut_ptr()) }))
    }
}

/// The interface counts in C integers; a block or memory beyond that cannot be named in it.
fn to_int(n: usize) -> c_int {
    c_int::try_from(n).expect("the GRAPE-6 interface counts in 32-bit integers")
}
