//! A library of NBODY6++ as its clients see it: regular forces, potentials, and irregular forces.

use std::ffi::c_int;

use super::interface::interface;
use super::{JParticle, Vec3, to_int};
use kirin_core::choice;

/// Entries behind the last one that older libraries write.
const BEYOND: usize = 8;

type RankFn = unsafe extern "C" fn(*const c_int) -> c_int;
type SetStarFn = unsafe extern "C" fn(
    *const c_int,
    *const f64,
    *const f64,
    *const f64,
    *const f64,
    *const f64,
    *const f64,
) -> c_int;

type PotentialFn = unsafe extern "C" fn(
    *const c_int,
    *const c_int,
    *const c_int,
    *const c_int,
    *const f64,
    *mut Vec3,
    *mut f64,
) -> c_int;
type IrregularFn = unsafe extern "C" fn(
    *const f64,
    *const c_int,
    *const c_int,
    *mut Vec3,
    *mut Vec3,
    *mut c_int,
) -> c_int;
type RegularFn = unsafe extern "C" fn(
    *const c_int,
    *const f64,
    *const f64,
    *mut Vec3,
    *mut Vec3,
    *mut Vec3,
    *mut Vec3,
    *mut f64,
    *const c_int,
    *const c_int,
    *mut c_int,
    *const c_int,
) -> c_int;

interface! {
    /// One library of NBODY6++, ready to be called.
    Nbody6 {
        open = gpunb_open_: unsafe extern "C" fn(*const c_int, *const c_int) -> c_int;
        close = gpunb_close_: unsafe extern "C" fn() -> c_int;
        send = gpunb_send_: unsafe extern "C" fn(*const c_int, *const f64, *mut Vec3, *mut Vec3) -> c_int;
        regular = gpunb_regf_: RegularFn;
        potential = gpupot_: PotentialFn;
        irregular_open = irr_simd_open_: unsafe extern "C" fn(*const c_int, *const c_int, *const c_int) -> c_int;
        irregular_close = irr_simd_close_: RankFn;
        set_star = irr_simd_set_jp_: SetStarFn;
        set_list = irr_simd_set_list_: unsafe extern "C" fn(*const c_int, *const c_int) -> c_int;
        irregular = irr_simd_firr_vec_: IrregularFn;
    }
}

/// The particles of a call for regular forces, and the answers.
#[derive(Clone, Debug, Default)]
pub struct RegularBlock {
    ni: usize,
    longest: usize,
    /// Positions.
    pub x: Vec<Vec3>,
    /// Velocities.
    pub v: Vec<Vec3>,
    /// Squares of the neighbour radii.
    pub h2: Vec<f64>,
    /// Regular steps: neighbours are looked for so far ahead.
    pub dtr: Vec<f64>,
    /// Whether radii are for a unit of the neighbour's mass.
    pub by_mass: bool,
    /// Accelerations.
    pub acc: Vec<Vec3>,
    /// Jerks.
    pub jerk: Vec<Vec3>,
    /// Positive potentials.
    pub pot: Vec<f64>,
    lists: Vec<c_int>,
}

impl RegularBlock {
    /// Room for `ni` particles with lists of at most `longest` neighbours. The arrays are a little longer, because
    /// older libraries write beyond the last particle.
    pub fn new(ni: usize, longest: usize) -> Self {
        let room = ni + BEYOND;
        Self {
            ni,
            longest,
            x: vec![[0.0; 3]; room],
            v: vec![[0.0; 3]; room],
            h2: vec![0.0; room],
            dtr: vec![0.0; room],
            by_mass: false,
            acc: vec![[0.0; 3]; room],
            jerk: vec![[0.0; 3]; room],
            pot: vec![0.0; room],
            lists: vec![0; room * (longest + 1)],
        }
    }

    /// Number of particles.
    pub fn len(&self) -> usize {
        self.ni
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ni == 0
    }

    /// Number of the neighbours of a particle, negative where they are more than the longest list.
    pub fn neighbours(&self, particle: usize) -> i32 {
        self.lists[particle * (self.longest + 1)]
    }

    /// Addresses, from 0, of the neighbours of a particle; none where they are more than the longest list.
    pub fn list(&self, particle: usize) -> Option<&[c_int]> {
        let row = &self.lists[particle * (self.longest + 1)..][..=self.longest];
        row[1..].get(..usize::try_from(row[0]).ok()?)
    }
}

/// The stars of a call for irregular forces, and the answers.
#[derive(Clone, Debug, Default)]
pub struct IrregularBlock {
    /// Addresses from 1.
    addresses: Vec<c_int>,
    /// Accelerations.
    pub acc: Vec<Vec3>,
    /// Jerks.
    pub jerk: Vec<Vec3>,
    nearest: Vec<c_int>,
}

