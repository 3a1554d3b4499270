//! Every instruction set and precision against the plain loops.

use super::super::simd::portable::Portable;
use super::super::{build_irregular, build_regular};
use super::Regular;
use crate::cpu::irregular::Irregular;
use crate::force::irregular::{self, IrregularForce};
use crate::force::regular::{
    self, Criterion, Incoming, PlainRegular, RegularForce, RegularRequest, Sources, Target,
    Unaligned,
};
use crate::process::settings::{InstructionSet, Precision};
use crate::random::Random;
use crate::sources::stars::{Star, Stars};

const SETS: [InstructionSet; 4] = [
    InstructionSet::Portable,
    InstructionSet::Avx2,
    InstructionSet::Avx512,
    InstructionSet::Neon,
];

/// Sources as a client has them.
struct Cloud {
    x: Vec<Unaligned<[f64; 3]>>,
    v: Vec<Unaligned<[f64; 3]>>,
    m: Vec<Unaligned<f64>>,
}

impl Cloud {
    fn new(count: usize, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let mut vector = || Unaligned(random.vector(0.5));
        Self {
            x: (0..count).map(|_| vector()).collect(),
            v: (0..count).map(|_| vector()).collect(),
            m: (0..count)
                .map(|_| Unaligned((1.0 + vector().0[0]) / count as f64))
                .collect(),
        }
    }

    fn incoming(&self) -> Incoming<'_> {
        Incoming {
            x: &self.x,
            v: &self.v,
            m: &self.m,
        }
    }

    /// The first `count` of them as targets, with radii of all kinds.
    fn targets(&self, count: usize) -> Vec<Target> {
        let radius = |i: usize| match i % 7 {
            0 => 0.0,
            1 => 1e-9,
            2 => 2.0,
            k => 0.05 * k as f64,
        };
        let target = |i: usize| Target {
            x: self.x[i].0,
            v: self.v[i].0,
            h2: radius(i) * radius(i),
            dtr: 0.02 * (i % 5) as f64,
        };
        (0..count).map(target).collect()
    }
}

/// All that is asked in these tests: by name, backend and relative error.
fn backends(threads: usize, split: bool) -> Vec<(String, Box<dyn RegularForce>, f64)> {
    let mut all: Vec<(String, Box<dyn RegularForce>, f64)> = Vec::new();
    for set in SETS {
        for (precision, error) in [
            (Precision::Mixed, 1e-6),
            (Precision::Double, 1e-14),
            (Precision::Single, 1e-5),
        ] {
            match build_regular(set, precision, threads, split) {
                Some(backend) => all.push((format!("{set} {precision}"), backend, error)),
                None => println!("SKIPPED: this processor has no {set}"),
            }
        }
    }
    let wide = Portable::<f32, 16>::default();
    let wide = Regular::<_, true>::boxed(wide, InstructionSet::Portable, threads, split);
    all.push(("16 singles".to_owned(), wide, 1e-6));
    all
}

fn forces(
    backend: &mut dyn RegularForce,
    cloud: &Cloud,
    targets: &[Target],
    criterion: Criterion,
    longest: usize,
) -> Vec<regular::RegularResult> {
    let mut sources = Sources::new();
    backend.load(&mut sources, &cloud.incoming()).unwrap();
    let block = RegularRequest {
        sources: &sources,
        targets,
        criterion,
        longest,
    };
    let mut results = vec![regular::RegularResult::default(); targets.len()];
    backend.forces(&block, &mut results).unwrap();
    results
}

/// Sums of the magnitudes of the terms of acceleration and jerk.
fn magnitudes(cloud: &Cloud, target: &Target, list: &[i32]) -> [f64; 2] {
    let mut scale = [1e-300; 2];
    for j in (0..cloud.m.len()).filter(|&j| !list.contains(&(j as i32))) {
        let (xj, vj) = (cloud.x[j].0, cloud.v[j].0);
        let norm = |a: [f64; 3], b: [f64; 3]| {
            let d = [0, 1, 2].map(|k| a[k] - b[k]);
            d.iter().map(|c| c * c).sum::<f64>().sqrt()
        };
        let (r, v, m) = (norm(xj, target.x), norm(vj, target.v), cloud.m[j].0.abs());
        if r > 0.0 {
            scale[0] += m / (r * r);
            scale[1] += 4.0 * m * v / (r * r * r);
        }
    }
    scale
}

