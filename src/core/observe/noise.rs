//! Finds out whether the noise of the forces limits the time steps of a client. It uses the client's writes of
//! j-particles.
//!
//! Two successive writes to one address have acceleration and jerk at two times, a step h apart. A corrector computes
//! the higher derivatives from R = a1 - a0 - (h/2) (j0 + j1). If R is signal, its direction stays from step to step.
//! If R is made of the rounding errors of two forces, its direction is random. These errors enter the snap as 1/h^2
//! and the crackle as 1/h^3. If a client asks for more accuracy than they allow, its steps collapse and the accuracy
//! does not improve. A large R that turns is signal: a force that changes within steps, as near a binary.
//!
//! Only a sample of the addresses is watched: a fixed sample, and one address that is drawn from time to time among
//! the writes. If the steps of a few particles collapse, most writes are of these particles, so most draws find them,
//! while the fixed sample may have none of them. A write to a sampled address is only copied, without arithmetic,
//! since the client's floating-point environment is in force. It is examined when the next block begins.

use crate::process::{allocation, floating};
use crate::random::Random;
use crate::sources::particle::JParticle;

/// Addresses below this are in the sample, and of all others one in 64.
const ALL_BELOW: u32 = 8;

/// How many addresses are watched at most. Of two that share a slot, the first one keeps it.
const SLOTS: usize = 256;

/// Where the drawn address is watched, behind the others.
const DRAWN: usize = SLOTS;

/// An address is drawn every so many writes, or up to twice as many, so that the draws follow no rhythm of the client's blocks.
const DRAWN_AFTER: u32 = 256;

/// How many writes to a drawn address are noted.
const DRAWN_WRITES: u32 = 16;

/// How many writes wait to be looked at, at most.
const WAITING: usize = 256;

/// How many corrections are judged at a time.
const WINDOW: usize = 1024;

/// A correction turns if it points against the one before it. If more than this number of corrections in a window turn,
/// 3 % of them, they are taken for noise. If the client's accuracy parameter limits the steps, 0.1 to 1 % of the
/// corrections turn; if noise limits them, most turn.
const TURNS: u32 = 30;

/// A correction counts as a turn only if its step is at most this fraction of the longest one. Noise does not limit
/// a step that is as long as the client allows, even if its correction is all noise.
const SHORT: f64 = 0.25;

/// A correction larger than this part of the acceleration is no noise. Where noise limits the steps of a cluster, nine tenths of the
/// corrections that turn are smaller in `mixed` precision, and more than half in `single` (`benches/results/noise.md`).
const LARGEST: f64 = 3e-6;

/// What names the memory in messages.
const PURPOSE: &str = "the sample of time steps";

/// One write.
#[derive(Clone, Copy, Default)]
struct Write {
    address: i32,
    index: i32,
    t: f64,
    /// The step to come, as the client says.
    dt: f64,
    aby2: [f64; 3],
    a1by6: [f64; 3],
}

/// What is known of an address.
#[derive(Clone, Copy, Default)]
struct Star {
    /// Whether anything is.
    is_known: bool,
    last: Write,
    /// R of its last step; zero where there was none.
    residual: [f64; 3],
}

/// The corrections of a sample of the j-particles.
#[derive(Default)]
pub struct Noise {
    waiting: Vec<Write>,
    stars: Vec<Star>,
    /// Whether there was no memory.
    off: bool,
    /// The longest step.
    longest: f64,
    /// Which of the last corrections turned, a bit each; the place of the next one; how many there are; how many turned.
    window: [u64; WINDOW / 64],
    next: usize,
    filled: usize,
    turned: u32,
    /// All corrections, and the turns among them.
    steps: [u64; 2],
    drawn: Drawn,
}

/// An address drawn among those that are written, watched for some writes.
struct Drawn {
    address: i32,
    /// How many writes to it are still to be noted.
    left: u32,
    /// How many writes to any address are left until the next draw.
    until_next: u32,
    random: Random,
}

impl Default for Drawn {
    fn default() -> Self {
        Self {
            address: -1,
            left: 0,
            until_next: DRAWN_AFTER,
            random: Random::default(),
        }
    }
}

/// The multiples of the golden ratio spread evenly over any range, and follow no order of a client's.
#[inline(always)]
fn hash(address: i32) -> u32 {
    address.cast_unsigned().wrapping_mul(0x9E37_79B9)
}