impl IrregularBlock {
    /// The stars at some addresses, from 0.
    pub fn new(addresses: &[usize]) -> Self {
        let room = addresses.len() + BEYOND;
        Self {
            addresses: addresses.iter().map(|&a| to_int(a + 1)).collect(),
            acc: vec![[0.0; 3]; room],
            jerk: vec![[0.0; 3]; room],
            nearest: vec![0; room],
        }
    }

    /// Address, from 0, of the nearest neighbour of a star; none where it has no neighbours.
    pub fn nearest(&self, star: usize) -> Option<usize> {
        usize::try_from(self.nearest[star]).ok()?.checked_sub(1)
    }
}

/// What a star moves by, from its time on.
#[derive(Clone, Copy, Debug, Default)]
pub struct Orbit {
    /// Position.
    pub x: Vec3,
    /// Velocity.
    pub v: Vec3,
    /// Half of the acceleration.
    pub aby2: Vec3,
    /// A sixth of the jerk.
    pub a1by6: Vec3,
    /// Mass.
    pub mass: f64,
    /// Time.
    pub t: f64,
}

impl From<&JParticle> for Orbit {
    /// All but its fourth order.
    fn from(star: &JParticle) -> Self {
        let &JParticle {
            x,
            v,
            aby2,
            a1by6,
            mass,
            t,
            ..
        } = star;
        Self {
            x,
            v,
            aby2,
            a1by6,
            mass,
            t,
        }
    }
}

impl Nbody6 {
    /// NBODY6++ asks for the forces on no more particles in one call.
    pub const LARGEST_BLOCK: usize = 1024;

    /// What computes the forces: kirin's backend, or the name of a foreign library.
    pub fn backend(&self) -> String {
        self.origin.backend(0)
    }

    /// The precision of regular forces, or "unknown" for a foreign library.
    pub fn precision(&self) -> String {
        self.origin.precision_by(choice::regular_precision)
    }

    /// Makes room for `n` stars with up to `longest` neighbours, for both kinds of forces.
    pub fn open(&self, n: usize, longest: usize) {
        self.open_regular(to_int(n));
        self.open_irregular(to_int(n), to_int(longest));
    }

    /// Ends what [`Nbody6::open`] began.
    pub fn close(&self) {
        self.close_regular();
        self.close_irregular();
    }

    /// `gpunb_open_`
    pub fn open_regular(&self, n: i32) {
        // SAFETY: the arguments are live integers.
        unsafe { (self.open)(&n, &0) };
    }

    /// `gpunb_close_`
    pub fn close_regular(&self) {
        // SAFETY: the function takes nothing.
        unsafe { (self.close)() };
    }

    /// `irr_simd_open_`
    pub fn open_irregular(&self, n: i32, longest: i32) {
        // SAFETY: the arguments are live integers.
        unsafe { (self.irregular_open)(&n, &longest, &0) };
    }

    /// `irr_simd_close_`. In kirin no other thread may be in a call of the irregular force.
    pub fn close_irregular(&self) {
        // SAFETY: the argument is a live integer.
        unsafe { (self.irregular_close)(&0) };
    }

    /// `gpunb_send_`: these are the sources of the regular force, all of them.
    ///
    /// # Panics
    ///
    /// The arrays have different lengths, or more entries than the interface can count.
    pub fn send(&self, mass: &[f64], x: &mut [Vec3], v: &mut [Vec3]) {
        assert!(
            x.len() == mass.len() && v.len() == mass.len(),
            "one mass, position and velocity for each source"
        );
        let n = to_int(mass.len());
        // SAFETY: the arrays have `n` entries, which the call copies.
        unsafe { (self.send)(&n, mass.as_ptr(), x.as_mut_ptr(), v.as_mut_ptr()) };
    }

    /// `gpunb_regf_`: regular forces and neighbours within the radii.
    ///
    /// # Panics
    ///
    /// An array of the block is shorter than the block.
    pub fn regular_forces(&self, block: &mut RegularBlock) {
        let room = block.ni + BEYOND;
        let lengths = [
            block.x.len(),
            block.v.len(),
            block.h2.len(),
            block.dtr.len(),
            block.acc.len(),
            block.jerk.len(),
            block.pot.len(),
        ];
        assert!(lengths.iter().all(|&l| l >= room), "arrays of the block");
        let (ni, longest, lmax) = (
            to_int(block.ni),
            to_int(block.longest),
            to_int(block.longest + 1),
        );
        // SAFETY: arrays have `ni` entries and more, and `lists` as many rows of `lmax`.
        unsafe {
            (self.regular)(
                &ni,
                block.h2.as_ptr(),
                block.dtr.as_ptr(),
                block.x.as_mut_ptr(),
                block.v.as_mut_ptr(),
                block.acc.as_mut_ptr(),
                block.jerk.as_mut_ptr(),
                block.pot.as_mut_ptr(),
                &lmax,
                &longest,
                block.lists.as_mut_ptr(),
                &c_int::from(block.by_mass),
            )
        };
    }

