//! The bulk interface as a Rust program uses it: slices in place of pointers, errors in place of codes.

use std::ffi::{CStr, c_char, c_int};

use super::interface::interface;
use super::{ClientError, Vec3};
use crate::symbols;

interface! {
    /// A library with the bulk interface: a kirin.
    ///
    /// ```
    /// use kirin::client::{Bulk, Results, Sources, Targets};
    ///
    /// let bulk = Bulk::linked();
    /// let gravity = bulk.gravity()?; // closed when it is dropped
    /// let x = [[0.0; 3], [2.0, 0.0, 0.0]];
    /// gravity.set_sources(&Sources { mass: &[1.0, 1.0], x: &x, ..Sources::default() })?;
    /// let mut acc = [[0.0; 3]; 2];
    /// let results = &mut Results { acc: &mut acc, ..Results::default() };
    /// gravity.forces(0.0, 0.0, &Targets::Sources(2), results)?;
    /// assert!((acc[0][0] - 0.25).abs() < 1e-6);
    /// # Ok::<(), kirin::client::ClientError>(())
    /// ```
    Bulk {
        open = kirin_bulk_open: unsafe extern "C" fn(*mut i64) -> c_int;
        close = kirin_bulk_close: unsafe extern "C" fn(i64) -> c_int;
        set_precision = kirin_bulk_set_precision: unsafe extern "C" fn(i64, c_int) -> c_int;
        set_sources = kirin_bulk_set_sources: unsafe extern "C" fn(i64, i64, *const symbols::Sources) -> c_int;
        update_sources = kirin_bulk_update_sources:
            unsafe extern "C" fn(i64, i64, *const symbols::Indices, *const symbols::Sources) -> c_int;
        source_count = kirin_bulk_source_count: unsafe extern "C" fn(i64) -> c_int;
        forces = kirin_bulk_forces:
            unsafe extern "C" fn(i64, f64, f64, i64, *const symbols::Targets, *const symbols::Results) -> c_int;
        offsets = kirin_bulk_neighbour_offsets: unsafe extern "C" fn(i64, i64, *mut i64) -> c_int;
        indices = kirin_bulk_neighbour_indices: unsafe extern "C" fn(i64, i64, *mut i64) -> c_int;
        message = kirin_bulk_message: unsafe extern "C" fn() -> *const c_char;
    }
    optional {
        tree_open = kirin_tree_open: unsafe extern "C" fn(*mut i64) -> c_int;
        tree_set_sources = kirin_tree_set_sources: unsafe extern "C" fn(i64, i64, *const symbols::Sources) -> c_int;
        tree_forces = kirin_tree_forces: unsafe extern "C" fn(
            i64, f64, c_int, f64, i64, *const symbols::Targets, *const symbols::Results,
        ) -> c_int;
    }
}

impl Bulk {
    /// Opens a handle, without sources.
    ///
    /// # Errors
    ///
    /// There is no memory.
    pub fn gravity(&self) -> Result<Gravity<'_>, ClientError> {
        let mut handle = 0;
        // SAFETY: the call writes one integer.
        self.checked(unsafe { (self.open)(&mut handle) })?;
        Ok(Gravity { bulk: self, handle })
    }

    /// Opens a handle whose forces are found by a tree, without sources.
    ///
    /// # Errors
    ///
    /// There is no memory, or the library has no trees.
    pub fn tree(&self) -> Result<Tree<'_>, ClientError> {
        let calls = (self.tree_open).zip(self.tree_set_sources.zip(self.tree_forces));
        let Some((open, (set_sources, forces))) = calls else {
            return Err(ClientError("this library has no trees".to_owned()));
        };
        let mut handle = 0;
        // SAFETY: the call writes one integer.
        self.checked(unsafe { open(&mut handle) })?;
        Ok(Tree {
            gravity: Gravity { bulk: self, handle },
            set_sources,
            forces,
        })
    }

    fn checked(&self, status: c_int) -> Result<c_int, ClientError> {
        if status >= 0 {
            return Ok(status);
        }
        // SAFETY: the string lives until this thread's next refusal, and is copied.
        let text = unsafe { CStr::from_ptr((self.message)()) };
        Err(ClientError(text.to_string_lossy().into_owned()))
    }
}

