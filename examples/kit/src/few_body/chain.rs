//! Chain coordinates: the bodies in an order in which close ones are neighbours, and the vectors from each to the next.
//!
//! The small distances of a system are links of its chain, so that none is a difference of two large numbers.

use crate::vector::{Vec3, add_scaled, dot};

/// Links from each body of a chain to the next.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chain {
    /// The bodies along the chain.
    pub order: Vec<usize>,
    /// Relative positions of neighbours.
    pub x: Vec<Vec3>,
    /// Relative velocities of neighbours.
    pub v: Vec<Vec3>,
}

impl Chain {
    /// The chain of bodies at `x` with the velocities `v`.
    pub fn new(x: &[Vec3], v: &[Vec3]) -> Self {
        let order = order_by(x.len(), |i, j| {
            let d = crate::vector::sub(&x[j], &x[i]);
            dot(&d, &d)
        });
        let links = |of: &[Vec3]| {
            let link = |pair: &[usize]| crate::vector::sub(&of[pair[1]], &of[pair[0]]);
            order.windows(2).map(link).collect()
        };
        Self {
            x: links(x),
            v: links(v),
            order,
        }
    }

    /// Sum of the `links` from the place `from` to the place `to` of the chain.
    pub fn between(links: &[Vec3], from: usize, to: usize) -> Vec3 {
        let (first, last, sign) = if from < to {
            (from, to, 1.0)
        } else {
            (to, from, -1.0)
        };
        let mut sum = [0.0; 3];
        for link in &links[first..last] {
            add_scaled(&mut sum, sign, link);
        }
        sum
    }

    /// Position and velocity of body `j` from body `i`.
    pub fn relative(&self, i: usize, j: usize) -> (Vec3, Vec3) {
        let (i, j) = (self.place(i), self.place(j));
        (Self::between(&self.x, i, j), Self::between(&self.v, i, j))
    }

    /// Position of body `j` from body `i`.
    pub fn position(&self, i: usize, j: usize) -> Vec3 {
        Self::between(&self.x, self.place(i), self.place(j))
    }

    /// The place of body `i` in the chain.
    fn place(&self, i: usize) -> usize {
        self.order.iter().position(|&k| k == i).unwrap_or(0)
    }

    /// Orders the bodies anew if close bodies are no longer neighbours in the chain. Returns whether the order has changed.
    pub fn renew(&mut self) -> bool {
        let n = self.order.len();
        if n < 3 {
            return false;
        }
        let places = order_by(n, |a, b| {
            let d = Self::between(&self.x, a, b);
            dot(&d, &d)
        });
        let is_same = |places: &mut dyn Iterator<Item = usize>| places.eq(0..n);
        if is_same(&mut places.iter().copied()) || is_same(&mut places.iter().rev().copied()) {
            return false;
        }
        let links = |of: &[Vec3]| -> Vec<Vec3> {
            let link = |pair: &[usize]| Self::between(of, pair[0], pair[1]);
            places.windows(2).map(link).collect()
        };
        (self.x, self.v) = (links(&self.x), links(&self.v));
        self.order = places.iter().map(|&place| self.order[place]).collect();
        true
    }

    /// Positions and velocities of the bodies, in their own order, about the centre of mass.
    pub fn bodies(&self, masses: &[f64]) -> Vec<(Vec3, Vec3)> {
        let mut bodies = vec![([0.0; 3], [0.0; 3]); masses.len()];
        let (mut place, mut centre) = (bodies[0], bodies[0]);
        let mut mass = 0.0;
        for (k, &i) in self.order.iter().enumerate() {
            if k > 0 {
                add_scaled(&mut place.0, 1.0, &self.x[k - 1]);
                add_scaled(&mut place.1, 1.0, &self.v[k - 1]);
            }
            bodies[i] = place;
            add_scaled(&mut centre.0, masses[i], &place.0);
            add_scaled(&mut centre.1, masses[i], &place.1);
            mass += masses[i];
        }
        for (x, v) in &mut bodies {
            add_scaled(x, -1.0 / mass, &centre.0);
            add_scaled(v, -1.0 / mass, &centre.1);
        }
        bodies
    }
}

