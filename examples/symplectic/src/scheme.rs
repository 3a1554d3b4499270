//! The schemes: tables of coefficients, each with its order and source.
//!
//! A step of length h is kicks and drifts in turn, beginning and ending with a kick:
//!
//! ```text
//! v += b1 h a(x);  x += a1 h v;  v += b2 h a(x);  ...  x += as h v;  v += b(s+1) h a(x)
//! ```
//!
//! The coefficients are symmetric, so that a step back undoes a step. The last kick of a step and the first kick of the
//! next use the same force, so a step takes s evaluations.

/// A scheme by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Scheme {
    /// Order 2, 1 force a step: kick, drift, kick
    #[default]
    Leapfrog,
    /// Order 4, 3 forces a step: Forest and Ruth (1990)
    ForestRuth,
    /// Order 6, 7 forces a step: Yoshida's solution A, in Kinoshita, Yoshida and Nakai (1991)
    Si6a,
    /// Order 6, 9 forces a step: McLachlan (1995)
    Mclachlan,
    /// Order 6, 11 forces a step, of small error: Blanes and Moan (2002), SRKN 11b
    BlanesMoan,
}

/// Kicks b1, ..., b(s+1) and drifts a1, ..., as in parts of the step. The sum of either is 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Coefficients {
    /// Parts of the step of the kicks.
    pub kicks: Vec<f64>,
    /// Parts of the step of the drifts.
    pub drifts: Vec<f64>,
}

/// Kinoshita, Yoshida and Nakai (1991, Celest. Mech. Dyn. Astron. 50, 59), Table 1, first column: w1, w2, w3
/// of Yoshida (1990, Phys. Lett. A 150, 262), solution A.
const SI6A: [f64; 3] = [-1.17767998417887, 0.235573213359357, 0.784513610477560];

/// McLachlan (1995, SIAM J. Sci. Comput. 16, 151), symmetric composition of nine leapfrogs: w1 to w4. The weight of the
/// middle leapfrog follows from them.
const SS9: [f64; 4] = [
    0.1867,
    0.555_497_023_712_478_4,
    0.129_466_948_913_475_35,
    -0.843_265_623_387_734_6,
];

/// Blanes and Moan (2002, J. Comput. Appl. Math. 142, 313), Table 3: b1 to b5 and a1 to a5 of SRKN 11b.
const SRKN_11B: ([f64; 5], [f64; 5]) = (
    [
        0.0414649985182624,
        0.198128671918067,
        -0.0400061921041533,
        0.0752539843015807,
        -0.0115113874206879,
    ],
    [
        0.123229775946271,
        0.290553797799558,
        -0.127049212625417,
        -0.246331761062075,
        0.357208872795928,
    ],
);

impl Scheme {
    /// What the command line calls it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Leapfrog => "leapfrog",
            Self::ForestRuth => "forest-ruth",
            Self::Si6a => "si6a",
            Self::Mclachlan => "mclachlan",
            Self::BlanesMoan => "blanes-moan",
        }
    }

    /// Power of the step with which the error goes.
    pub fn order(self) -> u32 {
        match self {
            Self::Leapfrog => 2,
            Self::ForestRuth => 4,
            Self::Si6a | Self::Mclachlan | Self::BlanesMoan => 6,
        }
    }

    /// Its coefficients.
    pub fn table(self) -> Coefficients {
        match self {
            Self::Leapfrog => Coefficients::of_leapfrogs(&[1.0]),
            // Forest and Ruth (1990, Physica D 43, 105), equation 4.8.
            Self::ForestRuth => {
                let w = 1.0 / (2.0 - 2.0_f64.cbrt());
                Coefficients::of_leapfrogs(&[w, 1.0 - 2.0 * w, w])
            }
            Self::Si6a => {
                let [w1, w2, w3] = SI6A;
                let w0 = 1.0 - 2.0 * (w1 + w2 + w3);
                Coefficients::of_leapfrogs(&[w3, w2, w1, w0, w1, w2, w3])
            }
            Self::Mclachlan => {
                let middle = [1.0 - 2.0 * SS9.iter().sum::<f64>()];
                Coefficients::of_leapfrogs(&mirrored(&SS9, &middle))
            }
            Self::BlanesMoan => {
                let (b, a) = SRKN_11B;
                Coefficients {
                    kicks: mirrored(&b, &[0.5 - b.iter().sum::<f64>(); 2]),
                    drifts: mirrored(&a, &[1.0 - 2.0 * a.iter().sum::<f64>()]),
                }
            }
        }
    }
}