fn compare(
    name: &str,
    cloud: &Cloud,
    targets: &[Target],
    criterion: Criterion,
    (found, error): (&[regular::RegularResult], f64),
) {
    let expected = forces(&mut PlainRegular, cloud, targets, criterion, usize::MAX);
    for (i, (found, expected)) in found.iter().zip(&expected).enumerate() {
        assert_eq!(found.list, expected.list, "{name}: list of {i}");
        assert_eq!(found.neighbours, expected.neighbours, "{name}: {i}");
        let scale = magnitudes(cloud, &targets[i], &expected.list);
        for (k, (a, b)) in found.sums.iter().zip(&expected.sums).enumerate() {
            let scale = match k {
                0..3 => scale[0],
                3..6 => scale[1],
                _ => expected.sums[6].abs(),
            };
            let differ = (a - b).abs();
            assert!(
                differ <= error * scale,
                "{name}: sum {k} of {i}: {a:e}, not {b:e}"
            );
        }
    }
}

#[test]
fn forces_and_lists_are_those_of_the_plain_loops() {
    for count in [1, 2, 63, 65, 511, 512, 513, 1500] {
        let cloud = Cloud::new(count, count as u64);
        let targets = cloud.targets(count.min(23));
        for criterion in [Criterion::Radius, Criterion::MassAndRadius] {
            let mut targets = targets.clone();
            if criterion == Criterion::MassAndRadius {
                targets.iter_mut().for_each(|t| t.h2 *= count as f64);
            }
            for (name, mut backend, error) in backends(1, true) {
                let found = forces(&mut *backend, &cloud, &targets, criterion, usize::MAX);
                let name = format!("{name}, {count} sources, {criterion:?}");
                compare(&name, &cloud, &targets, criterion, (&found, error));
            }
        }
    }
}

#[test]
fn close_pairs_that_are_no_neighbours_are_right() {
    let mut cloud = Cloud::new(700, 9);
    let mut targets = cloud.targets(14);
    targets.iter_mut().for_each(|t| t.h2 = 0.0);
    for (i, target) in targets.iter().enumerate() {
        cloud.x[600 + i].0 = target.x;
        cloud.x[600 + i].0[i % 3] += 10.0_f64.powi(-1 - i as i32);
    }
    for (name, mut backend, error) in backends(1, true) {
        if name.ends_with("single") {
            continue;
        }
        let found = forces(&mut *backend, &cloud, &targets, Criterion::Radius, 0);
        compare(&name, &cloud, &targets, Criterion::Radius, (&found, error));
    }
}

/// Escapers and fast particles, masses that single precision does not hold, and what is no number.
#[test]
fn numbers_of_any_size() {
    let mut cloud = Cloud::new(1200, 4);
    cloud.x[3].0[1] = 1e9;
    cloud.v[520].0[2] = 1e12;
    cloud.m[1030].0 = 1e-60;
    cloud.m[1031].0 = 1e50;
    let mut targets = cloud.targets(20);
    targets[4].x[0] = -1e10;
    targets[5].h2 = 1e60;
    targets[8].dtr = 1e30;
    targets[9].h2 = f64::NAN;
    targets[10].dtr = f64::NAN;
    targets[11].h2 = -1.0;
    for (name, mut backend, error) in backends(1, true) {
        let found = forces(
            &mut *backend,
            &cloud,
            &targets,
            Criterion::Radius,
            usize::MAX,
        );
        compare(&name, &cloud, &targets, Criterion::Radius, (&found, error));
    }
    cloud.x[7].0[0] = f64::NAN;
    for (name, mut backend, _) in backends(1, true) {
        let found = forces(&mut *backend, &cloud, &targets[..1], Criterion::Radius, 0);
        assert!(found[0].sums[0].is_nan(), "{name}");
    }
}

