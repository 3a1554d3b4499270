//! The peak of the arithmetic units: independent fused multiply-adds per second of one core, in a loop without
//! other work.
//!
//! The pair loop of `src/core/cpu/kernel.rs` takes the counted [`Operations`] and one estimate of a reciprocal root for
//! one vector of pairs (softened, no nearest neighbour). If additions share the pipes of the multiplications (Intel,
//! Zen 2), the limit is the measured rate over all operations. If additions have pipes of their own (Zen 3 and later),
//! only the multiplications count.

use std::hint::black_box;
use std::time::Instant;

use kirin_core::cpu;
use kirin_core::process::settings::{self, InstructionSet};
use serde::{Deserialize, Serialize};

/// Operations of the pair loop for one pair, in lanes of single precision: one of double precision takes two.
#[derive(Clone, Copy, Debug)]
pub struct Operations {
    /// Multiplications and fused operations.
    pub multiplications: f64,
    /// These, additions and subtractions.
    pub arithmetic: f64,
}

/// In `mixed`.
pub const MIXED: Operations = Operations {
    multiplications: 24.0,
    arithmetic: 37.0,
};

/// In `double`. It was counted for the instruction sets that estimate reciprocal roots of doubles (AVX-512). Other sets
/// use the processor's square root and division for some or all pairs. The units for these two operations then limit
/// the speed, so no peak is computed.
const DOUBLE: Operations = Operations {
    multiplications: 2.0 * 26.0,
    arithmetic: 2.0 * 33.0,
};

/// What was counted for this precision and instruction set, by their names.
pub fn operations(precision: &str, set: &str) -> Option<Operations> {
    match precision {
        "mixed" => Some(MIXED),
        "double" if set.ends_with("avx512") => Some(DOUBLE),
        _ => None,
    }
}

/// Accumulators: more than the pipes times the cycles that an operation takes.
const CHAINS: usize = 12;
/// Operations of each accumulator between two looks at the clock.
const LINKS: usize = 4096;

/// One measurement.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Peak {
    /// The instruction set.
    pub instruction_set: String,
    /// Single-precision fused multiply-adds per second, every lane counted.
    pub fma_per_second: f64,
}

/// The instruction set that the CPU backend uses in this process.
pub fn chosen_set() -> InstructionSet {
    let available = cpu::available();
    let set = settings::settings().simd;
    if available.contains(&set) {
        set
    } else {
        available[0]
    }
}

/// Runs the loop for about `seconds`.
pub fn peak(set: InstructionSet, seconds: f64) -> Peak {
    let (links, lanes) = loop_of(set);
    links(); // wakes the wide units and brings the clock to where it will be
    let start = Instant::now();
    let mut turns = 0.0;
    let elapsed = loop {
        links();
        turns += 1.0;
        let elapsed = start.elapsed().as_secs_f64();
        if elapsed >= seconds {
            break elapsed;
        }
    };
    Peak {
        instruction_set: set.to_string(),
        fma_per_second: turns * (LINKS * CHAINS * lanes) as f64 / elapsed,
    }
}

/// The loop for an instruction set that the processor has, and its lanes.
fn loop_of(set: InstructionSet) -> (fn(), usize) {
    match set {
        #[cfg(target_arch = "x86_64")]
        InstructionSet::Avx512 if is_x86_feature_detected!("avx512f") => {
            // SAFETY: the processor has AVX-512F.
            (|| unsafe { x86::avx512() }, 16)
        }
        #[cfg(target_arch = "x86_64")]
        InstructionSet::Avx2
            if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") =>
        {
            // SAFETY: the processor has AVX2 and FMA.
            (|| unsafe { x86::avx2() }, 8)
        }
        #[cfg(target_arch = "aarch64")]
        // SAFETY: the standard library for aarch64 needs Advanced SIMD itself.
        InstructionSet::Neon => (|| unsafe { arm::neon() }, 4),
        _ => (portable, 4),
    }
}

/// x <- x a + b: tends to 1 from wherever it begins, so no number is special on the way.
const FACTOR: f32 = 0.9375;
const SUMMAND: f32 = 0.0625;

/// A multiplication and an addition, counted as one: without intrinsics nothing is fused.
fn portable() {
    let (factor, summand) = black_box((FACTOR, SUMMAND));
    let mut x = black_box([[0.5_f32; 4]; CHAINS]);
    for _ in 0..LINKS {
        for lanes in &mut x {
            for lane in lanes {
                *lane = *lane * factor + summand;
            }
        }
    }
    black_box(x);
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{CHAINS, FACTOR, LINKS, SUMMAND};
    use std::arch::x86_64::*;
    use std::hint::black_box;

    #[target_feature(enable = "avx2,fma")]
    pub fn avx2() {
        let factor = _mm256_set1_ps(black_box(FACTOR));
        let summand = _mm256_set1_ps(black_box(SUMMAND));
        let mut x = [_mm256_set1_ps(black_box(0.5)); CHAINS];
        for _ in 0..LINKS {
            for lanes in &mut x {
                *lanes = _mm256_fmadd_ps(*lanes, factor, summand);
            }
        }
        black_box(x);
    }

    #[target_feature(enable = "avx512f")]
    pub fn avx512() {
        let factor = _mm512_set1_ps(black_box(FACTOR));
        let summand = _mm512_set1_ps(black_box(SUMMAND));
        let mut x = [_mm512_set1_ps(black_box(0.5)); CHAINS];
        for _ in 0..LINKS {
            for lanes in &mut x {
                *lanes = _mm512_fmadd_ps(*lanes, factor, summand);
            }
        }
        black_box(x);
    }
}

#[cfg(target_arch = "aarch64")]
mod arm {
    use super::{CHAINS, FACTOR, LINKS, SUMMAND};
    use std::arch::aarch64::*;
    use std::hint::black_box;

    /// Four pipes of four cycles want 16 accumulators: two runs of chains together.
    #[target_feature(enable = "neon")]
    pub fn neon() {
        let factor = vdupq_n_f32(black_box(FACTOR));
        let summand = vdupq_n_f32(black_box(SUMMAND));
        let mut x = [vdupq_n_f32(black_box(0.5)); 2 * CHAINS];
        for _ in 0..LINKS / 2 {
            for lanes in &mut x {
                *lanes = vfmaq_f32(summand, *lanes, factor);
            }
        }
        black_box(x);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wider_vectors_make_more_operations() {
        for set in cpu::available() {
            // The best of some: on a busy machine the thread may wait for most of a measurement.
            let measured = (0..20).map(|_| peak(set, 0.01));
            let best = measured.max_by(|a, b| a.fma_per_second.total_cmp(&b.fma_per_second));
            let found = best.expect("twenty of them");
            assert_eq!(found.instruction_set, set.to_string());
            let (_, lanes) = loop_of(set);
            // Any core of this century makes an operation in ten nanoseconds; other programs may leave it a tenth of the time.
            assert!(found.fma_per_second > 1e7 * lanes as f64, "{found:?}");
            // None makes more than 8 vectors in a cycle of 6 GHz: the loop was not optimised away.
            assert!(found.fma_per_second < 48e9 * lanes as f64, "{found:?}");
        }
    }
}