/// Where an address is watched, if it is in the sample.
#[inline(always)]
fn slot(address: i32) -> Option<usize> {
    let address = address.cast_unsigned();
    let hash = hash(address.cast_signed());
    if address < ALL_BELOW {
        return Some(SLOTS - 1 - address as usize);
    }
    (hash >> 26 == 0).then_some((hash >> 18) as usize % SLOTS)
}

impl Noise {
    /// Whether this write to an address is to be noted.
    #[inline(always)]
    pub fn wants(&mut self, address: i32) -> bool {
        self.drawn.until_next -= 1;
        if self.drawn.until_next == 0 || self.drawn.address == address {
            self.draw_or_count(address);
            return true;
        }
        slot(address).is_some()
    }

    /// The first address from `next` on, in a row of writes to consecutive addresses, with whose write [`Noise::wants`] draws or
    /// counts.
    pub fn quiet_until(&self, next: i32) -> i32 {
        if next.cast_unsigned() < ALL_BELOW {
            return next;
        }
        let draws = next.saturating_add_unsigned(self.drawn.until_next - 1);
        match self.drawn.address {
            drawn if drawn >= next => draws.min(drawn),
            _ => draws,
        }
    }

    /// Whether a write before [`Noise::quiet_until`] is to be noted nevertheless.
    #[inline(always)]
    pub fn samples(address: i32) -> bool {
        hash(address) >> 26 == 0
    }

    /// Counts a write to an address, if it is not to be noted. Returns whether it is not.
    #[inline(always)]
    pub fn passes(&mut self, address: i32) -> bool {
        let drawn = &mut self.drawn;
        let passes = drawn.until_next > 1 && drawn.address != address && slot(address).is_none();
        if passes {
            drawn.until_next -= 1;
        }
        passes
    }

    /// Counts writes before [`Noise::quiet_until`].
    pub fn skip(&mut self, count: u32) {
        self.drawn.until_next -= count;
    }

    /// Counts a write to the drawn address, or draws another.
    #[cold]
    #[inline(never)]
    fn draw_or_count(&mut self, address: i32) {
        let drawn = &mut self.drawn;
        if drawn.until_next == 0 {
            drawn.until_next = DRAWN_AFTER + drawn.random.below(DRAWN_AFTER);
            if drawn.address != address {
                (drawn.address, drawn.left) = (address, DRAWN_WRITES);
            }
        }
        drawn.left = drawn.left.saturating_sub(1);
        if drawn.left == 0 {
            drawn.address = -1;
        }
    }

    /// Notes what was written to an address of the sample, with the step to come.
    pub fn note(&mut self, address: i32, dt: f64, particle: &JParticle) {
        if self.waiting.len() == self.waiting.capacity() {
            if self.off {
                return;
            }
            match self.stars.is_empty() {
                true => self.begin(),
                false => floating::standard(|| self.digest()),
            }
        }
        if self.waiting.len() < self.waiting.capacity() {
            self.waiting.push(Write {
                address,
                index: particle.index,
                t: particle.t,
                dt,
                aby2: particle.aby2,
                a1by6: particle.a1by6,
            });
        }
    }

    /// Takes the memory, once. Without it nothing is watched.
    #[cold]
    fn begin(&mut self) {
        let room = allocation::reserve(&mut self.waiting, WAITING, PURPOSE).and_then(|()| {
            allocation::lengthen(&mut self.stars, SLOTS + 1, PURPOSE, Star::default)
        });
        self.off = room.is_err();
        if self.off {
            (self.waiting, self.stars) = Default::default();
        }
    }

    /// Looks at the writes that wait.
    #[inline]
    pub fn digest(&mut self) {
        if !self.waiting.is_empty() {
            self.digest_all();
        }
    }

    #[inline(never)]
    fn digest_all(&mut self) {
        let mut waiting = std::mem::take(&mut self.waiting);
        waiting.drain(..).for_each(|write| self.step(&write));
        self.waiting = waiting;
    }

