//! Neighbour lists of every instruction set against a plain double loop.

use super::*;
use crate::error::Error;
use crate::sources::neighbours::{LABELS_AT_MOST, ListRules, NeighbourLists};

const RULES: ListRules = ListRules {
    include_self: true,
    sorted: true,
    at_most: LABELS_AT_MOST,
};

/// r^2 in the one order of kirin.
fn distance2(a: [f64; 3], b: [f64; 3]) -> f64 {
    let (x, y, z) = (b[0] - a[0], b[1] - a[1], b[2] - a[2]);
    x * x + y * y + z * z
}

/// The lists as they are defined, particle by particle.
fn expected(memory: &JMemory, block: &ForceRequest, rules: ListRules) -> Vec<Vec<i32>> {
    let near = |i: &IParticle| {
        let mut list = Vec::new();
        for address in 0..block.nj.min(5000) {
            let Some(j) = memory.read(address as i32) else {
                continue;
            };
            let r2 = distance2(i.x, j.predicted(block.ti).0);
            if r2 < i.h2 && i.h2 > 0.0 && (rules.include_self || j.index != i.index) {
                list.push(j.index);
            }
        }
        if rules.sorted {
            list.sort();
        }
        list
    };
    block.particles.iter().map(near).collect()
}

fn listed(found: &NeighbourLists, ni: usize) -> Vec<Vec<i32>> {
    (0..ni).map(|i| found.list(i).to_vec()).collect()
}

/// Pages with gaps, labels in no order and some of them twice, a particle without a place, one at infinity.
fn scattered() -> (JMemory, Vec<JParticle>) {
    let (_, mut particles) = cluster(1500, 1.0);
    particles[70].x[1] = f64::NAN;
    particles[71].x[2] = f64::INFINITY;
    let mut memory = JMemory::default();
    for (address, p) in (0..).zip(&mut particles) {
        p.index = (address * 7) % 1031 - 20;
        if address % 97 > 2 && address / 128 != 5 {
            memory.write(address, p).unwrap();
        }
    }
    memory.write(4321, &particles[9]).unwrap();
    (memory, particles)
}

#[test]
fn every_set_finds_what_the_definition_says() {
    let (memory, particles) = scattered();
    let mut targets = i_particles(&particles[..23], 0.01);
    // Unlike radii, and radii that are none.
    for (k, target) in targets.iter_mut().enumerate() {
        target.h2 = match k % 9 {
            0 => f64::INFINITY,
            1 => 0.0,
            2 => f64::NAN,
            3 => -1.0,
            4 => f64::MIN_POSITIVE,
            5 => 1e300,
            _ => 0.02 * k as f64,
        };
    }
    targets[6].x[0] = f64::NAN;
    for threads in [1, 3] {
        for (name, mut backend) in backends(Precision::Mixed, threads) {
            for nj in [0, 1, 63, 64, 65, 511, 512, 513, 1499, 5000] {
                for ni in [1, 4, 5, 23] {
                    for (include_self, sorted) in [(true, true), (false, true), (false, false)] {
                        let rules = ListRules {
                            include_self,
                            sorted,
                            ..RULES
                        };
                        let block = ForceRequest {
                            nj,
                            ti: 0.25,
                            particles: targets[..ni].to_vec(),
                        };
                        let found = backend.neighbour_lists(&memory, &block, rules).unwrap();
                        let right = expected(&memory, &block, rules);
                        assert_eq!(listed(&found, ni), right, "{name}, {nj}, {rules:?}");
                        assert!(found.list(ni).is_empty(), "beyond the block");
                    }
                }
            }
        }
    }
}

