//! The same bits, however the work is divided and ordered.

use super::*;
use crate::sources::jmemory::tests::AtRest;

#[test]
fn same_bits_alone_in_any_block_in_any_order_on_any_number_of_threads() {
    let (memory, particles) = cluster(3000, 1.0);
    let whole = ForceRequest {
        nj: 2900,
        ti: 0.01,
        particles: i_particles(&particles[..700], 0.0),
    };
    for precision in PRECISIONS {
        for ((name, mut one), (_, mut many)) in backends(precision, 1)
            .into_iter()
            .zip(backends(precision, 7))
        {
            let expected = results(&mut *one, &memory, &whole);
            let same = results(&mut *many, &memory, &whole);
            assert_eq!(same.forces, expected.forces, "{name} {precision}: threads");
            let mut reversed = whole.clone();
            reversed.particles.reverse();
            let mut found = results(&mut *many, &memory, &reversed);
            found.forces.reverse();
            assert_eq!(found.forces, expected.forces, "{name} {precision}: order");
            for size in [1, 2, 40, 300] {
                let mut block = whole.clone();
                block.particles.truncate(size);
                let found = results(&mut *many, &memory, &block);
                assert_eq!(
                    found.forces,
                    expected.forces[..size],
                    "{name} {precision}: {size}"
                );
            }
        }
        let mut small = whole.clone();
        small.particles.truncate(13);
        for ((name, mut divided), (_, mut undivided)) in backends(precision, 7)
            .into_iter()
            .zip(with_split(precision, 7, false))
        {
            let expected = results(&mut *divided, &memory, &small);
            let found = results(&mut *undivided, &memory, &small);
            assert_eq!(found.forces, expected.forces, "{name} {precision}: split");
        }
    }
}

/// Labels that ascend show the slot that an i-particle leaves out; others are compared one by one.
#[test]
fn same_bits_whatever_the_labels() {
    let (_, particles) = cluster(1100, 1.0);
    // Of each particle, and one that no particle has.
    type Label = fn(i32) -> i32;
    let labels: [(Label, Label); 5] = [
        (|k| k, |_| 5000),
        (|k| k - 2000, |_| 5000),
        (|k| 3 * k - 1500, |k| 3 * k - 1499),
        (|k| -k, |_| 5000),
        (|k| if k % 50 < 48 { k } else { k ^ 1 }, |_| -1),
    ];
    let resting: Vec<JParticle> = particles.iter().map(at_rest).collect();
    let memories = [&particles, &resting].map(|particles| {
        labels.map(|(label, _)| {
            let mut memory = JMemory::default();
            for (address, p) in (0..).zip(particles) {
                let index = label(p.index);
                memory.write(address, &JParticle { index, ..*p }).unwrap();
            }
            memory
        })
    });
    type Size = (usize, f64, bool);
    let forces = |precision, (nj, eps2, rest): Size, nearest, which: usize| {
        let (label, of_none) = labels[which];
        let particles = if rest { &resting } else { &particles };
        let mut block = ForceRequest {
            nj,
            ti: 0.01,
            particles: [0..50, 480..540, 1010..1099]
                .into_iter()
                .flat_map(|some| i_particles(&particles[some], eps2))
                .collect(),
        };
        for (k, i) in block.particles.iter_mut().enumerate() {
            i.index = match k % 10 {
                9 => of_none(i.index),
                _ => label(i.index),
            };
        }
        let of = |(name, mut backend): (String, Box<dyn Backend>)| {
            let mut found = Results::default();
            backend
                .finish(
                    &memories[usize::from(rest)][which],
                    &block,
                    nearest,
                    &mut found,
                )
                .expect("the CPU computes any block");
            (name, found.forces)
        };
        backends(precision, 2)
            .into_iter()
            .map(of)
            .collect::<Vec<(String, Vec<Force>)>>()
    };
    let sizes = [
        (1100, 1e-4, false),
        (1024, 1e-4, false),
        (999, 0.0, false),
        (300, 1e-4, false),
        (3, 1e-4, false),
        (1100, 1e-4, true),
        (999, 0.0, true),
        (512, 1e-4, true),
        (3, 1e-4, true),
    ];
    for precision in [PRECISIONS.as_slice(), &[Precision::Reduced]].concat() {
        for size in sizes {
            let expected = forces(precision, size, false, 0);
            for nearest in [false, true] {
                for which in usize::from(!nearest)..labels.len() {
                    let found = forces(precision, size, nearest, which);
                    for ((name, found), (_, expected)) in found.iter().zip(&expected) {
                        let differing = found.iter().zip(expected).position(|(a, b)| a != b);
                        let what = format!("{name} {precision} {size:?} {nearest}, labels {which}");
                        assert_eq!(differing, None, "{what}");
                    }
                }
            }
        }
    }
}

