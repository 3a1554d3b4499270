use std::sync::{Mutex, MutexGuard};

use kirin::client::Grape;
use kirin_kit::models::plummer;

use super::*;
use crate::settings::Settings;
use crate::sources::Library;

/// The linked library, for one test at a time: both use its cluster 0.
fn grape() -> (MutexGuard<'static, ()>, Grape) {
    static TURN: Mutex<()> = Mutex::new(());
    // A failed test leaves nothing behind that the next could see.
    let turn = TURN.lock().unwrap_or_else(|e| e.into_inner());
    (turn, Grape::linked())
}

/// A run that finds its systems among these stars.
fn begun(grape: &Grape, bodies: Vec<Body>) -> Integrator<Library<'_>> {
    let settings = Settings {
        eps: 0.0,
        regularize: 2.0,
        ..Settings::default()
    };
    Integrator::start(grape, settings, 0.0, bodies).unwrap()
}

/// Mass of all stars but those of the light binary.
const MASS: f64 = 1.0 / 64.0;

/// Two stars of equal mass at the pericentre of an orbit about the place of `star`, with labels from `label` on.
fn binary(star: &Body, axis: f64, e: f64, label: i32) -> [Body; 2] {
    let speed = (star.mass / axis * (1.0 + e) / (1.0 - e)).sqrt();
    [(0, -0.5), (1, 0.5)].map(|(k, part): (usize, f64)| {
        let mut new = Body {
            index: label + k as i32,
            mass: 0.5 * star.mass,
            ..*star
        };
        new.x[0] += part * axis * (1.0 - e);
        new.v[1] += part * speed;
        new
    })
}

/// A cluster with a light binary, whose stars have the labels 100 and 101, and a heavy one, at this `place` from it.
fn met(place: Vec3) -> Vec<Body> {
    let mut stars = plummer(66, 3);
    stars.iter_mut().for_each(|star| star.mass = MASS);
    let light = Body {
        mass: 0.05 * MASS,
        x: [0.9, 0.2, 0.1],
        v: [0.0; 3],
        ..Body::default()
    };
    let mut heavy = Body {
        mass: 2.0 * MASS,
        ..light
    };
    add_scaled(&mut heavy.x, 1.0, &place);
    // Away from the light one.
    heavy.v = place.map(|c| 30.0 * c);
    stars.splice(..1, binary(&light, 7e-3, 0.4, 100));
    stars.splice(2..3, binary(&heavy, 1e-2, 0.0, 102));
    stars
}

/// A crowded system asks for one list, about its first star. It finds all others that are felt within the system and are near
/// enough to become one with it, also systems that are heavier than any star.
#[test]
fn one_list_finds_all_partners_of_a_crowded_system() {
    let (_turn, grape) = grape();
    let mut found = 0;
    for k in 0..250 {
        let (distance, angle) = (0.1 + 4e-4 * f64::from(k), 2.5 * f64::from(k));
        let place = [angle.cos(), 0.8 * angle.sin(), 0.6 * angle.sin()];
        let bodies = met(place.map(|c| distance * c));
        let mut run = begun(&grape, bodies);
        let limits = run.regularized.limits.unwrap();
        let held = &run.regularized.at[&0];
        assert!(held.is_crowded && run.regularized.at.contains_key(&2));
        let (light, stars) = (run.bodies[0], run.stars().0);
        let felt = held.size * (2.0 * 2.0 * MASS / (INFLUENCE[0] * light.mass)).cbrt();
        let distance = |a: &Body, b: &Body| norm(&sub(&a.x, &b.x));
        let is_partner = |j: &usize| {
            let other = &run.bodies[*j];
            let radius = PREDICTED * WIDER * limits.radius_of(light.mass + other.mass);
            distance(other, &light) < radius
                && stars[..2].iter().any(|star| distance(other, star) < felt)
        };
        let others = (1..run.bodies.len()).filter(|j| !run.regularized.is_ghost(*j));
        let partners: Vec<usize> = others.filter(is_partner).collect();
        let mut near = Vec::new();
        run.forces(0.0, &[0], |_, _, force| {
            near = force.near;
            Ok(())
        })
        .unwrap();
        assert_eq!(near, partners, "{place:?}");
        found += usize::from(partners.contains(&2));
    }
    assert!(found > 50 && found < 220, "{found}");
}

