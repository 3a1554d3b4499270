//! The motion of few bodies alone from one beginning to many times.
//!
//! The way from the beginning is integrated once, in steps that do not depend on the times that are asked for. Each time is
//! reached from the last of these steps before it. So the result depends on the beginning and the time alone, whatever was
//! asked for earlier.
//!
//! A hierarchy moves on Kepler orbits (`nested.rs`). Where its energy says that this went wrong, that time is reached along the chain.

use super::Alone;
use super::chain::Chain;
use super::multiple::in_tide::Tides;
use super::nested::Nested;
use super::system::{Error, Progress, System};

/// Bodies on their way.
#[derive(Clone, Debug)]
pub(super) struct Flight {
    masses: Vec<f64>,
    begin: Chain,
    /// Tolerance of the steps of bodies that are no hierarchy.
    tolerance: f64,
    /// As a hierarchy.
    pub(super) nested: Option<Box<Nested>>,
    /// As any bodies: where they are no hierarchy, or do not remain one.
    pub(super) chained: Option<Box<Chained>>,
}

/// Bodies that are integrated along a chain.
#[derive(Clone, Debug)]
pub(super) struct Chained {
    system: System,
    /// The beginnings of the steps so far, in order of time.
    steps: Vec<(f64, Progress)>,
}

impl Flight {
    /// Bodies of these masses that are along a chain at the time 0. Steps of those that are no hierarchy have this tolerance.
    pub(super) fn new(masses: Vec<f64>, begin: Chain, tolerance: f64) -> Self {
        Self {
            nested: Nested::new(&masses, &begin).map(Box::new),
            chained: None,
            masses,
            begin,
            tolerance,
        }
    }

    /// Where bodies are at the time `t` that are in linear tides from 0 to `t`.
    ///
    /// # Errors
    ///
    /// No step converges.
    pub(super) fn in_tides(
        masses: Vec<f64>,
        chain: Chain,
        tolerance: f64,
        tides: &mut Tides,
        t: f64,
    ) -> Result<Chain, Error> {
        if t > 0.0
            && let Some(mut nested) = Nested::in_tides(&masses, &chain, tides)
            && let Some(chain) = nested.at(t)
        {
            return Ok(chain);
        }
        let mut system = System::along(masses, chain).with_tolerance(tolerance);
        system.advance(t, tides)?;
        Ok(system.into_chain())
    }

    /// The bodies at the time `t`, from 0 on.
    ///
    /// # Errors
    ///
    /// No step converges.
    pub(super) fn at(&mut self, t: f64) -> Result<Chain, Error> {
        let found = self.nested.as_mut().and_then(|nested| nested.at(t));
        found.map_or_else(|| self.along_the_chain(t), Ok)
    }

    /// The same, but the orbits of a hierarchy do not perturb each other.
    ///
    /// # Errors
    ///
    /// No step converges.
    pub(super) fn unperturbed_at(&mut self, t: f64) -> Result<Chain, Error> {
        match &self.nested {
            Some(nested) => Ok(nested.unperturbed_at(t)),
            None => self.along_the_chain(t),
        }
    }

    fn along_the_chain(&mut self, t: f64) -> Result<Chain, Error> {
        let new = || {
            let (masses, begin) = (self.masses.clone(), self.begin.clone());
            Box::new(Chained::new(masses, begin, self.tolerance))
        };
        self.chained.get_or_insert_with(new).at(t)
    }
}

impl Chained {
    fn new(masses: Vec<f64>, chain: Chain, tolerance: f64) -> Self {
        let system = System::along(masses, chain)
            .with_tolerance(tolerance)
            .without_pericentres();
        let steps = vec![(0.0, system.progress())];
        Self { system, steps }
    }

    fn at(&mut self, t: f64) -> Result<Chain, Error> {
        let mut k = 0;
        while !self.steps[k].1.is_within_a_step(t - self.steps[k].0) {
            if k + 1 == self.steps.len() {
                let (time, progress) = &self.steps[k];
                self.system.go_back_to(progress);
                let taken = self.system.free_step(&mut Alone)?;
                let next = (time + taken, self.system.progress());
                self.steps.push(next);
            }
            if self.steps[k + 1].0 > t {
                break;
            }
            k += 1;
        }
        let (time, progress) = &self.steps[k];
        self.system.go_back_to(progress);
        self.system.advance(t - time, &mut Alone)?;
        Ok(self.system.chain().clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::few_body::multiple::tests::triple;
    use crate::vector::{norm, sub};

    /// A triple whose orbits perturb each other too much, and one that is a hierarchy.
    fn triples() -> [[crate::body::Body; 3]; 2] {
        let [mut near, mut far] = [triple(); 2];
        near[2].x = near[2].x.map(|c| 0.6 * c);
        far[2].x = far[2].x.map(|c| 4.0 * c);
        far[2].v = far[2].v.map(|c| 0.5 * c);
        [near, far]
    }

    fn flight(bodies: &[crate::body::Body]) -> (Flight, System) {
        let system = System::new(bodies);
        let masses = system.masses().to_vec();
        (Flight::new(masses, system.chain().clone(), 1e-12), system)
    }

    /// Any order of questions gives the same bits, and the places are those of an integration in one piece.
    #[test]
    fn a_time_is_reached_whatever_was_asked_before() {
        let times = [0.001, 0.3, 1.7, 5.0, 4.999, 0.0, 2.5, 0.3];
        for (bodies, is_nested) in triples().iter().zip([false, true]) {
            let (mut one, _) = flight(bodies);
            for t in times {
                let (mut fresh, mut whole) = flight(bodies);
                let found = one.at(t).unwrap();
                assert_eq!(found, fresh.at(t).unwrap(), "{t}");
                whole.advance(t, &mut Alone).unwrap();
                for j in [1, 2] {
                    let missed = sub(&found.relative(0, j).0, &whole.relative(0, j).0);
                    // A map is corrected to the first order in the perturbation.
                    let error = if is_nested { 1e-8 } else { 1e-10 };
                    assert!(norm(&missed) < error, "{t}: {missed:?}");
                }
            }
            assert_eq!(one.nested.is_some(), is_nested);
            assert_eq!(one.chained.is_none(), is_nested);
            assert!(one.chained.is_none_or(|chained| chained.steps.len() > 10));
        }
    }
}
