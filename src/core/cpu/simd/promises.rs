//! Tests of the promises of [`Simd`], for every instruction set and width, lane by lane.

use std::ops::Range;

use super::super::attraction::Measure;
use super::super::mean_root::MeanRoot;
use super::super::tile::Tile;
use super::super::units::Sampled;
use super::portable::Portable;
use super::{REDUCED_ERROR, Real, Rows, Simd, leading as leading_bits};
use crate::sources::jmemory::{JMemory, PAGE};
use crate::sources::particle::JParticle;

/// Elements of which a test knows more.
trait Element: Real + std::fmt::Debug {
    /// The instruction set of every processor.
    type Plain: Simd<T = Self> + Default;
    /// a b + c, rounded once.
    fn fused(a: Self, b: Self, c: Self) -> Self;
    /// Distance from 1 to the next number.
    const EPSILON: f64;
    /// Powers of ten of squared distances.
    const SQUARES: Range<i32>;
}

impl Element for f32 {
    type Plain = Portable<Self, 4>;
    fn fused(a: Self, b: Self, c: Self) -> Self {
        a.mul_add(b, c)
    }
    const EPSILON: f64 = Self::EPSILON as f64;
    const SQUARES: Range<i32> = -37..38;
}

impl Element for f64 {
    type Plain = Portable<Self, 2>;
    fn fused(a: Self, b: Self, c: Self) -> Self {
        a.mul_add(b, c)
    }
    const EPSILON: f64 = Self::EPSILON;
    const SQUARES: Range<i32> = -300..300;
}

/// Runs a check on every instruction set of this processor and on the emulated widths. The check gets a name for
/// messages, the token, and whether the set has fused operations.
macro_rules! ask {
    ($promise:ident) => {
        $promise("portable single", Portable::<f32, 4>::default(), false);
        $promise("portable double", Portable::<f64, 2>::default(), false);
        $promise("8 singles", Portable::<f32, 8>::default(), false);
        $promise("4 doubles", Portable::<f64, 4>::default(), false);
        $promise("16 singles", Portable::<f32, 16>::default(), false);
        $promise("8 doubles", Portable::<f64, 8>::default(), false);
        ask!($promise, "x86_64", avx2::Avx2);
        ask!($promise, "x86_64", avx512::Avx512);
        ask!($promise, "aarch64", neon::Neon);
    };
    ($promise:ident, $architecture:literal, $set:ident::$token:ident) => {
        #[cfg(target_arch = $architecture)]
        match (
            super::$set::$token::<f32>::detect(),
            super::$set::$token::<f64>::detect(),
        ) {
            (Some(single), Some(double)) => {
                $promise(concat!(stringify!($set), " single"), single, true);
                $promise(concat!(stringify!($set), " double"), double, true);
            }
            _ => println!("SKIPPED: this processor has no {}", stringify!($set)),
        }
    };
}

/// Numbers of every kind, another sequence for each seed.
fn numbers<T: Real>(seed: u64) -> [T; PAGE] {
    const SPECIAL: [f64; 12] = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        1e-42,
        -1e-310,
        16_777_216.0,
        3e38,
        -1e300,
    ];
    let mut state = seed;
    let mut random = |below: u64| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1);
        ((u128::from(state) * u128::from(below)) >> 64) as u64
    };
    std::array::from_fn(|_| {
        let (kind, bits) = (random(64), random(1 << 53).cast_signed());
        T::from_f64(match SPECIAL.get(kind as usize) {
            Some(&special) => special,
            // Of so many magnitudes that sums round, in double precision too.
            None => (bits - (1 << 52)) as f64 * 2.0_f64.powi(3 * kind as i32 - 160),
        })
    })
}

/// Numbers without the kinds that nothing can be added to.
fn finite<T: Real>(seed: u64) -> [T; PAGE] {
    numbers::<T>(seed).map(|x| match x.to_f64().abs() < 1e30 {
        true => x,
        false => T::from_f64(0.7),
    })
}

fn same(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan())
}

