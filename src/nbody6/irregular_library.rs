//! The irregular force: stars are written one by one, predicted here, and summed over their neighbour lists.

use std::ops::Range;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};
use std::time::Duration;

use crate::nbody6::statistics::COUNTS;
use kirin_core::choice;
use kirin_core::cpu::{self, Pool};
use kirin_core::error::{Error, Result};
use kirin_core::force::irregular::{IrregularForce, NeighbourForce};
use kirin_core::process::{self, allocation, settings};
use kirin_core::sources::stars::{self, Star, Stars};
use kirin_core::sources::sum_tree::share;
use kirin_core::trace::nbody6::{Call, record};

/// Rough nanoseconds of a pair on one core, and tasks for each thread.
const PAIR: f64 = 5.0;
const TASKS_PER_THREAD: usize = 4;

/// The stars of the process.
pub struct IrregularLibrary {
    stars: AtomicPtr<Stars>,
    /// Time of the last prediction that NBODY6 asked for.
    predicted: AtomicU64,
}

/// The library behind the exported functions.
pub static LIBRARY: IrregularLibrary = IrregularLibrary::new();

/// The neighbours of a star, as NBODY6 counts addresses: from 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Answer {
    /// Force and derivative.
    pub force: NeighbourForce,
    /// Address of the nearest neighbour, 0 if there is none.
    pub nearest: i32,
}

impl Answer {
    /// Where no force can be told.
    pub const REFUSED: Self = Self {
        force: NeighbourForce {
            acc: [f64::NAN; 3],
            jerk: [f64::NAN; 3],
            nearest: None,
        },
        nearest: 0,
    };
}

impl IrregularLibrary {
    /// A library that is not open.
    pub const fn new() -> Self {
        Self {
            stars: AtomicPtr::new(ptr::null_mut()),
            predicted: AtomicU64::new(0),
        }
    }

    /// Makes room for `capacity` stars. If the library is open, its stars and lists are kept.
    ///
    /// # Errors
    ///
    /// There is no memory; nothing has changed.
    ///
    /// # Safety
    ///
    /// No other thread is in a call of the irregular force.
    pub unsafe fn open(&self, capacity: usize) -> Result<()> {
        let before = self.stars().ok();
        if before.is_some_and(|before| before.capacity() >= capacity) {
            return Ok(());
        }
        // What the forces need besides is made before stars and lists take the memory.
        process::protected(|| means().and_then(|_| Pool::get()))?;
        let stars = allocation::boxed(Stars::new(capacity)?, stars::PURPOSE)?;
        if let Some(before) = before {
            // SAFETY: the new stars have room for them; the rest is passed on.
            unsafe { before.move_to(&stars) };
        }
        // SAFETY: passed on.
        unsafe { self.replace(Box::into_raw(stars)) };
        Ok(())
    }

    /// Forgets all stars.
    ///
    /// # Safety
    ///
    /// As [`IrregularLibrary::open`].
    pub unsafe fn close(&self) {
        // SAFETY: passed on.
        unsafe { self.replace(ptr::null_mut()) };
        record::call(|| Call::IrregularClose);
    }

    unsafe fn replace(&self, stars: *mut Stars) {
        let before = self.stars.swap(stars, Ordering::AcqRel);
        if !before.is_null() {
            // SAFETY: it was made by a box, and no other thread has it: the caller vouches for that.
            drop(unsafe { Box::from_raw(before) });
        }
    }

    #[inline(always)]
    fn stars(&self) -> Result<&Stars> {
        // SAFETY: complete before it could be reached, and freed while nobody else is in a call.
        unsafe { self.stars.load(Ordering::Acquire).as_ref() }.ok_or(Error::NotOpen {
            by: "irr_simd_open or gpuirr_open",
        })
    }

    /// Stores a star at an address from 1.
    ///
    /// # Errors
    ///
    /// There is no such address.
    ///
    /// # Safety
    ///
    /// No other thread is in a call about this address, or in one of all stars.
    #[inline(always)]
    pub unsafe fn set_star(&self, address: i32, star: Star) -> Result<()> {
        let stars = self.stars()?;
        let place = place(address, stars, "addr")?;
        // SAFETY: below the capacity; the rest is passed on.
        unsafe { stars.write(place, star) };
        // Read back only where it is wanted: otherwise the compiler would keep a second copy at hand.
        record::call(move || Call::Star {
            address,
            // SAFETY: as above.
            star: unsafe { *stars.star(place) }.into(),
        });
        Ok(())
    }