/// Masses, and terms of the sums, beyond single precision, and negative ones: of neighbours, of others, and of the target itself.
#[test]
fn great_and_negative_masses() {
    for (mass, criterion) in [1e34, 1e50, -1e50, -1e-3]
        .into_iter()
        .flat_map(|m| [Criterion::Radius, Criterion::MassAndRadius].map(|c| (m, c)))
    {
        let mut cloud = Cloud::new(1200, 14);
        let targets = cloud.targets(16);
        for great in [3, 4, 600] {
            cloud.m[great].0 = mass;
        }
        cloud.x[600].0 = targets[0].x.map(|c| c + 0.06);
        for (name, mut backend, error) in backends(1, true) {
            let found = forces(&mut *backend, &cloud, &targets, criterion, usize::MAX);
            let name = format!("{name}, {mass:e}");
            compare(&name, &cloud, &targets, criterion, (&found, error));
            let incoming = Incoming {
                v: &[],
                ..cloud.incoming()
            };
            let mut sources = Sources::new();
            let mut found = [0.0; 9];
            let mut expected = [0.0; 9];
            for (backend, potentials) in [
                (&mut *backend, &mut found),
                (&mut PlainRegular as &mut dyn RegularForce, &mut expected),
            ] {
                backend
                    .potentials(&mut sources, &incoming, 0..9, potentials)
                    .unwrap();
            }
            for (a, b) in found.iter().zip(expected) {
                assert!((a - b).abs() <= error * b.abs(), "{name}: {a:e}, not {b:e}");
            }
        }
    }
}

#[test]
fn long_lists_are_counted_and_cut() {
    let cloud = Cloud::new(900, 2);
    let mut targets = cloud.targets(3);
    targets.iter_mut().for_each(|t| t.h2 = 100.0);
    for threads in [1, 3] {
        for (name, mut backend, _) in backends(threads, true) {
            for longest in [0, 10, 899, 900] {
                let found = forces(&mut *backend, &cloud, &targets, Criterion::Radius, longest);
                for result in &found {
                    assert_eq!(result.neighbours, 900, "{name}");
                    let list: Vec<i32> = (0..longest as i32).collect();
                    assert_eq!(result.list, list, "{name}");
                    assert_eq!(result.sums, [0.0; 7], "{name}");
                }
            }
        }
    }
}

#[test]
fn the_same_bits_in_any_block_on_any_threads() {
    let cloud = Cloud::new(20_000, 6);
    let targets = cloud.targets(40);
    let whole = backends(1, true)
        .into_iter()
        .map(|(_, mut backend, _)| forces(&mut *backend, &cloud, &targets, Criterion::Radius, 50));
    let whole: Vec<_> = whole.collect();
    let bits =
        |r: &regular::RegularResult| (r.sums.map(f64::to_bits), r.neighbours, r.list.clone());
    for (threads, split) in [(2, true), (5, true), (3, false)] {
        for ((name, mut backend, _), whole) in backends(threads, split).into_iter().zip(&whole) {
            // The third is divided over the sources, where threads may.
            for block in [0..40, 7..8, 3..16] {
                let targets = &targets[block.clone()];
                let found = forces(&mut *backend, &cloud, targets, Criterion::Radius, 50);
                for (found, expected) in found.iter().zip(&whole[block.clone()]) {
                    assert_eq!(
                        bits(found),
                        bits(expected),
                        "{name}, {threads} threads, {block:?}"
                    );
                }
            }
        }
    }
}

/// Equal masses are not multiplied with. One other mass, of a neighbour, adds nothing but has all of them multiplied.
#[test]
fn equal_masses_have_the_bits_of_others() {
    const NEIGHBOUR: usize = 100;
    let mut cloud = Cloud::new(2000, 8);
    let targets: Vec<_> = cloud
        .targets(60)
        .into_iter()
        .map(|mut target| {
            let r: [f64; 3] = std::array::from_fn(|k| target.x[k] - cloud.x[NEIGHBOUR].0[k]);
            target.h2 = 0.01 + 1.1 * r.iter().map(|x| x * x).sum::<f64>();
            target
        })
        .collect();
    for (name, mut backend, _) in backends(1, true) {
        let [equal, other] = [1.0, 3.0].map(|mass| {
            cloud.m.fill(Unaligned(1.0));
            cloud.m[NEIGHBOUR] = Unaligned(mass);
            forces(&mut *backend, &cloud, &targets, Criterion::Radius, 2000)
        });
        for (equal, other) in equal.iter().zip(&other) {
            assert!(equal.list.contains(&(NEIGHBOUR as _)), "{name}");
            assert_eq!(equal.list, other.list, "{name}");
            let [equal, other] = [equal.sums, other.sums].map(|sums| sums.map(f64::to_bits));
            assert_eq!(equal, other, "{name}");
        }
    }
}

