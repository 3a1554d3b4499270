//! The functions behind the calls of GRAPE-5: check, convert, call the core, write results.

use std::ffi::c_int;

use crate::edge::pointers::{self, count, not_null, row};
use crate::g5::devices::{self, Memory, Place};
use crate::g5::dialect;
use kirin_core::error::{Error, Result};
use kirin_core::process::floating;
use kirin_core::process::log;
use kirin_core::process::settings::{self, Devices};
use kirin_core::sources::jmemory::Given;
use kirin_core::sources::particle::{Force, IParticle};
use kirin_core::sources::strided::Strided;

/// j-particles for which there is always room, and more are welcome. Clients dimension arrays by it.
const JMEMSIZE: c_int = 1 << 20;

/// The device of calls that name none.
pub const FIRST: c_int = 0;

/// What `g5_get_number_of_real_pipelines` and `g5_get_pcibus_freq` (in MHz) say of a GRAPE-5 board.
pub const REAL_PIPELINES: c_int = 16;
pub const PCI_FREQUENCY: c_int = 33;

pub use Memory::{Plain, Softened};

pub fn open() -> Result<c_int> {
    devices::open().map(|()| 0)
}

/// # Safety
///
/// `list` is null or has `ndev` entries.
pub unsafe fn open_special(ndev: c_int, list: *const c_int) -> Result<c_int> {
    // SAFETY: passed on.
    let devices = unsafe { pointers::devices(ndev, list)? };
    devices::open()?;
    if !devices.is_empty() {
        devices::prefer_devices(Devices::These(devices))?;
    }
    Ok(0)
}

pub fn close() -> Result<c_int> {
    devices::close();
    Ok(0)
}

pub fn pipelines() -> Result<c_int> {
    Ok(devices::pipelines_with(settings::with_memory()?.npipes))
}

pub fn jmemsize() -> Result<c_int> {
    Ok(JMEMSIZE)
}

/// Tells the user, once, that a force with the cutoff that `call` scales does not exist.
pub fn set_eta(call: &'static str, eta: f64) -> Result<c_int> {
    if eta != 0.0 {
        log::once(
            "cutoff",
            call,
            "forces have no cutoff: they are Newton's at any distance",
        );
    }
    Ok(0)
}

pub fn set_eps_to_all(eps: f64) -> Result<c_int> {
    devices::set_eps2(floating::standard(|| eps * eps));
    Ok(0)
}

pub fn set_eps2_to_all(eps2: f64) -> Result<c_int> {
    devices::set_eps2(eps2);
    Ok(0)
}

pub fn set_eps_to_device(device: c_int, eps: f64) -> Result<c_int> {
    set_eps2_to_device(device, floating::standard(|| eps * eps))
}

pub fn set_eps2_to_device(device: c_int, eps2: f64) -> Result<c_int> {
    devices::set_eps2_of(Place::new(device, Plain)?, eps2)?;
    Ok(0)
}

pub fn set_n(device: c_int, n: c_int) -> Result<c_int> {
    let place = Place::new(device, Plain)?;
    devices::set_n(place, count(n, "n")?).map(|()| 0)
}

/// The arrays of a call that sends j-particles. Their entry number `address` belongs to the particle at `address`.
#[derive(Clone, Copy)]
pub struct JArrays {
    /// Positions, where they are sent.
    pub x: Option<*const [f64; 3]>,
    /// Masses, where they are sent.
    pub mass: Option<*const f64>,
    /// Squares of their own softening lengths, where they are sent.
    pub eps2: Option<*const f64>,
}

/// Stores j-particles; what is not sent stays as it was.
///
/// # Safety
///
/// The arrays are null or have `address + nj` entries.
pub unsafe fn set_j_particles(
    (device, memory): (c_int, Memory),
    address: c_int,
    nj: c_int,
    arrays: JArrays,
) -> Result<c_int> {
    let place = dialect::place(device, memory)?;
    let nj = count(nj, "nj")?;
    let JArrays { x, mass, eps2 } = arrays;
    if nj > 0 {
        x.map_or(Ok(()), |x| not_null(x, "xj"))?;
        mass.map_or(Ok(()), |mass| not_null(mass, "mj"))?;
        eps2.map_or(Ok(()), |eps2| not_null(eps2, "epsj2"))?;
    }
    if address < 0 {
        return Err(Error::OutOfRange {
            argument: "adr",
            value: address.into(),
            legal: "addresses begin at 0",
        });
    }
    let given = arrays.given();
    // SAFETY: passed on.
    unsafe { devices::store(place, address, nj, &given)? };
    Ok(0)
}