    /// Stores the neighbours, addresses from 1, of the star at an address from 1.
    ///
    /// # Errors
    ///
    /// One of the addresses does not exist, or there is no memory. The caller then refuses the list.
    ///
    /// # Safety
    ///
    /// As [`IrregularLibrary::set_star`].
    pub unsafe fn set_list(
        &self,
        address: i32,
        neighbours: impl ExactSizeIterator<Item = i32> + Clone,
    ) -> Result<()> {
        let stars = self.stars()?;
        let at = place(address, stars, "addr")?;
        let legal = 1..=stars.capacity() as i64;
        if let Some(bad) = neighbours.clone().find(|&n| !legal.contains(&n.into())) {
            place(bad, stars, "nblist")?;
        }
        stars.write_list(at, neighbours.clone().map(|n| (n - 1) as u32))?;
        record::list(address, neighbours);
        Ok(())
    }

    /// Notes that a list for the star at an address from 1 was refused. Until the next good list for this address,
    /// forces on its star are refused.
    pub fn refuse_list(&self, address: i32) {
        if let Ok(stars) = self.stars()
            && let Ok(place) = place(address, stars, "addr")
        {
            stars.refuse_list(place);
        }
    }

    /// Has NBODY6's forces that follow belong to the time `ti`.
    pub fn predict(&self, ti: f64) {
        self.predicted.store(ti.to_bits(), Ordering::Relaxed);
    }

    /// The time that [`IrregularLibrary::predict`] set last.
    pub fn predicted(&self) -> f64 {
        f64::from_bits(self.predicted.load(Ordering::Relaxed))
    }

    /// Computes the forces at the time `ti` on the stars at the addresses `address(0)` to `address(count - 1)`, which
    /// count from 1. Hands each force to `answer`, from several threads; a force that cannot be computed is
    /// [`Answer::REFUSED`].
    ///
    /// # Errors
    ///
    /// There is no star at some address, or its list was refused: the error names the first such address, and the forces
    /// at all others are right. Or the library is not open or has no memory: all forces are refused then.
    ///
    /// # Safety
    ///
    /// No other thread writes stars or lists.
    pub unsafe fn forces(
        &self,
        ti: f64,
        count: usize,
        address: &(dyn Fn(usize) -> i32 + Sync),
        answer: &(dyn Fn(usize, &Answer) + Sync),
    ) -> Result<()> {
        // SAFETY: passed on.
        let done = unsafe { self.all_forces(ti, count, address, answer) };
        if done.is_err() {
            (0..count).for_each(|k| answer(k, &Answer::REFUSED));
        }
        done?.map_or(Ok(()), Err)
    }

    /// As [`IrregularLibrary::forces`]. Returns what is wrong with the first address that has no force.
    ///
    /// # Safety
    ///
    /// As [`IrregularLibrary::forces`].
    unsafe fn all_forces(
        &self,
        ti: f64,
        count: usize,
        address: &(dyn Fn(usize) -> i32 + Sync),
        answer: &(dyn Fn(usize, &Answer) + Sync),
    ) -> Result<Option<Error>> {
        let stars = self.stars()?;
        let mut pairs = 0;
        let mut refused = None;
        for k in 0..count {
            // SAFETY: passed on.
            match unsafe { place_of_star(address(k), stars) } {
                // SAFETY: below the capacity; the rest is passed on.
                Ok(place) => pairs += unsafe { stars.list(place) }.len(),
                Err(error) => {
                    answer(k, &Answer::REFUSED);
                    refused.get_or_insert(error);
                }
            }
        }
        let begin = COUNTS.begin();
        let request = Request {
            stars,
            ti,
            count,
            pairs,
            all_have_forces: refused.is_none(),
            address,
            answer,
        };
        // SAFETY: passed on.
        process::protected(|| unsafe { request.compute() })?;
        COUNTS.irregular.add(count, pairs, begin);
        Ok(refused)
    }
}

/// Some irregular forces.
struct Request<'a> {
    stars: &'a Stars,
    ti: f64,
    count: usize,
    pairs: usize,
    /// Whether there is a star at each address, and no list was refused. Nothing is computed for the others.
    all_have_forces: bool,
    address: &'a (dyn Fn(usize) -> i32 + Sync),
    answer: &'a (dyn Fn(usize, &Answer) + Sync),
}

