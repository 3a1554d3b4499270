//! Vectors as arrays: runs on every processor, as fast as the compiler makes it. In tests it also stands
//! in for instruction sets that the processor lacks.

use super::{Real, Rows, Simd, Sums, Work, leading, pairwise};
use crate::sources::jmemory::PAGE;

/// `N` lanes of `T`. A token that every processor has.
#[derive(Clone, Copy, Debug, Default)]
pub struct Portable<T, const N: usize>(std::marker::PhantomData<T>);

macro_rules! portable {
    ($inline:ident $t:ty, $n:literal, $half:literal, $fold:expr) => {
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
                work.run()
            }
            #[inline($inline)]
            fn splat(self, x: $t) -> Self::V {
                [x; $n]
            }
            #[inline($inline)]
            unsafe fn load(self, from: &[$t; PAGE], at: usize) -> Self::V {
                std::array::from_fn(|l| from[at + l])
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
                std::array::from_fn(|l| parts[l / $half][l % $half] as $t)
            }
            #[inline($inline)]
            fn leading(self, a: [f64; $half]) -> [f64; $half] {
                std::array::from_fn(|l| leading::<$t>(a[l]))
            }
            #[inline($inline)]
            fn add(self, a: Self::V, b: Self::V) -> Self::V {
                std::array::from_fn(|l| a[l] + b[l])
            }
            #[inline($inline)]
            fn sub(self, a: Self::V, b: Self::V) -> Self::V {
                std::array::from_fn(|l| a[l] - b[l])
            }
            #[inline($inline)]
            fn mul(self, a: Self::V, b: Self::V) -> Self::V {
                std::array::from_fn(|l| a[l] * b[l])
            }
            #[inline($inline)]
            fn fma(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V {
                std::array::from_fn(|l| a[l] * b[l] + c[l])
            }
            #[inline($inline)]
            fn fnma(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V {
                std::array::from_fn(|l| c[l] - a[l] * b[l])
            }
            #[inline($inline)]
            fn min(self, a: Self::V, b: Self::V) -> Self::V {
                std::array::from_fn(|l| if a[l] < b[l] { a[l] } else { b[l] })
            }
            #[inline($inline)]
            fn greater_magnitude(self, a: Self::V, b: Self::V) -> Self::V {
                std::array::from_fn(|l| if a[l].abs() > b[l] { a[l].abs() } else { b[l] })
            }
            #[inline($inline)]
            fn estimate(self, x: Self::V) -> Self::V {
                std::array::from_fn(|l| 1.0 / x[l].sqrt())
            }
            #[inline($inline)]
            fn refine<const FINE: bool>(self, _: Self::V, y: Self::V) -> Self::V {
                y
            }
            #[inline($inline)]
            fn nonzero(self, a: Self::V) -> Self::M {
                std::array::from_fn(|l| a[l] != 0.0)
            }
            #[inline($inline)]
            fn mask(self, bits: u32) -> Self::M {
                std::array::from_fn(|l| bits >> l & 1 == 1)
            }
            #[inline($inline)]
            unsafe fn label_differs(self, labels: &[i32; PAGE], at: usize, label: i32) -> Self::M {
                std::array::from_fn(|l| labels[at + l] != label)
            }
            #[inline($inline)]
            fn and(self, a: Self::M, b: Self::M) -> Self::M {
                std::array::from_fn(|l| a[l] & b[l])
            }
            #[inline($inline)]
            fn select(self, m: Self::M, a: Self::V, b: Self::V) -> Self::V {
                std::array::from_fn(|l| if m[l] { a[l] } else { b[l] })
            }
            #[inline($inline)]
            fn le(self, a: Self::V, b: Self::V) -> Self::M {
                std::array::from_fn(|l| a[l] <= b[l])
            }
            #[inline($inline)]
            fn bits(self, m: Self::M) -> u32 {
                (0..$n).fold(0, |bits, l| bits | u32::from(m[l]) << l)
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
            fn sums(self, a: [Self::V; 7]) -> Sums {
                let fold: fn([$t; $n]) -> [f64; $half] = $fold;
                let sum = |k: usize| pairwise(fold(a[k]));
                [sum(0), sum(1), sum(2), sum(3), sum(4), sum(5), sum(6), 0.0]
            }
        }
    };
    ($inline:ident single $n:literal $half:literal) => {
        portable!($inline f32, $n, $half, |a| std::array::from_fn(
            |l| a[l].to_f64() + a[l + $half].to_f64()
        ));
    };
    ($inline:ident double $n:literal) => {
        portable!($inline f64, $n, $n, |a| a);

        impl Rows for Portable<f64, $n> {
            #[inline($inline)]
            fn columns(self, rows: &[[f64; 8]]) -> [[f64; $n]; 8] {
                std::array::from_fn(|c| std::array::from_fn(|l| rows[l][c]))
            }
        }
    };
}

portable!(always single 4 2);
portable!(always double 2);

/// The widths of the other instruction sets. Not inlined: unrolled lane by lane into every kernel they would
/// take minutes to compile.
#[cfg(test)]
mod wider {
    use super::*;

    portable!(never single 8 4);
    portable!(never single 16 8);
    portable!(never double 4);
    portable!(never double 8);
}