/// Few i-particles and many pages, some of which are absent. Each task sums over some of the pages, and its sums
/// are joined with those of the other tasks along the tree.
#[test]
fn same_bits_however_the_pages_are_divided() {
    let (_, particles) = cluster(2000, 1.0);
    let mut memory = JMemory::default();
    let absent = [4, 7, 8, 18, 24, 25, 26, 27];
    let pages = (0..70).filter(|page| !absent.contains(page));
    let addresses = pages.flat_map(|page| (0..30).map(move |slot| page * PAGE as i32 + 17 * slot));
    for (address, p) in addresses.zip(&particles) {
        memory.write(address, p).unwrap();
    }
    let block = ForceRequest {
        nj: 70 * PAGE,
        ti: 0.01,
        particles: i_particles(&particles[..15], 0.0),
    };
    for precision in PRECISIONS {
        for threads in [2, 3, 5, 11] {
            let one = backends(precision, 1).into_iter();
            for ((name, mut one), (_, mut many)) in one.zip(backends(precision, threads)) {
                let expected = results(&mut *one, &memory, &block);
                let found = results(&mut *many, &memory, &block);
                let what = format!("{name} {precision}, {threads} threads");
                assert_eq!(found.forces, expected.forces, "{what}");
                assert_eq!(found.nearest, expected.nearest, "{what}");
            }
        }
    }
}

/// A call gives the same bits whatever was called before it, on any number of threads: for pages of different scales
/// side by side, and for a cluster whose scale changes with time.
#[test]
fn same_bits_at_any_scale_whatever_came_before() {
    let scales = [1e-12, 3e-9, 1e-4, 1e2, 1e6, 1e9, 1e12];
    for precision in PRECISIONS {
        for (k, &length) in scales.iter().enumerate() {
            for speed in [scales[k], scales[scales.len() - 1 - k], 1.0] {
                let (_, particles) = cluster(1400, 1.0);
                let write = |memory: &mut JMemory, length: f64| {
                    for (address, p) in (0..).zip(&particles) {
                        let size = length * [1.0, 1e6, 1e-6][address as usize / 512];
                        let star = JParticle {
                            t: 0.0,
                            x: p.x.map(|x| size * x),
                            v: p.v.map(|v| speed * v),
                            index: p.index,
                            mass: p.mass,
                            ..JParticle::default()
                        };
                        memory.write(address, &star).unwrap();
                    }
                };
                let mut memory = JMemory::default();
                write(&mut memory, length);
                let some: Vec<_> = [3, 700, 1300].map(|a| memory.read(a).unwrap()).into();
                let mut block = ForceRequest {
                    nj: 1400,
                    ti: 0.0,
                    particles: i_particles(&some, 0.0),
                };
                block.particles[1].index = -1;
                block.particles[1].x = [0.1 * length, 0.0, 0.0];
                block.particles[1].v = [0.0; 3];
                let names = backends(precision, 1).into_iter().map(|(name, _)| name);
                for (set, name) in names.enumerate() {
                    for ti in [0.0, length / speed] {
                        block.ti = ti;
                        let at = |threads: usize| backends(precision, threads).swap_remove(set).1;
                        let first = results(&mut *at(1), &memory, &block);
                        for threads in [1, 2, 4] {
                            let mut backend = at(threads);
                            let what =
                                format!("{name} {precision}, {length:e} {speed:e}, {threads}");
                            let same = |backend: &mut dyn Backend, memory: &JMemory| {
                                results(backend, memory, &block).forces == first.forces
                            };
                            assert!(same(&mut *backend, &memory), "{what}");
                            assert!(same(&mut *backend, &memory), "{what}, again");
                            let other = ForceRequest {
                                ti: 1e6 * length / speed,
                                ..block.clone()
                            };
                            results(&mut *backend, &memory, &other);
                            assert!(same(&mut *backend, &memory), "{what}, after another time");
                            write(&mut memory, 1e20);
                            results(&mut *backend, &memory, &block);
                            write(&mut memory, length);
                            assert!(
                                same(&mut *backend, &memory),
                                "{what}, after other particles"
                            );
                        }
                    }
                }
            }
        }
    }
}