impl Coefficients {
    /// Leapfrogs of these parts of a step, one after the other.
    fn of_leapfrogs(parts: &[f64]) -> Self {
        let halves = |pair: &[f64]| 0.5 * (pair[0] + pair[1]);
        let ends = [0.5 * parts[0]];
        let between: Vec<f64> = parts.windows(2).map(halves).collect();
        Self {
            kicks: [&ends[..], &between, &ends].concat(),
            drifts: parts.to_vec(),
        }
    }

    /// Forces on everybody that a step takes.
    pub fn evaluations(&self) -> usize {
        self.drifts.len()
    }
}

/// `outer`, `middle`, and `outer` backwards.
fn mirrored(outer: &[f64], middle: &[f64]) -> Vec<f64> {
    let inner = outer.iter().chain(middle);
    inner.chain(outer.iter().rev()).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::ValueEnum;

    #[test]
    fn tables_are_palindromes_that_sum_to_one() {
        for scheme in Scheme::value_variants() {
            let Coefficients { kicks, drifts } = scheme.table();
            assert_eq!(kicks.len(), drifts.len() + 1);
            for half in [&kicks, &drifts] {
                assert!((half.iter().sum::<f64>() - 1.0).abs() < 1e-14, "{scheme:?}");
                assert!(half.iter().eq(half.iter().rev()), "{scheme:?}");
            }
            let value = scheme.to_possible_value().unwrap();
            assert_eq!(value.get_name(), scheme.name());
        }
        let forces = [1, 3, 7, 9, 11];
        for (scheme, forces) in Scheme::value_variants().iter().zip(forces) {
            assert_eq!(scheme.table().evaluations(), forces);
        }
    }

    /// A star passes through a weak force x^k at constant speed. The sum over its kicks b at the places c is then a
    /// quadrature formula for the integral of the force, and has the order of the scheme. This tests the coefficients
    /// to the last digit; a measured slope would not show an error beyond the ninth digit.
    #[test]
    fn kicks_integrate_powers_to_the_order() {
        for scheme in Scheme::value_variants() {
            let Coefficients { kicks, drifts } = scheme.table();
            let mut places = vec![0.0];
            places.extend(drifts.iter().scan(0.0, |at, drift| {
                *at += drift;
                Some(*at)
            }));
            for k in 1..scheme.order() as i32 {
                let sum: f64 = kicks.iter().zip(&places).map(|(b, c)| b * c.powi(k)).sum();
                let error = sum - 1.0 / f64::from(k + 1);
                assert!(error.abs() < 2e-14, "{scheme:?}, x^{k}: {error:e}");
            }
        }
    }

    /// The error in position of an orbit of eccentricity 0.3 around a fixed point, after a time of 2.
    fn error(scheme: Scheme, steps: u32) -> f64 {
        let ends: Vec<[f64; 2]> = [steps, 64 * 2048 / scheme.order()]
            .into_iter()
            .map(|steps| {
                let h = 2.0 / f64::from(steps);
                let (mut x, mut v) = ([0.7, 0.0], [0.0, (1.3 / 0.7_f64).sqrt()]);
                let kick = |v: &mut [f64; 2], x: &[f64; 2], h: f64| {
                    let r2 = x[0] * x[0] + x[1] * x[1];
                    (0..2).for_each(|k| v[k] -= h * x[k] / (r2 * r2.sqrt()));
                };
                let Coefficients { kicks, drifts } = scheme.table();
                for _ in 0..steps {
                    for (kicking, drifting) in kicks.iter().zip(&drifts) {
                        kick(&mut v, &x, kicking * h);
                        (0..2).for_each(|k| x[k] += drifting * h * v[k]);
                    }
                    kick(&mut v, &x, kicks[drifts.len()] * h);
                }
                x
            })
            .collect();
        let [d0, d1] = [0, 1].map(|k| ends[0][k] - ends[1][k]);
        d0.hypot(d1)
    }

    #[test]
    fn orders_on_an_ellipse() {
        for (scheme, steps) in [
            (Scheme::Leapfrog, 256),
            (Scheme::ForestRuth, 128),
            (Scheme::Si6a, 64),
            (Scheme::Mclachlan, 32),
            (Scheme::BlanesMoan, 16),
        ] {
            let [coarse, fine] = [1, 2].map(|k| error(scheme, k * steps));
            let slope = (coarse / fine).log2();
            let order = f64::from(scheme.order());
            assert!(
                (slope - order).abs() < 0.2,
                "{scheme:?}: {coarse:e} {fine:e} {slope}"
            );
        }
    }

    /// At equal numbers of forces the optimised scheme is far more accurate.
    #[test]
    fn the_modern_scheme_has_a_smaller_error() {
        let old = error(Scheme::Si6a, 11 * 8);
        let new = error(Scheme::BlanesMoan, 7 * 8);
        assert!(new < 0.1 * old, "{old:e} {new:e}");
    }
}
