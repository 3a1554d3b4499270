//! Tests of a cluster: blocks for which there is not enough memory, and the rule of `auto`.

use super::*;
use crate::force::Backend;
use crate::force::reference::Reference;
use crate::sources::jmemory::tests::{AtRest, given};
use crate::sources::jmemory::{ClientParticle, LOG, PAGE};
use crate::sources::particle::{Force, IParticle, JParticle};

/// A backend without memory for blocks of several i-particles.
struct Scarce;

impl Backend for Scarce {
    fn name(&self) -> String {
        "scarce".to_owned()
    }

    fn precision(&self) -> Precision {
        Precision::Double
    }

    fn finish(
        &mut self,
        memory: &JMemory,
        block: &ForceRequest,
        nearest: bool,
        results: &mut Results,
    ) -> Result<()> {
        match block.particles.len() {
            1 => Reference.finish(memory, block, nearest, results),
            _ => Err(NO_MEMORY),
        }
    }
}

const NO_MEMORY: Error = Error::OutOfMemory { purpose: "a test" };

/// Also where more is written behind it than can wait, so that it is computed then.
#[test]
fn a_block_without_memory_is_given_up_and_nothing_else() {
    let target = IParticle {
        index: -1,
        h2: 4.0,
        ..IParticle::default()
    };
    for writes in [1, LOG + 10] {
        let mut cluster = Cluster::new(Settings::default());
        cluster.set_backend(Box::new(Scarce));
        cluster.firsthalf(1, [target; 2].into_iter()).unwrap();
        for mass in 1..=writes {
            let star = JParticle {
                mass: mass as f64,
                x: [1.0, 0.0, 0.0],
                ..JParticle::default()
            };
            cluster.set_j_particle(0, &star).unwrap();
        }
        assert!(cluster.owes_results());
        assert_eq!(cluster.lasthalf(2, false).err(), Some(NO_MEMORY));
        assert!(!cluster.owes_results());
        assert_eq!(cluster.neighbour_lists().err(), Some(NO_MEMORY));
        cluster.firsthalf(1, [target].into_iter()).unwrap();
        let answer = cluster.lasthalf(1, false).unwrap();
        assert_eq!(answer.forces[0].pot, -(writes as f64));
        assert_eq!(cluster.neighbour_lists().unwrap().list(0), [0]);
    }
}

/// `KIRIN_SNAP=ignore`, for clients that leave nonsense in `a2by18`, while a block waits and while none does.
#[test]
fn a2by18_can_be_ignored() {
    let star = JParticle {
        mass: 1.0,
        x: [1.0, 0.0, 0.0],
        a2by18: [0.5, -1.0, f64::NAN],
        ..JParticle::default()
    };
    let without = JParticle {
        a2by18: [0.0; 3],
        ..star
    };
    let target = IParticle {
        index: -1,
        ..IParticle::default()
    };
    for staged in [false, true] {
        let force = |snap: bool, star: &JParticle| {
            let mut cluster = Cluster::new(Settings {
                snap,
                ..Settings::default()
            });
            cluster.set_backend(Box::new(Reference));
            cluster.set_ti(1.0);
            if staged {
                cluster.firsthalf(0, [target].into_iter()).unwrap();
            }
            cluster.set_j_particle(0, star).unwrap();
            cluster.firsthalf(1, [target].into_iter()).unwrap();
            cluster.lasthalf(1, false).unwrap().forces[0]
        };
        assert_eq!(force(false, &star), force(true, &without));
        assert!(force(true, &star) != force(true, &without));
    }
}

/// Stars on a helix, at addresses from 0 on.
fn star(k: usize) -> JParticle {
    let angle = 0.7 * k as f64;
    JParticle {
        index: k as i32,
        mass: 1.0 / 1300.0,
        x: [angle.cos(), angle.sin(), 1e-3 * k as f64],
        v: [-angle.sin(), angle.cos(), 0.0],
        ..JParticle::default()
    }
}

