//! Blocks for which there is no memory.

use super::writes::STAGED_AT_MOST;
use super::*;
use crate::grape::jmemory::AtRest;

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
            1 => backend::reference::Reference.finish(memory, block, nearest, results),
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
    for writes in [1, STAGED_AT_MOST + 10] {
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
            cluster.set_backend(Box::new(backend::reference::Reference));
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

/// GRAPE-5's j-particles come to a block that a thread of the parent had begun when the process forked.
#[test]
fn a_block_of_another_process_does_not_keep_writes_away() {
    let target = IParticle {
        index: -1,
        ..IParticle::default()
    };
    let mut cluster = Cluster::of(SourceKind::AtRest, Settings::default());
    cluster.set_backend(Box::new(backend::reference::Reference));
    for mass in [1.0, 2.0] {
        let star = |_, before| AtRest {
            x: [1.0, 0.0, 0.0],
            mass,
            ..before
        };
        cluster.fill(0, 1, star).unwrap();
        let answer = cluster.forces_on(1, [target].into_iter()).unwrap();
        assert_eq!(answer.forces[0].pot, -mass);
        cluster.firsthalf(1, [target].into_iter()).unwrap();
        cluster.inherit();
        cluster.set_backend(Box::new(backend::reference::Reference));
    }
}
