//! Binaries that form of three stars of a bin.

use std::ops::Range;

use kirin_kit::communicator::Communicator;

use super::Cluster;
use crate::binaries::{self, Event, Surroundings};
use crate::partition::BIN;
use crate::random::Stream;

impl<C: Communicator> Cluster<C> {
    /// Lets triples of single stars of a bin form binaries.
    pub(super) fn form(
        &mut self,
        around: &Surroundings,
        own: Range<usize>,
        busy: &[bool; BIN],
        dt: f64,
    ) -> Vec<Event> {
        let singles: Vec<usize> = own.clone().filter(|k| !busy[k - own.start]).collect();
        let mut events = Vec::new();
        // Stars for each triple: 3, or a little more, as one or two are left over.
        let whole = singles.len() as f64 / (singles.len() / 3).max(1) as f64;
        for triple in singles.as_chunks::<3>().0 {
            let mut triple = *triple;
            triple.sort_by(|a, b| self.stars.m[*b].total_cmp(&self.stars.m[*a]));
            let [m1, m2, _] = triple.map(|k| self.stars.m[k]);
            let rate = whole * binaries::formation_rate(around, [m1, m2]);
            let stream = &mut self.streams[own.start / BIN];
            if stream.uniform() < rate * dt {
                events.extend(self.join(around, triple, own.start / BIN));
            }
        }
        events
    }

    /// The first two of three stars become a binary in the place of the outer one. The third star gets its part of the energy that this sets free.
    fn join(
        &mut self,
        around: &Surroundings,
        [a, b, third]: [usize; 3],
        stream_at: usize,
    ) -> Option<Event> {
        let (leaves, stays) = (a.min(b), a.max(b));
        let stream: &mut Stream = &mut self.streams[stream_at];
        let of = |column: &[f64]| [leaves, stays, third].map(|k| column[k]);
        let (m, vr, vt) = (of(&self.stars.m), of(&self.stars.vr), of(&self.stars.vt));
        let v: [[f64; 3]; 3] = std::array::from_fn(|k| {
            let (cos, sin) = stream.angle();
            [vt[k] * cos, vt[k] * sin, vr[k]]
        });
        let ids = [self.stars.id[stays], self.stars.id[leaves]];
        let binary = binaries::form(around, ids, [m[1], m[0]], stream);
        let cos = 2.0 * stream.uniform() - 1.0;
        let (x, y) = stream.angle();
        let total: f64 = m.iter().sum();
        let centre: [f64; 3] =
            std::array::from_fn(|c| (0..3).map(|k| m[k] * v[k][c]).sum::<f64>() / total);
        let kinetic =
            |k: usize| 0.5 * m[k] * (0..3).map(|c| (v[k][c] - centre[c]).powi(2)).sum::<f64>();
        let node = |place: usize| self.potential.nodes[self.first() + place + 1];
        let (inner, outer) = (node(leaves), node(stays));
        // The pair's own energy in the potential of shells becomes that of the binary.
        let rises = m[0] * (outer.phi + m[0] * outer.u - inner.phi - m[0] * inner.u)
            + m[0] * m[1] * outer.u;
        let energy = (0..3).map(kinetic).sum::<f64>() + binary.binding() - rises;
        let reduced = binary.mass() * m[2] / total;
        if !(energy > 0.0 && binary.is_sensible()) {
            return None;
        }
        let speed = (2.0 * energy / reduced).sqrt();
        let sin = (1.0 - cos * cos).sqrt();
        let along = [sin * x, sin * y, cos];
        let part = |share: f64| std::array::from_fn(|c| centre[c] + share * speed * along[c]);
        self.set(stays, binary.ids[0], binary.mass(), &part(-m[2] / total));
        self.set(
            third,
            self.stars.id[third],
            m[2],
            &part(binary.mass() / total),
        );
        self.stars.m[leaves] = 0.0;
        self.stars.r[leaves] = f64::INFINITY;
        Some(Event {
            after: vec![binary],
            ..Event::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use std::f64::consts::PI;

    use kirin_kit::command::Start;
    use kirin_kit::communicator::{Counted, threads};
    use kirin_kit::models::BinaryOptions;

    use super::*;
    use crate::error::Error;
    use crate::model;
    use crate::random::streams;
    use crate::settings::Settings;

    /// The rate per volume is 0.75 G^5 m^5 n^3 / sigma^9 (Goodman and Hut); the test sums it over a Plummer sphere.
    /// There sigma^2 = 1 / (6 (r^2 + b^2)^(1/2)), and with x = r / b the integrand is x^2 (1 + x^2)^(-21/4).
    #[test]
    fn binaries_form_at_the_rate_of_goodman_and_hut() {
        let (n, dt, seeds) = (1000_u32, 2e5, 24_u64);
        let b = 3.0 * PI / 16.0;
        let central = 3.0 / (4.0 * PI * b * b * b);
        let sigma = (1.0 / (6.0 * b)).sqrt();
        let shape: f64 = (0..4000)
            .map(|k| (f64::from(k) + 0.5) / 1000.0)
            .map(|x| 4.0 * PI * x * x * (1.0 + x * x).powf(-5.25) / 1000.0)
            .sum();
        // n^3 m^5 = rho^3 m^2.
        let mass = 1.0 / f64::from(n);
        let rate = 0.75 * central.powi(3) * mass * mass / sigma.powi(9) * shape * b.powi(3);
        let mut formed = 0;
        for seed in 1..=seeds {
            let world = threads::run(1, Ok::<_, Error>).unwrap().remove(0);
            let start = Start {
                n: Some(n.into()),
                seed: Some(seed),
                ..Start::default()
            };
            let settings = Settings {
                three_body: true,
                ..Settings::default()
            };
            let stars = model::draw(&world, &start, &BinaryOptions::default()).unwrap();
            let all = streams(seed, n as usize / BIN);
            let mut cluster =
                Cluster::new(Counted::new(world), settings, stars, &all, None).unwrap();
            cluster.to_standard_units().unwrap();
            cluster.time_step().unwrap();
            cluster.advance_binaries(dt).unwrap();
            formed += cluster.past.ledger.formed;
            cluster.diagnose().unwrap();
            assert!(cluster.energy_error() < 1e-3, "{}", cluster.energy_error());
        }
        let expected = rate * dt * seeds as f64 / binaries::SURVIVORS;
        let ratio = formed as f64 / expected;
        println!("{formed} binaries, {expected:.1} expected");
        assert!((ratio - 1.0).abs() < 0.25, "{ratio}");
    }
}
