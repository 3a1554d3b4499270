//! What the handle of a tree stands for: its sources in an octree, and the clusters that sum.

use super::engine::{Engine, PoolWorkers, Request, Sums};
use super::targets::{self, NONE, PURPOSE, Target};
use crate::bulk::arrays::{Results, Sources, Targets};
use kirin_core::error::{Error, Result};
use kirin_core::process::allocation;
use kirin_core::process::long_work::LongWork;
use kirin_core::process::settings::{PrecisionChoice, Settings};
use kirin_core::tree::morton::{Cube, Extent};
use kirin_core::tree::octree::Octree;
use kirin_core::tree::walk::Bounds;

/// What memory is for, in messages.
const OF_TREE: &str = "a tree";

/// Half the diagonal of a cell of edge 1, and a little: no target is in a cell that is accepted.
const HALF_DIAGONAL: f64 = 0.867;

const TOO_FAR: Error = Error::Unsupported {
    reason: "positions so far apart that no cube of finite size holds them",
};

/// One `kirin_tree_forces`.
pub struct Call {
    /// The opening angle.
    pub theta: f64,
    /// Whether cells have quadrupoles.
    pub quadrupoles: bool,
    /// Square of the softening length of targets that have none of their own.
    pub eps2: f64,
    /// Number of targets.
    pub n: usize,
    /// The targets.
    pub targets: Targets,
    /// Where results go.
    pub results: Results,
}

/// Sources in the order of their tree.
#[derive(Default)]
struct Grown {
    tree: Octree,
    cube: Option<Cube>,
    /// The place of each source in that order.
    place: Vec<u32>,
    /// The opening angle for which its cells are accepted; NaN for none yet.
    theta: f64,
}

/// The tree of a handle.
pub struct TreeGravity {
    grown: Grown,
    engine: Engine,
    work: &'static LongWork,
    /// What messages call it.
    name: String,
}

impl TreeGravity {
    /// A tree without sources.
    pub fn new(name: String, settings: Settings, work: &'static LongWork) -> Self {
        Self {
            grown: Grown::default(),
            engine: Engine::new(settings),
            work,
            name,
        }
    }

    /// Number of sources.
    pub fn count(&self) -> usize {
        self.grown.place.len()
    }

    /// Name of the backend.
    ///
    /// # Errors
    ///
    /// There is no memory.
    pub fn backend_name(&mut self) -> Result<String> {
        Ok(self.engine.cluster()?.backend_name())
    }

    /// The precision of the forces, in words.
    ///
    /// # Errors
    ///
    /// There is no memory.
    pub fn precision(&mut self) -> Result<String> {
        Ok(self.engine.cluster()?.precision())
    }

    /// Chooses the precision, unless the user has.
    pub fn set_precision(&mut self, choice: PrecisionChoice) {
        self.engine.set_precision(choice);
    }

    /// Writes the statistics of its clusters, if the user wants them.
    pub fn report(&mut self) {
        let Self { engine, name, .. } = self;
        for (k, cluster) in engine.clusters().enumerate() {
            cluster.report(&format!("{name}, cluster {k}"));
        }
    }

    /// These are the sources.
    ///
    /// # Errors
    ///
    /// They are too far apart; there is no memory. The earlier ones stay.
    ///
    /// # Safety
    ///
    /// `mass` and `x` have `count` entries.
    pub unsafe fn load(&mut self, count: usize, sources: &Sources) -> Result<()> {
        let arrays = (sources.x.strided(), sources.mass.strided());
        let ((Some(x), Some(mass)), 1..) = (arrays, count) else {
            self.grown = Grown::default();
            return Ok(());
        };
        // SAFETY: passed on.
        let position = |k: usize| unsafe { x.map(|c| c.get(k)) };
        let cube = Cube::of(Extent::of((0..count).map(position))).ok_or(TOO_FAR)?;
        let keyed = (0..count).map(|k| (cube.key(&position(k)), k as u32));
        let mut order = allocation::collect(keyed, OF_TREE)?;
        order.sort_unstable();
        let keys = order.iter().map(|(key, _)| *key);
        let mut tree = Octree::over(allocation::collect(keys, OF_TREE)?);
        let mut place = allocation::collect(order.iter().map(|_| 0), OF_TREE)?;
        for (at, (_, source)) in (0..).zip(&order) {
            place[*source as usize] = at;
        }
        // SAFETY: passed on.
        let mass = |k: usize| unsafe { mass.get(k) };
        // Gathered here: the client's pointers are this thread's.
        let points = order.iter().map(|(_, k)| {
            let ([x, y, z], k) = (position(*k as usize), *k as usize);
            [x, y, z, mass(k)]
        });
        let points = allocation::collect(points, OF_TREE)?;
        let whole = [(0, count as u32)];
        let workers = PoolWorkers::new(self.engine.threads());
        let accuracy = (f64::INFINITY, false);
        tree.grow(&workers, |k| points[k], (0, &whole), accuracy)
            .map_err(|_| Error::OutOfMemory { purpose: OF_TREE })?;
        workers.check()?;
        self.grown = Grown {
            tree,
            cube: Some(cube),
            place,
            theta: f64::NAN,
        };
        Ok(())
    }

