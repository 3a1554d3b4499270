//! The low-level calls (`g6_set_nip` and so on): i-particles in numbered registers, and a force
//! call without `firsthalf`.

use super::Cluster;
use super::block::I_PARTICLES;
use crate::error::{Error, Result};
use crate::process::allocation;
use crate::sources::jmemory;
use crate::sources::particle::IParticle;

/// The most registers that a client may use. GRAPE-6 had 48.
const REGISTERS_AT_MOST: usize = 1 << 20;

/// The registers, and how many of them and of the j-particles take part.
#[derive(Default)]
pub(super) struct Registers {
    nip: usize,
    njp: usize,
    particles: Vec<IParticle>,
}

impl Cluster {
    /// Sets the number of i-particles of the low-level force call.
    pub fn set_nip(&mut self, nip: usize) {
        self.registers.nip = nip;
    }

    /// Sets the number of leading addresses of the low-level force call.
    pub fn set_njp(&mut self, njp: usize) {
        self.registers.njp = njp;
    }

    /// Number of leading addresses of the low-level force call.
    pub fn njp(&self) -> usize {
        self.registers.njp
    }

    /// Loads one i-particle register.
    ///
    /// # Errors
    ///
    /// The address is negative or above the bound, or there is no memory.
    pub fn set_i_particle(&mut self, address: i32, particle: IParticle) -> Result<()> {
        let address = jmemory::check_address(address)?;
        if address >= REGISTERS_AT_MOST {
            return Err(Error::OutOfRange {
                argument: "address",
                value: address as i64,
                legal: "there are 1048576 i-particle registers",
            });
        }
        let registers = &mut self.registers.particles;
        if registers.len() <= address {
            allocation::lengthen(registers, address + 1, I_PARTICLES, IParticle::default)?;
        }
        registers[address] = particle;
        Ok(())
    }

    /// Begins a block with the i-particle registers `0..nip`. Returns `nip`.
    ///
    /// # Errors
    ///
    /// Those of [`Cluster::firsthalf`], or fewer registers were loaded than `nip`.
    pub fn low_level_firsthalf(&mut self) -> Result<usize> {
        let Registers {
            nip,
            njp,
            particles,
        } = &mut self.registers;
        let (nip, njp) = (*nip, *njp);
        if nip > particles.len() {
            return Err(Error::TooFewRegisters {
                announced: nip,
                loaded: particles.len(),
            });
        }
        let registers = std::mem::take(particles);
        let begun = self.firsthalf(njp, registers[..nip].iter().copied());
        self.registers.particles = registers;
        begun.map(|()| nip)
    }
}
