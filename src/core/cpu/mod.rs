//! The CPU backend: vector kernels over tiles of predicted particles, on all cores.
//!
//! The particles of a page are predicted in double precision into a tile, which is used while it is in the cache. A
//! leaf of the summation tree is one or two runs of 32 vectors of a tile, so that a lane adds at most 32 terms in single
//! precision before the two sums are joined.

mod at_rest;
mod attraction;
mod coincident;
mod division;
mod dominant;
mod engine;
mod grid;
mod in_motion;
mod intervals;
mod irregular;
mod job;
mod kernel;
mod leaves;
mod lists;
mod masses;
mod mean_root;
mod nearest;
mod pair;
mod pool;
mod regular;
pub mod resolution;
mod resum;
mod simd;
mod target;
mod tasks;
#[cfg(test)]
mod tests;
mod threads;
mod tile;
mod times;
mod units;
mod workspace;

use self::engine::Cpu;
use self::irregular::Irregular;
use self::regular::Regular;
use self::simd::portable::Portable;
use crate::force::Backend;
use crate::force::irregular::IrregularForce;
use crate::force::regular::RegularForce;
use crate::process::settings::{InstructionSet, Precision, Settings};

pub use self::division::threads_for;
pub use self::engine::any;
pub use self::mean_root::{SAMPLES, products, samples};
pub use self::pool::Pool;
pub use self::regular::UncertainBand;
pub use self::threads::threads;

/// [`crate::choice::Rule::up_to`] on a CPU: up to this many j-particles `auto` computes in double precision. The number
/// covers clusters of a thousand stars with their companions. For such clusters double precision costs 1.5 to 2 times
/// as much for each pair as `mixed`, but their runs are short.
pub const DOUBLE_UP_TO: usize = 1280;

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
    best(settings, |set| {
        build(
            set,
            settings.precision.arithmetic(),
            threads,
            settings.split,
        )
    })
}

/// As [`choose`], for NBODY6's regular force.
pub fn choose_regular(settings: &Settings) -> Box<dyn RegularForce> {
    let threads = threads(settings.threads);
    best(settings, |set| {
        build_regular(
            set,
            settings.precision.arithmetic(),
            threads,
            settings.split,
        )
    })
}

/// As [`choose`], for NBODY6's irregular force, which is double precision always.
pub fn choose_irregular(settings: &Settings) -> Box<dyn IrregularForce> {
    best(settings, build_irregular)
}

/// What is made of the instruction set that `settings` ask for, or else of the best.
fn best<T>(settings: &Settings, make: impl Fn(InstructionSet) -> Option<T>) -> T {
    if settings.simd != InstructionSet::Auto {
        if let Some(made) = make(settings.simd) {
            return made;
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

/// The tokens of one instruction set for both element types, where the processor has it.
macro_rules! tokens {
    ($set:expr, $single:ident, $double:ident, $made:expr) => {
        match $set {
            InstructionSet::Portable => {
                let ($single, $double) =
                    (Portable::<f32, 4>::default(), Portable::<f64, 2>::default());
                Some($made)
            }
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Avx2 => {
                let ($single, $double) = (
                    simd::avx2::Avx2::<f32>::detect()?,
                    simd::avx2::Avx2::<f64>::detect()?,
                );
                Some($made)
            }
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Avx512 => {
                let ($single, $double) = (
                    simd::avx512::Avx512::<f32>::detect()?,
                    simd::avx512::Avx512::<f64>::detect()?,
                );
                Some($made)
            }
            #[cfg(target_arch = "aarch64")]
            InstructionSet::Neon => {
                let ($single, $double) = (
                    simd::neon::Neon::<f32>::detect()?,
                    simd::neon::Neon::<f64>::detect()?,
                );
                Some($made)
            }
            _ => None,
        }
    };
}

/// What a backend makes of the precision, from the tokens of both element types.
macro_rules! in_precision {
    ($precision:expr, $single:expr, $double:expr, $backend:ident($($with:expr),*)) => {
        match $precision {
            Precision::Mixed => $backend::<_, true>::boxed($single, $($with),*),
            Precision::Single | Precision::Reduced => $backend::<_, false>::boxed($single, $($with),*),
            Precision::Double | Precision::DoubleSingle => $backend::<_, false>::boxed($double, $($with),*),
        }
    };
}

/// The backend for one instruction set; `None` where the processor lacks it. With `split`, threads may divide the
/// j-particles of a small block. If `precision` is `double-single`, the backend computes in double precision, which
/// errs less and takes no longer.
pub fn build(
    set: InstructionSet,
    precision: Precision,
    threads: usize,
    split: bool,
) -> Option<Box<dyn Backend>> {
    let precision = precision.without_pairs();
    tokens!(
        set,
        single,
        double,
        in_precision!(
            precision,
            single,
            double,
            Cpu(set, precision, threads, split)
        )
    )
}

/// As [`build`], for NBODY6's regular force.
pub fn build_regular(
    set: InstructionSet,
    precision: Precision,
    threads: usize,
    split: bool,
) -> Option<Box<dyn RegularForce>> {
    tokens!(
        set,
        single,
        double,
        in_precision!(precision, single, double, Regular(set, threads, split))
    )
}

/// As [`build`], for NBODY6's irregular force.
pub fn build_irregular(set: InstructionSet) -> Option<Box<dyn IrregularForce>> {
    tokens!(set, _single, double, Irregular::boxed(double))
}