/// Stores the j-particles of `g5_set_xmj`, of which some programs bring softening lengths, too.
///
/// # Safety
///
/// As [`set_j_particles`], but only if the program brings it is `arrays.eps2` such an array.
pub unsafe fn set_xmj(device: c_int, adr: c_int, nj: c_int, arrays: JArrays) -> Result<c_int> {
    let eps2 = arrays.eps2.filter(|_| dialect::brings_softening());
    // SAFETY: passed on. What is no array is left out.
    unsafe { set_j_particles((device, Plain), adr, nj, JArrays { eps2, ..arrays })? };
    dialect::sent_by_xmj();
    Ok(0)
}

/// Stores j-particles in both memories of device 0.
///
/// # Safety
///
/// As [`set_j_particles`].
pub unsafe fn set_xmeps2j(adr: c_int, nj: c_int, arrays: JArrays) -> Result<c_int> {
    // SAFETY: passed on.
    unsafe {
        set_j_particles((FIRST, Softened), adr, nj, arrays)?;
        if dialect::brings_softening() {
            return Ok(0);
        }
        let eps2 = None;
        set_j_particles((FIRST, Plain), adr, nj, JArrays { eps2, ..arrays })
    }
}

impl JArrays {
    fn given(self) -> Given {
        let number = |at: *const f64| Strided::new(at, size_of::<f64>() as isize);
        let x = self.x.map(|x| {
            let first = x.cast::<f64>();
            [0, 1, 2].map(|k| Strided::new(first.wrapping_add(k), size_of::<[f64; 3]>() as isize))
        });
        let mut given = Given::new(self.mass.map(number), None).with([x, None, None, None, None]);
        given.eps2 = self.eps2.map(number);
        given
    }
}

/// Positions and masses.
pub fn xm(x: *const [f64; 3], mass: *const f64) -> JArrays {
    JArrays {
        x: Some(x),
        mass: Some(mass),
        eps2: None,
    }
}

/// The same with squares of softening lengths.
pub fn xme(x: *const [f64; 3], mass: *const f64, eps2: *const f64) -> JArrays {
    JArrays {
        eps2: Some(eps2),
        ..xm(x, mass)
    }
}

/// Positions alone.
pub fn x_only(x: *const [f64; 3]) -> JArrays {
    JArrays {
        x: Some(x),
        mass: None,
        eps2: None,
    }
}

/// Masses alone.
pub fn m_only(mass: *const f64) -> JArrays {
    JArrays {
        x: None,
        mass: Some(mass),
        eps2: None,
    }
}

/// The softening lengths that a client sends with i-particles.
#[derive(Clone, Copy)]
pub struct Softening {
    array: *const f64,
    squared: bool,
}

/// `eps2`
pub fn squares(eps2: *const f64) -> Softening {
    Softening {
        array: eps2,
        squared: true,
    }
}

/// `eps`
pub fn lengths(eps: *const f64) -> Softening {
    Softening {
        array: eps,
        squared: false,
    }
}

impl Softening {
    /// That the array is there.
    fn check(self) -> Result<()> {
        not_null(self.array, if self.squared { "eps2" } else { "eps" })
    }

    /// The square of one of the lengths.
    ///
    /// # Safety
    ///
    /// The array has more than `i` entries.
    unsafe fn eps2(self, i: usize) -> f64 {
        // SAFETY: passed on.
        let given = unsafe { self.array.add(i).read_unaligned() };
        if self.squared { given } else { given * given }
    }
}

/// The i-particles that a client sends.
#[derive(Clone, Copy)]
pub struct IArrays {
    /// Positions.
    pub x: *const [f64; 3],
    /// Their softening lengths, unless the one of all is meant.
    pub softening: Option<Softening>,
}

/// i-particles with the softening of all.
pub fn xi_alone(x: *const [f64; 3]) -> IArrays {
    IArrays { x, softening: None }
}

/// i-particles with the square of a softening length each.
pub fn xi_and(x: *const [f64; 3], eps2: *const f64) -> IArrays {
    IArrays {
        x,
        softening: Some(squares(eps2)),
    }
}

/// i-particles with a softening length each.
pub fn xi_with_lengths(x: *const [f64; 3], eps: *const f64) -> IArrays {
    IArrays {
        x,
        softening: Some(lengths(eps)),
    }
}