#[test]
fn potentials_are_those_of_the_plain_loops() {
    let mut cloud = Cloud::new(1300, 8);
    cloud.x[900] = cloud.x[5];
    cloud.x[901] = cloud.x[6];
    cloud.x[901].0[0] += 1e-12;
    let incoming = Incoming {
        v: &[],
        ..cloud.incoming()
    };
    let range = 5..600;
    let mut expected = vec![0.0; range.len()];
    let (mut sources, mut scratch) = (Sources::new(), Sources::new());
    PlainRegular
        .potentials(&mut sources, &incoming, range.clone(), &mut expected)
        .unwrap();
    for threads in [1, 3] {
        for (name, mut backend, error) in backends(threads, true) {
            let mut found = vec![0.0; range.len()];
            backend
                .potentials(&mut scratch, &incoming, range.clone(), &mut found)
                .unwrap();
            for (i, (a, b)) in found.iter().zip(&expected).enumerate() {
                assert!((a - b).abs() <= error * b, "{name}: {i}: {a}, not {b}");
            }
        }
    }
}

#[test]
fn sources_can_be_inherited() {
    let cloud = Cloud::new(700, 3);
    let targets = cloud.targets(9);
    for (name, mut backend, _) in backends(1, true) {
        let mut sources = Sources::new();
        PlainRegular.load(&mut sources, &cloud.incoming()).unwrap();
        let expected = forces(&mut *backend, &cloud, &targets, Criterion::Radius, 9);
        let block = RegularRequest {
            sources: &sources,
            targets: &targets,
            criterion: Criterion::Radius,
            longest: 9,
        };
        let mut found = vec![regular::RegularResult::default(); targets.len()];
        backend
            .load(&mut Sources::new(), &Cloud::new(5, 1).incoming())
            .unwrap();
        backend.inherit(&sources).unwrap();
        backend.forces(&block, &mut found).unwrap();
        for (a, b) in found.iter().zip(&expected) {
            assert_eq!(a.sums, b.sums, "{name}");
        }
    }
}

fn irregular_backends() -> Vec<(String, Box<dyn IrregularForce>)> {
    let sets = SETS
        .into_iter()
        .filter_map(|set| Some((set.to_string(), build_irregular(set)?)));
    let wide = Irregular::boxed(Portable::<f64, 8>::default());
    sets.chain([("8 doubles".to_owned(), wide)]).collect()
}

/// The force on one star.
///
/// # Safety
///
/// There is such an address, and no thread writes stars or lists.
unsafe fn irregular_force(
    backend: &dyn IrregularForce,
    stars: &Stars,
    ti: f64,
    address: usize,
) -> irregular::NeighbourForce {
    let mut force = irregular::NeighbourForce::default();
    // SAFETY: passed on.
    unsafe {
        backend.forces(stars, ti, 7..8, &|_| address, &mut |_, found| {
            force = *found
        })
    };
    force
}

/// Stars of which every tenth was never written, and lists of all lengths.
fn stars(count: usize) -> Stars {
    let stars = Stars::new(count).unwrap();
    let mut random = Random::new(11);
    let mut vector = |size: f64| random.vector(0.5 * size);
    for address in 0..count {
        let star = Star {
            x: vector(2.0),
            mass: 1.0 + vector(1.0)[0],
            v: vector(2.0),
            time: vector(0.1)[0],
            aby2: vector(1.0),
            present: 1.0,
            a1by6: vector(1.0),
            unused: 0.0,
        };
        if address % 10 != 3 {
            // SAFETY: this thread is alone with the stars.
            unsafe { stars.write(address, star) };
        }
        let length = match address {
            0..150 => address,
            _ => count / (address - 149),
        };
        let list = (0..length).map(|k| ((address + k * 7) % count) as u32);
        stars.write_list(address, list).unwrap();
    }
    stars
}

