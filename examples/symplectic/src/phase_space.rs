//! Positions and velocities of all stars, in double precision or in fixed point, with their kicks and drifts.

use kirin_kit::Body;
use kirin_kit::vector::{Vec3, add_scaled};
use rayon::prelude::*;

use crate::error::Error;
use crate::fixed::Resolution;

/// Particles that one task takes at least.
pub const GRAIN: usize = 2048;

/// In which numbers positions and velocities are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Bits {
    /// Double precision: steps forward and back end where they began, but for rounding
    #[default]
    Double,
    /// 64-bit fixed point: they end in exactly the bits where they began
    Exact,
}

impl Bits {
    /// What the command line calls it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Double => "double",
            Self::Exact => "exact",
        }
    }
}

/// Position and velocity of one particle in fixed point.
pub type Point = [i64; 6];

/// Positions and velocities.
#[derive(Clone, Debug, PartialEq)]
pub enum PhaseSpace {
    /// In double precision.
    Double {
        /// Positions.
        x: Vec<Vec3>,
        /// Velocities.
        v: Vec<Vec3>,
    },
    /// In fixed point.
    Exact {
        /// Three coordinates, then three velocities, of each particle.
        points: Vec<Point>,
        /// The unit of the coordinates.
        length: Resolution,
        /// The unit of the velocities.
        speed: Resolution,
    },
}

impl PhaseSpace {
    /// Those of `bodies`, which may become as fast as `fastest`.
    ///
    /// # Errors
    ///
    /// A number is not finite.
    pub fn new(bits: Bits, bodies: &[Body], fastest: f64) -> Result<Self, Error> {
        if bits == Bits::Double {
            return Ok(Self::Double {
                x: bodies.iter().map(|b| b.x).collect(),
                v: bodies.iter().map(|b| b.v).collect(),
            });
        }
        let largest = |of: fn(&Body) -> &Vec3| {
            let numbers = bodies.iter().flat_map(|b| of(b).iter());
            numbers.fold(0.0_f64, |most, c| most.max(c.abs()))
        };
        let length = Resolution::for_numbers_up_to(largest(|b| &b.x));
        let speed = Resolution::for_numbers_up_to(largest(|b| &b.v).max(fastest));
        let point = |b: &Body| {
            let mut point = [0; 6];
            for k in 0..3 {
                point[k] = length.units(b.x[k])?;
                point[k + 3] = speed.units(b.v[k])?;
            }
            Some(point)
        };
        let points: Option<Vec<Point>> = bodies.iter().map(point).collect();
        Ok(Self::Exact {
            points: points.ok_or(Error::Range)?,
            length,
            speed,
        })
    }

