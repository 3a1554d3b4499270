//! Writes to the j-particle memory. While a block needs the memory unchanged, a write is appended to a log, and becomes part of
//! the memory when the next block begins.

use std::collections::HashMap;

use super::{Cluster, Phase, Stored};
use crate::error::{Error, Result};
use crate::observe::noise::Noise;
use crate::process;
use crate::sources::jmemory::{self, ClientParticle, Given, ZERO};
use crate::sources::particle::JParticle;

impl Cluster {
    /// Sets the time to which the next block predicts the j-particles.
    pub fn set_ti(&mut self, ti: f64) {
        self.ti = ti;
    }

    /// Stores a j-particle for the next block.
    ///
    /// # Errors
    ///
    /// The address is negative, or there is no memory. Nothing changes then.
    ///
    /// # Safety
    ///
    /// The pointers among the numbers point to three numbers each.
    #[inline(always)]
    pub unsafe fn set_numbers(&mut self, address: i32, numbers: ClientParticle) -> Result<()> {
        self.end_run();
        // SAFETY: passed on.
        unsafe { self.write(address, &self.settled(numbers), false)? };
        // A comparison in place of a store, here and in the calls below: a processor makes one store at a time.
        if self.stored != Stored::Moving {
            self.stored = Stored::Moving;
        }
        Ok(())
    }

    /// The same for a call that is the next one of a run of writes ([`JMemory::begin_run`](jmemory::JMemory::begin_run)) and of which
    /// nothing is to be noted. Returns whether it was.
    ///
    /// # Safety
    ///
    /// That of [`Cluster::set_numbers`].
    #[inline(always)]
    pub unsafe fn set_in_run(&mut self, address: i32, numbers: ClientParticle) -> bool {
        let numbers = self.settled(numbers);
        // SAFETY: passed on.
        !Noise::samples(address) && unsafe { self.memory.run.write(address, &numbers) }
    }

    /// The same for a call that only appends to a log of writes to which others were appended before.
    ///
    /// # Safety
    ///
    /// That of [`Cluster::set_numbers`].
    #[inline(always)]
    pub unsafe fn set_in_log(&mut self, address: i32, numbers: ClientParticle) -> bool {
        let Some(position) = self.memory.may_append(address) else {
            return false;
        };
        if self.stored != Stored::Moving || !self.noise.passes(address) {
            return false;
        }
        let numbers = self.settled(numbers);
        // SAFETY: passed on.
        unsafe { self.memory.append(position, address, &numbers) };
        true
    }

    /// The numbers as this cluster takes them.
    #[inline(always)]
    fn settled(&self, numbers: ClientParticle) -> ClientParticle {
        let [x, v, aby2, a1by6, a2by18] = numbers.vectors;
        let a2by18 = if self.settings.snap { a2by18 } else { ZERO };
        ClientParticle {
            vectors: [x, v, aby2, a1by6, a2by18],
            ..numbers
        }
    }

    /// Begins a run after the write to `address`, if this write follows the one before and was made at once.
    #[inline(always)]
    pub fn follow(&mut self, address: i32) {
        if self.memory.run.follow(address) {
            self.begin_run(address);
        }
    }

    #[inline(never)]
    fn begin_run(&mut self, address: i32) {
        if self.memory.may_run(address) {
            let end = self.noise.quiet_until(address.wrapping_add(1));
            self.memory.begin_run(end);
        }
    }

    /// Ends the run of writes, before anything but its next write uses the cluster.
    #[inline(always)]
    pub fn end_run(&mut self) {
        if self.memory.run.is_open() {
            self.finish_run();
        }
    }

    #[cold]
    #[inline(never)]
    fn finish_run(&mut self) {
        let count = self.memory.end_run();
        self.noise.skip(count);
    }

    /// The same with the particle as a value.
    ///
    /// # Errors
    ///
    /// Those of [`Cluster::set_numbers`].
    pub fn set_j_particle(&mut self, address: i32, particle: &JParticle) -> Result<()> {
        // SAFETY: they are the vectors of the particle.
        unsafe { self.set_numbers(address, ClientParticle::from(particle)) }
    }

    /// Writes a particle for the next block. `at_rest` says that it has nothing but a label, a mass and a position.
    ///
    /// # Safety
    ///
    /// That of [`Cluster::set_numbers`].
    #[inline(always)]
    unsafe fn write(
        &mut self,
        address: i32,
        numbers: &ClientParticle,
        at_rest: bool,
    ) -> Result<()> {
        // If there is no memory for its page, the write is refused now and not at the next block.
        let position = match self.memory.reserve(address) {
            Ok(position) => position,
            Err(error) => return Err(self.refuse_write(error)),
        };
        let at_once = self.phase == Phase::Free
            // SAFETY: passed on.
            && unsafe { self.memory.write_at_once(position, address, numbers, at_rest) };
        if at_once {
            return Ok(());
        }
        if self.memory.is_full() {
            self.make_room()?;
        }
        // SAFETY: passed on.
        unsafe { self.memory.append(position, address, numbers) };
        Ok(())
    }

    /// Makes room in the log of writes. If the log has its greatest length, or there is no memory, everything that
    /// the client may still ask about the block is computed at once; then the writes can be applied.
    #[cold]
    #[inline(never)]
    fn make_room(&mut self) -> Result<()> {
        if self.memory.grow() == Ok(true) {
            return Ok(());
        }
        if self.phase != Phase::Free {
            process::protected(|| self.settle());
        }
        match self.memory.empty_log() {
            true => Ok(()),
            false => Err(self.refuse_write(Error::OutOfMemory {
                purpose: jmemory::PURPOSE,
            })),
        }
    }

