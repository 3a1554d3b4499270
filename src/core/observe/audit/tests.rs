//! Right results pass, wrong ones are found, in every precision.

use super::*;
use crate::cluster::Cluster;
use crate::cpu;
use crate::error::Result;
use crate::force::Backend;
use crate::process::settings::{InstructionSet, Settings};
use crate::sources::particle::JParticle;

/// Results in `mixed`, without nearest neighbours.
fn mixed<'a>(memory: &'a JMemory, block: &'a ForceRequest, results: &'a Results) -> Computed<'a> {
    Computed {
        memory,
        block,
        results,
        nearest: false,
        precision: Precision::Mixed,
    }
}

/// A backend that returns what `lie` makes of the truth.
struct Liar(fn(&mut Results));

impl Backend for Liar {
    fn name(&self) -> String {
        "a liar".to_owned()
    }

    fn precision(&self) -> Precision {
        Precision::Mixed
    }

    fn finish(
        &mut self,
        memory: &JMemory,
        block: &ForceRequest,
        nearest: bool,
        results: &mut Results,
    ) -> Result<()> {
        *results = reference::results(memory, block, nearest)?;
        (self.0)(results);
        Ok(())
    }
}

fn star(random: &mut Random, index: i32, centre: f64, size: f64) -> JParticle {
    let mut vector = |centre: f64, size: f64| [0; 3].map(|_| centre + size * random.signed());
    JParticle {
        index,
        mass: 0.01,
        x: vector(centre, size),
        v: vector(0.0, 1.0),
        aby2: vector(0.0, 1.0),
        a1by6: vector(0.0, 1.0),
        ..JParticle::default()
    }
}

fn target(p: &JParticle, eps2: f64) -> IParticle {
    IParticle {
        index: p.index,
        x: p.x,
        v: p.v,
        eps2,
        h2: 0.0,
    }
}

/// A cluster that is checked, after blocks of every one of its 100 particles.
fn cluster(lie: fn(&mut Results)) -> Cluster {
    let settings = Settings {
        check: true,
        ..Settings::default()
    };
    let mut cluster = Cluster::new(settings);
    cluster.set_backend(Box::new(Liar(lie)));
    let mut random = Random::new(3);
    let stars: Vec<JParticle> = (0..100).map(|i| star(&mut random, i, 0.0, 1.0)).collect();
    for (address, star) in (0..).zip(&stars) {
        cluster.set_j_particle(address, star).expect("an address");
    }
    for block in stars.chunks(10).cycle().take(100) {
        let block: Vec<IParticle> = block.iter().map(|p| target(p, 1e-4)).collect();
        cluster.firsthalf(100, block.into_iter()).expect("a block");
        cluster.lasthalf(10, true).expect("a result");
        std::thread::sleep(Duration::from_micros(200));
    }
    cluster
}

#[test]
fn the_truth_is_not_reported() {
    let (checked, wrong) = cluster(|_| {}).check_counts().expect("checks");
    assert!(checked > 20, "{checked}");
    assert_eq!(wrong, 0);
}

#[test]
fn lies_are_found() {
    let lies: [fn(&mut Results); 5] = [
        |r| r.forces.iter_mut().for_each(|f| f.acc[1] *= 1.01),
        |r| r.forces.iter_mut().for_each(|f| f.jerk[2] += 1.0),
        |r| r.forces.iter_mut().for_each(|f| f.pot *= 1.0 + 1e-4),
        |r| r.forces.iter_mut().for_each(|f| f.acc[0] = f64::NAN),
        |r| r.nearest.iter_mut().flatten().for_each(|n| n.index += 1),
    ];
    for (k, lie) in lies.into_iter().enumerate() {
        let (checked, wrong) = cluster(lie).check_counts().expect("checks");
        assert!(
            wrong > 0 && wrong == checked,
            "lie {k}: {wrong} of {checked}"
        );
    }
}