/// If no neighbour is wanted, leaves without mass are skipped. The bits, the signs of zeros included, are those of
/// the pair loop; NaN stays NaN.
fn bits(found: &Results) -> Vec<[u64; 7]> {
    let numbers = found.forces.iter().map(|f| {
        let [[x, y, z], [jx, jy, jz]] = [f.acc, f.jerk];
        [x, y, z, jx, jy, jz, f.pot].map(f64::to_bits)
    });
    numbers.collect()
}

#[test]
fn leaves_without_a_mass_add_zeros() {
    for (with_mass, rest) in [0, 1, 700, 1400]
        .into_iter()
        .flat_map(|n| [(n, false), (n, true)])
    {
        let (_, mut particles) = cluster(1500, 1.0);
        let mut memory = JMemory::default();
        for (address, p) in (0..).zip(&mut particles) {
            if rest {
                *p = at_rest(p);
            }
            if address as usize >= with_mass {
                p.mass = 0.0;
            }
            memory.write(address, p).unwrap();
        }
        let mut block = ForceRequest {
            nj: 1450,
            ti: 0.01,
            particles: i_particles(&particles[600..640], 0.0),
        };
        for precision in PRECISIONS {
            for (name, mut backend) in backends(precision, 2) {
                let summed = results(&mut *backend, &memory, &block);
                let mut passed_over = Results::default();
                let done = backend.finish(&memory, &block, false, &mut passed_over);
                done.expect("the CPU computes any block");
                assert_eq!(
                    bits(&passed_over),
                    bits(&summed),
                    "{name} {precision} {rest}"
                );
            }
        }
        block.particles[3].x[1] = f64::NAN;
        for (name, mut backend) in backends(Precision::Double, 1) {
            let mut found = Results::default();
            let done = backend.finish(&memory, &block, false, &mut found);
            done.expect("the CPU computes any block");
            assert!(found.forces[3].acc[1].is_nan(), "{name}");
        }
    }
}

/// Addresses of a block whose last page has further particles.
const NJ: usize = PAGE + 83;

/// Stars for the addresses of a block: usual ones, ones of a tiny scale, or masses of both signs.
fn stars_below_nj(kind: usize) -> Vec<JParticle> {
    let (_, mut stars) = cluster(NJ as i32, 1.0);
    for (k, star) in stars.iter_mut().enumerate() {
        match kind {
            0 => {}
            1 => {
                let vectors = [&mut star.x, &mut star.v, &mut star.aby2];
                for vector in vectors
                    .into_iter()
                    .chain([&mut star.a1by6, &mut star.a2by18])
                {
                    *vector = vector.map(|c| c * 1e-14);
                }
            }
            2 => star.mass *= [1.0, -1.0][k % 2],
            _ => *star = at_rest(star),
        }
    }
    stars
}

/// A star for an address from `nj` on, that differs from one below.
fn strange(kind: usize, like: &JParticle) -> JParticle {
    let mut star = JParticle {
        index: 5000,
        ..*like
    };
    match kind {
        0 => star.mass = -3.0,
        1 => star.mass *= 1e-130,
        2 => star.mass = 1e30,
        3 => star.v = [1e32; 3],
        4 => star.x = [1e20, -1e19, 0.0],
        5 => star.x = [1e6, -1.0, 0.0],
        6 => star.x = star.x.map(|x| x * (1.0 + 1e-9)),
        7 => star.x = [1e60; 3],
        8 => star.mass = 1e60,
        9 => (star.mass, star.x) = (f64::NAN, [f64::NAN; 3]),
        _ => star.x = star.x.map(|x| x * 1e-25),
    }
    star
}