    /// `gpupot_`: the positive potentials of all stars at the places of `pot.len()` of them, from star number `first`
    /// on (counted from 0).
    ///
    /// # Panics
    ///
    /// The arrays have different lengths, or there are not so many stars.
    pub fn potentials(&self, mass: &[f64], x: &mut [Vec3], first: usize, pot: &mut [f64]) {
        assert!(
            x.len() == mass.len() && first + pot.len() <= mass.len(),
            "a mass and a position for each star"
        );
        if self.is_kirin() {
            // SAFETY: there are so many stars, and kirin writes no more than it is asked for.
            unsafe { self.potentials_to(mass, x, first, pot) };
            return;
        }
        // Older libraries do not agree on where the potentials of other than the first stars go.
        let end = first + pot.len();
        let mut all = vec![0.0; end + BEYOND];
        // SAFETY: as above; there is room for what they write behind the end.
        unsafe { self.potentials_to(mass, x, 0, &mut all[..end]) };
        pot.copy_from_slice(&all[first..end]);
    }

    /// # Safety
    ///
    /// There are so many stars. Behind `pot` there is room for what the library writes there.
    unsafe fn potentials_to(&self, mass: &[f64], x: &mut [Vec3], first: usize, pot: &mut [f64]) {
        let (n, first, ni) = (to_int(mass.len()), to_int(first + 1), to_int(pot.len()));
        // SAFETY: the arrays have `n` and `ni` entries; the rest is passed on.
        unsafe {
            (self.potential)(
                &0,
                &first,
                &ni,
                &n,
                mass.as_ptr(),
                x.as_mut_ptr(),
                pot.as_mut_ptr(),
            )
        };
    }

    /// `irr_simd_set_jp_`: stores a star of the irregular force at an address from 0.
    pub fn set_star(&self, address: usize, orbit: &Orbit) {
        let address = to_int(address + 1);
        // SAFETY: numbers and three-vectors are live for the call, which copies them.
        unsafe {
            (self.set_star)(
                &address,
                orbit.x.as_ptr(),
                orbit.v.as_ptr(),
                orbit.aby2.as_ptr(),
                orbit.a1by6.as_ptr(),
                &orbit.mass,
                &orbit.t,
            )
        };
    }

    /// `irr_simd_set_list_`: stores the neighbours of a star, all addresses from 0.
    pub fn set_list(&self, address: usize, neighbours: &[usize]) {
        let address = to_int(address + 1);
        let mut list = vec![to_int(neighbours.len())];
        list.extend(neighbours.iter().map(|&n| to_int(n + 1)));
        // Some libraries read on to a whole vector.
        list.resize(list.len() + BEYOND, 1);
        // SAFETY: the list is as long as it says.
        unsafe { (self.set_list)(&address, list.as_ptr()) };
    }

    /// `irr_simd_firr_vec_`: irregular forces at the time `ti`.
    ///
    /// # Panics
    ///
    /// An array of the block is shorter than the block.
    pub fn irregular_forces(&self, ti: f64, block: &mut IrregularBlock) {
        let room = block.addresses.len() + BEYOND;
        let lengths = [block.acc.len(), block.jerk.len()];
        assert!(lengths.iter().all(|&l| l >= room), "arrays of the block");
        let ni = to_int(block.addresses.len());
        // SAFETY: the arrays have `ni` entries and more.
        unsafe {
            (self.irregular)(
                &ti,
                &ni,
                block.addresses.as_ptr(),
                block.acc.as_mut_ptr(),
                block.jerk.as_mut_ptr(),
                block.nearest.as_mut_ptr(),
            )
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic(expected = "arrays of the block")]
    fn accelerations_of_a_block_that_were_shortened_are_refused() {
        let mut block = IrregularBlock::new(&[0]);
        block.acc = Vec::new();
        Nbody6::linked().irregular_forces(0.0, &mut block);
    }

    #[test]
    #[should_panic(expected = "arrays of the block")]
    fn jerks_of_a_block_that_were_shortened_are_refused() {
        let mut block = IrregularBlock::new(&[0]);
        block.jerk.truncate(BEYOND);
        Nbody6::linked().irregular_forces(0.0, &mut block);
    }
}
