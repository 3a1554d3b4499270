//! The measurements of a library of NBODY6++: regular forces, potentials, irregular forces, and the writes before
//! them.

use std::f64::consts::PI;

use kirin::client::{IrregularBlock, Nbody6, Orbit, RegularBlock};

use super::measure::{BLOCKS, Case, Measurement, Sample, Size, WRITES, Walk, repeat};
use crate::model::{self, Random, Vec3, dot};

/// Neighbours of a star, about.
const NEIGHBOURS: usize = 100;
/// Longest list asked for: as many as lists of the irregular force may have in older libraries.
const LONGEST: usize = 600;
/// Regular step.
const DTR: f64 = 1.0 / 32.0;
/// Time of irregular forces; stars are at time 0.
const TI: f64 = 1.0 / 1024.0;

/// The cluster that samples are taken from.
#[derive(Default)]
pub struct BenchNbody6 {
    x: Vec<Vec3>,
    v: Vec<Vec3>,
    mass: Vec<f64>,
    orbits: Vec<Orbit>,
}

impl BenchNbody6 {
    /// Loads a cluster of `n` stars.
    pub fn load(&mut self, library: &Nbody6, n: usize, seed: u64) {
        let mut stars = model::plummer(n, seed);
        model::set_in_motion(&mut stars, false, &mut Random::new(seed));
        (self.x, self.v) = stars.iter().map(|star| (star.x, star.v)).unzip();
        self.mass = stars.iter().map(|star| star.mass).collect();
        let at_start = |star| Orbit {
            t: 0.0,
            ..Orbit::from(star)
        };
        self.orbits = stars.iter().map(at_start).collect();
        library.close();
        library.open(n, LONGEST);
        library.send(&self.mass, &mut self.x, &mut self.v);
        let mut others = Walk::new(n);
        for (address, orbit) in self.orbits.iter().enumerate() {
            library.set_star(address, orbit);
            let list = others.by_ref().filter(|&other| other != address);
            let list: Vec<usize> = list.take(NEIGHBOURS.min(n - 1)).collect();
            library.set_list(address, &list);
        }
    }

    /// Takes a sample.
    ///
    /// # Errors
    ///
    /// It is none that NBODY6++ can give.
    pub fn sample(&mut self, library: &Nbody6, what: &Measurement) -> Result<Sample, String> {
        let n = self.x.len();
        if n == 0 {
            return Err("no cluster is loaded".to_owned());
        }
        let size = match what.ni {
            Size::Block(ni) => ni.min(n),
            Size::Full => Nbody6::LARGEST_BLOCK.min(n),
        };
        let mut walk = Walk::new(n);
        let mut addresses = || walk.by_ref().take(size).collect::<Vec<usize>>();
        let blocks: Vec<Vec<usize>> = (0..BLOCKS).map(|_| addresses()).collect();
        let (seconds, units) = match what.case {
            Case::Force => (
                time(
                    what,
                    &blocks,
                    |b| self.regular(b),
                    |block| library.regular_forces(block),
                ),
                size * n,
            ),
            Case::Irregular => (
                time(what, &blocks, IrregularBlock::new, |block| {
                    library.irregular_forces(TI, block);
                }),
                size * NEIGHBOURS.min(n - 1),
            ),
            Case::Potential => {
                let mut pot = vec![0.0; size];
                let (mass, x) = (&self.mass, &mut self.x);
                let seconds = repeat(what, || library.potentials(mass, x, 0, &mut pot));
                (seconds, size * n)
            }
            Case::Load => {
                let (mass, x, v) = (&self.mass, &mut self.x, &mut self.v);
                let seconds = repeat(what, || library.send(mass, x, v));
                (seconds / n as f64, 1)
            }
            Case::Update => {
                let mut addresses = Walk::new(n);
                let seconds = repeat(what, || {
                    for address in addresses.by_ref().take(WRITES) {
                        library.set_star(address, &self.orbits[address]);
                    }
                });
                (seconds / WRITES as f64, 1)
            }
            _ => return Err("NBODY6++ has no such call".to_owned()),
        };
        Ok(Sample {
            seconds,
            units: units as f64,
        })
    }

    /// A block of stars with their neighbour radii: those of a Plummer sphere's density.
    fn regular(&self, addresses: &[usize]) -> RegularBlock {
        let mut block = RegularBlock::new(addresses.len(), LONGEST);
        for (k, &address) in addresses.iter().enumerate() {
            let x = self.x[address];
            (block.x[k], block.v[k], block.dtr[k]) = (x, self.v[address], DTR);
            let scale = 3.0 * PI / 16.0;
            let density =
                3.0 / (4.0 * PI * scale.powi(3)) * (1.0 + dot(&x, &x) / scale.powi(2)).powf(-2.5);
            let share = NEIGHBOURS as f64 / self.x.len() as f64;
            block.h2[k] = (share / (4.0 / 3.0 * PI * density)).powf(2.0 / 3.0);
        }
        block
    }
}

/// Seconds for one call, block after block.
fn time<B>(
    what: &Measurement,
    blocks: &[Vec<usize>],
    make: impl Fn(&[usize]) -> B,
    call: impl Fn(&mut B),
) -> f64 {
    let mut blocks: Vec<B> = blocks.iter().map(|block| make(block)).collect();
    let mut turn = 0;
    repeat(what, || {
        call(&mut blocks[turn]);
        turn = (turn + 1) % BLOCKS;
    })
}
