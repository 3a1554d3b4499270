//! The units of length and velocity on the devices.
//!
//! They are powers of two, the same for all particles, and depend only on what is stored in the j-memory. For this
//! the host counts, when particles are written, how many particles belong to each power of two.

use std::ops::Range;

use crate::force::scaling::{Scaling, greatest_component};
use crate::sources::jmemory::{JMemory, PAGE};

/// Lengths and velocities between these powers of two need no units of their own.
const PLAIN: [Range<i32>; 2] = [-33..24, -24..24];

/// The same for lengths that single precision has the range for.
const NEAR: Range<i32> = -26..26;

/// The exponents of double precision, and one more for zero.
const CLASSES: usize = 2049;

/// The class of a particle by the greatest component of a vector: 0 for zero, else one for each power of two.
#[inline(always)]
fn class(vector: &[f64; 3]) -> u16 {
    // Magnitudes are in the order of their bits.
    let magnitude = |component: f64| component.abs().to_bits();
    let of = |magnitude: u64| (magnitude >> 52) as u16 + u16::from(magnitude != 0);
    let [x, y, z] = vector;
    let greatest = magnitude(*x).max(magnitude(*y)).max(magnitude(*z));
    match greatest < f64::INFINITY.to_bits() {
        true => of(greatest),
        false => of(greatest_component(vector).to_bits()),
    }
}

/// The power of two of a class but that of zero.
fn exponent(class: usize) -> i32 {
    class as i32 - 1024
}

/// How many particles there are of each class.
struct Counts {
    of: [u32; CLASSES],
    /// The classes that need no units.
    plain: Range<usize>,
    /// How many particles are in them, and how many above.
    within: u32,
    above: u32,
}

impl Counts {
    fn new(plain: &Range<i32>) -> Self {
        let class = |exponent: i32| (exponent + 1024) as usize;
        Self {
            of: [0; CLASSES],
            plain: class(plain.start)..class(plain.end),
            within: 0,
            above: 0,
        }
    }

    fn add(&mut self, class: u16, one: i32) {
        let class = usize::from(class);
        let counts = match () {
            () if self.plain.contains(&class) => Some(&mut self.within),
            () if class >= self.plain.end => Some(&mut self.above),
            () => None,
        };
        for count in counts.into_iter().chain([&mut self.of[class]]) {
            *count = count.wrapping_add_signed(one);
        }
    }

    /// The exponent of the unit. It is 0 if the greatest number that is not zero lies in the plain range, or if all are
    /// zero. Else it brings the median of the numbers that are not zero close to 1.
    fn unit(&self) -> i32 {
        if self.above == 0 && self.within > 0 {
            return 0;
        }
        let sizes = &self.of[1..];
        let all: u32 = sizes.iter().sum();
        if all == 0 {
            return 0;
        }
        let mut below = 0;
        let median = sizes.iter().position(|count| {
            below += count;
            below > all / 2
        });
        -exponent(1 + median.unwrap_or_default()).clamp(-1000, 1000)
    }

    /// Whether nine in ten are close to 1 in this unit.
    fn are_close(&self, unit: i32) -> bool {
        let near = |(class, count): (usize, &u32)| {
            let is_near = class == 0 || NEAR.contains(&(exponent(class) + unit));
            u64::from(if is_near { *count } else { 0 })
        };
        let close: u64 = self.of.iter().enumerate().map(near).sum();
        let all: u64 = self.of.iter().map(|&count| u64::from(count)).sum();
        close * 10 >= all * 9
    }
}

/// The units, and what they depend on.
pub struct DeviceScaling {
    /// The units.
    pub units: Scaling,
    /// Whether single precision has the range that the particles need.
    pub representable: bool,
    /// Of lengths and velocities.
    counts: Box<[Counts; 2]>,
    /// The classes of the particles that were counted, by position of their page, and which of its slots these are.
    counted: Vec<Counted>,
}

/// What was counted of a page.
struct Counted {
    /// The page's version then.
    version: u64,
    /// Of length and velocity.
    classes: [[u16; 2]; PAGE],
    slots: [u64; PAGE / 64],
}

impl Counted {
    /// Counts no slots but these any more.
    #[cold]
    fn drop_all_but(&mut self, present: &[u64; PAGE / 64], counts: &mut [Counts; 2]) {
        for (word, (counted, present)) in self.slots.iter_mut().zip(present).enumerate() {
            let mut gone = *counted & !present;
            *counted &= present;
            while gone != 0 {
                let slot = 64 * word + gone.trailing_zeros() as usize;
                gone &= gone - 1;
                let old = self.classes[slot];
                (0..2).for_each(|k| counts[k].add(old[k], -1));
            }
        }
    }
}

impl Default for DeviceScaling {
    fn default() -> Self {
        Self {
            units: Scaling::PLAIN,
            representable: true,
            counts: Box::new([Counts::new(&PLAIN[0]), Counts::new(&PLAIN[1])]),
            counted: Vec::new(),
        }
    }
}

