//! The particles of one page as the kernels read them: predicted, scaled and, in mixed precision,
//! split into a high and a low part.

mod prediction;

use super::grid::{self, Grid};
use super::masses::Masses;
use super::resolution::LeafBounds;
use super::simd::{Real, Simd, Sums, Work};
use super::units::{self, Sampled};
use crate::force::scaling::{FARTHEST, LENGTHS, Scaling, VELOCITIES, outside};
use crate::sources::jmemory::{PAGE, Page, PageArray};

pub use self::prediction::Lanes;

/// Factors that turn the sums of a leaf into acceleration, potential and jerk. The kernel computes `scale` / r in place
/// of 1 / r, and its masses are in units of `mass`.
#[inline(always)]
pub fn factors(units: &Scaling, mass: f64, scale: f64) -> Sums {
    let l = units.length / scale;
    let acc = mass * (l * l / scale);
    // Not the cube alone: it may overflow.
    let jerk = mass * (l * l * (l / units.velocity));
    let pot = -mass * l;
    [acc, acc, acc, pot, jerk, jerk, jerk, 0.0]
}

/// What a tile was predicted from, and to which time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    page: u32,
    version: u64,
    ti: u64,
    /// The slots below it decided on the units and the grid.
    end: usize,
}

impl Stamp {
    fn new(page: &Page, ti: f64, end: usize) -> Self {
        Self {
            page: page.number(),
            version: page.version(),
            ti: ti.to_bits(),
            end,
        }
    }
}

/// Positions and velocities of one page, ready for the kernels.
pub struct Tile<T> {
    /// Positions: their leading parts, or, without a low part, rounded to `T`.
    pub x: [PageArray<T>; 3],
    /// The rest of the positions below the leading parts.
    pub x_low: [PageArray<T>; 3],
    /// Velocities.
    pub v: [PageArray<T>; 3],
    /// Squares of the particles' own softening lengths; zero where they have none.
    pub eps2: PageArray<T>,
    /// The factors by which the numbers above were scaled.
    pub units: Scaling,
    /// The grid of the leading parts, where there are low parts.
    pub grid: Grid,
    /// Whether `T` has the range for the particles.
    pub representable: bool,
    /// No particle with a mass is farther from the origin, its softening length added.
    pub radius: f64,
    /// No component of a velocity is greater.
    pub fastest: f64,
    /// Whether some velocity is not zero.
    pub moves: bool,
    stamp: Option<Stamp>,
}

impl<T: Real> Default for Tile<T> {
    fn default() -> Self {
        let zero = [PageArray::default(); 3];
        Self {
            x: zero,
            x_low: zero,
            v: zero,
            eps2: PageArray::default(),
            units: Scaling::PLAIN,
            grid: Grid::USUAL,
            representable: true,
            radius: 0.0,
            fastest: 0.0,
            moves: false,
            stamp: None,
        }
    }
}

impl<T: Real> Tile<T> {
    /// Whether the tile holds `page` predicted to `ti`, for the slots below `end`.
    #[inline(always)]
    pub fn is_fresh(&self, page: &Page, ti: f64, end: usize) -> bool {
        self.stamp == Some(Stamp::new(page, ti, end))
    }

    /// Predicts `page` to `ti`. `SPLIT` makes the low parts. The slots below `end` decide on the units and the grid.
    ///
    /// The page is first predicted with guessed units and a guessed grid. If the prediction shows a guess to be wrong,
    /// the page is predicted again. The guess for the units is what `sampled` keeps of this page, or else the units of
    /// this tile's last prediction, perhaps of another page. The guess for the grid is that of the page's last
    /// prediction. The results do not depend on the guesses.
    pub fn predict<S: Simd<T = T>, const SPLIT: bool>(
        &mut self,
        s: S,
        page: &Page,
        ti: f64,
        end: usize,
        sampled: &Sampled,
    ) {
        s.vectorize(Predict::<S, SPLIT> {
            s,
            tile: self,
            page,
            ti,
            end,
            sampled,
        });
    }

    /// [`Tile::predict`], compiled for the instruction set.
    #[inline(always)]
    fn predict_here<S: Simd<T = T>, const SPLIT: bool>(
        &mut self,
        s: S,
        page: &Page,
        ti: f64,
        end: usize,
        sampled: &Sampled,
    ) {
        if let (false, Some((units, _))) = (T::IS_DOUBLE, sampled.kept(page, end)) {
            self.units = units;
        }
        if SPLIT {
            self.grid = sampled.last_grid();
        }
        let mut greatest = self.predict_in_units::<S, SPLIT>(s, page, ti, end);
        if !T::IS_DOUBLE {
            let suits = |[x, v]: [f64; 2]| !outside(x, LENGTHS) && !outside(v, VELOCITIES);
            let mut most = greatest.over_all();
            let plain = suits(self.in_client_units(most, page, ti, end));
            let (units, representable) = match plain {
                true => (Scaling::PLAIN, true),
                false => sampled.of(page, end),
            };
            self.representable = representable;
            if self.units != units {
                self.units = units;
                greatest = self.predict_in_units::<S, SPLIT>(s, page, ti, end);
                most = greatest.over_all();
            }
            if SPLIT {
                let present = || page.present_below(page.first_address() + end);
                let told = grid::are_told(&greatest.x, present);
                let grid = match told {
                    true if self.grid.is_surely_of(&greatest.x) => self.grid,
                    true => Grid::of(greatest.x),
                    false => Grid::of(grid::groups(page, ti, &self.units, end)),
                };
                if self.grid != grid {
                    self.grid = grid;
                    sampled.keep_grid(grid);
                    greatest = self.predict_in_units::<S, SPLIT>(s, page, ti, end);
                    most = greatest.over_all();
                }
            }
            self.measure(most, page, ti, end);
        }
        self.moves = page.has_motion() && self.has_velocities(greatest.v, end);
        if let Some(eps2) = page.eps2() {
            self.soften(eps2, end);
        }
        self.clear(end);
        self.stamp = Some(Stamp::new(page, ti, end));
    }