/// What the sources are. An empty slice is absent; the others have an entry for each source.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sources<'a> {
    /// Masses, of any sign.
    pub mass: &'a [f64],
    /// Positions.
    pub x: &'a [Vec3],
    /// Velocities.
    pub v: &'a [Vec3],
    /// Accelerations.
    pub acc: &'a [Vec3],
    /// Their first derivatives.
    pub jerk: &'a [Vec3],
    /// Their second derivatives.
    pub snap: &'a [Vec3],
    /// The times at which all this holds.
    pub time: &'a [f64],
    /// Squares of the sources' own softening lengths.
    pub eps2: &'a [f64],
}

/// Where forces are wanted. An empty slice is absent; the others have an entry for each target.
#[derive(Clone, Copy, Debug)]
pub enum Targets<'a> {
    /// The first sources.
    Sources(usize),
    /// Points.
    At {
        /// Positions.
        x: &'a [Vec3],
        /// Velocities.
        v: &'a [Vec3],
        /// Squares of softening lengths.
        eps2: &'a [f64],
        /// Squares of the radii of neighbour lists.
        radius2: &'a [f64],
        /// Which source a target is; negative for none.
        source: &'a [i64],
    },
}

/// Where results go. What is empty is not wanted; the others have an entry for each target.
#[derive(Debug, Default)]
pub struct Results<'a> {
    /// Accelerations.
    pub acc: &'a mut [Vec3],
    /// Jerks.
    pub jerk: &'a mut [Vec3],
    /// Potentials.
    pub pot: &'a mut [f64],
    /// Indices of the nearest sources; -1 where there is none.
    pub nearest: &'a mut [i64],
    /// Squares of their distances.
    pub distance2: &'a mut [f64],
}

/// An open handle of a [`Bulk`]. Dropping it closes the handle.
pub struct Gravity<'a> {
    bulk: &'a Bulk,
    handle: i64,
}

/// Refuses slices that are neither empty nor of this length.
fn all_have(n: usize, lengths: &[usize]) -> Result<i64, ClientError> {
    match lengths.iter().find(|&&length| length != 0 && length != n) {
        Some(length) => Err(ClientError(format!(
            "an array has {length} entries, and not {n}"
        ))),
        None => Ok(n as i64),
    }
}

/// The address of an array that is not empty.
fn at<T>(array: &[T]) -> *const f64 {
    match array.is_empty() {
        true => std::ptr::null(),
        false => array.as_ptr().cast(),
    }
}

fn numbers(array: &[f64]) -> symbols::Numbers {
    symbols::Numbers {
        at: at(array),
        step: 0,
    }
}

fn vectors(array: &[Vec3]) -> symbols::Vectors {
    symbols::Vectors {
        at: at(array),
        ..symbols::Vectors::default()
    }
}

fn indices(array: &[i64]) -> symbols::Indices {
    symbols::Indices {
        at: at(array).cast(),
        step: 0,
    }
}

impl Sources<'_> {
    fn lengths(&self) -> [usize; 8] {
        let [x, v, acc, jerk, snap] =
            [self.x, self.v, self.acc, self.jerk, self.snap].map(<[Vec3]>::len);
        let [mass, time, eps2] = [self.mass, self.time, self.eps2].map(<[f64]>::len);
        [mass, x, v, acc, jerk, snap, time, eps2]
    }

    fn structure(&self) -> symbols::Sources {
        symbols::Sources {
            mass: numbers(self.mass),
            x: vectors(self.x),
            v: vectors(self.v),
            acc: vectors(self.acc),
            jerk: vectors(self.jerk),
            snap: vectors(self.snap),
            time: numbers(self.time),
            eps2: numbers(self.eps2),
            ..symbols::Sources::default()
        }
    }
}