/// A cluster with a binary of this semi-major axis at a distance from its centre, and a third star at the apocentre of its orbit about
/// the binary.
fn with_a_third_star(distance: f64, inner: f64, outer: f64) -> Vec<Body> {
    let mut stars = plummer(66, 3);
    stars.iter_mut().for_each(|star| star.mass = MASS);
    let centre = Body {
        mass: 2.0 * MASS,
        x: [distance, 0.2, 0.1],
        v: [0.0; 3],
        ..Body::default()
    };
    let mut third = Body {
        mass: MASS,
        index: 102,
        ..centre
    };
    let e = 0.8;
    third.x[2] += outer * (1.0 + e);
    third.v[0] += (3.0 * MASS / outer * (1.0 - e) / (1.0 + e)).sqrt();
    stars.splice(..2, binary(&centre, inner, 0.0, 100));
    stars[2] = third;
    stars
}

/// A third star on an orbit that is too wide for a pair becomes one system with a binary that it perturbs near its pericentre, if others
/// hardly perturb that orbit. The system remains one down to a third of the binary's perturbation, and up to where it may not be stable.
#[test]
fn a_wide_hierarchy_is_one_system_where_its_orbits_perturb_each_other() {
    let (_turn, grape) = grape();
    for (distance, inner, outer, joins, stays) in [
        (3.0, 1e-2, 0.075, false, false),
        (3.0, 6e-3, 0.075, false, true),
        // Too many kicks in a revolution.
        (3.0, 4.5e-3, 0.075, false, true),
        (3.0, 2e-3, 0.075, true, true),
        (3.0, 7e-4, 0.075, false, true),
        (3.0, 5e-4, 0.075, false, false),
        (0.7, 2e-3, 0.075, false, true),
        (3.0, 1.2e-2, 0.3, false, false),
    ] {
        let bodies = with_a_third_star(distance, inner, outer);
        let (_, all) = Multiple::of(&bodies[..3]);
        let run = begun(&grape, bodies);
        let limits = run.regularized.limits.unwrap();
        assert!(1.8 * outer > 1.5 * limits.radius_of(3.0 * MASS));
        assert!(run.regularized.at.contains_key(&0) && run.regularized.of[2].is_none());
        let union = run.union(0.0, [0, 2], &[], &limits);
        assert_eq!(union.is_some(), joins, "{distance} {inner} {outer}");
        // Without the tide of others.
        let remains = divided(&all, &limits).is_none();
        assert_eq!(remains, stays, "{distance} {inner} {outer}");
    }
    // The list of the binary finds the third star as soon as this perturbs it, before their distance is that of a pair.
    let mut run = begun(&grape, with_a_third_star(3.0, 2e-3, 0.075));
    let is_one = |run: &Integrator<_>| run.regularized.at[&0].others.len() == 2;
    while !is_one(&run) && run.time < 0.4 {
        run.step().unwrap();
    }
    let limits = run.regularized.limits.unwrap();
    let distance = norm(&run.regularized.at[&0].system.relative(0, 2).0);
    assert!(is_one(&run) && distance > 1.3 * limits.radius_of(3.0 * MASS));
}

/// The library sums over the particles before the ghosts only.
#[test]
fn ghosts_are_behind_all_others_in_the_library() {
    let (_turn, grape) = grape();
    let mut run = begun(&grape, met([0.3, 0.2, 0.1]));
    let n = run.bodies.len();
    assert_eq!(run.nj, n - 2);
    assert_eq!(run.in_library[..6], [0, n - 2, 1, n - 1, 2, 3]);
    // A binary becomes two stars again.
    run.take_apart(0);
    run.readdress();
    assert_eq!(run.nj, n - 1);
    assert_eq!(run.in_library[..6], [0, 1, 2, n - 1, 3, 4]);
}
