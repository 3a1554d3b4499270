//! The measurements of a GRAPE-5 library: forces, and the time to load all j-particles.

use kirin::client::Grape5;

use super::measure::{BLOCKS, Case, Measurement, Sample, Size, Walk, beside, repeat};
use crate::candidate::MeasuredInterface;
use crate::model::{self, Vec3};

/// The cluster that samples are taken from.
#[derive(Default)]
pub struct Bench5 {
    x: Vec<Vec3>,
    mass: Vec<f64>,
}

impl Bench5 {
    /// Loads a cluster of `n` stars.
    pub fn load(&mut self, grape: &Grape5, n: usize, seed: u64) {
        let stars = model::plummer(n, seed);
        (self.x, self.mass) = stars.iter().map(|star| (star.x, star.mass)).unzip();
        grape.set_j_particles(&mut self.x, &self.mass);
    }

    /// Takes a sample.
    ///
    /// # Errors
    ///
    /// It is none that GRAPE-5 can give.
    pub fn sample(&mut self, grape: &Grape5, what: &Measurement) -> Result<Sample, String> {
        let n = self.x.len();
        if n == 0 {
            return Err("no cluster is loaded".to_owned());
        }
        if what.case == Case::Load {
            let seconds = repeat(what, || {
                grape.set_j_particles(&mut self.x, &self.mass);
            });
            return Ok(Sample {
                seconds: seconds / n as f64,
                units: 1.0,
            });
        }
        if !Case::of(MeasuredInterface::Grape5).contains(&what.case) {
            return Err("GRAPE-5 has no such call".to_owned());
        }
        let size = match what.ni {
            Size::Block(ni) => ni.min(n),
            Size::Full => n,
        };
        let mut walk = Walk::new(n);
        let place = |a: usize| match what.case {
            Case::Close => beside(self.x[a]),
            _ => self.x[a],
        };
        let mut block = || walk.by_ref().take(size).map(place).collect();
        let mut blocks: Vec<Vec<Vec3>> = (0..BLOCKS).map(|_| block()).collect();
        let (mut acc, mut pot) = (vec![[0.0; 3]; size], vec![0.0; size]);
        grape.set_eps_to_all(what.eps2().sqrt());
        let mut turn = 0;
        let seconds = repeat(what, || {
            grape.forces_on(&mut blocks[turn], &mut acc, &mut pot);
            turn = (turn + 1) % BLOCKS;
        });
        Ok(Sample {
            seconds,
            units: (size * n) as f64,
        })
    }
}