impl IArrays {
    /// # Safety
    ///
    /// The arrays are null or have `ni` entries, as long as the result is used.
    unsafe fn particles(
        self,
        place: Place,
        ni: usize,
    ) -> Result<impl ExactSizeIterator<Item = IParticle>> {
        let all = match self.softening {
            Some(_) => 0.0,
            None => devices::eps2(place)?,
        };
        if ni > 0 {
            not_null(self.x, "xi")?;
            self.softening.map_or(Ok(()), Softening::check)?;
        }
        Ok((0..ni).map(move |i| {
            // SAFETY: i < ni, the length of the arrays.
            unsafe {
                let eps2 = self.softening.map_or(all, |softening| softening.eps2(i));
                devices::particle(row(self.x, i), eps2)
            }
        }))
    }
}

/// # Safety
///
/// The arrays are null or have `ni` entries.
pub unsafe fn set_i_particles(device: c_int, ni: c_int, arrays: IArrays) -> Result<c_int> {
    let place = Place::new(device, Plain)?;
    // SAFETY: the caller vouches for the lengths; the core copies before it returns.
    let particles = unsafe { arrays.particles(place, count(ni, "ni")?)? };
    devices::set_particles(place, particles, arrays.softening.is_some())?;
    Ok(0)
}

/// # Safety
///
/// The array is null or has `ni` entries.
pub unsafe fn set_eps(device: c_int, ni: c_int, softening: Softening) -> Result<c_int> {
    let place = Place::new(device, Plain)?;
    let ni = count(ni, "ni")?;
    if ni > 0 {
        softening.check()?;
    }
    // SAFETY: i < ni, the length of the array.
    let eps2 = (0..ni).map(|i| unsafe { softening.eps2(i) });
    devices::set_softening(place, eps2)?;
    Ok(0)
}

pub fn run((device, memory): (c_int, Memory)) -> Result<c_int> {
    let place = dialect::place(device, memory)?;
    if devices::run(place)? {
        dialect::acted_with_own_softening("g5_run", memory);
    }
    Ok(0)
}

/// Where results go.
struct Outputs {
    acc: *mut [f64; 3],
    pot: *mut f64,
}

impl Outputs {
    fn new(acc: *mut [f64; 3], pot: *mut f64, ni: usize) -> Result<Self> {
        if ni > 0 {
            not_null(acc, "a")?;
            not_null(pot, "p")?;
        }
        Ok(Self { acc, pot })
    }

    /// Writes the results of the i-particles from `first` on.
    ///
    /// # Safety
    ///
    /// The arrays have as many entries.
    unsafe fn write(&self, first: usize, forces: &[Force]) {
        for (i, force) in (first..).zip(forces) {
            // SAFETY: passed on. The potential of GRAPE-5 is positive.
            unsafe {
                self.acc.add(i).write_unaligned(force.acc);
                self.pot.add(i).write_unaligned(0.0 - force.pot);
            }
        }
    }
}

/// # Safety
///
/// The arrays are null or have `ni` entries.
pub unsafe fn get_force(
    device: c_int,
    ni: c_int,
    acc: *mut [f64; 3],
    pot: *mut f64,
) -> Result<c_int> {
    let ni = count(ni, "ni")?;
    let outputs = Outputs::new(acc, pot, ni)?;
    devices::results(Place::new(device, Plain)?, ni, |forces| {
        // SAFETY: there are ni results, and the caller vouches for as many entries.
        unsafe { outputs.write(0, forces) };
    })?;
    Ok(0)
}

/// # Safety
///
/// The arrays are null or have `ni` entries.
pub unsafe fn forces_on(
    (device, memory): (c_int, Memory),
    arrays: IArrays,
    acc: *mut [f64; 3],
    pot: *mut f64,
    ni: c_int,
) -> Result<c_int> {
    let place = dialect::place(device, memory)?;
    let ni = count(ni, "ni")?;
    let outputs = Outputs::new(acc, pot, ni)?;
    // SAFETY: the caller vouches for the lengths while the call lasts.
    let particles = unsafe { arrays.particles(place, ni)? };
    let mut first = 0;
    devices::forces_on(place, particles, |forces| {
        // SAFETY: together there are ni results, and the caller vouches for as many entries.
        unsafe { outputs.write(first, forces) };
        first += forces.len();
        Ok(())
    })?;
    if arrays.softening.is_some() {
        dialect::acted_with_own_softening("g5_calculate_force_on_xe", memory);
    }
    Ok(0)
}