    /// The greatest coordinate and velocity component of a prediction, in the client's units. The numbers do not
    /// depend on the units of the prediction.
    #[inline(always)]
    fn in_client_units(&self, (x, v): (f64, T), page: &Page, ti: f64, end: usize) -> [f64; 2] {
        let is_exact = |scaled: f64| (units::LEAST_NORMAL..f64::INFINITY).contains(&scaled);
        let v = v.to_f64();
        let length = x / self.units.length;
        // A leading part differs by up to half a step, and lies in the same octave but where that ends.
        let is_certain = is_exact(x)
            && !grid::is_power_of_two(x)
            && !(0.5 * LENGTHS.0..2.0 * LENGTHS.0).contains(&length);
        match is_certain && (is_exact(v) || page.is_at_rest()) {
            true => [length, v / self.units.velocity],
            false => units::greatest_components::<T>(page, ti, end),
        }
    }

    /// Notes how far and how fast the particles are.
    #[inline(always)]
    fn measure(&mut self, (x, v): (f64, T), page: &Page, ti: f64, end: usize) {
        // The square root of 3, rounding included.
        const DIAGONAL: f64 = 1.75;
        self.fastest = v.to_f64() * (1.0 + 1e-6);
        self.radius = (x + self.grid.step()) * DIAGONAL;
        if x > LENGTHS.1 {
            // What has no mass may be anywhere.
            self.radius =
                units::greatest_coordinate_with_mass(page, ti, end) * self.units.length * DIAGONAL;
        }
    }

    /// Whether a velocity below slot `end` is not zero, where `greatest` is the greatest component that is a number.
    #[inline(always)]
    fn has_velocities(&self, greatest: T, end: usize) -> bool {
        let zero = T::default();
        greatest > zero || self.v.iter().flat_map(|v| &v[..end]).any(|v| *v != zero)
    }

    /// What is known of the tile's particles, whose masses these are.
    #[inline(always)]
    pub fn bounds(&self, masses: &Masses<T>) -> LeafBounds {
        match T::IS_DOUBLE {
            true => LeafBounds::DOUBLE,
            false => LeafBounds {
                representable: self.representable,
                one_sign: masses.one_sign,
                least_mass: masses.least,
                radius: self.radius,
                fastest: self.fastest,
                slowest: 0.0,
            },
        }
    }

    /// Makes the slots from `end` on those of absent particles: numbers out of range there would spoil the sums of their vector, and the leaf
    /// would be summed again.
    #[inline(always)]
    fn clear(&mut self, end: usize) {
        if end == PAGE {
            return;
        }
        let vectors = [&mut self.x, &mut self.x_low, &mut self.v];
        let columns = vectors.into_iter().flatten().chain([&mut self.eps2]);
        columns.for_each(|column| column[end..].fill(T::default()));
    }

    /// Takes over the particles' own softening lengths.
    fn soften(&mut self, eps2: &[f64; PAGE], end: usize) {
        let area = self.units.length * self.units.length;
        let greatest = eps2[..end]
            .iter()
            .fold(0.0, |most: f64, eps2| most.max(eps2 * area));
        for (scaled, eps2) in self.eps2.iter_mut().zip(eps2) {
            *scaled = T::from_f64(eps2 * area);
        }
        self.representable &= T::IS_DOUBLE || greatest <= FARTHEST * FARTHEST;
        self.radius += greatest.sqrt();
    }
}

/// [`Tile::predict`] as a function of its own: inlined, it would be compiled again wherever a page is predicted.
struct Predict<'a, S: Simd, const SPLIT: bool> {
    s: S,
    tile: &'a mut Tile<S::T>,
    page: &'a Page,
    ti: f64,
    end: usize,
    sampled: &'a Sampled,
}

impl<S: Simd, const SPLIT: bool> Work for Predict<'_, S, SPLIT> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Self {
            s,
            tile,
            page,
            ti,
            end,
            sampled,
        } = self;
        tile.predict_here::<S, SPLIT>(s, page, ti, end, sampled);
    }
}

