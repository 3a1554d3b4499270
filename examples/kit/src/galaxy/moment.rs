//! The field of a galaxy at one time, in the cluster's units.

use super::additions::Additions;
use super::bar::Turned;
use super::component::Plummer;
use super::host::Galaxy;
use super::mcmillan;
use super::milky_way::TIME;
use super::satellite::Here;
use super::words::Words;
use super::{Field, MilkyWay};
use crate::vector::{Vec3, add_scaled};

/// A galaxy as it is at one time.
#[derive(Debug)]
pub struct Moment {
    model: MilkyWay,
    hole: Plummer,
    /// Unit of length in kpc; factor from the model's potentials to the cluster's; unit of time in the model's.
    kpc: f64,
    factor: f64,
    time: f64,
    more: Option<More>,
}

#[derive(Debug)]
struct More {
    additions: &'static Additions,
    /// Masses in parts of today's, and their change.
    growth: (f64, f64),
    bar: Option<Turned>,
    satellites: Vec<Here>,
}

impl Moment {
    /// `galaxy` at the time `t` of the cluster's.
    pub(super) fn of(galaxy: &Galaxy, t: f64) -> Self {
        let (kpc, factor) = galaxy.scale();
        let time = galaxy.units.time() / TIME;
        let more = galaxy.more.map(|additions| {
            let t = time * (t - galaxy.today);
            More {
                additions,
                growth: (additions.factor(t), additions.factor_change(t)),
                bar: additions.bar(t),
                satellites: additions.satellites(t),
            }
        });
        Self {
            model: galaxy.model,
            hole: galaxy.hole(),
            kpc,
            factor,
            time,
            more,
        }
    }

    fn is_hole_alone(&self) -> bool {
        self.model == MilkyWay::None && self.more.is_none()
    }

    /// The galaxy for a GPU. `None` where part of it is a potential from a file, of which there is no formula.
    pub fn words(&self) -> Option<Words> {
        let more = self.more.as_ref();
        if more.is_some_and(|more| more.additions.told.table.is_some()) {
            return None;
        }
        let of_model = self.model.words();
        let bar = more.and_then(|more| more.bar.as_ref());
        let satellites = more.map_or(&[][..], |more| &more.satellites);
        let (growth, growth_change) = more.map_or((1.0, 0.0), |more| more.growth);
        let radii = match self.model {
            MilkyWay::McMillan2017 => mcmillan::model().radii(),
            _ => 0,
        };
        let whole = |n: usize| n as u64;
        Some(Words {
            about: [
                self.kpc.to_bits(),
                (self.factor * self.kpc).to_bits(),
                (self.factor * self.time).to_bits(),
                growth.to_bits(),
                growth_change.to_bits(),
                self.hole.m.to_bits(),
                self.hole.b.to_bits(),
                u64::from(self.is_hole_alone()),
                whole(of_model.len()),
                u64::from(bar.is_some()),
                whole(satellites.len()),
                whole(radii),
            ],
            parts: of_model
                .into_iter()
                .chain(bar.map(Turned::words))
                .chain(satellites.iter().map(Here::words))
                .collect(),
        })
    }

    /// Positions of the satellites, in the cluster's units.
    pub fn satellites(&self) -> Vec<Vec3> {
        let satellites = self.more.iter().flat_map(|more| &more.satellites);
        satellites
            .map(|here| here.phase().0.map(|c| c / self.kpc))
            .collect()
    }
}

impl More {
    /// The sum of what each part of the galaxy and of what is added is, of which `model` is the model's.
    fn sum(&self, model: Vec3, part: impl Fn(&dyn Field) -> Vec3) -> Vec3 {
        let mut sum = model;
        if let Some(table) = &self.additions.told.table {
            add_scaled(&mut sum, 1.0, &part(table));
        }
        if let Some(bar) = &self.bar {
            add_scaled(&mut sum, 1.0, &part(bar));
        }
        let mut sum = sum.map(|c| self.growth.0 * c);
        for satellite in &self.satellites {
            add_scaled(&mut sum, 1.0, &part(satellite));
        }
        sum
    }

    /// Potential of model, file and bar with today's masses.
    fn grown(&self, model: f64, x: &Vec3) -> f64 {
        let table = self.additions.told.table.as_ref();
        model + table.map_or(0.0, |t| t.potential(x)) + self.bar.map_or(0.0, |b| b.potential(x))
    }
}

impl Field for Moment {
    fn potential(&self, x: &Vec3) -> f64 {
        let place = x.map(|c| self.kpc * c);
        let mut sum = self.model.potential(&place);
        if let Some(more) = &self.more {
            sum = more.growth.0 * more.grown(sum, &place);
            sum += more
                .satellites
                .iter()
                .map(|s| s.potential(&place))
                .sum::<f64>();
        }
        self.factor * sum + self.hole.potential(x)
    }

    fn acceleration(&self, x: &Vec3) -> Vec3 {
        let mut a = self.hole.acceleration(x);
        if !self.is_hole_alone() {
            let place = x.map(|c| self.kpc * c);
            let mut sum = self.model.acceleration(&place);
            if let Some(more) = &self.more {
                sum = more.sum(sum, |part| part.acceleration(&place));
            }
            add_scaled(&mut a, self.factor * self.kpc, &sum);
        }
        a
    }

    fn jerk(&self, x: &Vec3, v: &Vec3) -> Vec3 {
        let mut j = self.hole.jerk(x, v);
        if !self.is_hole_alone() {
            let [place, v] = [x, v].map(|c| c.map(|c| self.kpc * c));
            let mut sum = self.model.jerk(&place, &v);
            if let Some(more) = &self.more {
                sum = more.sum(sum, |part| part.jerk(&place, &v));
            }
            add_scaled(&mut j, self.factor * self.kpc, &sum);
        }
        j
    }

    fn potential_change(&self, x: &Vec3) -> f64 {
        let Some(more) = &self.more else {
            return 0.0;
        };
        let place = x.map(|c| self.kpc * c);
        let mut sum = more.growth.1 * more.grown(self.model.potential(&place), &place);
        sum += more.growth.0 * more.bar.map_or(0.0, |bar| bar.potential_change(&place));
        sum += more
            .satellites
            .iter()
            .map(|s| s.potential_change(&place))
            .sum::<f64>();
        self.factor * self.time * sum
    }
}
