//! A galaxy at one time as 64-bit words, which the kernel `galaxy` of `kernels/galaxy.cu` reads.

use super::bar::Needle;
use super::component::{Disc, Halo, Plummer};
use super::spheres::{Hernquist, Nfw, PowerCutoff};
use crate::vector::Vec3;

/// Words of a part: its kind, then the numbers of its formula.
pub const PART: usize = 10;

/// Words of what is not a part.
pub const ABOUT: usize = 12;

/// A part.
pub type Part = [u64; PART];

/// The kernel's module. Its kernel `galaxy` takes two arrays to be written, three numbers of acceleration and one of the change
/// of the potential for each star; the positions; `about`, `parts` and `table` of [`Words`]; whether the galaxy changes; and the
/// number of stars.
pub const PTX: &str = concat!(include_str!("../../kernels/prebuilt/galaxy.ptx"), "\0");

/// A galaxy at one time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Words {
    /// What is not a part.
    pub about: [u64; ABOUT],
    /// The model's parts, the bar, the satellites.
    pub parts: Vec<Part>,
}

fn words<const N: usize>(kind: u64, numbers: [f64; N]) -> Part {
    let mut part = [0; PART];
    part[0] = kind;
    for (word, number) in part[1..].iter_mut().zip(numbers) {
        *word = number.to_bits();
    }
    part
}

/// What a kernel has a formula of.
pub(super) trait Formula {
    /// Its words.
    fn words(&self) -> Part;
}

impl Formula for Plummer {
    fn words(&self) -> Part {
        words(1, [self.m, self.b])
    }
}

impl Formula for Disc {
    fn words(&self) -> Part {
        words(2, [self.m, self.a, self.b])
    }
}

impl Formula for Halo {
    fn words(&self) -> Part {
        words(3, [self.m, self.a, self.p, self.cut])
    }
}

impl Formula for Nfw {
    fn words(&self) -> Part {
        words(4, [self.m, self.a])
    }
}

impl Formula for Hernquist {
    fn words(&self) -> Part {
        words(5, [self.m, self.a])
    }
}

impl Formula for PowerCutoff {
    fn words(&self) -> Part {
        let [of_mass, of_potential] = self.gammas;
        words(6, [self.m, self.p, self.cut, of_mass, of_potential])
    }
}

/// The model of McMillan, whose numbers are in the table.
pub(super) fn mcmillan() -> Part {
    words::<0>(7, [])
}

/// A bar, turned by an angle of this sine and cosine, with its angular speed.
pub(super) fn bar(needle: &Needle, [sin, cos]: [f64; 2], speed: f64) -> Part {
    let Needle { m, a, b, c } = *needle;
    words(8, [m, a, b, c, sin, cos, speed])
}

/// A satellite of this shape at a place with a velocity.
pub(super) fn satellite(shape: &dyn Formula, x: &Vec3, v: &Vec3) -> Part {
    let mut part = shape.words();
    for (word, number) in part[4..].iter_mut().zip(x.iter().chain(v)) {
        *word = number.to_bits();
    }
    part
}
