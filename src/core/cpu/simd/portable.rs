//! Vectors as arrays: runs on every processor, as fast as the compiler makes it. In tests it also stands
//! in for instruction sets that the processor lacks.

use super::{Real, Rows, Simd, Sums, Work, leading, pairwise};
use crate::sources::jmemory::PAGE;

/// `N` lanes of `T`. A token that every processor has.
#[derive(Clone, Copy, Debug, Default)]
pub struct Portable<T, const N: usize>(std::marker::PhantomData<T>);

/// A function for each piece of work, as the other instruction sets have: the compiler's time grows faster than the
/// length of a function.
#[inline(never)]
fn with_arrays<W: Work>(work: W) -> W::Output {
    work.run()
}

/// The operations, written out lane by lane: unrolling a loop for each of them took half of the time of compiling
/// this crate. `$lane` are the lanes, `$part` those of a vector of double precision.
macro_rules! portable {
    ($inline:ident $t:ty, $n:literal: $($lane:literal)+, $half:literal: $($part:literal)+, $fold:expr) => {
        impl Simd for Portable<$t, $n> {
            type T = $t;
            type V = [$t; $n];
            type M = [bool; $n];
            type Double = Portable<f64, $half>;

            const LANES: usize = $n;
            const MANY_REGISTERS: bool = false;
            const PARTS: usize = $n / $half;

            #[inline(always)]
            fn vectorize<W: Work>(self, work: W) -> W::Output {
                with_arrays(work)
            }
            #[inline($inline)]
            fn splat(self, x: $t) -> Self::V {
                [x; $n]
            }
            #[inline($inline)]
            unsafe fn load(self, from: &[$t; PAGE], at: usize) -> Self::V {
                [$(from[at + $lane]),+]
            }
            #[inline($inline)]
            unsafe fn store(self, to: &mut [$t; PAGE], at: usize, a: Self::V) {
                to[at..at + $n].copy_from_slice(&a);
            }
            #[inline($inline)]
            fn double(self) -> Self::Double {
                Portable::default()
            }
            #[inline($inline)]
            fn narrow(self, parts: [[f64; $half]; 2]) -> Self::V {
                [$(parts[$lane / $half][$lane % $half] as $t),+]
            }
            #[inline($inline)]
            fn leading(self, a: [f64; $half]) -> [f64; $half] {
                [$(leading::<$t>(a[$part])),+]
            }
            #[inline($inline)]
            fn add(self, a: Self::V, b: Self::V) -> Self::V {
                [$(a[$lane] + b[$lane]),+]
            }
            #[inline($inline)]
            fn sub(self, a: Self::V, b: Self::V) -> Self::V {
                [$(a[$lane] - b[$lane]),+]
            }
            #[inline($inline)]
            fn mul(self, a: Self::V, b: Self::V) -> Self::V {
                [$(a[$lane] * b[$lane]),+]
            }
            #[inline($inline)]
            fn fma(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V {
                [$(a[$lane] * b[$lane] + c[$lane]),+]
            }
            #[inline($inline)]
            fn fnma(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V {
                [$(c[$lane] - a[$lane] * b[$lane]),+]
            }
            #[inline($inline)]
            fn min(self, a: Self::V, b: Self::V) -> Self::V {
                [$(if a[$lane] < b[$lane] { a[$lane] } else { b[$lane] }),+]
            }
            #[inline($inline)]
            fn greater_magnitude(self, a: Self::V, b: Self::V) -> Self::V {
                [$(if a[$lane].abs() > b[$lane] { a[$lane].abs() } else { b[$lane] }),+]
            }
            #[inline($inline)]
            fn estimate(self, x: Self::V) -> Self::V {
                [$(1.0 / x[$lane].sqrt()),+]
            }
            #[inline($inline)]
            fn refine<const FINE: bool>(self, _: Self::V, y: Self::V) -> Self::V {
                y
            }
            #[inline($inline)]
            fn nonzero(self, a: Self::V) -> Self::M {
                [$(a[$lane] != 0.0),+]
            }
            #[inline($inline)]
            fn mask(self, bits: u32) -> Self::M {
                [$(bits >> $lane & 1 == 1),+]
            }
            #[inline($inline)]
            unsafe fn label_differs(self, labels: &[i32; PAGE], at: usize, label: i32) -> Self::M {
                [$(labels[at + $lane] != label),+]
            }
            #[inline($inline)]
            fn and(self, a: Self::M, b: Self::M) -> Self::M {
                [$(a[$lane] & b[$lane]),+]
            }
            #[inline($inline)]
            fn select(self, m: Self::M, a: Self::V, b: Self::V) -> Self::V {
                [$(if m[$lane] { a[$lane] } else { b[$lane] }),+]
            }
            #[inline($inline)]
            fn le(self, a: Self::V, b: Self::V) -> Self::M {
                [$(a[$lane] <= b[$lane]),+]
            }
            #[inline($inline)]
            fn bits(self, m: Self::M) -> u32 {
                0 $(| u32::from(m[$lane]) << $lane)+
            }
            #[inline($inline)]
            fn least(self, a: Self::V) -> $t {
                a.into_iter().fold(a[0], |m, x| if x < m { x } else { m })
            }
            #[inline($inline)]
            fn greatest(self, a: Self::V) -> $t {
                a.into_iter().fold(a[0], |m, x| if x > m { x } else { m })
            }
            #[inline($inline)]
            fn sums(self, a: [&Self::V; 7]) -> Sums {
                let fold: fn([$t; $n]) -> [f64; $half] = $fold;
                let sum = |k: usize| pairwise(fold(*a[k]));
                [sum(0), sum(1), sum(2), sum(3), sum(4), sum(5), sum(6), 0.0]
            }
        }
    };
    ($inline:ident single $n:literal: $($low:literal)+, $($high:literal)+; $half:literal) => {
        portable!($inline f32, $n: $($low)+ $($high)+, $half: $($low)+, |a| [$(a[$low].to_f64() + a[$high].to_f64()),+]);
    };
    ($inline:ident double $n:literal: $($lane:literal)+) => {
        portable!($inline f64, $n: $($lane)+, $n: $($lane)+, |a| a);

        impl Rows for Portable<f64, $n> {
            #[inline($inline)]
            fn columns(self, rows: &[[f64; 8]]) -> [[f64; $n]; 8] {
                std::array::from_fn(|c| [$(rows[$lane][c]),+])
            }
        }
    };
}

portable!(always single 4: 0 1, 2 3; 2);
portable!(always double 2: 0 1);

/// The vector widths of the other instruction sets, emulated. Their operations are not inlined: unrolled lane by
/// lane into every kernel, they would take minutes to compile.
#[cfg(test)]
mod wider {
    use super::*;

    portable!(never single 8: 0 1 2 3, 4 5 6 7; 4);
    portable!(never single 16: 0 1 2 3 4 5 6 7, 8 9 10 11 12 13 14 15; 8);
    portable!(never double 4: 0 1 2 3);
    portable!(never double 8: 0 1 2 3 4 5 6 7);
}
