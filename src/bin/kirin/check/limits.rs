//! The promised errors of kirin's precisions in each scene.

use super::measure::{ForceErrors, ListErrors};
use super::scene::Scene;
use crate::candidate::MeasuredInterface;

/// What the tables show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// Acceleration, root mean square.
    AccRms,
    /// Acceleration, largest.
    AccMax,
    /// Acceleration, largest of the sum of magnitudes.
    AccOfTerms,
    /// Acceleration, what of its error changes from step to step.
    AccNoise,
    /// Jerk, root mean square.
    JerkRms,
    /// Jerk, largest.
    JerkMax,
    /// Jerk, largest of the sum of magnitudes.
    JerkOfTerms,
    /// Potential, root mean square.
    PotRms,
    /// Potential, largest.
    PotMax,
    /// Results that are no finite numbers.
    NotFinite,
    /// Wrong nearest neighbours.
    Neighbours,
    /// Wrong lists.
    Lists,
}

use Quantity::*;

/// Those of NBODY6's forces, which no trajectory is followed for.
const OF_NBODY6: [Quantity; 11] = [
    AccRms,
    AccMax,
    AccOfTerms,
    JerkRms,
    JerkMax,
    JerkOfTerms,
    PotRms,
    PotMax,
    NotFinite,
    Neighbours,
    Lists,
];

impl Quantity {
    /// Those that libraries of an interface have.
    pub fn of(interface: MeasuredInterface) -> &'static [Self] {
        match interface {
            MeasuredInterface::Grape6 => &Self::ALL,
            MeasuredInterface::Nbody6 => &OF_NBODY6,
            MeasuredInterface::Grape5 => &[AccRms, AccMax, AccOfTerms, PotRms, PotMax, NotFinite],
        }
    }

    /// Every one, in the order of the table.
    const ALL: [Self; 12] = [
        AccRms,
        AccMax,
        AccOfTerms,
        AccNoise,
        JerkRms,
        JerkMax,
        JerkOfTerms,
        PotRms,
        PotMax,
        NotFinite,
        Neighbours,
        Lists,
    ];

    /// The quantity in words.
    pub fn title(self) -> &'static str {
        match self {
            AccRms => "acc rms",
            AccMax => "acc max",
            AccOfTerms => "acc max of terms",
            AccNoise => "acc noise a step",
            JerkRms => "jerk rms",
            JerkMax => "jerk max",
            JerkOfTerms => "jerk max of terms",
            PotRms => "pot rms",
            PotMax => "pot max",
            NotFinite => "not finite",
            Neighbours => "wrong neighbours",
            Lists => "wrong lists",
        }
    }

    /// Whether it is a number of results rather than an error.
    pub fn is_count(self) -> bool {
        matches!(self, NotFinite | Neighbours | Lists)
    }

    /// The value, where there is one.
    pub fn value(self, forces: Option<&ForceErrors>, lists: Option<&ListErrors>) -> Option<f64> {
        if self == Lists {
            return lists.map(|l| l.wrong as f64);
        }
        let f = forces?;
        if !self.is_count() && f.not_finite == f.compared {
            return None; // there is nothing whose error could be told
        }
        Some(match self {
            AccRms => f.acc.rms,
            AccMax => f.acc.max,
            AccOfTerms => f.acc.max_of_terms,
            AccNoise => return f.noise,
            JerkRms => f.jerk.rms,
            JerkMax => f.jerk.max,
            JerkOfTerms => f.jerk.max_of_terms,
            PotRms => f.pot.rms,
            PotMax => f.pot.max,
            NotFinite => f.not_finite as f64,
            Neighbours | Lists => return f.wrong_neighbours.map(|n| n as f64),
        })
    }
}