#[test]
fn irregular_forces_are_those_of_the_plain_loops() {
    let stars = stars(5000);
    for (name, backend) in irregular_backends() {
        for address in (0..200).filter(|a| a % 10 != 3) {
            // SAFETY: this thread is alone with the stars.
            let (found, expected) = unsafe {
                let of =
                    |backend: &dyn IrregularForce| irregular_force(backend, &stars, 0.125, address);
                (of(&*backend), of(&irregular::PlainIrregular))
            };
            assert_eq!(found.nearest, expected.nearest, "{name}: {address}");
            for (a, b) in [(found.acc, expected.acc), (found.jerk, expected.jerk)] {
                let size = b.iter().fold(1.0, |m: f64, c| m.max(c.abs()));
                for k in 0..3 {
                    assert!(
                        (a[k] - b[k]).abs() < 1e-11 * size,
                        "{name}: {address}: {a:?} {b:?}"
                    );
                }
            }
        }
    }
}

/// While the neighbours of a star are summed, those of the next one are fetched. It changes no bit.
#[test]
fn a_run_of_stars_has_the_forces_of_each_alone() {
    let stars = stars(5000);
    for (name, backend) in irregular_backends() {
        let address = |k: usize| (k * 37) % 200;
        let mut found = Vec::new();
        // SAFETY: this thread is alone with the stars.
        unsafe {
            backend.forces(&stars, 0.125, 3..90, &address, &mut |k, f| {
                found.push((k, *f))
            })
        };
        assert_eq!(found.len(), 87, "{name}");
        for (n, (k, found)) in found.into_iter().enumerate() {
            assert_eq!(k, n + 3, "{name}");
            // SAFETY: as above.
            let alone = unsafe { irregular_force(&*backend, &stars, 0.125, address(k)) };
            assert_eq!(found, alone, "{name}: {k}");
        }
        // SAFETY: as above; nobody asks for an address.
        unsafe { backend.forces(&stars, 0.125, 3..3, &|_| usize::MAX, &mut |_, _| panic!()) };
    }
}

#[test]
fn one_far_star_is_as_good_as_a_near_one() {
    for (name, backend) in irregular_backends() {
        for distance in [1e-101, 1e-90, 1e-10, 1.0, 1e10, 1e100] {
            let stars = Stars::new(2).unwrap();
            let star = |x| Star {
                x: [x, 0.0, 0.0],
                mass: 1.0,
                present: 1.0,
                ..Star::default()
            };
            // SAFETY: this thread is alone with the stars.
            let force = unsafe {
                stars.write(0, star(0.0));
                stars.write(1, star(distance));
                stars.write_list(0, [1].into_iter()).unwrap();
                irregular_force(&*backend, &stars, 0.0, 0)
            };
            assert_eq!(force.nearest, Some(1), "{name}: {distance:e}");
            let expected = match distance < 1e-100 {
                true => 0.0,
                false => distance.powi(-2),
            };
            let differ = (force.acc[0] - expected).abs();
            assert!(
                differ <= 1e-14 * expected,
                "{name}: {distance:e}: {:e}",
                force.acc[0]
            );
        }
    }
}

/// Distances whose squares vanish in single precision do not make a neighbour.
#[test]
fn the_least_radii_have_the_neighbours_of_the_definition() {
    for h2 in [5e-50, 5e-40, 5e-30, 1e-300] {
        let spacing = (h2 / 5.0_f64).sqrt();
        let cloud = Cloud {
            x: (0..40)
                .map(|k| Unaligned([f64::from(k) * spacing, 0.0, 0.0]))
                .collect(),
            v: (0..40).map(|_| Unaligned([0.0; 3])).collect(),
            m: (0..40).map(|_| Unaligned(1.0)).collect(),
        };
        let targets = [0, 5].map(|k| Target {
            x: cloud.x[k].0,
            h2,
            ..Target::default()
        });
        for criterion in [Criterion::Radius, Criterion::MassAndRadius] {
            let expected = forces(&mut PlainRegular, &cloud, &targets, criterion, 100);
            assert_eq!(expected[0].list, [0, 1, 2]);
            for (name, mut backend, _) in backends(1, true) {
                let found = forces(&mut *backend, &cloud, &targets, criterion, 100);
                for (found, expected) in found.iter().zip(&expected) {
                    assert_eq!(found.list, expected.list, "{name}, {h2:e}");
                }
            }
        }
    }
}