impl Targets<'_> {
    fn structure(&self) -> Result<(i64, symbols::Targets), ClientError> {
        match *self {
            Self::Sources(n) => Ok((n as i64, symbols::Targets::default())),
            Self::At {
                x,
                v,
                eps2,
                radius2,
                source,
            } => {
                let lengths = [v.len(), eps2.len(), radius2.len(), source.len()];
                let n = all_have(x.len(), &lengths)?;
                let structure = symbols::Targets {
                    x: vectors(x),
                    v: vectors(v),
                    eps2: numbers(eps2),
                    radius2: numbers(radius2),
                    source: indices(source),
                    ..symbols::Targets::default()
                };
                Ok((n, structure))
            }
        }
    }
}

impl Results<'_> {
    fn structure(&mut self, n: usize) -> Result<symbols::Results, ClientError> {
        let lengths = [
            self.acc.len(),
            self.jerk.len(),
            self.pot.len(),
            self.nearest.len(),
            self.distance2.len(),
        ];
        all_have(n, &lengths)?;
        let vectors = |array: &mut [Vec3]| symbols::OutVectors {
            at: at(array).cast_mut(),
            ..symbols::OutVectors::default()
        };
        let numbers = |array: &mut [f64]| symbols::OutNumbers {
            at: at(array).cast_mut(),
            step: 0,
        };
        Ok(symbols::Results {
            acc: vectors(self.acc),
            jerk: vectors(self.jerk),
            pot: numbers(self.pot),
            nearest: symbols::OutIndices {
                at: at(self.nearest).cast_mut().cast(),
                step: 0,
            },
            distance2: numbers(self.distance2),
            ..symbols::Results::default()
        })
    }
}