    /// One write more to an address of the sample.
    fn step(&mut self, write: &Write) {
        let place = slot(write.address).unwrap_or(DRAWN);
        let Some(star) = self.stars.get_mut(place) else {
            return;
        };
        let before = std::mem::replace(
            star,
            Star {
                is_known: true,
                last: *write,
                residual: [0.0; 3],
            },
        );
        if before.is_known && before.last.address != write.address {
            if place != DRAWN {
                *star = before;
            }
            return;
        }
        let h = write.t - before.last.t;
        // NaN, too, is no step. A client that begins anew at an earlier time, or puts another particle here, does not go on.
        let goes_on = before.is_known && before.last.index == write.index && h > 0.0;
        if !goes_on || !h.is_finite() {
            return;
        }
        // A step that the client cut, to stop at some time, is limited by nothing else.
        let announced = before.last.dt;
        if announced > 0.0 && announced.is_finite() && h < 0.999 * announced {
            return;
        }
        // The time of one bad write of one of all addresses would count for ever.
        if place != DRAWN {
            self.longest = self.longest.max(h);
        }
        let residual = [0, 1, 2].map(|k| {
            let jerks = before.last.a1by6[k] + write.a1by6[k];
            2.0 * (write.aby2[k] - before.last.aby2[k]) - 3.0 * h * jerks
        });
        star.residual = residual;
        if before.residual == [0.0; 3] || residual == [0.0; 3] {
            return;
        }
        let turns = dot(&residual, &before.residual) < 0.0 && h <= SHORT * self.longest;
        let largest = 2.0 * LARGEST;
        let is_small =
            dot(&residual, &residual) < largest * largest * dot(&write.aby2, &write.aby2);
        self.judge(turns && is_small);
    }

    /// Counts a correction, and forgets the one that leaves the window.
    fn judge(&mut self, turned: bool) {
        let (word, bit) = (self.next / 64, 1 << (self.next % 64));
        self.turned -= u32::from(self.window[word] & bit != 0);
        self.turned += u32::from(turned);
        match turned {
            true => self.window[word] |= bit,
            false => self.window[word] &= !bit,
        }
        self.next = (self.next + 1) % WINDOW;
        self.filled = (self.filled + 1).min(WINDOW);
        self.steps[0] += 1;
        self.steps[1] += u64::from(turned);
    }

    /// Whether noise limits the steps.
    #[inline]
    pub fn limits_steps(&self) -> bool {
        self.turned > TURNS && self.filled == WINDOW
    }

    /// Begins a new window.
    pub fn restart(&mut self) {
        (self.window, self.next, self.filled, self.turned) = Default::default();
    }

    /// The corrections that were judged, and how many of them noise has turned.
    pub fn steps(&self) -> (u64, u64) {
        (self.steps[0], self.steps[1])
    }
}

