//! Properties of forces on random particle sets, through the exported symbols of the library
//! linked into this program.

use std::sync::atomic::{AtomicI32, Ordering};

use ffi_tests::compiler::{clean_command, run, texts};
use ffi_tests::direct::{self, Probe, Source};
use ffi_tests::report::Tolerance;
use ffi_tests::sets::cloud;
use kirin::client::{Block, Grape};
use proptest::prelude::*;

/// A cluster of its own for each case: tests run side by side.
struct Cluster {
    grape: Grape,
    id: i32,
    nj: usize,
}

impl Cluster {
    fn load(sources: &[Source], ti: f64) -> Self {
        static NEXT: AtomicI32 = AtomicI32::new(0);
        let cluster = Self {
            grape: Grape::linked(),
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            nj: sources.len(),
        };
        cluster.grape.open(cluster.id);
        for (address, s) in (0..).zip(sources) {
            cluster.store(address, s);
        }
        cluster.grape.set_ti(cluster.id, ti);
        cluster
    }

    fn store(&self, address: i32, s: &Source) {
        assert_eq!(
            self.grape
                .set_j_particle(self.id, address, 0.125, &s.into()),
            0
        );
    }

    fn forces(&self, probes: &[Probe], eps2: f64) -> Block {
        let mut block = Block::default();
        block.resize(probes.len());
        for (i, p) in probes.iter().enumerate() {
            (block.index[i], block.x[i], block.v[i], block.h2[i]) = (p.index, p.x, p.v, p.h2);
        }
        self.grape.firsthalf(self.id, self.nj, &mut block, eps2);
        let status = self.grape.lasthalf2(self.id, self.nj, &mut block, eps2);
        assert_eq!(status, Some(0));
        block
    }

    fn list(&self, i: usize) -> Vec<i32> {
        let mut list = vec![0; self.nj + 1];
        let found = self.grape.get_neighbour_list(self.id, i, &mut list);
        let (status, length) = found.expect("kirin has lists");
        assert_eq!(status, 0);
        list.truncate(length);
        list
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.grape.close(self.id);
    }
}

/// The bits of the results for i-particle `i`.
fn bits(block: &Block, i: usize) -> (Vec<u64>, i32) {
    let numbers = block.acc[i]
        .iter()
        .chain(&block.jerk[i])
        .chain([&block.pot[i]]);
    (numbers.map(|x| x.to_bits()).collect(), block.nearest[i])
}

fn check(cluster: &Cluster, sources: &[Source], probes: &[Probe], ti: f64, eps2: f64) {
    let tolerance = Tolerance::of(&cluster.grape.precision(cluster.id));
    let block = cluster.forces(probes, eps2);
    for (i, probe) in probes.iter().enumerate() {
        let sum = direct::force(probe, sources.iter(), ti, eps2);
        assert!(
            tolerance.allows(block.acc[i], block.jerk[i], block.pot[i], &sum),
            "{tolerance:?}\n{:?} {:?} {}\n{sum:?}",
            block.acc[i],
            block.jerk[i],
            block.pot[i]
        );
        let nearest = direct::nearest(probe, sources.iter(), ti);
        assert_eq!(block.nearest[i], nearest.map_or(-1, |n| n.0));
        let with_self = cluster.grape.npipes() > 48;
        let list = direct::neighbours(probe, sources.iter(), ti, with_self);
        assert_eq!(cluster.list(i), list);
    }
}

fn vector(scale: f64) -> impl Strategy<Value = [f64; 3]> {
    let c = || -scale..scale;
    [c(), c(), c()]
}

fn source() -> impl Strategy<Value = Source> {
    let derivatives = (vector(0.5), vector(0.5), vector(0.5), vector(1.0));
    (
        -5..500i32,
        -0.5..0.5f64,
        0.0..1.0f64,
        derivatives,
        vector(1.0),
    )
        .prop_map(|(index, t, mass, (a2by18, a1by6, aby2, v), x)| Source {
            index,
            t,
            mass,
            a2by18,
            a1by6,
            aby2,
            v,
            x,
        })
}

fn probe() -> impl Strategy<Value = Probe> {
    (-5..500i32, vector(1.5), vector(1.0), 0.0..0.5f64).prop_map(|(index, x, v, h2)| Probe {
        index,
        x,
        v,
        h2,
    })
}