/// Compares each lane of what `found` makes of the slots from `at` on with what is `expected` of the slot.
fn assert_lanes<S: Simd>(
    name: &str,
    s: S,
    found: impl Fn(usize) -> S::V,
    expected: impl Fn(usize) -> f64,
) {
    let mut y = [S::T::default(); PAGE];
    for at in (0..PAGE).step_by(S::LANES) {
        // SAFETY: the lanes divide PAGE.
        unsafe { s.store(&mut y, at, found(at)) };
    }
    for (slot, y) in y.iter().enumerate() {
        let (y, e) = (y.to_f64(), expected(slot));
        assert!(same(y, e), "{name}: {y:e} and not {e:e} in slot {slot}");
    }
}

/// As [`assert_lanes`], for a mask.
fn assert_mask<S: Simd>(
    name: &str,
    s: S,
    found: impl Fn(usize) -> S::M,
    expected: impl Fn(usize) -> bool,
) {
    let (yes, no) = (s.splat(S::T::from_f64(1.0)), s.splat(S::T::from_f64(2.0)));
    assert_lanes(
        name,
        s,
        |at| s.select(found(at), yes, no),
        |slot| if expected(slot) { 1.0 } else { 2.0 },
    );
}

fn load<S: Simd>(s: S, from: &[S::T; PAGE], at: usize) -> S::V {
    assert!(at + S::LANES <= PAGE);
    // SAFETY: asserted.
    unsafe { s.load(from, at) }
}

fn arithmetic<S: Simd<T: Element>>(name: &str, s: S, fused: bool) {
    let [a, b, c] = [1, 2, 3].map(numbers::<S::T>);
    let of = |x: &[S::T; PAGE], slot: usize| x[slot].to_f64();
    let round = |x: f64| S::T::from_f64(x).to_f64();
    // Operations on singles rounded to double first round as they should: 53 bits are enough.
    assert_lanes(name, s, |_| s.splat(a[9]), |_| of(&a, 9));
    let two = |at| (load(s, &a, at), load(s, &b, at));
    let sum = |l| round(of(&a, l) + of(&b, l));
    assert_lanes(name, s, |at| s.add(two(at).0, two(at).1), sum);
    let difference = |l| round(of(&a, l) - of(&b, l));
    assert_lanes(name, s, |at| s.sub(two(at).0, two(at).1), difference);
    let product = |l| round(of(&a, l) * of(&b, l));
    assert_lanes(name, s, |at| s.mul(two(at).0, two(at).1), product);
    for sign in [1.0, -1.0] {
        let signed = |l: usize| S::T::from_f64(sign * of(&a, l));
        let found = |at| {
            let (a, b) = two(at);
            match sign {
                1.0 => s.fma(a, b, load(s, &c, at)),
                _ => s.fnma(a, b, load(s, &c, at)),
            }
        };
        let expected = |l: usize| match fused {
            true => S::T::fused(signed(l), b[l], c[l]).to_f64(),
            false => round(round(signed(l).to_f64() * of(&b, l)) + of(&c, l)),
        };
        assert_lanes(name, s, found, expected);
    }
}

fn roots<S: Simd<T: Element>>(name: &str, s: S, _: bool) {
    roots_of::<S, true>(name, s, &[1.0], 2.5);
    // Twice the root has one rounding more.
    roots_of::<S, false>(name, s, &[1.0, 2.0], 3.0);
}