#[cfg(test)]
mod tests {
    use super::super::simd::portable::Portable;
    use super::*;
    use crate::sources::jmemory::JMemory;
    use crate::sources::particle::JParticle;

    /// The cube of a unit of length may overflow where the factor of jerks does not.
    #[test]
    fn factors_have_the_range_of_their_results() {
        let large = 2.0_f64.powi(366);
        let units = Scaling {
            length: large,
            velocity: large,
        };
        let found = factors(&units, 1e-200, 1.0);
        assert_eq!(found[4], 1e-200 * large * large);
        assert!(found.iter().all(|f| f.is_finite()), "{found:?}");
    }

    fn page_of(x: f64, v: f64, m: f64) -> JMemory {
        let mut memory = JMemory::default();
        for a in 0..3 {
            let f = f64::from(a + 1) / 3.0;
            let p = JParticle {
                index: a,
                mass: m,
                x: [x * f, -x * f, 0.0],
                v: [v * f, 0.0, v],
                ..Default::default()
            };
            memory.write(a, &p).unwrap();
        }
        memory
    }

    #[test]
    fn both_parts_hold_a_small_part_of_a_step_at_any_scale() {
        for x in [1e-30, 1e-3, 1.0, 3e18, 1e200] {
            for v in [0.0, 1e-30, 1.0, 1e30] {
                let memory = page_of(x, v, 1.0 / 3000.0);
                let mut tile = Tile::default();
                tile.predict::<_, true>(
                    Portable::<f32, 4>::default(),
                    memory.page(0),
                    0.0,
                    PAGE,
                    &Sampled::default(),
                );
                for slot in 0..3 {
                    let p = memory.page(0).particle(slot);
                    for k in 0..3 {
                        let sum = f64::from(tile.x[k][slot]) + f64::from(tile.x_low[k][slot]);
                        let back = sum / tile.units.length;
                        let step = tile.grid.step() / tile.units.length;
                        assert!(step < x * 2.0_f64.powi(-18), "{x:e}: {step:e}");
                        assert!((back - p.x[k]).abs() <= step * 2.0_f64.powi(-26));
                        let high = f64::from(tile.x[k][slot]) / tile.grid.step();
                        assert_eq!(high, high.round(), "{x:e}");
                        let back = f64::from(tile.v[k][slot]) / tile.units.velocity;
                        assert!((back - p.v[k]).abs() <= p.v[k].abs() * 2.0_f64.powi(-24));
                    }
                }
            }
        }
    }

    /// A page at rest must get the bits of the full prediction, at any time.
    #[test]
    fn particles_at_rest_are_predicted_where_they_are() {
        let s = Portable::<f32, 4>::default();
        for x in [1.0, 3e-5] {
            let still = page_of(x, 0.0, 1.0);
            let mut moving = page_of(x, 0.0, 1.0);
            let star = JParticle {
                v: [1.0; 3],
                ..JParticle::default()
            };
            moving.write(500, &star).unwrap();
            assert!(still.page(0).is_at_rest() && !moving.page(0).is_at_rest());
            for ti in [0.0, -3.5, 1e30] {
                let mut tiles = [Tile::default(), Tile::default()];
                tiles[0].predict::<_, true>(s, still.page(0), ti, PAGE, &Sampled::default());
                tiles[1].predict::<_, true>(s, moving.page(0), ti, PAGE, &Sampled::default());
                for k in 0..3 {
                    let [a, b] = tiles.each_ref().map(|t| (t.x[k], t.x_low[k], t.v[k]));
                    assert_eq!((&a.0[..3], &a.1[..3]), (&b.0[..3], &b.1[..3]), "{x} {ti}");
                    assert!(a.2.iter().all(|v| *v == 0.0));
                }
            }
            let mut tile = Tile::default();
            tile.predict::<_, true>(s, still.page(0), f64::NAN, PAGE, &Sampled::default());
            assert!(tile.x[0][0].is_nan(), "no time, no place");
        }
    }

    #[test]
    fn equal_masses_are_exact() {
        let memory = page_of(1.0, 1.0, 1.0 / 3000.0);
        let mut masses = Masses::<f32>::default();
        masses.load(memory.page(0), PAGE, PAGE);
        assert_eq!(masses.unit, 1.0 / 3000.0);
        assert_eq!(masses.m[..4], [1.0, 1.0, 1.0, 0.0]);
    }

    #[test]
    fn a_tile_is_fresh_until_time_or_page_change() {
        let mut memory = page_of(1.0, 1.0, 1.0);
        let s = Portable::<f64, 2>::default();
        let mut tile = Tile::default();
        assert!(!tile.is_fresh(memory.page(0), 0.0, PAGE));
        tile.predict::<_, true>(s, memory.page(0), 0.0, PAGE, &Sampled::default());
        assert!(tile.is_fresh(memory.page(0), 0.0, PAGE));
        assert!(!tile.is_fresh(memory.page(0), 0.5, PAGE));
        memory.write(1, &JParticle::default()).unwrap();
        assert!(!tile.is_fresh(memory.page(0), 0.0, PAGE));
    }
}