    /// Computes the forces, and writes results.
    ///
    /// # Errors
    ///
    /// The targets are too far apart; there is no memory. Nothing is written then.
    ///
    /// # Safety
    ///
    /// The arrays are null or have as many entries as there are targets; indices are those of sources.
    pub unsafe fn forces(&mut self, call: &Call) -> Result<()> {
        let results = &call.results;
        if results.acc.at.is_null() && results.pot.at.is_null() {
            return Ok(());
        }
        let workers = PoolWorkers::new(self.engine.threads());
        self.grown.aim(call.theta);
        if call.quadrupoles && !self.grown.tree.has_quadrupoles() {
            let found = self.grown.tree.find_pseudo(&workers);
            found.map_err(|_| Error::OutOfMemory { purpose: OF_TREE })?;
            workers.check()?;
        }
        // SAFETY: passed on.
        let mut targets = unsafe { self.grown.targets(call)? };
        targets::sort(&mut targets);
        let groups = targets::groups(&targets, self.engine.group()?, |targets, limit| {
            self.grown.is_crowded(targets, limit)
        })?;
        let mut sums = allocation::collect(targets.iter().map(|_| Sums::default()), PURPOSE)?;
        let work = self.work.begin();
        let request = Request {
            tree: &self.grown.tree,
            quadrupoles: call.quadrupoles,
            targets: &targets,
            groups: &groups,
        };
        self.engine.sum(&request, &mut sums)?;
        drop(work);
        for (target, [x, y, z, pot]) in targets.iter().zip(&sums) {
            // SAFETY: passed on.
            unsafe {
                results.acc.put(target.number as usize, [*x, *y, *z]);
                results.pot.put(target.number as usize, *pot);
            }
        }
        Ok(())
    }
}

impl Grown {
    /// Sets the opening angle theta. A cell acts as a whole if the distance d from its centre of mass to the nearest
    /// target exceeds l / theta + delta. Here l is the edge of the cell, and delta the distance of its centre of mass
    /// from its centre (J. E. Barnes, 1994). For 1 / theta at least `HALF_DIAGONAL` is taken.
    fn aim(&mut self, theta: f64) {
        let Some(cube) = &self.cube else { return };
        // Not minus zero, whose inverse is negative.
        let theta = theta.abs();
        if self.theta == theta {
            return;
        }
        self.theta = theta;
        let per_edge = (1.0 / theta).max(HALF_DIAGONAL);
        let Octree { cells, keys, .. } = &mut self.tree;
        for cell in cells {
            let centre = cube.centre(keys[cell.at as usize], cell.level);
            let delta2: f64 = (0..3).map(|k| (cell.x[k] - centre[k]).powi(2)).sum();
            let radius = cube.edge(cell.level) * per_edge + delta2.sqrt();
            cell.open2 = radius * radius;
        }
    }

    /// Whether the box around these targets has more than `limit` sources.
    fn is_crowded(&self, targets: &[Target], limit: usize) -> bool {
        let bounds = Bounds::of(targets.iter().map(|t| t.x));
        (self.cube.as_ref()).is_some_and(|cube| self.tree.is_crowded(cube, &bounds, limit))
    }