/// Roots times one of `constants`, with an error of at most so many ulps.
fn roots_of<S: Simd<T: Element>, const FINE: bool>(name: &str, s: S, constants: &[f64], most: f64) {
    let mean = s.vectorize(MeanRoot::<S, FINE>(s));
    let constant = mean.round();
    assert!(
        constants.contains(&constant) && (mean / constant - 1.0).abs() < S::T::EPSILON,
        "{name}: {mean}"
    );
    for power in S::T::SQUARES {
        let x =
            std::array::from_fn(|l| S::T::from_f64((1.0 + l as f64 / 57.0) * 10.0_f64.powi(power)));
        for at in (0..PAGE).step_by(S::LANES) {
            let mut y = [S::T::default(); PAGE];
            // SAFETY: the lanes divide PAGE.
            unsafe {
                let x = load(s, &x, at);
                s.store(&mut y, at, s.refine::<FINE>(x, s.estimate(x)));
            }
            assert_roots(name, &x, &y, at..at + S::LANES, (mean, most));
        }
        if S::SERIES {
            for at in (0..PAGE).step_by(S::LANES) {
                let mut y = [S::T::default(); PAGE];
                // SAFETY: the lanes divide PAGE.
                unsafe { s.store(&mut y, at, s.series(load(s, &x, at))) };
                assert_roots(name, &x, &y, at..at + S::LANES, (1.0, most));
            }
        }
    }
}

/// `y` are `mean` times the reciprocal roots of `x`, but for so many ulps.
fn assert_roots<T: Element>(
    name: &str,
    x: &[T; PAGE],
    y: &[T; PAGE],
    slots: Range<usize>,
    (mean, most): (f64, f64),
) {
    for l in slots {
        let error = y[l].to_f64() * x[l].to_f64().sqrt() / mean - 1.0;
        assert!(
            error.abs() < most * T::EPSILON,
            "{name}: {error:e} at {:?}",
            x[l]
        );
    }
}

fn comparisons<S: Simd<T: Element>>(name: &str, s: S, _: bool) {
    let (a, b) = (numbers::<S::T>(4), finite::<S::T>(5));
    let two = |at| (load(s, &a, at), load(s, &b, at));
    let of = |slot: usize| (a[slot].to_f64(), b[slot].to_f64());
    // Which of two zeros is the smaller one is nobody's concern.
    let unsigned = |x: f64| x + 0.0;
    let zero = s.splat(S::T::default());
    let smaller = |l| match of(l) {
        (a, b) if a < b => unsigned(a),
        (_, b) => unsigned(b),
    };
    assert_lanes(
        name,
        s,
        |at| s.add(s.min(two(at).0, two(at).1), zero),
        smaller,
    );
    let size = b.map(|b| S::T::from_f64(b.to_f64().abs()));
    let greater = |l: usize| match (a[l].to_f64().abs(), size[l].to_f64()) {
        (a, b) if a > b => a,
        (_, b) => b,
    };
    assert_lanes(
        name,
        s,
        |at| s.greater_magnitude(load(s, &a, at), load(s, &size, at)),
        greater,
    );
    assert_mask(name, s, |at| s.nonzero(two(at).0), |l| of(l).0 != 0.0);
    for at in (0..PAGE).step_by(S::LANES) {
        for bound in [&a, &b] {
            let bits = (at..at + S::LANES)
                .map(|l| u32::from(a[l] <= bound[l]) << (l - at))
                .sum::<u32>();
            let found = s.le_bits(two(at).0, load(s, bound, at));
            assert_eq!(found, bits, "{name} from {at}");
            let mask = s.le(two(at).0, load(s, bound, at));
            assert_eq!(s.bits(mask), bits, "{name} from {at}");
        }
        let lanes = b[at..at + S::LANES].iter().map(|x| x.to_f64());
        let least = lanes.clone().fold(f64::INFINITY, f64::min);
        let greatest = lanes.fold(f64::NEG_INFINITY, f64::max);
        assert_eq!(s.least(two(at).1).to_f64(), least, "{name} from {at}");
        assert_eq!(s.greatest(two(at).1).to_f64(), greatest, "{name} from {at}");
    }
}