/// The positions of the block before are used again only where nothing has changed them.
#[test]
fn lists_follow_every_change_from_block_to_block() {
    for (name, mut backend) in backends(Precision::Mixed, 1) {
        let (mut memory, mut particles) = scattered();
        let mut targets = i_particles(&particles[..5], 0.0);
        targets.iter_mut().for_each(|target| target.h2 = 0.2);
        let mut agree = |memory: &JMemory, what: &str, ti: f64, nj: usize| {
            let particles = targets.clone();
            let block = ForceRequest { nj, ti, particles };
            let found = backend.neighbour_lists(memory, &block, RULES).unwrap();
            let right = expected(memory, &block, RULES);
            assert_eq!(listed(&found, 5), right, "{name}: {what}");
            right
        };
        let first = agree(&memory, "the first block", 0.25, 1400);
        assert_eq!(agree(&memory, "the same", 0.25, 1400), first);
        assert_ne!(agree(&memory, "another time", 1.5, 1400), first);
        assert_ne!(agree(&memory, "more particles", 1.5, 5000), first);
        let before = agree(&memory, "fewer particles", 1.5, 700);
        particles[300].x = targets[0].x;
        (particles[300].v, particles[300].t) = ([0.0; 3], 1.5);
        memory.write(300, &particles[300]).unwrap();
        assert_ne!(agree(&memory, "a particle written", 1.5, 700), before);
        memory.write(4000, &particles[300]).unwrap();
        let before = agree(&memory, "a page at the end", 1.5, 5000);
        // It takes the place of that page, and has the same slot and as many writes.
        particles[300].x = [50.0; 3];
        memory.write(2464, &particles[300]).unwrap();
        assert_eq!(agree(&memory, "a page between two", 1.5, 5000), before);
    }
}

/// Every backend computes r^2 for a list with the same bits. A fused operation or another order of the sum would
/// change the last bit of many pairs, and with it the answer at exactly the radius.
#[test]
fn the_radius_itself_is_outside_and_what_follows_it_inside() {
    let (memory, particles) = cluster(600, 1.0);
    let mut inside = i_particles(&particles[..200], 0.0);
    for (k, target) in inside.iter_mut().enumerate() {
        let other = &particles[599 - k];
        let r2 = distance2(target.x, other.predicted(0.5).0);
        (target.h2, target.index) = (r2.next_up(), other.index);
    }
    let mut outside = inside.clone();
    for target in &mut outside {
        target.h2 = target.h2.next_down();
    }
    for (name, mut backend) in backends(Precision::Double, 1) {
        for (targets, is_listed) in [(&inside, true), (&outside, false)] {
            let block = ForceRequest {
                nj: 600,
                ti: 0.5,
                particles: targets.clone(),
            };
            let found = backend.neighbour_lists(&memory, &block, RULES).unwrap();
            for (i, target) in targets.iter().enumerate() {
                let listed = found.list(i).contains(&target.index);
                assert_eq!(listed, is_listed, "{name}: {i}");
            }
        }
    }
}

/// Enough pairs for all threads; full words, whole lists, and lists that are empty between them.
#[test]
fn threads_make_the_lists_of_one() {
    let (memory, particles) = cluster(2000, 1.0);
    let mut targets = i_particles(&particles[..301], 0.0);
    for (k, target) in targets.iter_mut().enumerate() {
        target.h2 = [100.0, 0.0, 0.5][k % 3];
    }
    let block = ForceRequest {
        nj: 1999,
        ti: 0.0,
        particles: targets,
    };
    for rules in [
        RULES,
        ListRules {
            include_self: false,
            ..RULES
        },
    ] {
        let right = expected(&memory, &block, rules);
        for threads in [1, 2, 5] {
            for (name, mut backend) in backends(Precision::Mixed, threads) {
                let found = backend.neighbour_lists(&memory, &block, rules).unwrap();
                assert!(listed(&found, 301) == right, "{name}, {threads} threads");
            }
        }
    }
}

/// More labels than a block may have are refused, in whatever list, and the next block is served.
#[test]
fn too_many_labels_are_refused() {
    let (memory, particles) = cluster(2000, 1.0);
    let mut block = ForceRequest {
        nj: 2000,
        ti: 0.0,
        particles: i_particles(&particles[..200], 0.0),
    };
    block.particles.iter_mut().for_each(|p| p.h2 = 1e6);
    let all = backends(Precision::Mixed, 3).into_iter();
    let reference: Box<dyn Backend> = Box::new(reference::Reference);
    for (name, mut backend) in all.chain([("reference".to_owned(), reference)]) {
        let mut lists = |at_most| {
            let rules = ListRules { at_most, ..RULES };
            backend.neighbour_lists(&memory, &block, rules)
        };
        let refused = lists(399_999).map(|_| ());
        assert_eq!(
            refused,
            Err(Error::ListsTooLong { at_most: 399_999 }),
            "{name}"
        );
        let found = lists(400_000).unwrap();
        assert!((0..200).all(|i| found.list(i).len() == 2000), "{name}");
    }
}
