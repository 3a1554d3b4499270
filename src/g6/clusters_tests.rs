//! Tests: which cluster an id stands for, and which clusters remain after opening and closing.

use super::*;
use kirin_core::sources::particle::JParticle;

fn mark(registry: &Registry<Cluster>, id: i32, label: i32) {
    let p = JParticle {
        index: label,
        x: [f64::from(label), 0.0, 0.0],
        ..Default::default()
    };
    let written = registry.with(id, |c| c.set_j_particle(0, &p));
    written.expect("address 0 is legal");
}

fn marked(registry: &Registry<Cluster>, id: i32) -> Option<i32> {
    let found = registry.with(id, |c| {
        let found = c.predicted(1)?.next().flatten();
        Ok(found.map(|(x, _)| x[0] as i32))
    });
    found.expect("there is memory")
}

#[test]
fn an_id_never_opened_is_the_sole_open_cluster() {
    let r = Registry::new();
    r.open(32544).unwrap();
    mark(&r, 0, 7);
    assert_eq!(marked(&r, 32544), Some(7));
    // ph4 opens another uninitialised id later and goes on with 0
    r.open(32727).unwrap();
    assert_eq!(marked(&r, 0), Some(7));
    assert_eq!(marked(&r, 32727), None);
}

#[test]
fn several_clusters_are_kept_apart() {
    let r = Registry::new();
    for id in [0, 1, 64, -5] {
        r.open(id).unwrap();
        mark(&r, id, id);
    }
    for id in [0, 1, 64, -5] {
        assert_eq!(marked(&r, id), Some(id));
    }
    mark(&r, 2, 2); // never opened, not alone: its own
    assert_eq!((marked(&r, 2), marked(&r, 0)), (Some(2), Some(0)));
}

#[test]
fn close_forgets_and_open_keeps() {
    let r = Registry::new();
    r.close(0);
    r.open(0).unwrap();
    mark(&r, 0, 3);
    r.open(0).unwrap();
    assert_eq!(marked(&r, 0), Some(3));
    r.close(0);
    r.close(0);
    assert_eq!(marked(&r, 0), None);
}

#[test]
fn close_through_another_name_closes_the_cluster() {
    let r = Registry::new();
    r.open(9).unwrap();
    mark(&r, 1, 4);
    r.close(1);
    assert_eq!(marked(&r, 9), None);
}

#[test]
fn calls_need_no_open() {
    let r = Registry::new();
    mark(&r, 12, 1);
    assert_eq!(marked(&r, 12), Some(1));
}

#[test]
fn an_alias_that_got_its_own_cluster_keeps_it() {
    let r = Registry::new();
    r.open(9).unwrap();
    mark(&r, 1, 4); // an alias
    r.open(1).unwrap();
    assert_eq!(marked(&r, 1), None);
    mark(&r, 1, 5);
    r.close(9);
    assert_eq!(marked(&r, 1), Some(5));
}

#[test]
fn a_closed_id_never_stands_for_another_cluster() {
    let r = Registry::new();
    for id in [0, 1] {
        r.open(id).unwrap();
        mark(&r, id, 4 + id);
    }
    r.close(1);
    assert_eq!((marked(&r, 1), marked(&r, 0)), (None, Some(4)));
    mark(&r, 1, 6);
    assert_eq!((marked(&r, 1), marked(&r, 0)), (Some(6), Some(4)));
    r.close(1);
    assert_eq!(marked(&r, 0), Some(4));
}

#[test]
fn many_threads_at_once() {
    let r = Registry::new();
    std::thread::scope(|s| {
        for t in 0..8 {
            let r = &r;
            s.spawn(move || {
                r.open(t).unwrap();
                for k in 0..200 {
                    mark(r, t, t * 1000 + k);
                    assert_eq!(marked(r, t), Some(t * 1000 + k));
                }
                r.close(t);
            });
        }
    });
}