    /// Number of particles.
    pub fn len(&self) -> usize {
        match self {
            Self::Double { x, .. } => x.len(),
            Self::Exact { points, .. } => points.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// In which numbers they are.
    pub fn bits(&self) -> Bits {
        match self {
            Self::Double { .. } => Bits::Double,
            Self::Exact { .. } => Bits::Exact,
        }
    }

    /// Position of particle `i`.
    pub fn position(&self, i: usize) -> Vec3 {
        match self {
            Self::Double { x, .. } => x[i],
            Self::Exact { points, length, .. } => {
                std::array::from_fn(|k| length.number(points[i][k]))
            }
        }
    }

    /// Velocity of particle `i`.
    pub fn velocity(&self, i: usize) -> Vec3 {
        match self {
            Self::Double { v, .. } => v[i],
            Self::Exact { points, speed, .. } => {
                std::array::from_fn(|k| speed.number(points[i][k + 3]))
            }
        }
    }

    /// Writes the positions with respect to `origin`. The differences of fixed-point numbers are exact before
    /// they are rounded to double precision.
    pub fn relative_to(&self, origin: &Vec3, relative: &mut Vec<Vec3>) -> Result<(), Error> {
        relative.clear();
        match self {
            Self::Double { x, .. } => {
                relative.extend(x.iter().map(|x| [0, 1, 2].map(|k| x[k] - origin[k])));
            }
            Self::Exact { points, length, .. } => {
                let mut units = [0; 3];
                for k in 0..3 {
                    units[k] = length.units(origin[k]).ok_or(Error::Range)?;
                }
                let difference = |p: &Point, k: usize| length.number(p[k] - units[k]);
                relative.extend(points.iter().map(|p| [0, 1, 2].map(|k| difference(p, k))));
            }
        }
        Ok(())
    }

    /// Adds `h` times the accelerations to the velocities.
    ///
    /// # Errors
    ///
    /// A velocity leaves the range of fixed point.
    pub fn kick(&mut self, h: f64, acc: &[Vec3]) -> Result<(), Error> {
        match self {
            Self::Double { v, .. } => {
                v.par_iter_mut()
                    .zip(acc)
                    .with_min_len(GRAIN)
                    .for_each(|(v, a)| add_scaled(v, h, a));
                Ok(())
            }
            Self::Exact { points, speed, .. } => {
                let speed = *speed;
                add_to_all(points.par_iter_mut().zip(acc).map(|(p, a)| {
                    for k in 0..3 {
                        p[k + 3] = speed.add(p[k + 3], h * a[k])?;
                    }
                    Some(())
                }))
            }
        }
    }

    /// Moves everybody for the time `h`.
    ///
    /// # Errors
    ///
    /// A position leaves the range of fixed point.
    pub fn drift(&mut self, h: f64) -> Result<(), Error> {
        match self {
            Self::Double { x, v } => {
                x.par_iter_mut()
                    .zip(&*v)
                    .with_min_len(GRAIN)
                    .for_each(|(x, v)| add_scaled(x, h, v));
                Ok(())
            }
            Self::Exact {
                points,
                length,
                speed,
            } => {
                let (length, speed) = (*length, *speed);
                add_to_all(points.par_iter_mut().map(|p| {
                    for k in 0..3 {
                        p[k] = length.add(p[k], h * speed.number(p[k + 3]))?;
                    }
                    Some(())
                }))
            }
        }
    }

    /// Positions and velocities in double precision, to be changed; `None` of fixed point.
    pub fn in_double(&mut self) -> Option<(&mut [Vec3], &mut [Vec3])> {
        match self {
            Self::Double { x, v } => Some((x, v)),
            Self::Exact { .. } => None,
        }
    }

    /// Turns all velocities round: the way back begins.
    pub fn reverse(&mut self) {
        match self {
            Self::Double { v, .. } => v.iter_mut().for_each(|v| *v = v.map(|c| -c)),
            Self::Exact { points, .. } => points
                .iter_mut()
                .for_each(|p| (3..6).for_each(|k| p[k] = -p[k])),
        }
    }
}

/// Whether all could be done.
fn add_to_all(done: impl IndexedParallelIterator<Item = Option<()>>) -> Result<(), Error> {
    let all = done.with_min_len(GRAIN).all(|done| done.is_some());
    if all { Ok(()) } else { Err(Error::Range) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kirin_kit::models;

    #[test]
    fn fixed_point_goes_back_the_way_it_came() {
        let bodies = models::plummer(50, 1);
        let mut state = PhaseSpace::new(Bits::Exact, &bodies, 1.0).unwrap();
        let start = state.clone();
        let acc: Vec<Vec3> = bodies.iter().map(|b| b.x).collect();
        for h in [0.1, -0.003] {
            state.kick(h, &acc).unwrap();
            state.drift(h).unwrap();
        }
        assert_ne!(state, start);
        for h in [-0.003, 0.1] {
            state.drift(-h).unwrap();
            state.kick(-h, &acc).unwrap();
        }
        assert_eq!(state, start);
    }

    #[test]
    fn both_kinds_of_numbers_move_alike() {
        let mut bodies = models::plummer(50, 1);
        bodies.iter_mut().for_each(|b| b.x[0] += 800.0);
        let ends = [Bits::Double, Bits::Exact].map(|bits| {
            let mut state = PhaseSpace::new(bits, &bodies, 1.0).unwrap();
            state.drift(0.5).unwrap();
            state.kick(0.25, &[[1.0, 0.0, -2.0]; 50]).unwrap();
            state.reverse();
            let mut relative = Vec::new();
            state
                .relative_to(&[800.0, 0.0, 0.0], &mut relative)
                .unwrap();
            let velocities: Vec<Vec3> = (0..50).map(|i| state.velocity(i)).collect();
            [relative, velocities].concat()
        });
        let pairs = ends[0].iter().flatten().zip(ends[1].iter().flatten());
        for (double, exact) in pairs {
            assert!((double - exact).abs() < 1e-12, "{double} {exact}");
        }
    }

    #[test]
    fn leaving_the_range_is_told() {
        let bodies = models::plummer(10, 1);
        let mut state = PhaseSpace::new(Bits::Exact, &bodies, 1.0).unwrap();
        assert_eq!(state.drift(1e9), Err(Error::Range));
        let nan = [[f64::NAN; 3]; 10];
        assert_eq!(state.kick(1.0, &nan), Err(Error::Range));
    }
}