impl DeviceScaling {
    /// Takes the changed particles into account.
    pub fn update(&mut self, memory: &mut JMemory) {
        let Self {
            counts, counted, ..
        } = self;
        counted.resize_with(memory.page_count(), || Counted {
            version: 0,
            classes: [[0; 2]; PAGE],
            slots: [0; PAGE / 64],
        });
        let mut changed = false;
        memory.look_at_changed(|position, page, particles| {
            let page_counted = &mut counted[position];
            // While the CPU computes, because no units suit, changes are not forgotten.
            if std::mem::replace(&mut page_counted.version, page.version()) == page.version() {
                return;
            }
            // Another backend may have seen slots become empty: those are not among the changed ones.
            let present = page.present();
            let slots = page_counted.slots.iter().zip(present);
            if slots.fold(0, |gone, (counted, present)| gone | counted & !present) != 0 {
                changed = true;
                page_counted.drop_all_but(present, counts);
            }
            for slot in page.changed().iter().filter(|&slot| page.holds(slot)) {
                let (word, bit) = (slot / 64, 1 << (slot % 64));
                let before = page_counted.slots[word] & bit != 0;
                let old = page_counted.classes[slot];
                let [x, v] = particles.position_and_velocity(slot);
                let new = [class(&x), class(&v)];
                if before && old == new {
                    continue;
                }
                changed = true;
                page_counted.slots[word] |= bit;
                for (counts, (old, new)) in counts.iter_mut().zip(old.into_iter().zip(new)) {
                    counts.add(old, -i32::from(before));
                    counts.add(new, 1);
                }
                page_counted.classes[slot] = new;
            }
        });
        if changed {
            let units = self.counts.each_ref().map(Counts::unit);
            self.representable = units[0] == 0 || self.counts[0].are_close(units[0]);
            let [length, velocity] = units.map(|exponent| 2.0_f64.powi(exponent));
            self.units = Scaling { length, velocity };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sources::jmemory::Given;
    use crate::sources::particle::JParticle;
    use crate::sources::strided::Strided;

    fn write(memory: &mut JMemory, a: i32, x: f64, v: f64) {
        let p = JParticle {
            x: [x, 0.5 * x, 0.0],
            v: [0.0, v, 0.0],
            ..Default::default()
        };
        memory.write(a, &p).unwrap();
    }

    /// Slots became empty while another backend computed, which was told of them.
    #[test]
    fn what_is_gone_does_not_count_whoever_saw_it_go() {
        let mut memory = JMemory::default();
        memory.make_columns().unwrap();
        let mut scale = DeviceScaling::default();
        let load = |memory: &mut JMemory, count: usize, x: f64| {
            let all = vec![x; count];
            let column = Strided::new(all.as_ptr(), size_of::<f64>() as isize);
            let given = Given::new(Some(column), None);
            let given = given.with([Some([column; 3]), None, None, None, None]);
            // SAFETY: there are so many numbers.
            unsafe { memory.load(count, &given) }.unwrap();
        };
        load(&mut memory, 1200, 3e18);
        scale.update(&mut memory);
        let far = scale.units;
        load(&mut memory, 3, 1.0);
        memory.forget_changes();
        memory.change_everything();
        scale.update(&mut memory);
        assert_ne!(scale.units, far);
        assert_eq!(scale.units, Scaling::PLAIN);
        assert!(scale.representable);
    }

    #[test]
    fn units_are_a_function_of_what_is_stored() {
        let mut memory = JMemory::default();
        let mut scale = DeviceScaling::default();
        let mut step = |memory: &mut JMemory, numbers: &[(i32, f64, f64)]| {
            for &(a, x, v) in numbers {
                write(memory, a, x, v);
            }
            scale.update(memory);
            let mut anew = DeviceScaling::default();
            let mut copy = JMemory::default();
            for page in memory.pages(usize::MAX) {
                for slot in page.slots(usize::MAX) {
                    let address = (page.first_address() + slot) as i32;
                    copy.write(address, &page.particle(slot)).unwrap();
                }
            }
            anew.update(&mut copy);
            assert_eq!(scale.units, anew.units);
            memory.forget_changes();
            scale.units
        };
        assert_eq!(step(&mut memory, &[(0, 1.0, 0.0)]), Scaling::PLAIN);
        let far: Vec<_> = (0..9).map(|a| (700 * a, 3e18, 2e-9)).collect();
        let units = step(&mut memory, &far);
        assert!((1.0..2.0).contains(&(3e18 * units.length)), "{units:?}");
        assert!((1.0..2.0).contains(&(2e-9 * units.velocity)), "{units:?}");
        // One that is far smaller does not count, nor does one that is nowhere.
        assert_eq!(step(&mut memory, &[(5, 1e-30, 0.0)]), units);
        assert_eq!(step(&mut memory, &[(5, f64::NAN, f64::INFINITY)]), units);
        let usual: Vec<_> = far.iter().map(|&(a, ..)| (a, 0.1, 3.0)).collect();
        assert_eq!(step(&mut memory, &usual), Scaling::PLAIN);
        assert_ne!(step(&mut memory, &[(5, 1e20, 1.0)]), units);
        assert_eq!(step(&mut memory, &[(5, 0.0, 1.0)]), Scaling::PLAIN);
    }
}