/// A cluster on the CPU with 1300 of them.
fn helix(precision: PrecisionChoice, at_rest: bool) -> Cluster {
    let mut cluster = Cluster::new(Settings {
        backend: BackendChoice::Cpu,
        precision,
        ..Settings::default()
    });
    for k in 0..1300 {
        let p = star(k);
        match at_rest {
            true => cluster.set_mass_position(k as i32, p.index, p.mass, &p.x),
            false => cluster.set_j_particle(k as i32, &p),
        }
        .unwrap();
    }
    cluster
}

/// The force of the stars `0..nj` on one of them, and the precision that it was computed in.
fn force(cluster: &mut Cluster, nj: usize) -> (Force, String) {
    let p = star(7);
    let target = IParticle {
        index: p.index,
        x: p.x,
        v: p.v,
        ..IParticle::default()
    };
    let answer = cluster.forces_on(nj, [target].into_iter()).unwrap();
    (answer.forces[0], cluster.precision())
}

const MIXED: PrecisionChoice = PrecisionChoice::Always(Precision::Mixed);
const DOUBLE: PrecisionChoice = PrecisionChoice::Always(Precision::Double);

/// In any order of blocks.
#[test]
fn auto_is_double_up_to_a_number_of_j_particles_and_mixed_above() {
    let mut auto = helix(PrecisionChoice::Auto, false);
    let (mut mixed, mut double) = (helix(MIXED, false), helix(DOUBLE, false));
    assert_eq!(auto.precision(), "auto");
    for nj in [1281, 1280, 1300, 3, 1300, 1024, 1281] {
        let few = nj <= 1280;
        let expected = force(if few { &mut double } else { &mut mixed }, nj);
        assert_eq!(force(&mut auto, nj), expected, "{nj}");
        assert_eq!(auto.precision_for(nj) == Precision::Double, few, "{nj}");
    }
    assert_ne!(force(&mut mixed, 1280).0, force(&mut double, 1280).0);
    let summary = auto.arithmetic.summary(&auto.settings, auto.stored);
    assert!(
        summary.ends_with("precision auto: double in 3 of 7 blocks"),
        "{summary}"
    );
}

#[test]
fn masses_at_rest_stay_mixed() {
    let mut auto = helix(PrecisionChoice::Auto, true);
    assert_eq!(auto.precision(), "mixed");
    let found = force(&mut auto, 100);
    assert_eq!(found, force(&mut helix(MIXED, true), 100));
    auto.set_j_particle(5, &star(5)).unwrap();
    assert_eq!(force(&mut auto, 100).1, "double");
}

#[test]
fn a_refused_write_does_not_change_the_precision() {
    let mut auto = helix(PrecisionChoice::Auto, true);
    let found = force(&mut auto, 100);
    assert!(auto.set_j_particle(-1, &star(5)).is_err());
    assert_eq!(force(&mut auto, 100), found);
}

#[test]
fn the_client_chooses_and_the_user_has_the_last_word() {
    let mut cluster = helix(PrecisionChoice::Auto, false);
    cluster.set_precision(MIXED);
    assert_eq!(force(&mut cluster, 10), force(&mut helix(MIXED, false), 10));
    cluster.set_precision(PrecisionChoice::Auto);
    assert_eq!(force(&mut cluster, 10).1, "double");
    let mut cluster = helix(MIXED, false);
    cluster.set_precision(DOUBLE);
    assert_eq!(force(&mut cluster, 10).1, "mixed");
}