impl Gravity<'_> {
    /// `kirin_bulk_set_precision`: chooses the precision by its number, unless the user has.
    ///
    /// # Errors
    ///
    /// There is none with this number.
    pub fn set_precision(&self, precision: i32) -> Result<(), ClientError> {
        // SAFETY: both arguments are numbers.
        let status = unsafe { (self.bulk.set_precision)(self.handle, precision) };
        self.bulk.checked(status).map(drop)
    }

    /// `kirin_bulk_set_sources`: these are the sources, all of them.
    ///
    /// # Errors
    ///
    /// An array has another length, or a number that is not finite; or there is no memory. The earlier sources stay.
    pub fn set_sources(&self, sources: &Sources<'_>) -> Result<(), ClientError> {
        let n = sources.mass.len();
        let n = match sources.x.len() == n {
            true => all_have(n, &sources.lengths())?,
            false => return Err(ClientError("a mass for each position".to_owned())),
        };
        let structure = sources.structure();
        // SAFETY: the arrays that are not absent have `n` entries.
        let status = unsafe { (self.bulk.set_sources)(self.handle, n, &structure) };
        self.bulk.checked(status).map(drop)
    }

    /// `kirin_bulk_update_sources`: gives these sources new numbers, an entry of each array for an index.
    ///
    /// # Errors
    ///
    /// Those of [`Gravity::set_sources`], or there is no such source. Nothing changes then.
    pub fn update_sources(&self, index: &[i64], sources: &Sources<'_>) -> Result<(), ClientError> {
        let n = all_have(index.len(), &sources.lengths())?;
        let (which, structure) = (indices(index), sources.structure());
        // SAFETY: the arrays that are not absent have `n` entries.
        let status = unsafe { (self.bulk.update_sources)(self.handle, n, &which, &structure) };
        self.bulk.checked(status).map(drop)
    }

    /// Number of sources.
    ///
    /// # Errors
    ///
    /// The process forked since the handle was opened.
    pub fn count(&self) -> Result<usize, ClientError> {
        // SAFETY: the argument is a number.
        let count = unsafe { (self.bulk.source_count)(self.handle) };
        self.bulk.checked(count).map(|count| count as usize)
    }

    /// `kirin_bulk_forces`: the forces of all sources, predicted to `time`, on the targets. `eps2` is the squared
    /// softening length of targets that have none of their own.
    ///
    /// # Errors
    ///
    /// Those of [`Gravity::update_sources`]. Nothing is written then.
    pub fn forces(
        &self,
        time: f64,
        eps2: f64,
        targets: &Targets<'_>,
        results: &mut Results<'_>,
    ) -> Result<(), ClientError> {
        let (n, targets) = targets.structure()?;
        let results = results.structure(n as usize)?;
        // SAFETY: the arrays that are not absent have `n` entries.
        let status = unsafe { (self.bulk.forces)(self.handle, time, eps2, n, &targets, &results) };
        self.bulk.checked(status).map(drop)
    }

    /// The neighbour lists of the `n` targets of the last [`Gravity::forces`], which had radii: the sources near target k are
    /// `indices[offsets[k]..offsets[k + 1]]`. Returns offsets and indices.
    ///
    /// # Errors
    ///
    /// There are no such lists.
    pub fn neighbours(&self, n: usize) -> Result<(Vec<i64>, Vec<i64>), ClientError> {
        let mut offsets = vec![0; n + 1];
        // SAFETY: the call writes n + 1 entries.
        let status = unsafe { (self.bulk.offsets)(self.handle, n as i64, offsets.as_mut_ptr()) };
        self.bulk.checked(status)?;
        let mut all = vec![0; usize::try_from(offsets[n]).unwrap_or(0)];
        // SAFETY: the call writes as many entries as there is room for, at most.
        let status =
            unsafe { (self.bulk.indices)(self.handle, all.len() as i64, all.as_mut_ptr()) };
        self.bulk.checked(status)?;
        Ok((offsets, all))
    }
}

/// An open handle of [`Bulk::tree`]. Dropping it closes the handle.
///
/// ```
/// use kirin::client::{Bulk, Opening, Results, Targets};
///
/// let bulk = Bulk::linked();
/// let tree = bulk.tree()?;
/// let x: Vec<[f64; 3]> = (0..1000).map(|k| [f64::from(k).cos(), f64::from(k).sin(), f64::from(k) * 1e-3]).collect();
/// tree.set_sources(&[1e-3; 1000], &x)?;
/// let mut pot = [0.0; 1000];
/// let results = &mut Results { pot: &mut pot, ..Results::default() };
/// tree.forces(Opening { theta: 0.5, quadrupoles: true }, 1e-4, &Targets::Sources(1000), results)?;
/// assert!(pot.iter().all(|pot| (-1.5..-0.5).contains(pot)));
/// # Ok::<(), kirin::client::ClientError>(())
/// ```
pub struct Tree<'a> {
    gravity: Gravity<'a>,
    set_sources: unsafe extern "C" fn(i64, i64, *const symbols::Sources) -> c_int,
    forces: unsafe extern "C" fn(
        i64,
        f64,
        c_int,
        f64,
        i64,
        *const symbols::Targets,
        *const symbols::Results,
    ) -> c_int,
}

/// Which cells of a tree act as a whole, and how.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Opening {
    /// The opening angle.
    pub theta: f64,
    /// Whether cells have quadrupoles.
    pub quadrupoles: bool,
}