    /// Notes that a write is refused, and returns its error. A client that was told of it is not told again that the particle
    /// is missing.
    #[cold]
    #[inline(never)]
    fn refuse_write(&mut self, error: Error) -> Error {
        self.complete = usize::MAX;
        error
    }

    /// Notes the step to come of the particle that was just stored at `address`, for [`crate::observe::noise`].
    #[inline(always)]
    pub fn note_step(&mut self, address: i32, dt: f64) {
        if self.noise.wants(address) {
            self.note_sampled(address, dt);
        }
    }

    /// Reads the stored particle back, for the few steps that are sampled; so other writes need not keep a copy.
    #[cold]
    #[inline(never)]
    fn note_sampled(&mut self, address: i32, dt: f64) {
        let appended = self.memory.appended().next_back();
        let stored = match appended {
            Some((_, row)) => Some(row.particle()),
            None => self.memory.read(address),
        };
        if let Some(particle) = stored {
            self.noise.note(address, dt, &particle);
        }
    }

    /// Stores a j-particle at rest, with this mass and position, for the next block.
    ///
    /// # Errors
    ///
    /// Those of [`Cluster::set_j_particle`].
    #[inline(always)]
    pub fn set_mass_position(
        &mut self,
        address: i32,
        index: i32,
        mass: f64,
        x: &[f64; 3],
    ) -> Result<()> {
        let mut vectors = [ZERO; 5];
        vectors[0] = x.as_ptr();
        let numbers = ClientParticle {
            index,
            t: 0.0,
            mass,
            vectors,
        };
        // SAFETY: each is an array of three.
        unsafe { self.write(address, &numbers, true) }
    }

    /// [`JMemory::fill`](crate::sources::jmemory::JMemory::fill), for GRAPE-5, which has no block at that time.
    ///
    /// # Errors
    ///
    /// Those of `JMemory::fill`.
    ///
    /// # Safety
    ///
    /// That of `JMemory::fill`.
    pub unsafe fn fill(&mut self, address: i32, count: usize, given: &Given) -> Result<()> {
        // GRAPE-5 begins a block and fetches its results in one call. One is left behind only in the child of a fork,
        // where a thread of the parent computed it: nobody will ask for it.
        if self.phase != Phase::Free {
            self.drop_block();
        }
        // SAFETY: passed on.
        unsafe { self.memory.fill(address, count, given) }
    }

    /// [`JMemory::load`](jmemory::JMemory::load). A block is forgotten, and what could still be asked about it.
    ///
    /// # Errors
    ///
    /// There is no memory. No particle changes then.
    ///
    /// # Safety
    ///
    /// The client has `count` of all numbers that it gives.
    pub unsafe fn load(&mut self, count: usize, given: Given) -> Result<()> {
        let kind = kind_of(&given);
        let given = self.before_arrays(given);
        // SAFETY: passed on.
        unsafe { self.memory.load(count, &given)? };
        self.stored = kind;
        Ok(())
    }

    /// [`JMemory::update`](jmemory::JMemory::update). A block is forgotten, as by [`Cluster::load`].
    ///
    /// # Safety
    ///
    /// The client has `count` of all numbers that it gives.
    pub unsafe fn update(&mut self, count: usize, address: impl Fn(usize) -> usize, given: Given) {
        self.stored = self.stored.max(kind_of(&given));
        let given = self.before_arrays(given);
        // SAFETY: passed on.
        unsafe { self.memory.update(count, address, &given) };
    }

    /// Has all pages be columns from the beginning.
    ///
    /// # Errors
    ///
    /// There is no memory.
    pub fn begin_with_columns(&mut self) -> Result<()> {
        self.memory.make_columns()
    }

    fn before_arrays(&mut self, given: Given) -> Given {
        if self.phase != Phase::Free {
            self.drop_block();
        }
        match self.settings.snap {
            true => given,
            false => given.without_snap(),
        }
    }

    /// The j-particle at an address, as it was stored, and the square of its own softening length.
    pub fn stored(&self, address: usize) -> Option<(JParticle, f64)> {
        let particle = self.memory.read(i32::try_from(address).ok()?)?;
        Some((particle, self.memory.own_eps2(address)))
    }

    /// The positions and velocities at the addresses `0..nj` as the next block will predict them;
    /// `None` where no particle was ever stored.
    ///
    /// # Errors
    ///
    /// There is no memory.
    pub fn predicted(
        &self,
        nj: usize,
    ) -> Result<impl ExactSizeIterator<Item = Option<([f64; 3], [f64; 3])>>> {
        let mut appended = HashMap::new();
        let room = appended.try_reserve(self.memory.appended().len());
        room.map_err(|_| Error::OutOfMemory {
            purpose: jmemory::PURPOSE,
        })?;
        appended.extend(self.memory.appended());
        Ok(
            (0..i32::try_from(nj).unwrap_or(i32::MAX)).map(move |address| {
                let p = match appended.get(&address) {
                    Some(row) => row.particle(),
                    None => self.memory.read(address)?,
                };
                Some(p.predicted(self.ti))
            }),
        )
    }
}

/// What these arrays store.
fn kind_of(given: &Given) -> Stored {
    match given.moves() {
        true => Stored::Moving,
        false => Stored::ArraysAtRest,
    }
}
