//! Simple loops by the widest vectors of this processor. No operation is fused or left out, so the bits are the same on all
//! processors.

/// What [`widest`] runs.
pub trait Work {
    /// Its result.
    type Output;
    /// Should be inlined always, with all that it calls, so that it has the instructions of its caller.
    fn run(self) -> Self::Output;
}

/// Does the work by the widest vectors of this processor.
pub fn widest<W: Work>(work: W) -> W::Output {
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx512f") {
            // SAFETY: the processor has AVX-512.
            return unsafe { avx512(work) };
        }
        if is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has AVX2.
            return unsafe { avx2(work) };
        }
    }
    work.run()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn avx512<W: Work>(work: W) -> W::Output {
    work.run()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn avx2<W: Work>(work: W) -> W::Output {
    work.run()
}