fn masks<S: Simd<T: Element>>(name: &str, s: S, _: bool) {
    const LABELS: [i32; 7] = [i32::MIN, -1, 0, 1, 16_777_216, 16_777_217, i32::MAX];
    let labels = std::array::from_fn(|slot| LABELS[slot * 5 % LABELS.len()]);
    // Bits beyond the lanes belong to slots further on.
    let patterns =
        (0..S::LANES)
            .map(|l| 1 << l)
            .chain([0, u32::MAX, 0x5555_aaaa, 0xdead_beef, 0xffff_0000]);
    for bits in patterns {
        let has = |slot: usize| bits >> (slot % S::LANES) & 1 == 1;
        assert_mask(name, s, |_| s.mask(bits), has);
        for label in LABELS {
            // SAFETY: the lanes divide PAGE.
            let other = |at| unsafe { s.label_differs(&labels, at, label) };
            assert_mask(name, s, other, |slot| labels[slot] != label);
            assert_mask(
                name,
                s,
                |at| s.and(other(at), s.mask(bits)),
                |slot| labels[slot] != label && has(slot),
            );
        }
    }
    let (a, b) = (numbers::<S::T>(6), numbers::<S::T>(7));
    let odd = s.mask(0xaaaa_aaaa);
    assert_lanes(
        name,
        s,
        |at| s.select(odd, load(s, &a, at), load(s, &b, at)),
        |slot| if slot % 2 == 1 { a } else { b }[slot].to_f64(),
    );
}

fn conversions<S: Simd<T: Element>>(name: &str, s: S, _: bool) {
    let d = s.double();
    let wide = numbers::<f64>(8);
    assert_eq!(S::PARTS * S::Double::LANES, S::LANES, "{name}");
    let parts = |at| {
        let part = |k: usize| load(d, &wide, at + k % S::PARTS * S::Double::LANES);
        s.narrow([part(0), part(1)])
    };
    assert_lanes(name, s, parts, |slot| S::T::from_f64(wide[slot]).to_f64());
    let leading = |at| s.leading(load(d, &wide, at));
    assert_lanes(name, d, leading, |slot| leading_bits::<S::T>(wide[slot]));
    for x in wide {
        let (narrow, leading) = (S::T::from_f64(x).to_f64(), leading_bits::<S::T>(x));
        let is_normal = S::T::from_f64(x.abs() * S::T::EPSILON) > S::T::default();
        if is_normal && narrow.is_finite() {
            assert!(leading.abs() <= x.abs() && (x - leading).abs() <= x.abs() * S::T::EPSILON);
            assert_eq!(S::T::from_f64(leading).to_f64(), leading, "{name}");
        }
    }
}

fn sums<S: Simd<T: Element>>(name: &str, s: S, _: bool) {
    fn pairwise(lanes: &[f64]) -> f64 {
        match lanes {
            [one] => *one,
            _ => {
                let (low, high) = lanes.split_at(lanes.len() / 2);
                pairwise(low) + pairwise(high)
            }
        }
    }
    let columns: [[S::T; PAGE]; 7] = std::array::from_fn(|k| finite(10 + k as u64));
    for at in (0..PAGE).step_by(S::LANES) {
        let vectors: [S::V; 7] = std::array::from_fn(|k| load(s, &columns[k], at));
        let found = s.sums(vectors.each_ref());
        for (k, found) in found.into_iter().enumerate() {
            let expected = match columns.get(k) {
                None => 0.0,
                Some(column) => {
                    let mut lanes: Vec<f64> = column[at..at + S::LANES]
                        .iter()
                        .map(|x| x.to_f64())
                        .collect();
                    if S::PARTS == 2 {
                        let high = lanes.split_off(S::LANES / 2);
                        lanes.iter_mut().zip(high).for_each(|(l, h)| *l += h);
                    }
                    pairwise(&lanes)
                }
            };
            assert_eq!(found, expected, "{name}: sum {k} from {at}");
        }
        // Of the last four, so that an order of their own would show.
        let [_, _, _, a, b, c, d] = &vectors;
        let four = s.sums_of_four([a, b, c, d]);
        assert_eq!(four, found[3..7], "{name}: four from {at}");
    }
    let sums = [1.0, -f64::MAX, 0.0, -0.0, 5e-324, f64::MAX, f64::MAX, 2.0];
    assert!(s.are_finite(&sums), "{name}");
    for k in 0..sums.len() {
        let signalling = f64::from_bits(0x7ff0_0000_0000_0001);
        for other in [f64::NAN, signalling, f64::INFINITY, f64::NEG_INFINITY] {
            let mut spoilt = sums;
            spoilt[k] = other;
            assert!(!s.are_finite(&spoilt), "{name}: {other} at {k}");
        }
    }
}

