//! Published models of the Milky Way in their authors' units: kpc, 10 km/s and 2.325e7 solar masses, so that G = 1
//! and potentials are in 100 (km/s)^2.

use super::Field;
use super::component::{Disc, Halo, Plummer};
use crate::vector::{Vec3, add_scaled};

/// A model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum MilkyWay {
    /// No galaxy: the cluster is alone
    #[default]
    None,
    /// Allen and Santillan (1991): bulge, disc, halo to 100 kpc; 220 km/s at 8.5 kpc
    AllenSantillan,
    /// Irrgang et al. (2013), model I: bulge, disc, halo to 200 kpc; 242 km/s at 8.4 kpc
    Irrgang,
}

/// Bulge, disc and halo.
type Parts = (Plummer, Disc, Halo);

/// Allen and Santillan (1991, Rev. Mex. Astron. Astrofis. 22, 255), Table 1.
const ALLEN_SANTILLAN: Parts = (
    Plummer {
        m: 606.0,
        b: 0.3873,
    },
    Disc {
        m: 3690.0,
        a: 5.3178,
        b: 0.2500,
    },
    Halo {
        m: 4615.0,
        a: 12.0,
        p: 2.02,
        cut: 100.0,
    },
);

/// Irrgang, Wilcox, Tucker and Schiefelbein (2013, A&A 549, A137), Table 1, model I.
const IRRGANG: Parts = (
    Plummer { m: 409.0, b: 0.23 },
    Disc {
        m: 2856.0,
        a: 4.22,
        b: 0.292,
    },
    Halo {
        m: 1018.0,
        a: 2.562,
        p: 2.0,
        cut: 200.0,
    },
);

impl MilkyWay {
    fn parts(self) -> Option<Parts> {
        match self {
            Self::None => None,
            Self::AllenSantillan => Some(ALLEN_SANTILLAN),
            Self::Irrgang => Some(IRRGANG),
        }
    }

    /// Mass of bulge, disc and halo, the last within `r` kpc; in 2.325e7 solar masses.
    pub fn masses(self, r: f64) -> [f64; 3] {
        self.parts().map_or([0.0; 3], |(bulge, disc, halo)| {
            [bulge.m, disc.m, halo.mass(r)]
        })
    }

    /// What the command line calls it.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::AllenSantillan => "allen-santillan",
            Self::Irrgang => "irrgang",
        }
    }

    /// The model of this name.
    pub fn named(name: &str) -> Option<Self> {
        use clap::ValueEnum;
        Self::value_variants()
            .iter()
            .copied()
            .find(|m| m.name() == name)
    }
}

impl Field for MilkyWay {
    fn potential(&self, x: &Vec3) -> f64 {
        self.parts().map_or(0.0, |(bulge, disc, halo)| {
            bulge.potential(x) + disc.potential(x) + halo.potential(x)
        })
    }

    fn acceleration(&self, x: &Vec3) -> Vec3 {
        let Some((bulge, disc, halo)) = self.parts() else {
            return [0.0; 3];
        };
        let mut a = bulge.acceleration(x);
        add_scaled(&mut a, 1.0, &disc.acceleration(x));
        add_scaled(&mut a, 1.0, &halo.acceleration(x));
        a
    }

    fn jerk(&self, x: &Vec3, v: &Vec3) -> Vec3 {
        let Some((bulge, disc, halo)) = self.parts() else {
            return [0.0; 3];
        };
        let mut j = bulge.jerk(x, v);
        add_scaled(&mut j, 1.0, &disc.jerk(x, v));
        add_scaled(&mut j, 1.0, &halo.jerk(x, v));
        j
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOLAR_MASSES: f64 = 2.325e7;

    /// km/s at so many kpc.
    fn circular(model: MilkyWay, r: f64) -> f64 {
        10.0 * model.circular_speed(&[r, 0.0, 0.0])
    }

    fn escape(model: MilkyWay, r: f64) -> f64 {
        10.0 * model.escape_speed(&[0.0, r, 0.0])
    }

    /// Oort's constants in km/s/kpc: A = (v/r - dv/dr) / 2, B = -(v/r + dv/dr) / 2.
    fn oort(model: MilkyWay, r: f64) -> (f64, f64) {
        let slope = (circular(model, r + 1e-4) - circular(model, r - 1e-4)) / 2e-4;
        let rate = circular(model, r) / r;
        (0.5 * (rate - slope), -0.5 * (rate + slope))
    }

    /// The numbers of their Section 3: 220 km/s at the Sun, Oort's constants 12.95 and -12.93, escape at
    /// 536 km/s, 9.0e11 solar masses.
    #[test]
    fn allen_and_santillan_as_published() {
        let model = MilkyWay::AllenSantillan;
        assert!((circular(model, 8.5) - 220.0).abs() < 0.05);
        let (a, b) = oort(model, 8.5);
        assert!(
            (a - 12.95).abs() < 0.02 && (b + 12.93).abs() < 0.02,
            "{a} {b}"
        );
        assert!(
            (escape(model, 8.5) - 536.0).abs() < 1.0,
            "{}",
            escape(model, 8.5)
        );
        let mass = SOLAR_MASSES * model.masses(100.0).iter().sum::<f64>();
        assert!((mass / 9.02e11 - 1.0).abs() < 2e-3, "{mass:e}");
    }

    /// Their Table 1: 242.0 km/s at 8.40 kpc, Oort's constants 15.06 and -13.74, escape at 616.4 km/s,
    /// bulge 9.5e9, disc 6.6e10, all within 200 kpc 1.9e12 solar masses.
    #[test]
    fn irrgang_as_published() {
        let model = MilkyWay::Irrgang;
        assert!(
            (circular(model, 8.4) - 242.0).abs() < 0.1,
            "{}",
            circular(model, 8.4)
        );
        let (a, b) = oort(model, 8.4);
        assert!(
            (a - 15.06).abs() < 0.05 && (b + 13.74).abs() < 0.05,
            "{a} {b}"
        );
        assert!(
            (escape(model, 8.4) - 616.4).abs() < 1.0,
            "{}",
            escape(model, 8.4)
        );
        let [bulge, disc, halo] = model.masses(200.0).map(|m| SOLAR_MASSES * m);
        assert!((bulge / 9.5e9 - 1.0).abs() < 0.01 && (disc / 6.6e10 - 1.0).abs() < 0.01);
        assert!(((bulge + disc + halo) / 1.9e12 - 1.0).abs() < 0.03);
    }

    #[test]
    fn no_galaxy_does_nothing() {
        let x = [1.0, 2.0, 3.0];
        assert_eq!(MilkyWay::None.acceleration(&x), [0.0; 3]);
        assert_eq!(MilkyWay::None.potential(&x), 0.0);
        assert_eq!(MilkyWay::None.circular_speed(&x), 0.0);
        assert_eq!(
            MilkyWay::None.tidal_radius(1.0, &x, &[0.0; 3]),
            f64::INFINITY
        );
    }

    #[test]
    fn names_lead_back() {
        use clap::ValueEnum;
        for model in MilkyWay::value_variants() {
            assert_eq!(MilkyWay::named(model.name()), Some(*model));
            assert_eq!(model.to_possible_value().unwrap().get_name(), model.name());
        }
    }
}
