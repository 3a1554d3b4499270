//! The energy of a run's bodies at one time, which of them are bound, and their core.

use crate::body::Body;
use crate::bound::{BoundPart, Potentials};
use crate::density::Core;
use crate::diagnostics::{Energy, mass, momentum};
use crate::galaxy::Field;
use crate::pairs::potentials;
use crate::parts::Parts;
use crate::run::Integration;
use crate::vector::dot;

/// Energy of bodies, their bound part and their core.
#[derive(Clone, Debug, PartialEq)]
pub struct Sight {
    /// Energy.
    pub energy: Energy,
    /// The bound part.
    pub bound: BoundPart,
    /// The core. Each system counts as one body.
    pub core: Core,
}

impl Sight {
    /// The energy, the bound part and the core of the `bodies` that `integration` returned last. The potentials are the
    /// integration's, or else sums over all pairs in double precision. All ranks call it together.
    ///
    /// # Errors
    ///
    /// Those of [`Integration::potentials`].
    pub fn of<I: Integration>(integration: &mut I, bodies: &[Body]) -> Result<Self, I::Error> {
        let potentials = potentials_of(integration, bodies)?;
        let systems = integration.systems();
        let eps2 = integration.eps().powi(2);
        let mut sight = Self::with(bodies, &systems, eps2, potentials, integration.field());
        sight.energy.external -= integration.gain();
        sight.energy.potential += integration.lost_digits(bodies);
        Ok(sight)
    }

    /// `bodies` in a field, with the potentials of all pairs.
    pub fn summed(bodies: &[Body], eps2: f64, field: Option<&dyn Field>) -> Self {
        Self::with(bodies, &[], eps2, summed(bodies, eps2), field)
    }

    fn with(
        bodies: &[Body],
        systems: &[Vec<usize>],
        eps2: f64,
        potentials: Potentials,
        field: Option<&dyn Field>,
    ) -> Self {
        let tails = field.is_some();
        let parts = Parts::of(bodies, systems);
        Self {
            energy: energy(bodies, half(bodies, potentials.values()), field),
            bound: match systems {
                [] => BoundPart::of(bodies, &potentials, tails),
                _ => BoundPart::of_parts(bodies, &parts, eps2, tails),
            },
            core: Core::of(&parts.centres),
        }
    }
}

/// The energy alone, of the `bodies` that `integration` gave last. All ranks call it together.
///
/// # Errors
///
/// Those of [`Integration::potentials`].
pub fn energy_of<I: Integration>(integration: &mut I, bodies: &[Body]) -> Result<Energy, I::Error> {
    let potentials = potentials_of(integration, bodies)?;
    let potential = half(bodies, potentials.values());
    let mut energy = energy(bodies, potential, integration.field());
    energy.external -= integration.gain();
    energy.potential += integration.lost_digits(bodies);
    Ok(energy)
}

/// The integration's potentials, or else sums over all pairs.
fn potentials_of<I: Integration>(
    integration: &mut I,
    bodies: &[Body],
) -> Result<Potentials, I::Error> {
    let known = integration.potentials(bodies)?;
    Ok(known.unwrap_or_else(|| summed(bodies, integration.eps().powi(2))))
}

fn summed(bodies: &[Body], eps2: f64) -> Potentials {
    Potentials::Summed(potentials(bodies, eps2), eps2)
}

/// The potential energy of all pairs.
fn half(bodies: &[Body], potentials: &[f64]) -> f64 {
    let of = |(b, p): (&Body, &f64)| 0.5 * b.mass * p;
    bodies.iter().zip(potentials).map(of).sum()
}

fn energy(bodies: &[Body], potential: f64, field: Option<&dyn Field>) -> Energy {
    match field {
        Some(field) => Energy::with_potential(bodies, potential, field),
        None => Energy {
            kinetic: bodies.iter().map(|b| 0.5 * b.mass * dot(&b.v, &b.v)).sum(),
            potential,
            external: 0.0,
        },
    }
}

/// What later energies are compared with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Start {
    /// Energy at the very start.
    pub energy: f64,
    /// Scale of the cluster's own energy then: see [`Energy::own_scale`].
    pub own: f64,
}

impl Start {
    /// The energies at the start of a run of `bodies`. The cluster's own energy does not include the motion of the
    /// whole cluster, nor the kinetic and potential energies `within` systems.
    pub fn of(energy: &Energy, bodies: &[Body], within: [f64; 2]) -> Self {
        let p = momentum(bodies);
        let flight = match (energy.external, mass(bodies)) {
            (0.0, mass) if mass > 0.0 => 0.5 * dot(&p, &p) / mass,
            _ => 0.0,
        };
        let own = Energy {
            kinetic: energy.kinetic - flight - within[0],
            potential: energy.potential - within[1],
            ..*energy
        };
        Self {
            energy: energy.total(),
            own: own.own_scale(),
        }
    }

    /// The change of the energy in parts of the cluster's own; NaN for a single body. Infinite where the energy is
    /// no number any more.
    pub fn own_error(&self, energy: &Energy) -> f64 {
        match (self.own > 0.0, energy.total().is_nan()) {
            (false, _) => f64::NAN,
            (true, true) => f64::INFINITY,
            (true, false) => (energy.total() - self.energy).abs() / self.own,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::plummer;
    use crate::parts::tests::half_as_binaries;

    /// The density around a star of a binary would be that of the binary, and the core would be where the binaries are.
    #[test]
    fn a_binary_does_not_make_the_core_dense() {
        let centres = plummer(2000, 1);
        let (bodies, systems) = half_as_binaries(&centres);
        let of = |bodies: &[Body], systems: &[Vec<usize>]| {
            Sight::with(bodies, systems, 0.0, summed(bodies, 0.0), None).core
        };
        let (expected, found) = (of(&centres, &[]), of(&bodies, &systems));
        assert!((found.radius / expected.radius - 1.0).abs() < 1e-9);
        assert!((found.density / expected.density - 1.0).abs() < 1e-9);
        let by_stars = of(&bodies, &[]);
        assert!(
            by_stars.density > 1.3 * expected.density,
            "{by_stars:?} {expected:?}"
        );
    }

    #[test]
    fn an_energy_that_is_no_number_is_an_infinite_error() {
        let energy = |kinetic| Energy {
            kinetic,
            potential: -0.5,
            external: 0.0,
        };
        let start = Start {
            energy: -0.25,
            own: 0.25,
        };
        assert_eq!(start.own_error(&energy(0.5)), 1.0);
        assert_eq!(start.own_error(&energy(f64::NAN)), f64::INFINITY);
        let single = Start { own: 0.0, ..start };
        assert!(single.own_error(&energy(f64::NAN)).is_nan());
    }
}