    /// The targets of a call, not sorted.
    ///
    /// # Safety
    ///
    /// That of [`TreeGravity::forces`].
    unsafe fn targets(&self, call: &Call) -> Result<Vec<Target>> {
        let Call {
            n, targets, eps2, ..
        } = call;
        let own_eps2 = targets.eps2.strided();
        let place = |k: usize| match (targets.source.are_absent(), targets.x.at.is_null()) {
            (true, true) => self.place[k],
            (true, false) => NONE,
            (false, _) => {
                // SAFETY: passed on.
                let source = usize::try_from(unsafe { targets.source.get(k) });
                source.map_or(NONE, |source| self.place[source])
            }
        };
        let target = |k: usize, key: u64, x: [f64; 3]| Target {
            key,
            x,
            // SAFETY: passed on.
            eps2: own_eps2.map_or(*eps2, |eps2| unsafe { eps2.get(k) }),
            number: k as u32,
            source: place(k),
        };
        let Some(x) = targets.x.strided() else {
            let at_source = |k: usize| {
                let at = place(k) as usize;
                let [x, y, z, _] = self.tree.points[at];
                target(k, self.tree.keys[at], [x, y, z])
            };
            return allocation::collect((0..*n).map(at_source), PURPOSE);
        };
        // SAFETY: passed on.
        let position = |k: usize| unsafe { x.map(|c| c.get(k)) };
        let cube = Cube::of(Extent::of((0..*n).map(position))).ok_or(TOO_FAR)?;
        let at = (0..*n).map(|k| target(k, cube.key(&position(k)), position(k)));
        allocation::collect(at, PURPOSE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kirin_core::random::Random;
    use kirin_core::tree::workers::Alone;

    /// Nine sources, of which eight are in one corner: the centre of mass is far from the centre of the cube.
    fn corner() -> (Grown, Cube) {
        let x = |k: usize| match k {
            8 => [1.0; 3],
            _ => [0.01 * k as f64, 0.0, 0.0],
        };
        let cube = Cube::of(Extent::of((0..9).map(x))).unwrap();
        let mut tree = Octree::over((0..9).map(|k| cube.key(&x(k))).collect());
        let point = |k: usize| [x(k)[0], x(k)[1], x(k)[2], 1.0];
        let whole = [(0, 9)];
        let accuracy = (f64::INFINITY, false);
        tree.grow(&Alone, point, (0, &whole), accuracy).unwrap();
        let grown = Grown {
            tree,
            cube: Some(cube),
            place: (0..9).collect(),
            theta: f64::NAN,
        };
        (grown, cube)
    }

    #[test]
    fn a_box_is_crowded_by_the_sources_in_it() {
        let (grown, _) = corner();
        let at = |x: [f64; 3]| Target {
            key: 0,
            x,
            eps2: 0.0,
            number: 0,
            source: NONE,
        };
        let few = [at([-0.01; 3]), at([0.035, 0.01, 0.01])];
        let far = [at([0.7, 0.0, 0.0]), at([0.8, 0.1, 0.1])];
        let all = [at([-1.0; 3]), at([2.0; 3])];
        assert!(grown.is_crowded(&few, 3) && !grown.is_crowded(&few, 9));
        assert!(!grown.is_crowded(&far, 0));
        assert!(grown.is_crowded(&all, 8) && !grown.is_crowded(&all, 9));
    }

    #[test]
    fn no_cell_acts_on_what_is_inside_it_or_within_its_edge_over_theta() {
        let (mut grown, cube) = corner();
        let mut random = Random::new(4);
        grown.aim(-0.0);
        assert_eq!(grown.tree.cells[0].open2, f64::INFINITY);
        for theta in [0.5, 1.0, 1e9] {
            grown.aim(theta);
            let root = grown.tree.cells[0];
            let (centre, edge) = (cube.centre(grown.tree.keys[0], 0), cube.edge(0));
            let is_accepted = |offset: [f64; 3]| {
                let distance2 = |k: usize| (centre[k] + offset[k] - root.x[k]).powi(2);
                (0..3).map(distance2).sum::<f64>() > root.open2
            };
            for _ in 0..1000 {
                let inside = random.vector(0.5 * edge);
                assert!(!is_accepted(inside), "{theta}: {inside:?}");
                let length = inside.iter().map(|c| c * c).sum::<f64>().sqrt();
                let near = inside.map(|c| c / length * 0.999 * edge / theta);
                assert!(!is_accepted(near), "{theta}: {near:?}");
            }
            let far = edge * ((1.0 / theta).max(1.0) + 1.0);
            assert!(is_accepted([far; 3]), "{theta}");
        }
    }
}
