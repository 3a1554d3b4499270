//! The bodies of a cluster in which each system of close stars counts as one body.

use crate::body::Body;
use crate::diagnostics::{centre_of_mass, mass};

/// Single bodies, and systems in their centres of mass.
#[derive(Clone, Debug, PartialEq)]
pub struct Parts {
    /// The bodies of each part, as places in the list of all.
    pub places: Vec<Vec<usize>>,
    /// Mass, centre of mass and its velocity of each part.
    pub centres: Vec<Body>,
}

impl Parts {
    /// The parts of `bodies`, some of which are members of `systems`: lists of places in `bodies`, none of them empty.
    pub fn of(bodies: &[Body], systems: &[Vec<usize>]) -> Self {
        let mut places: Vec<Vec<usize>> = (0..bodies.len()).map(|i| vec![i]).collect();
        for system in systems {
            system.iter().for_each(|&i| places[i].clear());
            places[system[0]].clone_from(system);
        }
        places.retain(|part| !part.is_empty());
        let centre = |part: &Vec<usize>| match part[..] {
            [i] => bodies[i],
            _ => {
                let stars: Vec<Body> = part.iter().map(|&i| bodies[i]).collect();
                let ((x, v), mass) = (centre_of_mass(&stars), mass(&stars));
                Body {
                    mass,
                    x,
                    v,
                    ..stars[0]
                }
            }
        };
        Self {
            centres: places.iter().map(centre).collect(),
            places,
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::vector::{norm, sub};

    /// Every other one of these `centres` as a binary at its pericentre, on an orbit of a = 1e-4 and e = 0.9, whose energy is
    /// many times that of a cluster; and the places of the binaries' stars.
    pub(crate) fn half_as_binaries(centres: &[Body]) -> (Vec<Body>, Vec<Vec<usize>>) {
        let mut bodies = Vec::new();
        let mut systems = Vec::new();
        for (k, centre) in centres.iter().enumerate() {
            if k % 2 == 1 {
                bodies.push(*centre);
                continue;
            }
            let (r, speed) = (1e-5, (1.9 * centre.mass / 1e-5).sqrt());
            systems.push(vec![bodies.len(), bodies.len() + 1]);
            bodies.extend([0.25, -0.75].map(|part: f64| {
                let mut star = *centre;
                star.mass *= if part > 0.0 { 0.75 } else { 0.25 };
                star.x[0] += part * r;
                star.v[1] += part * speed;
                star
            }));
        }
        (bodies, systems)
    }

    #[test]
    fn a_system_is_in_its_centre_of_mass() {
        let centres = crate::models::plummer(200, 3);
        let (bodies, systems) = half_as_binaries(&centres);
        let parts = Parts::of(&bodies, &systems);
        assert_eq!(parts.centres.len(), 200);
        for (found, centre) in parts.centres.iter().zip(&centres) {
            assert!((found.mass / centre.mass - 1.0).abs() < 1e-15);
            assert!(norm(&sub(&found.x, &centre.x)) < 1e-15);
            // The stars are 80 times as fast.
            assert!(norm(&sub(&found.v, &centre.v)) < 1e-13);
        }
        assert_eq!(parts.places.concat(), (0..300).collect::<Vec<_>>());
    }
}