/// m / r^3 times a constant, of which the mean is known.
fn attractions<S: Simd<T: Element>>(name: &str, s: S, _: bool) {
    let epsilon = S::T::EPSILON;
    // Without split positions an estimate of 12 bits need not become one of 24.
    let single = match S::T::IS_DOUBLE {
        true => 5.0 * epsilon,
        false => 1.2e-6,
    };
    attractions_of::<S, false>(name, s, false, single);
    attractions_of::<S, false>(name, s, true, 3.0 * REDUCED_ERROR + single);
    attractions_of::<S, true>(name, s, false, 7.0 * epsilon);
}

fn attractions_of<S: Simd<T: Element>, const FINE: bool>(
    name: &str,
    s: S,
    reduced: bool,
    most: f64,
) {
    let corrections = s.vectorize(Measure::<S, FINE> { s, reduced });
    let (mut sum, mut of_potentials, mut count) = (0.0, 0.0_f64, 0.0);
    for power in S::T::SQUARES.map(|p| p / 2) {
        let x =
            std::array::from_fn(|l| S::T::from_f64((1.0 + l as f64 / 57.0) * 10.0_f64.powi(power)));
        for at in (0..PAGE).step_by(S::LANES) {
            let mut y = [S::T::default(); PAGE];
            let mut potentials = y;
            // SAFETY: the lanes divide PAGE.
            unsafe {
                let x = load(s, &x, at);
                let mass = s.splat(S::T::from_f64(0.625));
                let attraction = match reduced {
                    true => {
                        let (attraction, potential) =
                            s.attraction_less(Some(mass), x, s.estimate(x));
                        s.store(&mut potentials, at, potential);
                        attraction
                    }
                    false => s.attraction::<FINE>(Some(mass), x, s.estimate(x)),
                };
                s.store(&mut y, at, attraction);
            }
            for l in at..at + S::LANES {
                let x = x[l].to_f64();
                let error = y[l].to_f64() * corrections.acc * x * x.sqrt() / 0.625 - 1.0;
                assert!(error.abs() < most, "{name}: {error:e} at {x}");
                sum += error;
                count += 1.0;
                if reduced {
                    let error = potentials[l].to_f64() * corrections.pot * x.sqrt() / 0.625 - 1.0;
                    assert!(
                        error.abs() < most,
                        "{name}: {error:e} in the potential at {x}"
                    );
                    of_potentials += error;
                }
            }
        }
    }
    let mean: f64 = sum / count;
    assert!(mean.abs() < 0.1 * most, "{name}: {mean:e} in the mean");
    // The mean that corrects forces would leave 1.8e-5 (AVX-512) and 4.5e-5 (AVX2) on a Zen 5.
    let mean = of_potentials / count;
    assert!(
        mean.abs() < 1.5e-5,
        "{name}: {mean:e} in the mean of potentials"
    );
}

/// Prediction has no fused operations and one order: the same tiles everywhere.
fn tiles<S: Simd<T: Element>>(name: &str, s: S, _: bool) {
    let columns: [[f64; PAGE]; 16] = std::array::from_fn(|k| finite(20 + k as u64));
    for (scale, moving) in [(1.0, true), (1.0, false), (1e20, true), (1e20, false)] {
        let mut memory = JMemory::default();
        for (slot, address) in (0..PAGE).zip(0..) {
            let vector = |k: usize, scale: f64| [0, 1, 2].map(|c| scale * columns[k + c][slot]);
            let motion = f64::from(u8::from(moving));
            let p = JParticle {
                index: address,
                t: columns[0][slot],
                mass: 1.0,
                x: vector(1, scale),
                v: vector(4, motion),
                aby2: vector(7, motion),
                a1by6: vector(10, motion),
                a2by18: vector(13, motion),
            };
            memory.write(address, &p).unwrap();
        }
        let (mut here, mut there) = (Tile::default(), Tile::default());
        let ti = columns[0][77];
        let plain = <S::T as Element>::Plain::default();
        here.predict::<S, true>(s, memory.page(0), ti, PAGE, &Sampled::default());
        there.predict::<_, true>(plain, memory.page(0), ti, PAGE, &Sampled::default());
        let bits = |t: &Tile<S::T>| {
            let columns = [t.x, t.x_low, t.v];
            let numbers = columns.iter().flatten().flat_map(|c| c.iter());
            numbers.map(|x| x.to_f64().to_bits()).collect::<Vec<_>>()
        };
        assert!(
            bits(&here) == bits(&there),
            "{name}, scale {scale}, moving: {moving}"
        );
        assert_eq!(here.units, there.units, "{name}");
        assert_eq!(
            (here.representable, here.radius, here.fastest),
            (there.representable, there.radius, there.fastest),
            "{name}"
        );
    }
}