fn stored(kind: SourceKind, stars: &[JParticle]) -> JMemory {
    let mut memory = JMemory::of(kind);
    match kind {
        SourceKind::Moving => (0..)
            .zip(stars)
            .for_each(|(address, star)| memory.write(address, star).unwrap()),
        _ => {
            let at_rest = |(k, star): (usize, &JParticle)| AtRest {
                mass: star.mass,
                x: star.x,
                eps2: if k < NJ { 1e-4 } else { 1e25 },
            };
            let stars: Vec<_> = stars.iter().enumerate().map(at_rest).collect();
            memory.fill_with(0, &stars).unwrap();
        }
    }
    memory
}

#[test]
fn what_is_beyond_nj_changes_no_bit() {
    let all = PRECISIONS.into_iter().chain([Precision::Reduced]);
    for (base, eps2) in [(0, 0.0), (1, 0.0), (2, 1e-4), (3, 0.0)] {
        let stars = stars_below_nj(base);
        let mut particles = i_particles(&stars[NJ - 20..], eps2);
        // Also the label of those beyond.
        particles[0].index = 5000;
        let block = ForceRequest {
            nj: NJ,
            ti: 0.01,
            particles,
        };
        for kind in [SourceKind::Moving, SourceKind::AtRest, SourceKind::Softened] {
            let alone = stored(kind, &stars);
            let expected: Vec<Vec<Results>> = all
                .clone()
                .map(|precision| {
                    let backends = backends(precision, 1).into_iter();
                    backends
                        .map(|(_, mut one)| results(&mut *one, &alone, &block))
                        .collect()
                })
                .collect();
            for beyond in 0..=10 {
                let others = (0..20).map(|k| strange(beyond, &stars[NJ - 20 + k]));
                let more = stored(
                    kind,
                    &stars.iter().copied().chain(others).collect::<Vec<_>>(),
                );
                for (precision, expected) in all.clone().zip(&expected) {
                    // One that moves, at any address, turns it off: see `Cluster`.
                    if (base, kind, precision) == (3, SourceKind::Moving, Precision::Reduced) {
                        continue;
                    }
                    for ((name, mut backend), expected) in
                        backends(precision, 1).into_iter().zip(expected)
                    {
                        let found = results(&mut *backend, &more, &block);
                        let what =
                            format!("{name} {precision} {kind:?}, {base}, eps2 {eps2}, {beyond}");
                        assert_eq!(bits(&found), bits(expected), "{what}");
                        assert_eq!(found.nearest, expected.nearest, "{what}");
                    }
                }
            }
        }
    }
}

/// Equal masses are not multiplied with. One other mass, where the i-particle is, exerts no force but has all of them
/// multiplied.
#[test]
fn equal_masses_have_the_bits_of_others() {
    let (_, moving) = cluster(2 * PAGE as i32, 1.0);
    let resting: Vec<JParticle> = moving.iter().map(at_rest).collect();
    for particles in [moving, resting] {
        assert_equal_masses_have_the_bits_of_others(&particles);
    }
}

fn assert_equal_masses_have_the_bits_of_others(particles: &[JParticle]) {
    const THERE: usize = 100;
    let mut memory = JMemory::default();
    for (address, p) in (0..).zip(particles) {
        let equal = JParticle { mass: 1.0, ..*p };
        memory.write(address, &equal).unwrap();
    }
    let mut there = JParticle {
        index: particles[THERE].index,
        x: [0.25, 0.5, -0.125],
        ..JParticle::default()
    };
    let mut block = ForceRequest {
        nj: particles.len(),
        ti: 0.01,
        particles: i_particles(std::slice::from_ref(&there), 0.25),
    };
    block.particles[0].index = -1;
    for precision in PRECISIONS {
        for (name, mut backend) in backends(precision, 1) {
            let [equal, other] = [1.0, 3.0].map(|mass| {
                there.mass = mass;
                memory.write(THERE as i32, &there).unwrap();
                let mut results = Results::default();
                backend
                    .finish(&memory, &block, false, &mut results)
                    .unwrap();
                results.forces[0]
            });
            let bits = |sums: [f64; 3]| sums.map(f64::to_bits);
            assert_eq!(bits(equal.acc), bits(other.acc), "{name} {precision}");
            assert_eq!(bits(equal.jerk), bits(other.jerk), "{name} {precision}");
            assert!(equal.pot.abs() < other.pot.abs(), "{name} {precision}");
        }
    }
}