impl Request<'_> {
    /// # Safety
    ///
    /// As [`IrregularLibrary::forces`].
    unsafe fn compute(&self) -> Result<()> {
        let &Self {
            stars,
            ti,
            count,
            pairs,
            all_have_forces,
            address,
            answer,
        } = self;
        let kernel = &means()?.kernel;
        // SAFETY: passed on.
        let has_force =
            |&k: &usize| all_have_forces || unsafe { place_of_star(address(k), stars) }.is_ok();
        share_out(count, pairs as f64 * PAIR, &|mut rest| {
            let place = |k: usize| (address(k) - 1) as usize;
            let mut answer = |k: usize, &force: &NeighbourForce| {
                let nearest = force.nearest.map_or(0, |n| n as i32 + 1);
                answer(k, &Answer { force, nearest });
            };
            while let Some(start) = rest.find(has_force) {
                let end = match all_have_forces {
                    true => rest.end,
                    false => rest.find(|k| !has_force(k)).unwrap_or(rest.end),
                };
                rest.start = end;
                // SAFETY: there is a star at each of these addresses; the rest is passed on.
                unsafe { kernel.forces(stars, ti, start..end, &place, &mut answer) };
            }
        })
    }
}

/// Has `part` work on ranges that together are `0..count`, on as many threads as `work` (nanoseconds on one) is worth.
///
/// # Errors
///
/// There is no memory.
pub fn share_out(count: usize, work: f64, part: &(dyn Fn(Range<usize>) + Sync)) -> Result<()> {
    let threads = cpu::threads_for(work, means()?.threads);
    let effort = Duration::from_nanos(work as u64);
    let tasks = match threads {
        1 => 1,
        _ => count.min(threads * TASKS_PER_THREAD),
    };
    let run = || Pool::get()?.run(tasks, threads, effort, &|t| part(share(count, tasks, t)));
    // In the child of a signal handler's fork what the threads had begun is done anew.
    match run() {
        Err(Error::ThreadsLost) => run(),
        done => done,
    }
}

/// The place of the star at an address from 1.
///
/// # Errors
///
/// There is no star, or its list was refused.
///
/// # Safety
///
/// No other thread writes stars.
unsafe fn place_of_star(address: i32, stars: &Stars) -> Result<usize> {
    let place = place(address, stars, "addr")?;
    let refused = |legal| {
        Err(Error::OutOfRange {
            argument: "addr",
            value: address.into(),
            legal,
        })
    };
    // SAFETY: below the capacity; the rest is passed on.
    if unsafe { stars.star(place) }.present == 0.0 {
        refused("no star was stored there")
    } else if stars.has_refused_list(place) {
        refused("the last neighbour list for this star was refused")
    } else {
        Ok(place)
    }
}

impl Default for IrregularLibrary {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for IrregularLibrary {
    fn drop(&mut self) {
        // SAFETY: nobody else has the library any more.
        unsafe { self.close() };
    }
}

/// The kernel and the threads of the irregular force.
struct Means {
    kernel: Box<dyn IrregularForce>,
    threads: usize,
}

/// What computes, chosen at the first need.
///
/// # Errors
///
/// It is not chosen yet, and there is no memory.
fn means() -> Result<&'static Means> {
    // Nobody waits for another thread, which a child of a fork would not have: both choose.
    static CHOSEN: AtomicPtr<Means> = AtomicPtr::new(ptr::null_mut());
    // SAFETY: never freed, and complete before it can be reached.
    if let Some(chosen) = unsafe { CHOSEN.load(Ordering::Acquire).as_ref() } {
        return Ok(chosen);
    }
    allocation::spare(0, stars::PURPOSE)?;
    let settings = settings::settings();
    let mine = Box::into_raw(Box::new(Means {
        kernel: choice::choose_irregular(settings),
        threads: cpu::threads(settings.threads),
    }));
    let order = (Ordering::AcqRel, Ordering::Acquire);
    let first = CHOSEN.compare_exchange(ptr::null_mut(), mine, order.0, order.1);
    // SAFETY: as above; the thread that was slower leaves its own unused.
    Ok(unsafe { &*first.map_or_else(|others| others, |_| mine) })
}

