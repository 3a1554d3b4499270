//! NBODY6's regular force, in the Ahmad-Cohen scheme with neighbour lists, and the potential: the trait of a backend,
//! requests and results, and the plain implementation.
//!
//! ```text
//! s   = min(|r|^2, |r + dtr v|^2), and j is a neighbour of i if s < h2, or s < m_j h2
//! a   = sum m r / r^3                          over all j that are no neighbours
//! j   = sum m (v - 3 (r.v) r / r^2) / r^3      over the same
//! pot = sum m / r                              over the same
//! ```
//!
//! with r = x_j - x_i and v = v_j - v_i (Ahmad and Cohen 1973, J. Comput. Phys. 12, 389; Nitadori and Aarseth 2012,
//! MNRAS 424, 545). dtr is the regular step of the particle. There is no softening, and a pair at distance zero
//! exerts no force. A particle without a neighbour radius is therefore not in its own sum. A particle with a
//! neighbour radius is its own neighbour.

use std::ops::Range;

use crate::error::Result;
use crate::process::allocation;
use crate::sources::jmemory::{PAGE, PageArray};

/// What memory is for, in messages.
pub const PURPOSE: &str = "regular forces";

/// A value of the client's, which may lie at any address.
#[derive(Clone, Copy, Debug)]
#[repr(C, packed)]
pub struct Unaligned<T>(pub T);

/// Sources as the client has them.
#[derive(Clone, Copy, Debug)]
pub struct Incoming<'a> {
    /// Positions.
    pub x: &'a [Unaligned<[f64; 3]>],
    /// Velocities; none where only potentials are wanted.
    pub v: &'a [Unaligned<[f64; 3]>],
    /// Masses.
    pub m: &'a [Unaligned<f64>],
}

/// The sources at `PAGE` consecutive addresses, one array for each number. Slots without a source have the position and
/// velocity of the page's first source, and mass 0.
#[derive(Clone, Debug, Default)]
pub struct SourcePage {
    /// Positions.
    pub x: [PageArray<f64>; 3],
    /// Velocities.
    pub v: [PageArray<f64>; 3],
    /// Masses.
    pub m: PageArray<f64>,
}

impl SourcePage {
    /// Takes over the client's sources from an address on, of which there is one at least.
    #[inline(always)]
    pub fn load(&mut self, incoming: &Incoming<'_>, first: usize) {
        let range = first..incoming.m.len().min(first + PAGE);
        let masses = &incoming.m[range.clone()];
        for (to, m) in self.m.iter_mut().zip(masses) {
            *to = m.0;
        }
        self.m[masses.len()..].fill(0.0);
        transpose(&incoming.x[range.clone()], &mut self.x);
        if let Some(v) = incoming.v.get(range) {
            transpose(v, &mut self.v);
        }
    }
}

#[inline(always)]
fn transpose(rows: &[Unaligned<[f64; 3]>], columns: &mut [PageArray<f64>; 3]) {
    let [x, y, z] = columns;
    let places = x.iter_mut().zip(y.iter_mut()).zip(z.iter_mut());
    for (((x, y), z), row) in places.zip(rows) {
        [*x, *y, *z] = row.0;
    }
    for column in columns {
        let first = column[0];
        column[rows.len()..].fill(first);
    }
}

/// The sources of the force, by address, at the time of the block.
#[derive(Debug, Default)]
pub struct Sources {
    pages: Vec<Box<SourcePage>>,
    count: usize,
}

impl Sources {
    /// No sources.
    pub const fn new() -> Self {
        Self {
            pages: Vec::new(),
            count: 0,
        }
    }

    /// Number of sources.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The pages, in the order of addresses.
    pub fn pages(&self) -> &[Box<SourcePage>] {
        &self.pages
    }

    /// Makes room for so many sources. Each page is then to be loaded.
    ///
    /// # Errors
    ///
    /// There is no memory; there are no sources then.
    pub fn restart(&mut self, count: usize) -> Result<&mut [Box<SourcePage>]> {
        let pages = count.div_ceil(PAGE);
        self.count = 0;
        self.pages.truncate(pages);
        while self.pages.len() < pages {
            let page = allocation::boxed(SourcePage::default(), PURPOSE)?;
            allocation::push(&mut self.pages, page, PURPOSE)?;
        }
        self.count = count;
        Ok(&mut self.pages)
    }