/// From the block on in which the noise of the writes has become plain.
#[test]
fn adaptive_turns_to_double_when_noise_limits_the_steps() {
    for (choice, after) in [
        (PrecisionChoice::Adaptive, "double"),
        (PrecisionChoice::Auto, "mixed"),
    ] {
        let mut cluster = helix(choice, false);
        assert_eq!(force(&mut cluster, 1300).1, "mixed");
        let mut t = 0.0;
        for k in 0..1200 {
            // The acceleration errs by 1e-7, now up and now down, and the second derivative with it.
            let error = if k % 2 == 0 { 5e-8 } else { -5e-8 };
            let mut p = JParticle { t, ..star(0) };
            p.aby2[0] = 0.5 + error;
            cluster.set_j_particle(0, &p).unwrap();
            cluster.note_step(0, 0.0);
            t += if k == 0 { 0.125 } else { 1.0 / 1024.0 };
        }
        assert_eq!(force(&mut cluster, 1300).1, after);
        assert_eq!(force(&mut cluster, 1300).1, after);
    }
}

/// GRAPE-5's j-particles come to a block that a thread of the parent had begun when the process forked.
#[test]
fn a_block_of_another_process_does_not_keep_writes_away() {
    let target = IParticle {
        index: -1,
        ..IParticle::default()
    };
    let mut cluster = Cluster::of(SourceKind::AtRest, Settings::default());
    cluster.set_backend(Box::new(Reference));
    for mass in [1.0, 2.0] {
        let star = AtRest {
            x: [1.0, 0.0, 0.0],
            mass,
            eps2: 0.0,
        };
        // SAFETY: there is one star.
        unsafe { cluster.fill(0, 1, &given(0, &[star])) }.unwrap();
        let answer = cluster.forces_on(1, [target].into_iter()).unwrap();
        assert_eq!(answer.forces[0].pot, -mass);
        cluster.firsthalf(1, [target].into_iter()).unwrap();
        cluster.inherit();
        cluster.set_backend(Box::new(Reference));
    }
}

/// A cluster without particles, and addresses from 1, are told once; other holes are not, nor where there are none.
#[test]
fn a_gap_is_told_once() {
    let begun = |cluster: &mut Cluster, nj: usize| {
        let target = [IParticle::default()];
        cluster.firsthalf(nj, target.into_iter()).unwrap();
        let gap = cluster.gap(nj);
        cluster.lasthalf(1, false).unwrap();
        gap
    };
    let new = |addresses: &mut dyn Iterator<Item = i32>| {
        let mut cluster = Cluster::new(Settings::default());
        cluster.set_backend(Box::new(Reference));
        for address in addresses {
            let star = JParticle::default();
            cluster.set_j_particle(address, &star).unwrap();
        }
        cluster
    };
    let mut none = new(&mut (0..0));
    assert_eq!(begun(&mut none, 0), None);
    assert_eq!(begun(&mut none, 3), Some(Gap::Everything));
    assert_eq!(begun(&mut none, 4), None, "told once");
    let mut all = new(&mut (0..1300).rev());
    for nj in [1, 64, 65, 512, 513, 1299, 1300, 7, 1301] {
        assert_eq!(begun(&mut all, nj), None, "{nj}");
    }
    for n in [1, 64, 512, 1300] {
        let mut from_one = new(&mut (1..=n));
        assert_eq!(begun(&mut from_one, n as usize), Some(Gap::First), "{n}");
        assert_eq!(begun(&mut from_one, n as usize), None, "told once");
    }
    // Columns of a grid, holes, and a last particle that is counted.
    for addresses in [
        &mut (512..1024) as &mut dyn Iterator<Item = i32>,
        &mut (1..1024),
        &mut (0..1024).step_by(2),
    ] {
        assert_eq!(begun(&mut new(addresses), 1024), None);
    }
}

/// One write as `g6_set_j_particle` makes it; returns whether it was one of a run or of a log.
fn write_as_client(cluster: &mut Cluster, address: i32, star: &JParticle) -> bool {
    let numbers = ClientParticle::from(star);
    // SAFETY: they are the vectors of the star.
    unsafe {
        if cluster.set_in_run(address, numbers) || cluster.set_in_log(address, numbers) {
            return true;
        }
        if cluster.set_numbers(address, numbers).is_ok() {
            cluster.note_step(address, 0.5);
            cluster.follow(address);
        }
    }
    false
}