/// The place of an address from 1.
#[inline(always)]
fn place(address: i32, stars: &Stars, argument: &'static str) -> Result<usize> {
    match usize::try_from(i64::from(address) - 1) {
        Ok(place) if place < stars.capacity() => Ok(place),
        _ => Err(Error::OutOfRange {
            argument,
            value: address.into(),
            legal: "addresses begin at 1 and end at the nmax of the open call",
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    fn star(address: i32) -> Star {
        Star {
            x: [f64::from(address), 0.0, 0.0],
            mass: 1.0,
            present: 1.0,
            ..Star::default()
        }
    }

    /// Answers of the library, and whether it reports an error.
    fn ask(library: &IrregularLibrary, addresses: &[i32]) -> (Vec<Answer>, bool) {
        let answers = Mutex::new(vec![None; addresses.len()]);
        let address = |k: usize| addresses[k];
        let answer = |k: usize, answer: &Answer| answers.lock().unwrap()[k] = Some(*answer);
        // SAFETY: no other thread knows the library.
        let done = unsafe { library.forces(0.0, addresses.len(), &address, &answer) };
        let all = answers.into_inner().unwrap().into_iter();
        (all.map(|a| a.expect("an answer")).collect(), done.is_err())
    }

    /// Stars 1, 2 and 4, each with all others in its list.
    fn three_stars(library: &IrregularLibrary) {
        for address in [1, 2, 4] {
            // SAFETY: no other thread knows the library.
            unsafe {
                library.set_star(address, star(address)).unwrap();
                library.set_list(address, [1, 2, 4].into_iter()).unwrap();
            }
        }
    }

    #[test]
    fn an_address_without_a_star_spoils_its_own_answer_only() {
        let library = IrregularLibrary::new();
        let refused = |a: &Answer| a.nearest == 0 && a.force.acc.iter().all(|c| c.is_nan());
        let (closed, failed) = ask(&library, &[1, 2]);
        assert!(closed.iter().all(refused) && failed);
        // SAFETY: no other thread knows the library.
        unsafe { library.open(5).unwrap() };
        three_stars(&library);
        let (right, failed) = ask(&library, &[1, 2, 4]);
        assert!(!failed && right[2].force.acc[0] == -1.0 / 4.0 - 1.0 / 9.0);
        for bad in [3, 0, -1, 6, i32::MIN, i32::MAX] {
            let (found, failed) = ask(&library, &[bad, 1, bad, bad, 2, 4, bad]);
            assert!(failed, "{bad}");
            assert!([0, 2, 3, 6].iter().all(|&k| refused(&found[k])), "{bad}");
            assert_eq!([found[1], found[4], found[5]], right[..], "{bad}");
        }
    }

    #[test]
    fn a_refused_list_spoils_the_answers_of_its_star_until_the_next() {
        let library = IrregularLibrary::new();
        library.refuse_list(1);
        // SAFETY: no other thread knows the library.
        unsafe { library.open(5).unwrap() };
        three_stars(&library);
        let (right, _) = ask(&library, &[1, 2, 4]);
        for address in [2, 2, 3, 0, 6] {
            library.refuse_list(address);
        }
        for capacity in [5, 70] {
            // SAFETY: as above.
            unsafe { library.open(capacity).unwrap() };
            let (found, failed) = ask(&library, &[1, 2, 4]);
            assert!(failed && found[1].force.jerk[0].is_nan() && found[1].nearest == 0);
            assert_eq!([found[0], found[2]], [right[0], right[2]]);
        }
        // SAFETY: as above.
        unsafe { library.set_list(2, [1, 2, 4].into_iter()).unwrap() };
        assert_eq!(ask(&library, &[1, 2, 4]), (right, false));
        library.refuse_list(4);
    }

    #[test]
    fn a_second_open_keeps_stars_and_lists() {
        let library = IrregularLibrary::new();
        // SAFETY: no other thread knows the library.
        unsafe { library.open(5).unwrap() };
        three_stars(&library);
        let before = ask(&library, &[1, 2, 4]);
        for capacity in [5, 3, 70, 0] {
            // SAFETY: as above.
            unsafe { library.open(capacity).unwrap() };
            assert_eq!(ask(&library, &[1, 2, 4]), before, "{capacity}");
        }
        // SAFETY: as above.
        unsafe {
            library.set_star(70, star(3)).unwrap();
            library.close();
            library.open(5).unwrap();
        }
        assert!(ask(&library, &[1]).1, "closing forgets");
    }
}