/// The places of a chain with these `links` relative to the centre of mass, the `masses` being along the chain.
pub fn about_centre(masses: &[f64], links: &[Vec3], to: &mut [Vec3]) {
    let (mut place, mut centre, mut mass) = ([0.0; 3], [0.0; 3], 0.0);
    for (k, m) in masses.iter().enumerate() {
        if k > 0 {
            add_scaled(&mut place, 1.0, &links[k - 1]);
        }
        to[k] = place;
        add_scaled(&mut centre, *m, &place);
        mass += m;
    }
    for place in to {
        add_scaled(place, -1.0 / mass, &centre);
    }
}

/// An order of `n` bodies with these squared distances: it begins with the closest two and goes on at either end with
/// the body that is closest to that end.
fn order_by(n: usize, squared: impl Fn(usize, usize) -> f64) -> Vec<usize> {
    if n < 3 {
        return (0..n).collect();
    }
    let mut closest = (0, 1, f64::INFINITY);
    for i in 0..n {
        for j in i + 1..n {
            let d2 = squared(i, j);
            if d2 < closest.2 {
                closest = (i, j, d2);
            }
        }
    }
    let mut order = Vec::with_capacity(n);
    order.extend([closest.0, closest.1]);
    while order.len() < n {
        let (head, tail) = (order[0], order[order.len() - 1]);
        let mut next = (0, true, f64::INFINITY);
        for i in (0..n).filter(|i| !order.contains(i)) {
            for (end, is_tail) in [(tail, true), (head, false)] {
                let d2 = squared(end, i);
                // A distance that is not a number is as good as any: the step that follows is refused.
                if d2 < next.2 || next.2 == f64::INFINITY {
                    next = (i, is_tail, d2.min(f64::MAX));
                }
            }
        }
        if next.1 {
            order.push(next.0);
        } else {
            order.insert(0, next.0);
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vector::{norm, sub};

    fn line(places: &[f64]) -> Vec<Vec3> {
        places.iter().map(|p| [*p, 0.0, 0.0]).collect()
    }

    #[test]
    fn close_bodies_are_neighbours() {
        let x = line(&[0.0, 10.0, 0.1, 9.7, 4.0]);
        let chain = Chain::new(&x, &x);
        assert_eq!(chain.order, [0, 2, 4, 3, 1]);
        assert!((norm(&chain.x[0]) - 0.1).abs() < 1e-15);
    }

    /// Bodies that have moved come into a new order, and stay where they are.
    #[test]
    fn a_new_order_moves_nobody() {
        let x = line(&[0.0, 1.0, 2.1, 3.3]);
        let masses = [1.0, 2.0, 3.0, 4.0];
        let mut chain = Chain::new(&x, &x);
        assert!(!chain.renew());
        let before = chain.bodies(&masses);
        // Body 0 passes all others.
        let place = chain.order.iter().position(|&i| i == 0).unwrap();
        assert!(place == 0 || place == 3);
        let moved: Vec<Vec3> = line(&[4.0, 1.0, 2.1, 3.3]);
        let link = |pair: &[usize]| sub(&moved[pair[1]], &moved[pair[0]]);
        chain.x = chain.order.windows(2).map(link).collect();
        assert!(chain.renew(), "{chain:?}");
        let after = chain.bodies(&masses);
        let centre = (4.0 + 2.0 + 6.3 + 13.2) / 10.0;
        for (i, (x, _)) in after.iter().enumerate() {
            assert!((x[0] - (moved[i][0] - centre)).abs() < 1e-14, "{i}: {x:?}");
        }
        for ((_, v), (_, w)) in before.iter().zip(&after) {
            assert!(norm(&sub(v, w)) < 1e-14);
        }
    }
}