/// The address after the greatest one would be negative.
#[test]
fn no_run_goes_on_after_the_greatest_address() {
    let mut cluster = Cluster::new(Settings::default());
    let star = JParticle {
        t: 1.0,
        mass: 1.0,
        v: [1.0; 3],
        ..Default::default()
    };
    for round in 0..20 {
        for address in [i32::MAX - 1, i32::MAX, i32::MIN, i32::MIN + 1] {
            let stored = write_as_client(&mut cluster, address, &star);
            assert!(!stored || address > 0, "{address} in round {round}");
        }
        cluster.end_run();
        cluster.memory.take_in();
        assert_eq!(cluster.memory.present(), 2);
    }
}

/// What is known of all pages, particle by particle.
fn everything(cluster: &mut Cluster) -> String {
    use std::fmt::Write;
    cluster.end_run();
    let mut text = format!(
        "{} {:?} {}",
        cluster.memory.written(),
        cluster.memory.changed(),
        cluster.noise.quiet_until(1 << 20)
    );
    for position in cluster.memory.positions(usize::MAX) {
        let page = cluster.memory.header(position);
        let particles = cluster.memory.particles(position);
        let (versions, flags) = (
            [
                page.version(),
                particles.mass_version,
                particles.index_version,
            ],
            [page.has_motion(), page.has_snap(), page.is_at_rest()],
        );
        write!(
            text,
            "{versions:?} {flags:?} {:?} {:?}",
            page.present(),
            page.changed()
        )
        .unwrap();
        (0..PAGE).for_each(|slot| {
            let row = particles.row(slot, page.holds(slot));
            write!(text, "{row:?}").unwrap();
        });
    }
    text
}

/// In the order of the addresses, over ends of pages, with other masses and labels, with fourth derivatives, with addresses that
/// are refused, and with blocks between: a cluster to which everything is written one by one has the same pages, versions and
/// counts.
#[test]
fn runs_of_writes_leave_what_writes_leave() {
    for (snap, columns) in [(true, true), (false, true), (true, false), (false, false)] {
        let settings = Settings {
            snap,
            ..Settings::default()
        };
        let mut clusters = [Cluster::new(settings.clone()), Cluster::new(settings)];
        for cluster in clusters.iter_mut().filter(|_| columns) {
            cluster.begin_with_columns().unwrap();
        }
        let [runs, alone] = &mut clusters;
        let (mut state, mut short, mut number) = (1_u64, 0, 0);
        let mut draw = |below: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        for round in 0..60 {
            let mut address = draw(3 * PAGE as u64) as i32;
            for _ in 0..draw(2 * PAGE as u64) {
                number += 1;
                let f = f64::from(number);
                let star = JParticle {
                    index: address + i32::from(draw(50) == 0),
                    t: f,
                    mass: if draw(50) == 0 { f } else { 1.0 },
                    x: [f, f + 0.25, f + 0.5],
                    v: [-f, 1.0, 2.0 * f],
                    aby2: [3.0, f, 5.0],
                    a1by6: [f, 7.0, 8.0],
                    a2by18: [0.0, if draw(400) == 0 { f } else { 0.0 }, 0.0],
                };
                short += usize::from(write_as_client(runs, address, &star));
                if alone.set_j_particle(address, &star).is_ok() {
                    alone.note_step(address, 0.5);
                }
                address = match draw(100) {
                    0 => draw(3 * PAGE as u64) as i32,
                    1 => -1,
                    _ => address + 1,
                };
            }
            if round % 2 == 0 {
                assert_eq!(everything(runs), everything(alone), "round {round}");
            }
            for cluster in [&mut *runs, &mut *alone] {
                cluster.end_run();
                cluster.memory.take_in();
                cluster.memory.forget_changes();
            }
            assert_eq!(everything(runs), everything(alone), "round {round}");
        }
        assert!(2 * short > number as usize, "{short} of {number} in runs");
    }
}