/// The largest value that a precision may have in a scene of `n` particles.
pub fn limit(
    interface: MeasuredInterface,
    precision: &str,
    scene: Scene,
    n: usize,
    quantity: Quantity,
) -> Option<f64> {
    // A rule takes `mixed` or what is better.
    let precision = match precision {
        "auto" | "adaptive" => "mixed",
        other => other,
    };
    let promised = matches!(precision, "mixed" | "double" | "double-single");
    // The fewer terms, the less do their errors cancel.
    let of_terms = |n: usize| (4096.0 / n as f64).powf(0.25).max(1.0);
    let few_terms = of_terms(n);
    if quantity.is_count() {
        return promised.then_some(0.0);
    }
    match (precision, scene) {
        // The steps of an integrator in double precision are limited by the steps themselves.
        ("double", _) if quantity == AccNoise => Some(1e-12),
        ("double", _) => match quantity {
            // All terms of the potential have one sign.
            AccOfTerms | JerkOfTerms | PotMax => Some(1e-13),
            _ => None,
        },
        // Acceleration and potential in pairs of floats, the jerk as in `mixed`.
        ("double-single", _) => match quantity {
            AccNoise => Some(1e-11),
            AccOfTerms | PotMax => Some(1e-11),
            JerkOfTerms => Some(2e-6),
            _ => None,
        },
        // What README and docs/numbers.md promise. All terms of the potential have one sign.
        ("mixed", _) if matches!(quantity, AccOfTerms | PotMax) => Some(1e-6),
        ("mixed", _) if quantity == JerkOfTerms => Some(2e-6),
        ("mixed", scene) if scene.has_binaries() => match quantity {
            // The terms do not cancel, unless softening makes the companion's one of many.
            AccMax if !scene.is_softened() => Some(1e-6),
            AccMax => Some(1e-5),
            _ => None,
        },
        ("mixed", _) => match quantity {
            AccRms => Some(1e-7 * few_terms),
            JerkRms => Some(5e-7),
            // A particle's own term may be nearly all of its potential.
            PotRms if interface == MeasuredInterface::Grape5 => Some(4e-8 * of_terms(1)),
            PotRms => Some(4e-8 * few_terms),
            AccMax => Some(1e-5),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The limits of `mixed` that some errors miss in a scene.
    fn missed(
        interface: MeasuredInterface,
        scene: Scene,
        n: usize,
        errors: &ForceErrors,
    ) -> Vec<Quantity> {
        let misses = |&quantity: &Quantity| {
            let limit = limit(interface, "mixed", scene, n, quantity);
            let value = quantity.value(Some(errors), None);
            value.zip(limit).is_some_and(|(value, limit)| value > limit)
        };
        let quantities = Quantity::of(interface).iter().copied();
        quantities.filter(misses).collect()
    }

    /// The errors that docs/numbers.md promises, times `factor`, in the quantities that are promised; none in the others.
    fn promised(factor: f64) -> [(Quantity, ForceErrors); 3] {
        let [mut acc, mut jerk, mut pot] = [ForceErrors::of(1); 3];
        acc.acc.max_of_terms = 1e-6 * factor;
        jerk.jerk.max_of_terms = 2e-6 * factor;
        (pot.pot.max, pot.pot.max_of_terms) = (1e-6 * factor, 1e-6 * factor);
        [(AccOfTerms, acc), (JerkOfTerms, jerk), (PotMax, pot)]
    }

    #[test]
    fn a_library_of_mixed_keeps_what_the_pages_promise_in_every_scene() {
        for interface in [
            MeasuredInterface::Grape6,
            MeasuredInterface::Nbody6,
            MeasuredInterface::Grape5,
        ] {
            for scene in Scene::ALL {
                for n in [40, 1024, 4096, 100_000] {
                    for (quantity, errors) in promised(0.999) {
                        let found = missed(interface, scene, n, &errors);
                        assert_eq!(found, [], "{quantity:?} of {scene:?}, n = {n}");
                    }
                    for (quantity, errors) in promised(1.001) {
                        if Quantity::of(interface).contains(&quantity) {
                            let found = missed(interface, scene, n, &errors);
                            assert_eq!(found, [quantity], "{scene:?}, n = {n}");
                        }
                    }
                }
            }
        }
    }
}
