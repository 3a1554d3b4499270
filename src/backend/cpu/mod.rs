//! The CPU backend: vector kernels over tiles of predicted particles, on all cores.
//!
//! The particles of a page are predicted in double precision into a tile and used
//! while it is close to the processor. A leaf of the summation tree is a run of
//! 32 vectors of a tile: single-precision sums of at most 32 terms a lane.

mod again;
mod division;
mod engine;
mod kernel;
mod lists;
mod nearest;
mod pool;
mod reach;
mod simd;
mod tasks;
#[cfg(test)]
mod tests;
mod threads;
mod tile;
mod workspace;

use self::engine::Cpu;
use self::simd::portable::Portable;
use super::Backend;
use crate::process::settings::{InstructionSet, Precision, Settings};

pub use self::threads::threads;

/// The instruction sets that this processor has, best first.
pub fn available() -> Vec<InstructionSet> {
    [
        InstructionSet::Avx512,
        InstructionSet::Avx2,
        InstructionSet::Neon,
        InstructionSet::Portable,
    ]
    .into_iter()
    .filter(|&set| build(set, Precision::Mixed, 1, true).is_some())
    .collect()
}

/// The backend for the best instruction set that the processor has and `settings` allow.
pub fn choose(settings: &Settings) -> Box<dyn Backend> {
    let threads = threads(settings.threads);
    let make = |set| build(set, settings.precision, threads, settings.split);
    if settings.simd != InstructionSet::Auto {
        if let Some(backend) = make(settings.simd) {
            return backend;
        }
        crate::process::log::error(
            "KIRIN_SIMD",
            format_args!("this processor has no {}", settings.simd),
        );
    }
    make(InstructionSet::Avx512)
        .or_else(|| make(InstructionSet::Avx2))
        .or_else(|| make(InstructionSet::Neon))
        .or_else(|| make(InstructionSet::Portable))
        .expect("the portable instruction set is everywhere")
}

/// The backend for one instruction set, where the processor has it. With `split`, threads may
/// divide the j-particles of a small block.
pub fn build(
    set: InstructionSet,
    precision: Precision,
    threads: usize,
    split: bool,
) -> Option<Box<dyn Backend>> {
    /// The backend of one precision, from the tokens of both element types.
    macro_rules! with {
        ($single:expr, $double:expr) => {
            match precision {
                Precision::Mixed => Cpu::<_, true>::boxed($single, set, precision, threads, split),
                Precision::Single => {
                    Cpu::<_, false>::boxed($single, set, precision, threads, split)
                }
                Precision::Double => {
                    Cpu::<_, false>::boxed($double, set, precision, threads, split)
                }
            }
        };
    }
    match set {
        InstructionSet::Portable => Some(with!(
            Portable::<f32, 4>::default(),
            Portable::<f64, 2>::default()
        )),
        #[cfg(target_arch = "x86_64")]
        InstructionSet::Avx2 => Some(with!(
            simd::avx2::Avx2::<f32>::detect()?,
            simd::avx2::Avx2::<f64>::detect()?
        )),
        #[cfg(target_arch = "x86_64")]
        InstructionSet::Avx512 => Some(with!(
            simd::avx512::Avx512::<f32>::detect()?,
            simd::avx512::Avx512::<f64>::detect()?
        )),
        #[cfg(target_arch = "aarch64")]
        InstructionSet::Neon => Some(with!(
            simd::neon::Neon::<f32>::detect()?,
            simd::neon::Neon::<f64>::detect()?
        )),
        _ => None,
    }
}