impl Tree<'_> {
    /// `kirin_bulk_set_precision`: chooses the precision by its number, unless the user has.
    ///
    /// # Errors
    ///
    /// There is none with this number.
    pub fn set_precision(&self, precision: i32) -> Result<(), ClientError> {
        self.gravity.set_precision(precision)
    }

    /// Number of sources.
    ///
    /// # Errors
    ///
    /// The process forked since the handle was opened.
    pub fn count(&self) -> Result<usize, ClientError> {
        self.gravity.count()
    }

    /// `kirin_tree_set_sources`: these are the sources, all of them.
    ///
    /// # Errors
    ///
    /// The arrays have different lengths, a number is not finite or a mass negative; or there is no memory. The earlier
    /// sources stay.
    pub fn set_sources(&self, mass: &[f64], x: &[Vec3]) -> Result<(), ClientError> {
        if mass.len() != x.len() {
            return Err(ClientError("a mass for each position".to_owned()));
        }
        let structure = Sources {
            mass,
            x,
            ..Sources::default()
        }
        .structure();
        // SAFETY: both arrays have as many entries.
        let status =
            unsafe { (self.set_sources)(self.gravity.handle, mass.len() as i64, &structure) };
        self.gravity.bulk.checked(status).map(drop)
    }

    /// `kirin_tree_forces`: accelerations and potentials of all sources on the targets. `eps2` is the squared softening
    /// length of targets that have none of their own.
    ///
    /// # Errors
    ///
    /// The lengths of the arrays differ; a number makes no sense; results other than accelerations and potentials are
    /// wanted; or there is no memory. Nothing is written then.
    pub fn forces(
        &self,
        opening: Opening,
        eps2: f64,
        targets: &Targets<'_>,
        results: &mut Results<'_>,
    ) -> Result<(), ClientError> {
        let (n, targets) = targets.structure()?;
        let results = results.structure(n as usize)?;
        let Opening { theta, quadrupoles } = opening;
        let (handle, quadrupoles) = (self.gravity.handle, c_int::from(quadrupoles));
        // SAFETY: the arrays that are not absent have `n` entries.
        let status =
            unsafe { (self.forces)(handle, theta, quadrupoles, eps2, n, &targets, &results) };
        self.gravity.bulk.checked(status).map(drop)
    }
}

impl Drop for Gravity<'_> {
    fn drop(&mut self) {
        // SAFETY: the argument is a number.
        unsafe { (self.bulk.close)(self.handle) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forces_lists_and_refusals() {
        let bulk = Bulk::linked();
        let gravity = bulk.gravity().unwrap();
        let x = [[0.0; 3], [1.0, 0.0, 0.0], [3.0, 0.0, 0.0]];
        let mass = [1.0, -2.0, 4.0];
        let sources = Sources {
            mass: &mass,
            x: &x,
            ..Sources::default()
        };
        gravity.set_sources(&sources).unwrap();
        let update = Sources {
            mass: &[2.0],
            ..Sources::default()
        };
        gravity.update_sources(&[1], &update).unwrap();
        let (mut pot, mut nearest) = ([0.0; 3], [0; 3]);
        let results = &mut Results {
            pot: &mut pot,
            nearest: &mut nearest,
            ..Results::default()
        };
        let at = Targets::At {
            x: &x,
            v: &[],
            eps2: &[],
            radius2: &[4.5; 3],
            source: &[0, 1, -1],
        };
        gravity.forces(0.0, 0.0, &at, results).unwrap();
        assert!((pot[0] + 2.0 + 4.0 / 3.0).abs() < 1e-6);
        assert_eq!(nearest, [1, 0, 2]);
        let (offsets, indices) = gravity.neighbours(3).unwrap();
        assert_eq!(
            (&*offsets, &*indices),
            (&[0, 1, 3, 5][..], &[1, 0, 2, 1, 2][..])
        );
        assert_eq!(gravity.count().unwrap(), 3);
        let text = |refused: Result<(), ClientError>| refused.expect_err("refused").to_string();
        assert_eq!(
            text(gravity.update_sources(&[1, 2], &update)),
            "an array has 1 entries, and not 2"
        );
        assert!(text(gravity.update_sources(&[3], &update)).contains("index = 3, but"));
    }
}
