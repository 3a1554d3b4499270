//! The units of length and velocity on the devices.
//!
//! They are powers of two, so that they change no bit of a result, and the same for all particles. They are chosen
//! anew only when numbers leave the range of single precision.

use crate::force::scaling::{self, LENGTHS, Scaling, VELOCITIES, outside};
use crate::sources::jmemory::{JMemory, PAGE};

/// The units, and the numbers for which they were chosen.
pub struct DeviceScaling {
    /// The units.
    pub units: Scaling,
    /// Whether single precision has the range that the particles need.
    pub representable: bool,
    /// Largest coordinate and velocity component written since the units were chosen.
    greatest: [f64; 2],
    /// The same at the time of the choice.
    accepted: [f64; 2],
}

impl Default for DeviceScaling {
    fn default() -> Self {
        Self {
            units: Scaling::PLAIN,
            representable: true,
            greatest: [0.0; 2],
            accepted: [0.0; 2],
        }
    }
}

impl DeviceScaling {
    /// Takes the changed particles into account, and chooses new units if they need them.
    pub fn update(&mut self, memory: &JMemory, ti: f64) {
        let mut any = false;
        for position in 0..memory.page_count() {
            let page = memory.page(position);
            for slot in slots(page.changed()) {
                any = true;
                let particle = page.particle(slot);
                raise(&mut self.greatest, &particle.x, &particle.v);
            }
        }
        let factors = [self.units.length, self.units.velocity];
        let suits = |k: usize| {
            !outside(self.greatest[k] * factors[k], [LENGTHS, VELOCITIES][k])
                || self.greatest[k] <= 2.0 * self.accepted[k]
        };
        if any && !(suits(0) && suits(1) && self.representable) {
            self.choose(memory, ti);
        }
    }

    #[cold]
    fn choose(&mut self, memory: &JMemory, ti: f64) {
        let particles = || {
            memory
                .pages(usize::MAX)
                .flat_map(|page| page.slots(usize::MAX).map(|slot| page.particle(slot)))
        };
        (self.units, self.representable) = scaling::suitable(particles().map(|p| p.predicted(ti)));
        self.greatest = [0.0; 2];
        for p in particles() {
            raise(&mut self.greatest, &p.x, &p.v);
        }
        self.accepted = self.greatest;
    }
}

fn raise(greatest: &mut [f64; 2], x: &[f64; 3], v: &[f64; 3]) {
    for (greatest, vector) in greatest.iter_mut().zip([x, v]) {
        *greatest = greatest.max(scaling::greatest_component(vector));
    }
}

/// The numbers of the bits that are set, ascending.
pub fn slots(bits: &[u64; PAGE / 64]) -> impl Iterator<Item = usize> {
    bits.iter().enumerate().flat_map(|(word, &bits)| {
        let mut rest = bits;
        std::iter::from_fn(move || {
            let bit = rest.trailing_zeros() as usize;
            (rest != 0).then(|| {
                rest &= rest - 1;
                word * 64 + bit
            })
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sources::particle::JParticle;

    #[test]
    fn units_follow_the_numbers_and_stay_while_they_suit() {
        let mut memory = JMemory::default();
        let write = |memory: &mut JMemory, a: i32, x: f64| {
            let p = JParticle {
                x: [x, 0.5 * x, 0.0],
                ..Default::default()
            };
            memory.write(a, &p).unwrap();
        };
        let mut scale = DeviceScaling::default();
        write(&mut memory, 0, 1.0);
        scale.update(&memory, 0.0);
        assert_eq!(scale.units, Scaling::PLAIN);
        for a in 0..9 {
            write(&mut memory, a, 3e18 * f64::from(a + 1));
        }
        scale.update(&memory, 0.0);
        let chosen = scale.units;
        assert!(
            (0.1..10.0).contains(&(chosen.length * 1.5e19)),
            "{chosen:?}"
        );
        write(&mut memory, 9, 4e18);
        scale.update(&memory, 0.0);
        assert_eq!(scale.units, chosen);
    }

    #[test]
    fn set_bits_in_order() {
        let mut bits = [0; PAGE / 64];
        bits[0] = 0b1001;
        bits[7] = 1 << 63;
        assert_eq!(slots(&bits).collect::<Vec<_>>(), [0, 3, 511]);
    }
}