#[test]
fn one_report_tells_the_call_the_particle_and_the_numbers() {
    let mut memory = JMemory::default();
    let star = JParticle {
        index: 7,
        mass: 1.0,
        x: [2.0, 0.0, 0.0],
        ..JParticle::default()
    };
    memory.write(0, &star).expect("an address");
    let block = ForceRequest {
        nj: 1,
        ti: 0.5,
        particles: vec![IParticle {
            index: 42,
            ..IParticle::default()
        }],
    };
    let mut results = reference::results(&memory, &block, false).unwrap();
    results.forces[0].acc[0] = 0.375;
    let what = mixed(&memory, &block, &results);
    let mut check = Audit::default();
    let text = check.inspect(what).expect("a report");
    for part in [
        "block 1 ",
        "nj = 1, ni = 1, t = 0.5",
        "i-particle 0 (index 42)",
        "3.75",
        "2.5",
        "mixed",
    ] {
        assert!(text.contains(part), "no {part} in {text}");
    }
    std::thread::sleep(Duration::from_millis(20));
    assert_eq!(check.inspect(what), None, "only the first is told");
    assert_eq!(check.counts(), (2, 2));
}

/// What split positions alone made of close pairs.
#[test]
fn wrong_forces_of_close_pairs_are_found() {
    for (distance, separation, factor) in [(1e3, 1e-11, 1.9), (1e6, 1e-9, 1.0 / 12.0)] {
        let mut memory = JMemory::default();
        let mut block = ForceRequest {
            nj: 2,
            ti: 0.0,
            particles: Vec::new(),
        };
        for index in 0..2 {
            let star = JParticle {
                index,
                mass: 1.0,
                x: [distance + separation * f64::from(index), 0.0, 0.0],
                ..JParticle::default()
            };
            memory.write(index, &star).expect("an address");
            block.particles.push(target(&star, 0.0));
        }
        let mut results = reference::results(&memory, &block, false).unwrap();
        results.forces[1].acc[0] *= factor;
        let what = mixed(&memory, &block, &results);
        assert_eq!(compare(what, 0), None);
        assert!(compare(what, 1).is_some(), "{separation:e} at {distance:e}");
    }
}

#[test]
fn no_precision_of_the_cpu_backend_is_suspected() {
    let mut random = Random::new(11);
    // A cluster, one far from the origin, and close pairs with and without softening.
    for (centre, size, separation, eps2) in [
        (0.0, 1.0, 0.0, 1e-4),
        (0.0, 1.0, 1e-7, 0.0),
        (1e4, 1.0, 1e-3, 0.0),
        (3.0, 1e-6, 1e-12, 1e-20),
        (1e3, 1.0, 1e-11, 0.0),
        (1e6, 1.0, 1e-9, 0.0),
        (1.0, 1.0, 1e-14, 0.0),
        (0.0, 1e13, 1e3, 0.0),
    ] {
        let mut memory = JMemory::default();
        let mut block = ForceRequest {
            nj: 700,
            ti: 0.25,
            particles: Vec::new(),
        };
        for address in 0..700 {
            let mut p = star(&mut random, address, centre, size);
            if address % 2 == 1 && separation > 0.0 {
                p = memory.read(address - 1).expect("it was written");
                p.index = address;
                p.x = p.x.map(|x| x + separation * random.signed());
            }
            memory.write(address, &p).expect("an address");
            let (x, v) = p.predicted(block.ti);
            block.particles.push(target(&JParticle { x, v, ..p }, eps2));
        }
        for precision in [Precision::Double, Precision::Mixed, Precision::Single] {
            let backend = cpu::build(InstructionSet::Portable, precision, 1, true);
            let mut backend = backend.expect("it is everywhere");
            let mut results = Results::default();
            backend.start(&mut memory, &block).expect("a block");
            backend
                .finish(&memory, &block, true, &mut results)
                .expect("results");
            let what = Computed {
                memory: &memory,
                block: &block,
                results: &results,
                nearest: true,
                precision,
            };
            for i in 0..block.particles.len() {
                let found = compare(what, i);
                assert_eq!(found, None, "centre {centre}, size {size}, {separation}");
            }
        }
    }
}