    /// Position of a source.
    #[inline(always)]
    pub fn x(&self, address: usize) -> [f64; 3] {
        let (page, slot) = self.place(address);
        [page.x[0][slot], page.x[1][slot], page.x[2][slot]]
    }

    /// Its velocity.
    #[inline(always)]
    pub fn v(&self, address: usize) -> [f64; 3] {
        let (page, slot) = self.place(address);
        [page.v[0][slot], page.v[1][slot], page.v[2][slot]]
    }

    /// Its mass.
    #[inline(always)]
    pub fn m(&self, address: usize) -> f64 {
        let (page, slot) = self.place(address);
        page.m[slot]
    }

    #[inline(always)]
    fn place(&self, address: usize) -> (&SourcePage, usize) {
        (&self.pages[address / PAGE], address % PAGE)
    }
}

/// A particle on which the force is wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Target {
    /// Position.
    pub x: [f64; 3],
    /// Velocity.
    pub v: [f64; 3],
    /// Square of its neighbour radius, or that for each unit of mass.
    pub h2: f64,
    /// Time over which the neighbour test looks ahead: the particle's regular step.
    pub dtr: f64,
}

/// With what s of the module's text is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Criterion {
    /// s < h2
    Radius,
    /// s < m_j h2
    MassAndRadius,
}

impl Criterion {
    /// The square of the radius for a neighbour of mass `m`.
    #[inline(always)]
    pub fn bound(self, h2: f64, m: f64) -> f64 {
        match self {
            Self::Radius => h2,
            Self::MassAndRadius => m * h2,
        }
    }
}

/// One request.
#[derive(Clone, Copy, Debug)]
pub struct RegularRequest<'a> {
    /// What exerts the force.
    pub sources: &'a Sources,
    /// Where it is wanted.
    pub targets: &'a [Target],
    /// Who is a neighbour.
    pub criterion: Criterion,
    /// Longer lists are counted and not kept.
    pub longest: usize,
}

/// Acceleration and jerk, and the positive potential.
pub type Sums = [f64; 7];

/// What comes out for one target.
#[derive(Clone, Debug, Default)]
pub struct RegularResult {
    /// Acceleration, jerk, potential.
    pub sums: Sums,
    /// Number of its neighbours.
    pub neighbours: usize,
    /// Their addresses, ascending; incomplete if they are more than the block's `longest`.
    pub list: Vec<i32>,
}

impl RegularResult {
    /// Begins anew, keeping the memory.
    pub fn restart(&mut self) {
        self.sums = Sums::default();
        self.neighbours = 0;
        self.list.clear();
    }

    /// Adds a neighbour, whose address is above all others.
    ///
    /// # Errors
    ///
    /// There is no memory.
    #[inline(always)]
    pub fn note(&mut self, address: usize, longest: usize) -> Result<()> {
        self.neighbours += 1;
        if self.neighbours <= longest {
            allocation::push(&mut self.list, address as i32, PURPOSE)?;
        }
        Ok(())
    }
}

/// One implementation.
pub trait RegularForce: Send {
    /// What it is, in a few words.
    fn name(&self) -> String;