fn dot(a: &[f64; 3], b: &[f64; 3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes `steps` steps of length `h` of a particle on a circle, after one step of length `longest`. The
    /// acceleration has an error of the given size. `announce` turns h into the step that the client announces.
    fn circle(
        noise: &mut Noise,
        (h, steps, longest): (f64, usize, f64),
        error: f64,
        announce: impl Fn(f64) -> f64,
    ) {
        let mut random = Random::new(1);
        let mut t = 0.0;
        for k in 0..steps + 2 {
            let (sin, cos) = f64::sin_cos(t);
            let a = [-cos, -sin, 0.0].map(|a: f64| a + error * random.signed());
            let star = JParticle {
                index: 5,
                t,
                mass: 1.0,
                aby2: a.map(|a| a / 2.0),
                a1by6: [sin / 6.0, -cos / 6.0, 0.0],
                ..JParticle::default()
            };
            let step = if k == 0 { longest } else { h };
            noise.note(0, announce(step), &star);
            t += step;
        }
        noise.digest();
    }

    #[test]
    fn short_steps_full_of_noise_are_seen_and_others_are_not() {
        for (name, h, longest, error, seen) in [
            ("signal", 1e-2, 0.1, 0.0, false),
            ("a little noise", 1e-2, 0.1, 1e-10, false),
            ("noise", 1e-3, 0.1, 1e-7, true),
            ("noise in steps as long as any", 1e-3, 1e-3, 1e-7, false),
            ("a force that changes within steps", 1e-3, 0.1, 1e-4, false),
        ] {
            let mut noise = Noise::default();
            circle(&mut noise, (h, 2000, longest), error, |h| h);
            assert_eq!(noise.limits_steps(), seen, "{name}: {:?}", noise.steps());
            assert!(noise.steps().0 > 1900, "{name}: {:?}", noise.steps());
        }
    }

    /// Also if the step that was announced is nonsense.
    #[test]
    fn steps_that_the_client_cut_do_not_count() {
        for (announced, counted) in [(8.0, false), (0.0, true), (f64::NAN, true), (-1.0, true)] {
            let mut noise = Noise::default();
            circle(&mut noise, (1e-3, 2000, 0.1), 1e-7, |h| h * announced);
            assert_eq!(noise.limits_steps(), counted, "{announced}");
        }
    }

    #[test]
    fn a_window_is_judged_when_it_is_full_and_forgets() {
        let mut noise = Noise::default();
        (0..WINDOW - 1).for_each(|_| noise.judge(true));
        assert!(!noise.limits_steps());
        noise.judge(true);
        assert!(noise.limits_steps());
        (0..WINDOW).for_each(|_| noise.judge(false));
        assert!(!noise.limits_steps() && noise.turned == 0);
        (0..=TURNS).for_each(|_| noise.judge(true));
        assert!(noise.limits_steps());
        noise.restart();
        assert!(!noise.limits_steps());
        let all = 2 * WINDOW as u64 + 31;
        assert_eq!(noise.steps(), (all, WINDOW as u64 + 31));
    }

    /// Three particles outside the fixed sample take most of the steps, the others long ones.
    #[test]
    fn noise_of_a_few_particles_is_seen() {
        let few: Vec<i32> = (500..)
            .filter(|&address| slot(address).is_none())
            .take(3)
            .collect();
        for (error, seen) in [(1e-7, true), (0.0, false)] {
            let (mut noise, mut random) = (Noise::default(), Random::new(1));
            let mut noted = 0_u64;
            let mut writes = 0_u64;
            for step in 0..100_000_i32 {
                let t = f64::from(step) * 1e-3;
                let (sin, cos) = f64::sin_cos(t);
                let others = (0..2000).filter(|address| step % 2000 == 0 && !few.contains(address));
                for address in few.iter().copied().chain(others) {
                    let a = [-cos, -sin, 0.0].map(|a: f64| a + error * random.signed());
                    let star = JParticle {
                        index: address,
                        t,
                        aby2: a.map(|a| a / 2.0),
                        a1by6: [sin / 6.0, -cos / 6.0, 0.0],
                        ..JParticle::default()
                    };
                    writes += 1;
                    if noise.wants(address) {
                        noted += 1;
                        noise.note(address, 0.0, &star);
                    }
                }
                noise.digest();
            }
            assert_eq!(noise.limits_steps(), seen, "{:?}", noise.steps());
            assert!(noted < writes / 12, "{noted} of {writes}");
        }
    }

    /// A few addresses of a small cluster are in the sample, and few in a large one.
    #[test]
    fn the_sample_is_small_and_never_empty() {
        for n in [1, 8, 100, 1000, 10_000, 1_000_000] {
            let sample = (0..n).filter(|&address| slot(address).is_some()).count();
            let n = n as usize;
            let (least, most) = (n.min(8), 9 + n / 60);
            assert!((least..=most).contains(&sample), "{sample} of {n}");
        }
    }

    #[test]
    fn addresses_do_not_mix_and_garbage_is_harmless() {
        let mut noise = Noise::default();
        let twin = (8..i32::MAX)
            .find(|&address| slot(address) == slot(0))
            .expect("there are more addresses than slots");
        let write = |address, t, a: f64| {
            let star = JParticle {
                t,
                aby2: [a; 3],
                a1by6: [a; 3],
                ..JParticle::default()
            };
            (address, star)
        };
        for (k, a) in [1.0, f64::NAN, f64::INFINITY, 1e308, -1e308, 0.0, 5e-324]
            .into_iter()
            .cycle()
            .take(3000)
            .enumerate()
        {
            for (address, star) in [write(0, k as f64, a), write(twin, -(k as f64), a)] {
                noise.note(address, f64::NAN, &star);
            }
            noise.note(
                i32::MIN,
                a,
                &JParticle {
                    t: a,
                    ..JParticle::default()
                },
            );
        }
        noise.digest();
        assert!(!noise.limits_steps());
        assert_eq!(noise.stars[slot(0).unwrap()].last.address, 0);
    }
}