/// The coordinates of an escaper decide on the grid for a soft pair far within its softening length.
#[test]
fn a_soft_pair_beside_an_escaper_is_not_suspected() {
    let mut memory = JMemory::default();
    for (index, x) in (0..).zip([[400.0, 0.0, 0.0], [0.1 + 7e-11, 0.1, 0.1]]) {
        let star = JParticle {
            index,
            mass: 1.0,
            x,
            v: [0.1, 0.2, 0.3],
            ..JParticle::default()
        };
        memory.write(index, &star).expect("an address");
    }
    let block = ForceRequest {
        nj: 2,
        ti: 0.0,
        particles: vec![IParticle {
            x: [0.1; 3],
            eps2: 1.0,
            ..IParticle::default()
        }],
    };
    let backend = cpu::build(InstructionSet::Portable, Precision::Mixed, 1, true);
    let mut backend = backend.expect("it is everywhere");
    let mut results = Results::default();
    backend.start(&mut memory, &block).expect("a block");
    backend
        .finish(&memory, &block, false, &mut results)
        .expect("results");
    assert_eq!(compare(mixed(&memory, &block, &results), 0), None);
}

/// The report on the force of stars of this mass at these `places` on a particle at the origin, with the acceleration
/// multiplied by `factor`.
fn report_of(mass: f64, places: &[[f64; 3]], factor: f64) -> Option<String> {
    let mut memory = JMemory::default();
    for (address, x) in (0..).zip(places) {
        let star = JParticle {
            index: address,
            mass,
            x: *x,
            ..JParticle::default()
        };
        memory.write(address, &star).expect("an address");
    }
    let block = ForceRequest {
        nj: places.len(),
        ti: 0.0,
        particles: vec![IParticle {
            index: 42,
            ..IParticle::default()
        }],
    };
    let mut results = reference::results(&memory, &block, false).unwrap();
    results.forces[0].acc = results.forces[0].acc.map(|a| factor * a);
    compare(mixed(&memory, &block, &results), 0)
}

/// Where the square of a distance is beyond all numbers, there is no force, and its allowed error is not NaN.
#[test]
fn a_particle_beyond_all_numbers_is_no_discrepancy() {
    let places = [2.0, 1e155, 1e300].map(|x| [x, 0.0, 0.0]);
    for (factor, is_right) in [(1.0, true), (1.01, false)] {
        assert_eq!(report_of(1.0, &places, factor).is_none(), is_right);
    }
}

/// Forces whose squares are beyond all numbers, or below them, are judged like others.
#[test]
fn units_do_not_matter() {
    for (mass, length) in [(1e200, 1.0), (1.0, 1.0), (1e-200, 1.0), (1e-250, 1e25)] {
        let places = [[3.0 * length, 0.0, 0.0], [0.0, 4.0 * length, 0.0]];
        for (factor, is_right) in [(1.0 + 1e-9, true), (1.01, false)] {
            let found = report_of(mass, &places, factor);
            assert_eq!(found.is_none(), is_right, "{mass:e}: {found:?}");
        }
    }
}

#[test]
fn what_is_not_finite_and_other_arguments_are_told_once() {
    let particles = vec![IParticle::default(); 3];
    let block = ForceRequest {
        nj: 5,
        ti: 0.0,
        particles: particles.clone(),
    };
    let mut results = Results {
        forces: vec![Force::default(); 3],
        ..Results::default()
    };
    let mut check = Audit::default();
    assert_eq!(check.not_finite(&block, &results), None);
    results.forces[2].jerk[1] = f64::NAN;
    let told = check.not_finite(&block, &results).expect("a NaN");
    assert!(told.contains("i-particle 2"), "{told}");
    assert_eq!(check.not_finite(&block, &results), None);

    let same = |check: &mut Audit, nj, particles: &[IParticle]| {
        check.difference(&block, nj, particles.iter().copied())
    };
    assert_eq!(same(&mut check, 5, &particles), None);
    assert_eq!(same(&mut check, 5, &particles[..2]), None);
    type Change = fn(&mut IParticle);
    let changes: [(&str, Change); 3] = [
        ("index", |p| p.index = 7),
        ("xi", |p| p.x[2] = 1.0),
        ("eps2", |p| p.eps2 = 1.0),
    ];
    for (name, change) in changes {
        let mut check = Audit::default();
        let mut others = particles.clone();
        change(&mut others[1]);
        let told = same(&mut check, 5, &others).expect(name);
        assert!(
            told.starts_with(&format!("{name} of i-particle 1")),
            "{told}"
        );
        assert_eq!(same(&mut check, 4, &others), None, "told once");
    }
    assert!(same(&mut check, 4, &particles).is_some_and(|t| t.starts_with("nj = 4")));
}