    /// Takes over new sources, which the following blocks have, from the client.
    ///
    /// # Errors
    ///
    /// There is no memory.
    fn load(&mut self, sources: &mut Sources, incoming: &Incoming<'_>) -> Result<()>;

    /// Takes over sources that another backend has loaded.
    ///
    /// # Errors
    ///
    /// There is no memory.
    fn inherit(&mut self, sources: &Sources) -> Result<()>;

    /// The forces on a block, one for each target, written to the front of `results`, which are as many at least.
    ///
    /// # Errors
    ///
    /// There is no memory; `results` are then meaningless.
    fn forces(&mut self, block: &RegularRequest<'_>, results: &mut [RegularResult]) -> Result<()>;

    /// The positive potentials that all sources cause at the sources in `range`. Sources need no velocities here.
    /// `sources` is memory that is kept from call to call.
    ///
    /// # Errors
    ///
    /// There is no memory; `potentials` are then meaningless.
    fn potentials(
        &mut self,
        sources: &mut Sources,
        incoming: &Incoming<'_>,
        range: Range<usize>,
        potentials: &mut [f64],
    ) -> Result<()>;
}

/// The formulas as they stand, in plain double-precision loops.
pub struct PlainRegular;

impl RegularForce for PlainRegular {
    fn name(&self) -> String {
        "reference".to_owned()
    }

    fn load(&mut self, sources: &mut Sources, incoming: &Incoming<'_>) -> Result<()> {
        let pages = sources.restart(incoming.m.len())?;
        for (page, columns) in pages.iter_mut().enumerate() {
            columns.load(incoming, page * PAGE);
        }
        Ok(())
    }

    fn inherit(&mut self, _: &Sources) -> Result<()> {
        Ok(())
    }

    fn forces(&mut self, block: &RegularRequest<'_>, results: &mut [RegularResult]) -> Result<()> {
        for (target, result) in block.targets.iter().zip(results) {
            result.restart();
            for j in 0..block.sources.len() {
                let pair = Pair::new(block.sources, j, target);
                if pair.is_near(block.criterion) {
                    result.note(j, block.longest)?;
                } else {
                    pair.add_to(&mut result.sums);
                }
            }
        }
        Ok(())
    }

    fn potentials(
        &mut self,
        sources: &mut Sources,
        incoming: &Incoming<'_>,
        range: Range<usize>,
        potentials: &mut [f64],
    ) -> Result<()> {
        self.load(sources, incoming)?;
        for (i, potential) in range.zip(potentials) {
            let x = sources.x(i);
            let on = |j| potential_of(sources, j, &x);
            *potential = (0..sources.len()).map(on).sum();
        }
        Ok(())
    }
}

/// The potential of source `j` at `x`; none where that is its own place.
#[inline(always)]
pub fn potential_of(sources: &Sources, j: usize, x: &[f64; 3]) -> f64 {
    let r2 = square(&difference(&sources.x(j), x));
    match r2 > 0.0 {
        true => sources.m(j) / r2.sqrt(),
        false => r2,
    }
}

/// One source as a target sees it.
pub struct Pair<'a> {
    r: [f64; 3],
    v: [f64; 3],
    r2: f64,
    m: f64,
    target: &'a Target,
}

impl<'a> Pair<'a> {
    /// Source `j` and a target.
    #[inline(always)]
    pub fn new(sources: &Sources, j: usize, target: &'a Target) -> Self {
        let r = difference(&sources.x(j), &target.x);
        let v = difference(&sources.v(j), &target.v);
        Self::of(r, v, sources.m(j), target)
    }

    /// A source of mass `m` at r and v from a target.
    #[inline(always)]
    pub fn of(r: [f64; 3], v: [f64; 3], m: f64, target: &'a Target) -> Self {
        let r2 = square(&r);
        Self {
            r,
            v,
            r2,
            m,
            target,
        }
    }

    /// The square of the distance, or of that a regular step ahead where it is less.
    #[inline(always)]
    pub fn least(&self) -> f64 {
        let dtr = self.target.dtr;
        let ahead = [0, 1, 2].map(|k| self.r[k] + dtr * self.v[k]);
        self.r2.min(square(&ahead))
    }

    /// Whether it is a neighbour, now or a regular step ahead.
    #[inline(always)]
    pub fn is_near(&self, criterion: Criterion) -> bool {
        self.least() < criterion.bound(self.target.h2, self.m)
    }

    /// Adds the force; none at no distance.
    #[inline(always)]
    pub fn add_to(&self, sums: &mut Sums) {
        if self.r2 == 0.0 {
            return;
        }
        let Self { r, v, r2, m, .. } = self;
        let inverse = 1.0 / r2.sqrt();
        let m_r = m * inverse;
        let m_r3 = m_r * inverse * inverse;
        let rv = 3.0 * (r[0] * v[0] + r[1] * v[1] + r[2] * v[2]) / r2;
        for k in 0..3 {
            sums[k] += m_r3 * r[k];
            sums[3 + k] += m_r3 * (v[k] - rv * r[k]);
        }
        sums[6] += m_r;
    }
}

#[inline(always)]
fn difference(a: &[f64; 3], b: &[f64; 3]) -> [f64; 3] {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

/// In the one order of kirin, without fused operations.
#[inline(always)]
fn square(r: &[f64; 3]) -> f64 {
    r[0] * r[0] + r[1] * r[1] + r[2] * r[2]
}