fn eps2() -> impl Strategy<Value = f64> {
    prop_oneof![Just(0.0), (-30.0..2.0f64).prop_map(f64::exp)]
}

proptest! {
    #![proptest_config(ProptestConfig {
        // 42, and in .ci/long, with PROPTEST_CASES, several hundred.
        cases: (ProptestConfig::default().cases / 6).max(1),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn forces_neighbours_and_lists_are_those_of_the_plain_sum(
        sources in proptest::collection::vec(source(), 0..700),
        probes in proptest::collection::vec(probe(), 0..12),
        ti in -0.5..0.5f64,
        eps2 in eps2(),
    ) {
        check(&Cluster::load(&sources, ti), &sources, &probes, ti, eps2);
    }

    #[test]
    fn a_result_does_not_depend_on_the_others_in_the_block(
        sources in proptest::collection::vec(source(), 1..1500),
        probes in proptest::collection::vec(probe(), 1..40),
        ti in -0.5..0.5f64,
        eps2 in eps2(),
    ) {
        let cluster = Cluster::load(&sources, ti);
        let together = cluster.forces(&probes, eps2);
        let reversed: Vec<Probe> = probes.iter().rev().copied().collect();
        let reversed = cluster.forces(&reversed, eps2);
        for (i, probe) in probes.iter().enumerate() {
            let alone = cluster.forces(&[*probe], eps2);
            prop_assert_eq!(bits(&alone, 0), bits(&together, i));
            prop_assert_eq!(bits(&reversed, probes.len() - 1 - i), bits(&together, i));
        }
    }

    #[test]
    fn a_result_depends_on_the_last_write_to_each_address_only(
        old in proptest::collection::vec(source(), 300),
        new in proptest::collection::vec((0..300i32, source()), 0..400),
        probes in proptest::collection::vec(probe(), 1..6),
        ti in -0.5..0.5f64,
        eps2 in eps2(),
    ) {
        let updated = Cluster::load(&old, ti);
        updated.forces(&probes, eps2);
        let mut sources = old;
        for (address, source) in &new {
            updated.store(*address, source);
            sources[*address as usize] = *source;
        }
        let fresh = Cluster::load(&sources, ti);
        let (a, b) = (updated.forces(&probes, eps2), fresh.forces(&probes, eps2));
        for i in 0..probes.len() {
            prop_assert_eq!(bits(&a, i), bits(&b, i));
            prop_assert_eq!(updated.list(i), fresh.list(i));
        }
    }
}

#[test]
fn a_large_block_over_many_particles() {
    let set = cloud(9000, 81, 1e-4);
    let cluster = Cluster::load(&set.sources, set.ti);
    let probes: Vec<Probe> = set.probes.iter().step_by(30).copied().collect();
    check(&cluster, &set.sources, &probes, set.ti, set.eps2);
    let together = cluster.forces(&set.probes, set.eps2);
    for i in (0..9000).step_by(499) {
        let alone = cluster.forces(&set.probes[i..=i], set.eps2);
        assert_eq!(bits(&alone, 0), bits(&together, i));
    }
}

/// The settings of a process are read once: the tests above run again in processes of their own.
#[test]
fn the_same_under_other_settings() {
    if std::env::var_os("FFI_TESTS_AGAIN").is_some() {
        return;
    }
    let program = std::env::current_exe().expect("a process has a program");
    for settings in [
        [
            ("KIRIN_BACKEND", "reference"),
            ("KIRIN_PRECISION", "double"),
            ("KIRIN_NPIPES", "48"),
        ],
        [
            ("KIRIN_BACKEND", "cpu"),
            ("KIRIN_PRECISION", "double"),
            ("KIRIN_THREADS", "3"),
        ],
        [
            ("KIRIN_BACKEND", "cpu"),
            ("KIRIN_PRECISION", "mixed"),
            ("KIRIN_SIMD", "portable"),
        ],
        [
            ("KIRIN_BACKEND", "cpu"),
            ("KIRIN_PRECISION", "mixed"),
            ("KIRIN_THREADS", "1"),
        ],
    ] {
        let output = run(clean_command(&program, &settings).env("FFI_TESTS_AGAIN", "1"));
        let (out, err) = texts(&output);
        assert!(output.status.success(), "{settings:?}\n{out}\n{err}");
    }
}