fn rows<S: Simd<T: Element>>(name: &str, s: S, _: bool) {
    let d = s.double();
    let lanes = S::Double::LANES;
    let rows: Vec<[f64; 8]> = (0..lanes)
        .map(|r| std::array::from_fn(|c| (10 * r + c) as f64))
        .collect();
    for (c, column) in d.columns(&rows).into_iter().enumerate() {
        let mut found = [0.0; PAGE];
        // SAFETY: a vector fits.
        unsafe { d.store(&mut found, 0, column) };
        for (r, found) in found[..lanes].iter().enumerate() {
            assert_eq!(*found, rows[r][c], "{name}: row {r}, column {c}");
        }
    }
    // A lane's cubics have the bits of the row that is evaluated alone.
    let number = |r, k, c| ((16 * r + 4 * k + c) as f64).sin();
    let coefficients: Vec<[[f64; 4]; 4]> = (0..lanes)
        .map(|r| std::array::from_fn(|k| std::array::from_fn(|c| number(r, k, c))))
        .collect();
    let columns = d.cubics_at(|lane| &coefficients[lane], 0.25);
    let columns = columns.map(|column| {
        let mut lanes = [0.0; PAGE];
        // SAFETY: a vector fits.
        unsafe { d.store(&mut lanes, 0, column) };
        lanes
    });
    for (r, c) in coefficients.iter().enumerate() {
        let mut row = [0.0; 8];
        d.cubics(c, 0.25 - c[1][3], &mut row);
        let found: [f64; 7] = std::array::from_fn(|k| columns[k][r]);
        assert_eq!(found, row[..7], "{name}: lane {r}");
    }
}

fn order<S: Simd>(name: &str, s: S, _: bool) {
    let [a, b] = [1, 2].map(numbers::<S::T>);
    let ordered = |at: usize| {
        let (mut first, mut second) = (load(s, &a, at), load(s, &b, at));
        s.order(&mut first, &mut second);
        [first, second]
    };
    assert_lanes(name, s, |at| ordered(at)[0], |slot| a[slot].to_f64());
    assert_lanes(name, s, |at| ordered(at)[1], |slot| b[slot].to_f64());
}

#[test]
fn columns_are_those_of_the_rows() {
    ask!(rows);
}

#[test]
fn arithmetic_is_rounded_once_and_fused_where_it_can_be() {
    ask!(arithmetic);
}

#[test]
fn roots_are_right_to_about_an_ulp() {
    ask!(roots);
}

#[test]
fn vectors_in_an_order_keep_their_lanes() {
    ask!(order);
}

#[test]
fn comparisons_know_what_is_no_number() {
    ask!(comparisons);
}

#[test]
fn masks_are_in_the_order_of_the_slots() {
    ask!(masks);
}

#[test]
fn conversions_keep_the_order_of_the_lanes() {
    ask!(conversions);
}

#[test]
fn sums_are_in_the_promised_order() {
    ask!(sums);
}

#[test]
fn attractions_are_right_but_for_a_constant() {
    ask!(attractions);
}

#[test]
fn tiles_are_the_same_bits_everywhere() {
    ask!(tiles);
}
